//! Programs that are not keymark's, before the library as before SoftHSM2 itself.

use std::path::Path;
use std::process::Command;

use keymark_shim_protocol::pkcs11::trace::read;
use keymark_shim_protocol::pkcs11::{Call, Traced};
use keymark_testkit::softhsm::{CONFIGURATION, SoftHsmToken};

use crate::world::World;

fn said(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    text.concat()
}

#[test]
fn opensc_finds_the_same_before_both() {
    let (world, trace) = World::new().traced();
    world.token.make_key("EC:prime256v1", "02", "curve");
    let test = |module: &Path| {
        let mut tool = world.pkcs11_tool(module);
        tool.arg("--test")
            .env(CONFIGURATION, world.token.configuration());
        said(&mut tool)
    };
    let (plain, wrapped) = (test(&SoftHsmToken::library()), test(&world.module));
    assert_eq!(plain, wrapped);
    assert!(wrapped.contains("RSA-X-509: OK"), "{wrapped}");
    let signed = read(&trace).unwrap().iter().any(|thread| {
        let calls = &thread.calls;
        calls.contains_key(&Traced::Whole(Call::C_Sign)) && calls.contains_key(&Traced::Load)
    });
    assert!(signed);
}

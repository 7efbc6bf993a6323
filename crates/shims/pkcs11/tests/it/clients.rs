//! Programs that are not keymark's, before the library as before SoftHSM2 itself.

use std::path::Path;
use std::process::Command;

use keymark_shim_protocol::pkcs11::trace::read;
use keymark_shim_protocol::pkcs11::{Call, Traced};
use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken};

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

#[test]
fn what_is_signed_through_it_openssl_verifies() {
    let world = World::new().twin(30);
    let (data, signature, public) = (
        world.token.path("data"),
        world.token.path("signature"),
        world.token.path("public.der"),
    );
    std::fs::write(&data, "to be signed").unwrap();
    let mut tool = world.pkcs11_tool(&world.module);
    tool.args(["--sign", "--id", "01", "--mechanism", "SHA256-RSA-PKCS"]);
    tool.arg("--input-file")
        .arg(&data)
        .arg("--output-file")
        .arg(&signature);
    world.token.run(&mut tool);
    let mut tool = world.pkcs11_tool(&world.module);
    tool.args([
        "--read-object",
        "--type",
        "pubkey",
        "--id",
        "01",
        "--output-file",
    ]);
    world.token.run(tool.arg(&public));
    let mut openssl = Command::new("openssl");
    openssl
        .args(["dgst", "-sha256", "-keyform", "DER", "-verify"])
        .arg(&public);
    let verified = said(openssl.arg("-signature").arg(&signature).arg(&data));
    assert!(verified.contains("Verified OK"), "{verified}");
}

#[test]
fn ssh_reads_the_keys_through_it() {
    let world = World::new();
    let keys = |module: &Path| {
        let mut ssh = Command::new("ssh-keygen");
        ssh.arg("-D")
            .arg(module)
            .env(CONFIGURATION, world.token.configuration());
        said(&mut ssh)
    };
    let read = keys(&world.module);
    assert!(read.starts_with("ssh-rsa "), "{read}");
    assert_eq!(read, keys(&SoftHsmToken::library()));
}

#[test]
fn p11_kits_tool_lists_its_tokens_and_keys() {
    let world = World::new();
    let listed = |what: &str| {
        let mut tool = Command::new("p11tool");
        tool.arg("--batch")
            .arg("--provider")
            .arg(&world.module)
            .arg(what);
        said(
            tool.env("GNUTLS_PIN", PIN)
                .args(["--login", "pkcs11:token=my%20token"]),
        )
    };
    let keys = listed("--list-privkeys");
    assert!(
        keys.contains("Label: key") && keys.contains("RSA-2048"),
        "{keys}"
    );
}

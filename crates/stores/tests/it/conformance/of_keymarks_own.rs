//! Tokens of keymark's own, each in a place of its own.

use keymark_shim_protocol::pkcs11::settings::Settings;
use keymark_shim_protocol::pkcs11::{Call, Traced, trace};
use keymark_stores::pkcs11::modules::Places;
use keymark_stores::pkcs11::wrapped;
use keymark_stores::pkcs11::{ManagedKind, ManagedPlace, ModuleFile, TokenHere};
use keymark_stores::store::KeyStore;
use keymark_testkit::place::said;
use keymark_testkit::process::this_test_program;

use super::*;

/// Names the library to the child that runs the suite, with the environment that the library reads.
const LIBRARY: &str = "KEYMARK_TEST_LIBRARY";

fn conforms(kind: ManagedKind, test: &str, algorithms: &[&str]) {
    if let Ok(file) = std::env::var(LIBRARY) {
        let file: ModuleFile = serde_json::from_str(&file).unwrap();
        let token = TokenHere::of_managed(&kind, &file, &Run::new(0)).unwrap();
        let store: &dyn KeyStore = &token;
        suite::conforms_used(store, Some(algorithms), how(&kind));
        return store.restore().unwrap();
    }
    let place = ManagedPlace::prepare(&kind, &Places::of_user()).unwrap();
    in_a_child(place.file(), test);
}

/// tpm2-pkcs11 1.9 is not safe in threads (docs/soft-tokens.md): of keys that several use at once, one in four runs
/// ended with `CKR_OPERATION_ACTIVE` or `CKR_SESSION_HANDLE_INVALID`.
fn how(kind: &ManagedKind) -> Use {
    match kind {
        ManagedKind::Swtpm => Use::InTurn,
        ManagedKind::SoftHsm | ManagedKind::Kryoptic | ManagedKind::Twin(_) => Use::Together,
    }
}

fn in_a_child(file: &ModuleFile, test: &str) {
    let mut child = this_test_program(&format!("conformance::of_keymarks_own::{test}"));
    child
        .env(LIBRARY, serde_json::to_string(file).unwrap())
        .envs(&file.environment);
    let output = child.output().unwrap();
    let said = said(&output);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

fn conforms_traced(kind: ManagedKind, test: &str, algorithms: &[&str]) {
    if std::env::var_os(LIBRARY).is_some() {
        return conforms(kind, test, algorithms);
    }
    let place = ManagedPlace::prepare(&kind, &Places::of_user()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let taken_down = directory.path().join("trace");
    let settings = Settings {
        module: Some(place.file().path.clone()),
        trace: Some(taken_down.clone()),
        ..Settings::default()
    };
    let file = ModuleFile {
        path: wrapped(&settings, directory.path(), "traced.so").unwrap(),
        environment: place.file().environment.clone(),
        reserved: None,
    };
    in_a_child(&file, test);
    let threads = trace::read(&taken_down).unwrap();
    let signed = Traced::Whole(Call::C_Sign);
    assert!(
        threads
            .iter()
            .any(|thread| thread.calls.contains_key(&signed))
    );
}

#[test]
fn softhsm_conforms_traced() {
    let quick = ["rsa2048", "nistp256", "ed25519"];
    conforms_traced(ManagedKind::SoftHsm, "softhsm_conforms_traced", &quick);
}

#[test]
fn kryoptic_conforms_traced() {
    let quick = [
        "rsa2048", "nistp256", "nistp384", "nistp521", "ed25519", "cv25519", "cv448", "mldsa65",
        "mlkem768",
    ];
    conforms_traced(ManagedKind::Kryoptic, "kryoptic_conforms_traced", &quick);
}

#[test]
fn swtpm_conforms_traced() {
    let quick = ["rsa2048", "nistp256", "nistp384"];
    conforms_traced(ManagedKind::Swtpm, "swtpm_conforms_traced", &quick);
}

#[test]
fn a_twin_conforms() {
    // A quick one, of all that are shipped.
    let kind = ManagedKind::named("twin:jcop4-j3r180").unwrap();
    conforms(
        kind,
        "a_twin_conforms",
        &["rsa2048", "nistp256", "nistp384"],
    );
}

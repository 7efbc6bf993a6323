//! Test keys in memory: what they are asked and how they leave.

use keymark_bench::algorithm::Algorithm;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, KeyRef};
use keymark_stores::software::SoftwareStore;
use keymark_stores::store::KeyStore;

#[test]
fn an_operation_that_the_key_lacks_is_refused() {
    let store = SoftwareStore::default();
    let ed25519: Algorithm = "ed25519".parse().unwrap();
    let key = store
        .key(Capability::new(ed25519, Operation::Sign))
        .unwrap();
    for (algorithm, operation, label, said) in [
        ("ed25519", Operation::Decrypt, &*key.label, "has no decrypt"),
        (
            "cv25519",
            Operation::Decrypt,
            &key.label,
            "'ed25519 sign' has",
        ),
        (
            "ed25519",
            Operation::Sign,
            "other",
            "no key has the name 'other'",
        ),
    ] {
        let capability = Capability::new(algorithm.parse().unwrap(), operation);
        let lacking = KeyRef::new(capability, label.to_owned());
        let error = store.open(&lacking, None).err().unwrap().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn an_operation_has_a_key_to_itself_but_for_rsas_signatures_and_decryptions() {
    let store = SoftwareStore::default();
    let spki = |name: &str, operation| {
        let algorithm: Algorithm = name.parse().unwrap();
        let capability = Capability::new(algorithm, operation);
        let key = store.key(capability).unwrap();
        store.public_key(&key).unwrap().spki_der().unwrap()
    };
    use Operation::{Authenticate, Decrypt, Sign};
    assert_eq!(spki("rsa1024", Sign), spki("rsa1024", Decrypt));
    assert_ne!(spki("nistp256", Sign), spki("nistp256", Decrypt));
    for name in ["rsa1024", "nistp256"] {
        assert_ne!(spki(name, Sign), spki(name, Authenticate), "{name}");
    }
}

//! One suite for every key store: what the seam promises, whoever is behind it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod suite;

use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, Verifiable, Verifier};
use keymark_stores::device::Run;
use keymark_stores::openpgp_card::{CardDevice, CardMaker, MadeCards, Slot};
use keymark_stores::software::SoftwareStore;
use keymark_testkit::store::FakeStore;
use keymark_tokens::reader::Reader;

use suite::Exercise;

#[test]
fn the_fake_conforms() {
    struct Echo;
    impl Verifier for Echo {
        fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
            let is_echo = |result: &Verifiable<'_>| match result.output {
                [octet] if usize::from(*octet) == result.input => Ok(()),
                _ => Err("no echo".to_owned()),
            };
            results.iter().map(is_echo).collect()
        }
    }
    let store = FakeStore::default();
    suite::conforms_by(&store, None, &|_, _| Exercise {
        inputs: [Input { bytes: vec![0] }, Input { bytes: vec![1] }].into(),
        verifier: Arc::new(Echo),
    });
    assert_eq!(store.entered(), 0, "who enters leaves");
}

#[test]
fn the_software_store_conforms() {
    let quick = ["cv25519", "ed25519", "nistp256", "mlkem768", "elg2048"];
    suite::conforms(&SoftwareStore::default(), Some(&quick));
}

#[test]
fn virtual_cards_conform() {
    let store = MadeCards::new(CardMaker::virtual_card(), Run::new(0));
    suite::conforms(&store, Some(&["cv25519", "ed25519", "nistp256"]));
}

/// A card with a key in each slot.
fn loaded() -> (Reader, CardDevice) {
    let maker = CardMaker::virtual_card();
    let reader = maker.make().unwrap();
    let keys = Arc::new(SoftwareStore::default());
    let device = CardDevice::of_made(&maker, reader.clone(), Arc::clone(&keys));
    for (name, operation) in [
        ("nistp256", Operation::Sign),
        ("cv25519", Operation::Decrypt),
        ("ed25519", Operation::Authenticate),
    ] {
        let algorithm: Algorithm = name.parse().unwrap();
        let capability = Capability {
            algorithm,
            operation,
        };
        let key = keys.made_for(capability).unwrap();
        device.import(&key, Slot::of(operation).unwrap()).unwrap();
    }
    device.allow_many_signatures().unwrap();
    (reader, device)
}

#[test]
fn a_loaded_card_conforms() {
    suite::conforms(&loaded().1, None);
}

/// SoftHSM2 with a token of the test's own.
#[cfg(feature = "pkcs11")]
mod behind_a_module {
    use keymark_stores::pkcs11::{ModuleFile, known_token};
    use keymark_stores::user::{Pin, PinSource, Pins, User};
    use keymark_testkit::place::said;
    use keymark_testkit::process::this_test_program;
    use keymark_testkit::softhsm::{PIN, SoftHsmToken, URI};

    use super::*;

    /// Set in the child that runs the suite: SoftHSM2 finds its tokens by its environment.
    const CHILD: &str = "KEYMARK_TEST_CHILD";

    fn conforms(object: &str, algorithms: Option<&[&str]>) {
        let pin = PinSource::Known(Pin::new(PIN));
        let user = User {
            pins: Pins {
                user: pin.clone(),
                admin: pin,
            },
            ..User::of_made_device()
        };
        let module = ModuleFile::new(SoftHsmToken::library());
        let uri = format!("{URI}{object}").parse().unwrap();
        let device = known_token(&module, &uri, &user).unwrap();
        let store = device.open(&Run::new(0)).unwrap();
        suite::conforms(store.as_ref(), algorithms);
        store.restore().unwrap();
    }

    fn in_a_child(name: &str, prepare: impl FnOnce(&SoftHsmToken)) {
        let token = SoftHsmToken::new();
        prepare(&token);
        let mut child = this_test_program(name);
        let said = said(&token.run(child.env(CHILD, "1")));
        assert!(said.contains("1 passed"), "{said}");
    }

    #[test]
    fn softhsm_conforms_with_test_keys() {
        const NAME: &str = "behind_a_module::softhsm_conforms_with_test_keys";
        if std::env::var_os(CHILD).is_some() {
            let quick = [
                "rsa2048", "nistp256", "nistp384", "nistp521", "ed25519", "ed448",
            ];
            return conforms("", Some(&quick));
        }
        in_a_child(NAME, |_| {});
    }

    #[test]
    fn softhsm_conforms_with_a_key_that_another_program_made() {
        const NAME: &str = "behind_a_module::softhsm_conforms_with_a_key_that_another_program_made";
        if std::env::var_os(CHILD).is_some() {
            return conforms(";object=web", None);
        }
        in_a_child(NAME, |token| token.make_key("rsa:2048", "01", "web"));
    }
}

/// Tokens of keymark's own, each in a place of its own.
#[cfg(feature = "pkcs11")]
mod of_keymarks_own {
    use keymark_stores::pkcs11::modules::Places;
    use keymark_stores::pkcs11::{ModuleFile, OwnKind, OwnPlace, own_token};
    use keymark_testkit::place::said;
    use keymark_testkit::process::this_test_program;

    use super::*;

    /// Names the library to the child that runs the suite, with the environment that the library reads.
    const LIBRARY: &str = "KEYMARK_TEST_LIBRARY";

    fn conforms(kind: OwnKind, test: &str, algorithms: &[&str]) {
        if let Ok(file) = std::env::var(LIBRARY) {
            let file: ModuleFile = serde_json::from_str(&file).unwrap();
            let device = own_token(kind, &file).unwrap();
            let store = device.open(&Run::new(0)).unwrap();
            suite::conforms(store.as_ref(), Some(algorithms));
            return store.restore().unwrap();
        }
        let place = OwnPlace::prepare(kind, &Places::of_user()).unwrap();
        let mut child = this_test_program(&format!("of_keymarks_own::{test}"));
        child
            .env(LIBRARY, serde_json::to_string(place.file()).unwrap())
            .envs(&place.file().environment);
        let output = child.output().unwrap();
        let said = said(&output);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
    }

    #[test]
    fn kryoptic_conforms() {
        let quick = [
            "rsa2048", "nistp256", "nistp384", "nistp521", "ed25519", "cv25519", "cv448",
        ];
        conforms(OwnKind::Kryoptic, "kryoptic_conforms", &quick);
    }

    #[test]
    fn swtpm_conforms() {
        let quick = ["rsa2048", "nistp256", "nistp384"];
        conforms(OwnKind::Swtpm, "swtpm_conforms", &quick);
    }
}

/// A TPM in software, by the way of a real one.
#[cfg(feature = "tpm")]
#[test]
fn a_tpm_conforms() {
    use keymark_stores::device::{StoreFamily as _, Wish};
    use keymark_stores::tpm::TpmFamily;
    use keymark_stores::user::User;

    let wish = Wish::Named(vec!["swtpm-esys".to_owned()]);
    let looked = TpmFamily.look(&wish, &User::of_made_device()).unwrap();
    let store = looked.devices[0].open(&Run::new(0)).unwrap();
    suite::conforms(store.as_ref(), Some(&["rsa2048", "nistp256", "nistp384"]));
}

/// Cards in readers: the virtual one through pcscd and vpcd, and a real one for those who dare.
mod in_readers {
    use keymark_bench::case::{DeviceName, Provenance, StoreKind};
    use keymark_bench::store::StoreIdentity;
    use keymark_stores::openpgp_card::{CardPlace, Port, pcsc};
    use keymark_stores::user::{Consent, Pin, PinSource, Pins, Unattended, User};
    use keymark_testkit::inserted::CardInReader;
    use keymark_testkit::place::said;
    use keymark_testkit::process::this_test_program;
    use keymark_testkit::waiting::found;

    use super::*;

    /// Set in the child that runs the suite: libpcsclite finds pcscd by its environment.
    const CHILD: &str = "KEYMARK_TEST_CHILD";

    /// The card of that serial number.
    fn inserted(serial: Option<u32>, pin: &str) -> CardDevice {
        let device = |port: Arc<dyn Port>| {
            let identity = StoreIdentity {
                device: DeviceName::new("card"),
                kind: StoreKind::OPENPGP_CARD,
                provenance: Provenance::Measured,
                product: "a card in a reader".to_owned(),
                serial: None,
                versions: std::collections::BTreeMap::new(),
                assumed: Vec::new(),
            };
            let pins = Pins {
                user: PinSource::Known(Pin::new(pin)),
                admin: PinSource::Prompt,
            };
            let user = User {
                pins,
                consent: Consent::default(),
                notice: Arc::new(Unattended),
            };
            let place = CardPlace::Pcscd(port.reader());
            CardDevice::new(port, place, &identity, user)
        };
        found("pcscd sees the card", || {
            let ports = pcsc::in_readers().unwrap_or_default().ports;
            ports.into_iter().map(device).find(|device| {
                let facts = device.facts();
                facts.is_ok_and(|facts| serial.is_none_or(|serial| facts.serial == serial))
            })
        })
    }

    #[test]
    fn the_virtual_card_conforms_through_pcscd_and_vpcd() {
        const NAME: &str = "in_readers::the_virtual_card_conforms_through_pcscd_and_vpcd";
        if std::env::var_os(CHILD).is_some() {
            return suite::conforms(&inserted(None, "123456"), None);
        }
        let place = CardInReader::new(loaded().0);
        let child = this_test_program(NAME)
            .env(CHILD, "1")
            .env("PCSCLITE_CSOCK_NAME", place.socket())
            .output()
            .unwrap();
        let said = said(&child);
        assert!(
            child.status.success() && said.contains("1 passed"),
            "{said}"
        );
    }

    /// Uses the keys on the card, writes nothing, and tries the PIN of `$KEYMARK_DANGEROUS_PIN` once.
    #[cfg(feature = "dangerous-real-card")]
    #[test]
    fn a_real_card_conforms() {
        let serial = std::env::var("KEYMARK_DANGEROUS_SERIAL")
            .expect("KEYMARK_DANGEROUS_SERIAL names the card, in hexadecimal");
        let pin = std::env::var("KEYMARK_DANGEROUS_PIN").expect("its user PIN");
        let serial = u32::from_str_radix(&serial, 16).unwrap();
        suite::conforms(&inserted(Some(serial), &pin), None);
    }
}

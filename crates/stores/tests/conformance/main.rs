//! One suite for every key store: what the seam promises, whoever is behind it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod suite;

use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, Input, KeyStore, Verifiable, Verifier};
use keymark_stores::challenge::Challenge;
use keymark_stores::openpgp_card::{CardDevice, CardMaker, Slot};
use keymark_stores::raw::{Generated, KeySource};
use keymark_stores::software::SoftwareStore;
use keymark_stores::test_key::TestKey;
use keymark_testkit::fake::FakeStore;

use suite::Exercise;

fn exercise(store: &dyn KeyStore, capability: Capability) -> (Arc<TestKey>, Challenge) {
    let identity = store.identity().unwrap();
    let case = keymark_testkit::case(capability.algorithm.name())
        .operation(capability.operation)
        .device(identity.device.as_str())
        .store(identity.kind)
        .provenance(identity.provenance)
        .build();
    Generated::new(0).exercise(&case).unwrap()
}

fn of_challenge(challenge: Challenge) -> Exercise {
    Exercise {
        inputs: challenge.inputs,
        verifier: challenge.verifier,
    }
}

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
    suite::conforms(&FakeStore, &|_| Exercise {
        inputs: [Input { bytes: vec![0] }, Input { bytes: vec![1] }].into(),
        verifier: Arc::new(Echo),
    });
}

#[test]
fn the_software_store_conforms() {
    let store = SoftwareStore::default();
    suite::conforms_in(
        &store,
        &["cv25519", "ed25519", "nistp256", "mlkem768"],
        &|capability| {
            let (key, challenge) = exercise(&store, capability);
            store.add(suite::label(capability), key);
            of_challenge(challenge)
        },
    );
}

/// A card with keys of the algorithms in its slots.
fn loaded(maker: &CardMaker, keys: &[(Slot, Arc<TestKey>)]) -> keymark_tokens::reader::Reader {
    let reader = maker.make().unwrap();
    let device = CardDevice::of_made(maker, reader.clone());
    for (slot, key) in keys {
        device.import(key, *slot, None).unwrap();
    }
    device.allow_many_signatures().unwrap();
    reader
}

fn keys() -> [(Slot, Arc<TestKey>); 3] {
    let make = |name: &str| {
        let algorithm: Algorithm = name.parse().unwrap();
        Arc::new(TestKey::generate(algorithm).unwrap())
    };
    [
        (Slot::Signature, make("nistp256")),
        (Slot::Decryption, make("cv25519")),
        (Slot::Authentication, make("ed25519")),
    ]
}

fn of_card(keys: &[(Slot, Arc<TestKey>); 3], operation: Operation) -> Exercise {
    let slot = Slot::of(operation).unwrap();
    let key = &keys.iter().find(|(known, _)| *known == slot).unwrap().1;
    let challenge = Challenge::new(key, operation, 16, 0).unwrap();
    Exercise {
        inputs: challenge.inputs,
        verifier: keymark_stores::openpgp_card::checked(
            key.algorithm,
            operation,
            challenge.verifier,
        ),
    }
}

#[test]
fn the_virtual_card_conforms() {
    let keys = keys();
    let maker = CardMaker::virtual_card();
    let device = CardDevice::of_made(&maker, loaded(&maker, &keys));
    suite::conforms(&device, &|capability| of_card(&keys, capability.operation));
}

/// Cards in readers: the virtual one through pcscd and vpcd, and a real one for those who dare.
#[cfg(feature = "pcsc")]
mod in_readers {
    use keymark_bench::case::{DeviceName, Provenance, StoreKind};
    use keymark_bench::store::StoreIdentity;
    use keymark_stores::openpgp_card::{Consent, Notice, Pin, PinSource, Pins, pcsc};
    use keymark_testkit::inserted::CardInReader;
    use keymark_testkit::place::said;
    use keymark_testkit::process::this_test_program;
    use keymark_testkit::waiting::found;

    use super::*;

    /// Set in the child that runs the suite: libpcsclite finds pcscd by its environment.
    const CHILD: &str = "KEYMARK_TEST_CHILD";

    struct Silent;

    impl Notice for Silent {
        fn tell(&self, _: &str) {}

        fn agrees(&self, _: &str) -> bool {
            false
        }
    }

    /// The card of that serial number.
    fn inserted(serial: Option<u32>, pin: &str) -> CardDevice {
        let device = |port| {
            let identity = StoreIdentity {
                device: DeviceName::new("card"),
                kind: StoreKind::OpenpgpCard,
                provenance: Provenance::Measured,
                product: "a card in a reader".to_owned(),
                serial: None,
                versions: std::collections::BTreeMap::new(),
            };
            let pins = Pins {
                user: PinSource::Known(Pin::new(pin)),
                admin: PinSource::Prompt,
            };
            CardDevice::new(port, &identity, pins, Consent::default(), Arc::new(Silent))
        };
        found("pcscd sees the card", || {
            let ports = pcsc::ports().unwrap_or_default();
            ports.into_iter().map(device).find(|device| {
                let facts = device.facts();
                facts.is_ok_and(|facts| serial.is_none_or(|serial| facts.serial == serial))
            })
        })
    }

    fn conforms(device: &CardDevice) {
        suite::conforms(device, &|capability| {
            let slot = Slot::of(capability.operation).unwrap();
            let public = device.public_key(slot, capability.algorithm).unwrap();
            let challenge = Challenge::of_public(&public, capability.operation, 16, 0).unwrap();
            Exercise {
                inputs: challenge.inputs,
                verifier: keymark_stores::openpgp_card::checked(
                    capability.algorithm,
                    capability.operation,
                    challenge.verifier,
                ),
            }
        });
    }

    #[test]
    fn the_virtual_card_conforms_through_pcscd_and_vpcd() {
        const NAME: &str = "in_readers::the_virtual_card_conforms_through_pcscd_and_vpcd";
        if std::env::var_os(CHILD).is_some() {
            return conforms(&inserted(None, "123456"));
        }
        let place = CardInReader::new(loaded(&CardMaker::virtual_card(), &keys()));
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
        conforms(&inserted(Some(serial), &pin));
    }
}

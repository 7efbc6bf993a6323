//! One suite for every key store: what the seam promises, whoever is behind it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod suite;

use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::Scheme;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, Verifiable, Verifier};
use keymark_stores::device::Run;
use keymark_stores::openpgp_card::{CardDevice, CardMaker, MadeCards, Slot};
use keymark_stores::software::SoftwareStore;
use keymark_stores::store::KeyStore;
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
fn the_software_store_conforms_by_each_scheme() {
    let store = SoftwareStore::default();
    let mut tried = 0;
    for capability in store.capabilities().unwrap() {
        let name = capability.algorithm.name();
        if !["rsa1024", "nistp384"].contains(&name) {
            continue;
        }
        for scheme in Scheme::ALL.iter().filter(|scheme| scheme.is_of(capability)) {
            suite::conforms_by_scheme(&store, capability, *scheme);
            tried += 1;
        }
    }
    assert_eq!(tried, 6, "five of RSA, one of ECDSA");
    let key = store.key(Capability {
        algorithm: "ed25519".parse().unwrap(),
        operation: Operation::Sign,
    });
    let refused = store.open_by(&key.unwrap(), Scheme::Pss);
    assert!(refused.is_err(), "EdDSA has one use");
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
    use std::process::Command;

    use keymark_stores::challenge::Challenge;
    use keymark_stores::device::Device;
    use keymark_stores::journal::Journals;
    use keymark_stores::pkcs11::{ModuleFile, known_token};
    use keymark_stores::public_key::PublicKey;
    use keymark_stores::user::{Consent, Pin, PinSource, Pins, TokenName, User};
    use keymark_testkit::place::said;
    use keymark_testkit::process::this_test_program;
    use keymark_testkit::softhsm::{PIN, SoftHsmToken, URI};

    use super::*;

    /// Set in the child that runs the suite: SoftHSM2 finds its tokens by its environment.
    const CHILD: &str = "KEYMARK_TEST_CHILD";

    /// The user's token, by its module in this process.
    fn device(object: &str) -> Box<dyn Device> {
        device_for(object, None)
    }

    /// The same, which may be written to if it is called so.
    fn device_for(object: &str, write: Option<TokenName>) -> Box<dyn Device> {
        let pin = PinSource::Known(Pin::new(PIN));
        let user = User {
            pins: Pins {
                user: pin.clone(),
                admin: pin,
            },
            consent: Consent {
                write,
                ..Consent::default()
            },
            ..User::of_made_device()
        };
        let module = ModuleFile::new(SoftHsmToken::library());
        let uri = format!("{URI}{object}").parse().unwrap();
        known_token(&module, &uri, &user).unwrap()
    }

    fn conforms(object: &str, algorithms: Option<&[&str]>) {
        let device = device(object);
        let store = device.open(&Run::new(0)).unwrap();
        suite::conforms(store.as_ref(), algorithms);
        let wanted = |capability: &Capability| {
            let name = capability.algorithm.name();
            algorithms.is_none_or(|wanted| wanted.contains(&name))
        };
        let mut tried = Vec::new();
        for (scheme, capabilities) in device.schemes() {
            for capability in capabilities.into_iter().filter(wanted) {
                suite::conforms_by_scheme(store.as_ref(), capability, scheme);
                tried.push(scheme);
            }
        }
        // SoftHSM2 2.6 hashes for RSA only, and takes no OAEP but with SHA-1.
        let of_rsa = [
            Scheme::Pss,
            Scheme::OaepSha1,
            Scheme::Hashed,
            Scheme::PssHashed,
        ];
        assert_eq!(tried, of_rsa);
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
    fn softhsm_conforms_with_test_keys_on_the_token() {
        const NAME: &str = "behind_a_module::softhsm_conforms_with_test_keys_on_the_token";
        if std::env::var_os(CHILD).is_none() {
            return in_a_child(NAME, |_| {});
        }
        let named = device("").token().unwrap().name();
        let journals = tempfile::tempdir().unwrap();
        let run = Run {
            journals: Some((
                Journals::within(journals.path().to_owned()),
                "run".to_owned(),
            )),
            ..Run::new(0)
        };
        let store = device_for("", Some(named)).open(&run).unwrap();
        suite::conforms(store.as_ref(), Some(&["rsa2048", "nistp256", "ed25519"]));
        let journalled = || std::fs::read_dir(journals.path()).unwrap().count();
        assert_eq!(journalled(), 1, "the token's");
        store.restore().unwrap();
        assert_eq!(journalled(), 0);
        let other = Some(TokenName::parse("0badcafe").unwrap());
        let store = device_for("", other).open(&run).unwrap();
        let capability = store.capabilities().unwrap()[0];
        store.key(capability).unwrap();
        assert_eq!(
            journalled(),
            0,
            "another token's name lets nothing be written"
        );
    }

    #[test]
    fn softhsm_conforms_with_a_key_that_another_program_made() {
        const NAME: &str = "behind_a_module::softhsm_conforms_with_a_key_that_another_program_made";
        if std::env::var_os(CHILD).is_some() {
            return conforms(";object=web", None);
        }
        in_a_child(NAME, |token| token.make_key("rsa:2048", "01", "web"));
    }

    /// Other programs with the same key: SoftHSM2 by OpenSC's tool, the public half by OpenSSL's.
    struct Others(tempfile::TempDir);

    impl Others {
        fn file(&self, name: &str, content: &[u8]) {
            std::fs::write(self.0.path().join(name), content).unwrap();
        }

        fn run(&self, command: &mut Command) -> String {
            let output = command.current_dir(self.0.path()).output().unwrap();
            let said = said(&output);
            assert!(output.status.success(), "{command:?}: {said}");
            said
        }

        /// Whether the system's OpenSSL takes `signature` for one of the digest.
        fn openssl_verifies(&self, padding: &[&str]) {
            let mut openssl = Command::new("openssl");
            openssl.args(["pkeyutl", "-verify", "-pubin", "-inkey", "public.der"]);
            openssl.args(["-keyform", "DER", "-in", "digest", "-sigfile", "signature"]);
            for option in padding.iter().chain(&["digest:sha256"]) {
                openssl.args(["-pkeyopt", option]);
            }
            let said = self.run(&mut openssl);
            assert!(said.contains("Verified Successfully"), "{said}");
        }

        /// What `pkcs11-tool` makes of a file with the key.
        fn tool(&self, action: &str, options: &[&str], input: &str) -> Vec<u8> {
            let mut tool = Command::new("pkcs11-tool");
            tool.arg("--module").arg(SoftHsmToken::library());
            tool.args(["--login", "--pin", PIN, "--id", "01", action]);
            tool.args(options);
            tool.args(["--input-file", input, "--output-file", "made"]);
            self.run(&mut tool);
            std::fs::read(self.0.path().join("made")).unwrap()
        }
    }

    fn performed(
        store: &dyn KeyStore,
        operation: Operation,
        scheme: Scheme,
        input: &Input,
    ) -> Vec<u8> {
        let capability = Capability {
            algorithm: "rsa2048".parse().unwrap(),
            operation,
        };
        let mut handle = store
            .open_by(&store.key(capability).unwrap(), scheme)
            .unwrap();
        let mut output = vec![0; 256];
        handle.arm(input).unwrap();
        let performed = handle.perform(input, &mut output).unwrap();
        output.truncate(performed.length);
        output
    }

    #[test]
    fn the_schemes_are_those_of_other_programs() {
        const NAME: &str = "behind_a_module::the_schemes_are_those_of_other_programs";
        if std::env::var_os(CHILD).is_none() {
            return in_a_child(NAME, |token| token.make_key("rsa:2048", "01", "web"));
        }
        let store = device(";object=web").open(&Run::new(0)).unwrap();
        let key = store.key(Capability {
            algorithm: "rsa2048".parse().unwrap(),
            operation: Operation::Sign,
        });
        let public = store.public_key(&key.unwrap()).unwrap();
        let others = Others(tempfile::tempdir().unwrap());
        others.file("public.der", &public.spki_der().unwrap());
        let pss = [
            "rsa_padding_mode:pss",
            "rsa_pss_saltlen:32",
            "rsa_mgf1_md:sha256",
        ];
        let pkcs1 = ["rsa_padding_mode:pkcs1"];
        for (scheme, padding) in [
            (Scheme::Pss, &pss[..]),
            (Scheme::PssHashed, &pss),
            (Scheme::Hashed, &pkcs1),
        ] {
            signed_as_others_do(&others, store.as_ref(), &public, scheme, padding);
        }
        decrypted_as_others_do(&others, &public);
        store.restore().unwrap();
    }

    /// OpenSSL's program takes our signatures, and our check those of OpenSC's tool.
    fn signed_as_others_do(
        others: &Others,
        store: &dyn KeyStore,
        public: &PublicKey,
        scheme: Scheme,
        padding: &[&str],
    ) {
        let sign = Operation::Sign;
        let challenge = Challenge::by(public, sign, Some(scheme), 40, 0).unwrap();
        let digests = Challenge::new(public, sign, 40, 0).unwrap();
        let input = &challenge.inputs[0];
        others.file("digest", &digests.inputs[0].bytes);
        others.file("input", &input.bytes);
        others.file("signature", &performed(store, sign, scheme, input));
        others.openssl_verifies(padding);
        let options: &[&str] = match scheme {
            #[rustfmt::skip]
            Scheme::Pss => &[
                "--mechanism", "RSA-PKCS-PSS", "--hash-algorithm", "SHA256", "--mgf", "MGF1-SHA256",
                "--salt-len", "32",
            ],
            Scheme::PssHashed => &["--mechanism", "SHA256-RSA-PKCS-PSS", "--salt-len", "32"],
            Scheme::Hashed => &["--mechanism", "SHA256-RSA-PKCS"],
            Scheme::Oaep | Scheme::OaepSha1 => panic!("{scheme} signs nothing"),
        };
        let output = &others.tool("--sign", options, "input")[..];
        let theirs = Verifiable { input: 0, output };
        assert_eq!(
            challenge.verifier.verify(&[theirs]).remove(0),
            Ok(()),
            "{scheme}"
        );
        let foreign = Verifiable { input: 1, output };
        assert!(challenge.verifier.verify(&[foreign]).remove(0).is_err());
    }

    /// What our inputs hold, OpenSC's tool finds.
    fn decrypted_as_others_do(others: &Others, public: &PublicKey) {
        let scheme = Some(Scheme::OaepSha1);
        let challenge = Challenge::by(public, Operation::Decrypt, scheme, 16, 0).unwrap();
        others.file("input", &challenge.inputs[0].bytes);
        let oaep = [
            "--mechanism",
            "RSA-PKCS-OAEP",
            "--hash-algorithm",
            "SHA-1",
            "--mgf",
            "MGF1-SHA1",
        ];
        let output = &others.tool("--decrypt", &oaep, "input")[..];
        let found = Verifiable { input: 0, output };
        assert_eq!(challenge.verifier.verify(&[found]).remove(0), Ok(()));
    }
}

/// Tokens of keymark's own, each in a place of its own.
#[cfg(feature = "pkcs11")]
mod of_keymarks_own {
    use keymark_shim_protocol::pkcs11::settings::Settings;
    use keymark_shim_protocol::pkcs11::{Call, Traced, trace};
    use keymark_stores::pkcs11::modules::Places;
    use keymark_stores::pkcs11::wrapped::wrapped;
    use keymark_stores::pkcs11::{ModuleFile, OwnKind, OwnPlace, own_token};
    use keymark_testkit::place::said;
    use keymark_testkit::process::this_test_program;

    use super::*;

    /// Names the library to the child that runs the suite, with the environment that the library reads.
    const LIBRARY: &str = "KEYMARK_TEST_LIBRARY";

    fn conforms(kind: OwnKind, test: &str, algorithms: &[&str]) {
        if let Ok(file) = std::env::var(LIBRARY) {
            let file: ModuleFile = serde_json::from_str(&file).unwrap();
            let device = own_token(&kind, &file).unwrap();
            let store = device.open(&Run::new(0)).unwrap();
            suite::conforms(store.as_ref(), Some(algorithms));
            return store.restore().unwrap();
        }
        let place = OwnPlace::prepare(&kind, &Places::of_user()).unwrap();
        in_a_child(place.file(), test);
    }

    fn in_a_child(file: &ModuleFile, test: &str) {
        let mut child = this_test_program(&format!("of_keymarks_own::{test}"));
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

    /// The same with keymark's own module before the library, which takes down the calls.
    fn conforms_traced(kind: OwnKind, test: &str, algorithms: &[&str]) {
        if std::env::var_os(LIBRARY).is_some() {
            return conforms(kind, test, algorithms);
        }
        let place = OwnPlace::prepare(&kind, &Places::of_user()).unwrap();
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
        conforms_traced(OwnKind::SoftHsm, "softhsm_conforms_traced", &quick);
    }

    #[test]
    fn kryoptic_conforms_traced() {
        let quick = ["rsa2048", "nistp256", "ed25519", "cv25519"];
        conforms_traced(OwnKind::Kryoptic, "kryoptic_conforms_traced", &quick);
    }

    #[test]
    fn swtpm_conforms_traced() {
        conforms_traced(
            OwnKind::Swtpm,
            "swtpm_conforms_traced",
            &["rsa2048", "nistp256"],
        );
    }

    #[test]
    fn a_twin_conforms() {
        // A quick one, of all that are shipped.
        let kind = OwnKind::named("twin:jcop4-j3r180").unwrap();
        conforms(
            kind,
            "a_twin_conforms",
            &["rsa2048", "nistp256", "nistp384"],
        );
    }

    #[test]
    fn kryoptic_conforms() {
        let quick = [
            "rsa2048", "nistp256", "nistp384", "nistp521", "ed25519", "cv25519", "cv448",
            "mldsa65", "mlkem768",
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

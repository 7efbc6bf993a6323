//! SoftHSM2 with a token of the test's own.

use std::process::Command;

use keymark_bench::workload::{Input, Verifiable};
use keymark_stores::challenge::Challenge;
use keymark_stores::journal::Journals;
use keymark_stores::pkcs11::{ModuleFile, TokenHere};
use keymark_stores::public_key::PublicKey;
use keymark_stores::store::KeyStore;
use keymark_stores::user::{Pin, TokenName, User};
use keymark_testkit::place::said;
use keymark_testkit::process::this_test_program;
use keymark_testkit::softhsm::{PIN, SoftHsmToken, URI};

use super::*;

/// Set in the child that runs the suite: SoftHSM2 finds its tokens by its environment.
const CHILD: &str = "KEYMARK_TEST_CHILD";

/// The user's token, by its module in this process.
fn token(object: &str) -> TokenHere {
    token_for(object, None, &Run::new(0))
}

fn token_for(object: &str, write: Option<TokenName>, run: &Run) -> TokenHere {
    let mut user = User::with_pin(Pin::new(PIN));
    user.consent.write = write;
    let module = ModuleFile::new(SoftHsmToken::library());
    let uri = format!("{URI}{object}").parse().unwrap();
    TokenHere::known(&module, &uri, &user, run).unwrap()
}

fn conforms(object: &str, algorithms: Option<&[&str]>) {
    let token = token(object);
    let store: &dyn KeyStore = &token;
    suite::conforms(store, algorithms);
    let wanted = |capability: &Capability| {
        let name = capability.algorithm.name();
        algorithms.is_none_or(|wanted| wanted.contains(&name))
    };
    let mut tried = Vec::new();
    for (scheme, capabilities) in token.schemes() {
        for capability in capabilities.into_iter().filter(wanted) {
            suite::conforms_by_scheme(store, capability, scheme);
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

fn in_a_child<T>(test: T, prepare: impl FnOnce(&SoftHsmToken)) {
    let token = SoftHsmToken::new();
    prepare(&token);
    let mut child = this_test_program(path_of(test));
    let said = said(&token.run(child.env(CHILD, "1")));
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
fn softhsm_conforms_with_test_keys() {
    if std::env::var_os(CHILD).is_some() {
        let quick = [
            "rsa2048", "nistp256", "nistp384", "nistp521", "ed25519", "ed448",
        ];
        return conforms("", Some(&quick));
    }
    in_a_child(softhsm_conforms_with_test_keys, |_| {});
}

#[test]
fn softhsm_conforms_with_test_keys_on_the_token() {
    if std::env::var_os(CHILD).is_none() {
        return in_a_child(softhsm_conforms_with_test_keys_on_the_token, |_| {});
    }
    let named = token("").id().name();
    let journals = tempfile::tempdir().unwrap();
    let run = Run {
        journals: Some((
            Journals::within(journals.path().to_owned()),
            "run".to_owned(),
        )),
        ..Run::new(0)
    };
    let token = token_for("", Some(named), &run);
    let store: &dyn KeyStore = &token;
    suite::conforms(store, Some(&["rsa2048", "nistp256", "ed25519"]));
    let journalled = || std::fs::read_dir(journals.path()).unwrap().count();
    assert_eq!(journalled(), 1, "the token's");
    store.restore().unwrap();
    assert_eq!(journalled(), 0);
    let other = Some(TokenName::parse("0badcafe").unwrap());
    let token = token_for("", other, &run);
    let store: &dyn KeyStore = &token;
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
    if std::env::var_os(CHILD).is_some() {
        return conforms(";object=web", None);
    }
    in_a_child(
        softhsm_conforms_with_a_key_that_another_program_made,
        |token| token.make_key("rsa:2048", "01", "web"),
    );
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

    /// Returns whether the system's OpenSSL takes `signature` for one of the digest.
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

fn performed(store: &dyn KeyStore, operation: Operation, scheme: Scheme, input: &Input) -> Vec<u8> {
    let capability = Capability::new("rsa2048".parse().unwrap(), operation);
    let mut handle = store
        .open(&store.key(capability).unwrap(), Some(scheme))
        .unwrap();
    let mut output = vec![0; 256];
    handle.arm(input).unwrap();
    let performed = handle.perform(input, &mut output).unwrap();
    output.truncate(performed.length);
    output
}

#[test]
fn the_schemes_are_those_of_other_programs() {
    if std::env::var_os(CHILD).is_none() {
        return in_a_child(the_schemes_are_those_of_other_programs, |token| {
            token.make_key("rsa:2048", "01", "web");
        });
    }
    let token = token(";object=web");
    let store: &dyn KeyStore = &token;
    let key = store.key(Capability::new("rsa2048".parse().unwrap(), Operation::Sign));
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
        signed_as_others_do(&others, store, &public, scheme, padding);
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
    let challenge = Challenge::new(public, sign, Some(scheme), 40, 0).unwrap();
    let digests = Challenge::new(public, sign, None, 40, 0).unwrap();
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

fn decrypted_as_others_do(others: &Others, public: &PublicKey) {
    let scheme = Some(Scheme::OaepSha1);
    let challenge = Challenge::new(public, Operation::Decrypt, scheme, 16, 0).unwrap();
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

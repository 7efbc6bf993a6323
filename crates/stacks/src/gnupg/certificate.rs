//! Test keys in a home: each as a file of its agent, and an OpenPGP key made of them. The key store has the keys, gpg makes
//! the certificate around them.

use std::fs;
use std::path::Path;

use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, During as _, Error, Family, Operation};
use keymark_stores::software::libgcrypt::key;
use keymark_stores::store::KeyStore;
use keymark_stores::test_key::TestKey;

use super::composite_curve;
use super::home::Home;
use crate::program;
use crate::programs::write_private;

/// Makes the OpenPGP key of an algorithm in a home (doc/gpg.texi, "Unattended key generation": `Key-Grip` names a key
/// that the agent has): a primary key that signs, and a subkey that decrypts unless the primary key does that too. The
/// store has to hand the keys out; of an algorithm that cannot sign the primary key is of another one.
pub(super) fn make(home: &Home, store: &dyn KeyStore, algorithm: Algorithm) -> Result<(), Error> {
    let own = algorithm.family();
    let lacking = || Error::call(GENERATE, format!("GnuPG makes no key of {algorithm}"), "");
    let (signing, decrypting) = match own {
        Family::Rsa(_) | Family::Dsa(_) => (own, None),
        Family::Weierstrass(_) => (own, Some(own)),
        Family::Elgamal(_) => (Family::Ed25519, Some(own)),
        Family::Cv25519 | Family::Ed25519 => (Family::Ed25519, Some(Family::Cv25519)),
        Family::Cv448 | Family::Ed448 => (Family::Ed448, Some(Family::Cv448)),
        // gpg makes them itself: nothing else has keys of a composite.
        Family::Composite(composite) => {
            let length = algorithm.length().1;
            let curve = composite_curve(composite).ok_or_else(lacking)?;
            return home.generate(&format!(
                "Key-Type: EDDSA\nKey-Curve: ed25519\nKey-Usage: sign\nSubkey-Type: KYBER\nSubkey-Length: {length}\nSubkey-Curve: {curve}\nSubkey-Usage: encrypt\n"
            ));
        }
        Family::MlKem(_) | Family::MlDsa(_) | Family::SlhDsa(..) => return Err(lacking()),
    };
    let grip = put_key_of(store, home, signing, Operation::Sign)?;
    let usage = if matches!(signing, Family::Rsa(_)) {
        "sign,encrypt,cert"
    } else {
        "sign"
    };
    let kind = name(signing, Operation::Sign);
    let mut parameters = format!("Key-Type: {kind}\nKey-Grip: {grip}\nKey-Usage: {usage}\n");
    if let Some(family) = decrypting {
        let grip = put_key_of(store, home, family, Operation::Decrypt)?;
        let kind = name(family, Operation::Decrypt);
        parameters += &format!("Subkey-Type: {kind}\nSubkey-Grip: {grip}\nSubkey-Usage: encrypt\n");
    }
    home.generate(&parameters)
}

const GENERATE: &str = "gpg --generate-key";

/// The store's key, put among those of the home's agent.
fn put_key_of(
    store: &dyn KeyStore,
    home: &Home,
    family: Family,
    operation: Operation,
) -> Result<String, Error> {
    let algorithm = Algorithm::of(family);
    let algorithm = algorithm
        .ok_or_else(|| Error::call(GENERATE, "keymark lacks an algorithm of its own", ""))?;
    let capability = Capability::new(algorithm, operation);
    let key = store.access(&store.key(capability)?)?.into_file()?;
    put(home, &key)
}

/// GnuPG's name for what a key of the family does.
const fn name(family: Family, operation: Operation) -> &'static str {
    match family {
        Family::Rsa(_) => "RSA",
        Family::Dsa(_) => "DSA",
        Family::Elgamal(_) => "ELG",
        Family::Weierstrass(_) if operation.signs() => "ECDSA",
        Family::Weierstrass(_) | Family::Cv25519 | Family::Cv448 => "ECDH",
        Family::Ed25519 | Family::Ed448 => "EDDSA",
        // Neither comes here: GnuPG has none, or makes its own.
        Family::MlKem(_) | Family::MlDsa(_) | Family::SlhDsa(..) | Family::Composite(_) => "KYBER",
    }
}

/// Puts a private key, an S-expression (agent/keyformat.txt of GnuPG), among those of the home's agent, in the clear, under its keygrip, which GnuPG's own tool
/// computes.
pub fn put(home: &Home, test_key: &TestKey) -> Result<String, Error> {
    let keys = &home.path().join("private-keys-v1.d");
    make_directory(keys)?;
    let call = "gpg-protect-tool --show-keygrip";
    let file = keys.join("new.key");
    write_private(&file, &key::encode(test_key)?)?;
    let mut tool = home.gnupg.libexec("gpg-protect-tool")?;
    let tool = tool.arg("--show-keygrip").arg(&file);
    let output = program::run(tool, program::QUESTION).during(call)?;
    let grip = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if grip.len() != 40 {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::call(call, format!("{}: {said}", output.status), ""));
    }
    let named = keys.join(format!("{grip}.key"));
    fs::rename(&file, &named).during(format_args!("renaming {}", file.display()))?;
    Ok(grip)
}

fn make_directory(keys: &Path) -> Result<(), Error> {
    use std::os::unix::fs::DirBuilderExt;
    // The agent may have made it meanwhile.
    let made = fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(keys);
    made.during(format_args!("mkdir {}", keys.display()))
}

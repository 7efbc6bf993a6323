//! Test keys in a home: each as a file of its agent, and an OpenPGP key made of them. The key store has the keys, gpg makes
//! the certificate around them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use keymark_bench::algorithm::{Algorithm, Composite, Family};
use keymark_bench::error::{During as _, Error};
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_stores::software::libgcrypt::key;
use keymark_stores::store::KeyStore;
use keymark_stores::test_key::TestKey;

use super::composite_curve;
use super::home::Home;
use crate::programs::write_private;

/// Keys of one OpenPGP key.
pub(super) enum Parts {
    /// A primary key that signs, and a subkey that decrypts unless the primary key does that too.
    Given {
        primary: Arc<TestKey>,
        subkey: Option<Arc<TestKey>>,
    },
    /// gpg makes them itself: nothing else has keys of a composite.
    OwnComposite(Algorithm, Composite),
}

impl Parts {
    /// The keys of an algorithm out of a store, which has to hand them out. An algorithm that cannot
    /// sign gets an Ed25519 primary key.
    pub(super) fn of(store: &dyn KeyStore, algorithm: Algorithm) -> Result<Self, Error> {
        let key = |algorithm, operation| test_key(store, algorithm, operation);
        let own = |operation| key(algorithm, operation);
        let of_family = |family| {
            Algorithm::of(family).ok_or_else(|| {
                Error::call(
                    "gpg --generate-key",
                    "keymark lacks an algorithm of its own",
                    "",
                )
            })
        };
        let pair = |signing: Family, decrypting: Family| -> Result<Self, Error> {
            Ok(Self::Given {
                primary: key(of_family(signing)?, Operation::Sign)?,
                subkey: Some(key(of_family(decrypting)?, Operation::Decrypt)?),
            })
        };
        match algorithm.family() {
            Family::Rsa(_) | Family::Dsa(_) => Ok(Self::Given {
                primary: own(Operation::Sign)?,
                subkey: None,
            }),
            Family::Weierstrass(_) => Ok(Self::Given {
                primary: own(Operation::Sign)?,
                subkey: Some(own(Operation::Decrypt)?),
            }),
            Family::Elgamal(_) => pair(Family::Ed25519, algorithm.family()),
            Family::Cv25519 | Family::Ed25519 => pair(Family::Ed25519, Family::Cv25519),
            Family::Cv448 | Family::Ed448 => pair(Family::Ed448, Family::Cv448),
            Family::KyberComposite(composite) => Ok(Self::OwnComposite(algorithm, composite)),
            Family::MlKem(_) | Family::MlDsa(_) | Family::SlhDsa(..) => Err(Error::call(
                "gpg --generate-key",
                format!("GnuPG makes no key of {algorithm}"),
                "",
            )),
        }
    }
}

fn test_key(
    store: &dyn KeyStore,
    algorithm: Algorithm,
    operation: Operation,
) -> Result<Arc<TestKey>, Error> {
    let capability = Capability::new(algorithm, operation);
    store.access(&store.key(capability)?)?.into_file()
}

/// Makes the OpenPGP key in a home (doc/gpg.texi, "Unattended key generation": `Key-Grip` names a key
/// that the agent has).
pub(super) fn make(home: &Home, parts: &Parts) -> Result<(), Error> {
    let parameters = match parts {
        Parts::Given { primary, subkey } => {
            let grip = put(home, primary)?;
            let mut text = match (primary.algorithm.family(), subkey) {
                (Family::Rsa(_), None) => {
                    format!("Key-Type: RSA\nKey-Grip: {grip}\nKey-Usage: sign,encrypt,cert\n")
                }
                (family, _) => format!(
                    "Key-Type: {}\nKey-Grip: {grip}\nKey-Usage: sign\n",
                    kind(family, Operation::Sign)
                ),
            };
            if let Some(subkey) = subkey {
                let kind = kind(subkey.algorithm.family(), Operation::Decrypt);
                let grip = put(home, subkey)?;
                text +=
                    &format!("Subkey-Type: {kind}\nSubkey-Grip: {grip}\nSubkey-Usage: encrypt\n");
            }
            text
        }
        Parts::OwnComposite(algorithm, composite) => {
            let (length, curve) = (algorithm.length().1, composite_curve(*composite));
            format!(
                "Key-Type: EDDSA\nKey-Curve: ed25519\nKey-Usage: sign\nSubkey-Type: KYBER\nSubkey-Length: {length}\nSubkey-Curve: {curve}\nSubkey-Usage: encrypt\n"
            )
        }
    };
    home.generate(&parameters)
}

/// GnuPG's name for what a key of the family does.
const fn kind(family: Family, operation: Operation) -> &'static str {
    match family {
        Family::Rsa(_) => "RSA",
        Family::Dsa(_) => "DSA",
        Family::Elgamal(_) => "ELG",
        Family::Weierstrass(_) if operation.signs() => "ECDSA",
        Family::Weierstrass(_) | Family::Cv25519 | Family::Cv448 => "ECDH",
        Family::Ed25519 | Family::Ed448 => "EDDSA",
        // Neither comes here: GnuPG has none, or makes its own.
        Family::MlKem(_) | Family::MlDsa(_) | Family::SlhDsa(..) | Family::KyberComposite(_) => {
            "KYBER"
        }
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
    let output = tool
        .arg("--show-keygrip")
        .arg(&file)
        .output()
        .during(call)?;
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

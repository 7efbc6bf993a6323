//! What OpenSSH's own client makes of the agent and of the key in it.

use std::path::Path;

use keymark_stacks::ssh::key;

use super::{ALGORITHMS, Place, text};

#[test]
fn openssh_sees_the_key_and_signs_with_it() {
    for algorithm in ALGORITHMS {
        let (place, key) = Place::with_key(algorithm);
        let public = key::public(&key).unwrap();
        let nothing = place.file("nothing", "");
        let listed = text(&place.run("ssh-add", &["-l"], &nothing));
        let fingerprint = public.fingerprint(ssh_key::HashAlg::Sha256).to_string();
        assert!(listed.contains(&fingerprint), "{algorithm}: {listed}");
        let line = public.to_openssh().unwrap();
        let file = place.file("key.pub", &line);
        let file = file.to_str().unwrap();
        let tested = place.run("ssh-add", &["-T", file], &nothing);
        assert!(tested.status.success(), "{algorithm}: {}", text(&tested));
        let document = place.file("document", "words");
        let signing = ["-Y", "sign", "-f", file, "-n", "file"];
        let signed = place.run("ssh-keygen", &signing, &document);
        assert!(signed.status.success(), "{algorithm}: {}", text(&signed));
        let signature = place.file("signature", &String::from_utf8_lossy(&signed.stdout));
        let signers = place.file("signers", &format!("tester {line}\n"));
        let verifying = |document: &Path| {
            let files = [signers.to_str().unwrap(), signature.to_str().unwrap()];
            let [signers, signature] = files;
            let arguments = [
                "-Y", "verify", "-f", signers, "-I", "tester", "-n", "file", "-s", signature,
            ];
            place.run("ssh-keygen", &arguments, document)
        };
        let verified = verifying(&document);
        assert!(
            verified.status.success(),
            "{algorithm}: {}",
            text(&verified)
        );
        let changed = place.file("changed", "word");
        assert!(!verifying(&changed).status.success(), "{algorithm}");
    }
}

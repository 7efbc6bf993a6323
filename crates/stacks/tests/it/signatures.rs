//! The check of signed messages, against the installed gpg: what it signs passes, what it would not
//! take does not.

use std::fs;
use std::sync::Arc;

use keymark_bench::algorithm::Family;
use keymark_bench::case::{Case, StackName};
use keymark_bench::operation::Operation;
use keymark_bench::workload::{Stack, Workload};
use keymark_stacks::gnupg::homes::GnupgHomes;
use keymark_stacks::gnupg::key_home::KeyHome;
use keymark_stacks::gnupg::process::GnupgStack;
use keymark_stacks::gnupg::signatures::Signer;
use keymark_stacks::gnupg::status;
use keymark_stacks::gnupg::{Gnupg, Protection};
use keymark_testkit::assert_says;

use crate::suite::{gpg_with, keys, performed, verdicts};

const TEXT: &[u8] = b"what was to be signed, and nothing else";

/// A home of gpg's with a key that signs.
struct Place {
    home: Arc<KeyHome>,
    signer: Signer,
    _homes: GnupgHomes,
}

impl Place {
    fn of(algorithm: &str) -> Self {
        let homes = GnupgHomes::new(Gnupg::find(None).unwrap()).unwrap();
        let algorithm = algorithm.parse().unwrap();
        let home = homes.file_home(&*keys(), algorithm, Protection::None);
        let home = home.unwrap();
        Self {
            signer: signer(&home).expect("a key that is checked here"),
            home,
            _homes: homes,
        }
    }

    fn fingerprint(&self) -> &str {
        &self.home.key(Operation::Sign).unwrap().fingerprint
    }

    /// What gpg makes of the text with these arguments.
    fn gpg(&self, arguments: &[&str], text: &[u8]) -> Vec<u8> {
        let file = self.home.home.path().join("text");
        fs::write(&file, text).unwrap();
        let file = file.to_string_lossy();
        let arguments = [&["--output", "-"], arguments, &[&*file]].concat();
        self.home.home.run("gpg", &arguments).unwrap().0
    }

    /// Uncompressed, so that every octet of the packets is its own.
    fn signed(&self) -> Vec<u8> {
        self.gpg(&["--compress-algo", "none", "--sign"], TEXT)
    }

    fn refusal(&self, message: &[u8]) -> String {
        self.signer.check(TEXT, message).unwrap_err()
    }
}

fn signer(home: &KeyHome) -> Option<Signer> {
    let key = home.key(Operation::Sign).unwrap();
    let arguments = ["--export", &key.exactly()];
    let (certificate, _) = home.home.run("gpg --export", &arguments).unwrap();
    Signer::find(&certificate, &key.fingerprint)
}

#[test]
fn what_gpg_signs_is_checked_here_whatever_the_algorithm() {
    let mut algorithms = Gnupg::find(None).unwrap().algorithms;
    // gpg makes keys of Ed448 in version 5: those it checks itself.
    algorithms.retain(|one| one.has(Operation::Sign) && one.family() != Family::Ed448);
    for algorithm in algorithms {
        let place = Place::of(algorithm.name());
        for options in [
            &["--sign"][..],
            &["--compress-algo", "none", "--sign"],
            &["--compress-algo", "zlib", "--sign"],
            &["--digest-algo", "SHA512", "--sign"],
        ] {
            let message = place.gpg(options, TEXT);
            let verdict = place.signer.check(TEXT, &message);
            assert_eq!(verdict, Ok(()), "{algorithm} {options:?}");
        }
        // Numbers of a signature lose their leading zeros, one in 256.
        if algorithm.name() == "ed25519" {
            for number in 0..300_u32 {
                let text = number.to_be_bytes();
                let message = place.gpg(&["--sign"], &text);
                assert_eq!(place.signer.check(&text, &message), Ok(()), "{number}");
            }
        }
    }
}

#[test]
fn a_long_text_in_pieces_is_one_text() {
    let place = Place::of("ed25519");
    let text: Vec<u8> = (0..300_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    for algorithm in ["none", "zip"] {
        let message = place.gpg(&["--compress-algo", algorithm, "--sign"], &text);
        assert_eq!(place.signer.check(&text, &message), Ok(()));
        let other = place.signer.check(&text[1..], &message).unwrap_err();
        assert_says(&other, ["signed text is not the expected text"]);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::of("rsa2048");
    let good = place.signed();
    assert_eq!(place.signer.check(TEXT, &good), Ok(()));

    let mut tampered = good.clone();
    *tampered.last_mut().unwrap() ^= 1;
    assert_eq!(place.refusal(&tampered), "the signature does not verify");

    let other = place.signer.check(b"another text", &good).unwrap_err();
    assert_eq!(other, "the signed text is not the expected text");
    let replaced = place.refusal(&replace(&good, b"nothing", b"more of"));
    assert_says(&replaced, ["signed text is not the expected text"]);
    // The text as it was to be, under the signature of another.
    let signed = place.gpg(
        &["--compress-algo", "none", "--sign"],
        &replace(TEXT, b"nothing", b"more of"),
    );
    let moved = place.refusal(&replace(&signed, b"more of", b"nothing"));
    assert_eq!(moved, "the signature has another digest");

    let stranger = Place::of("rsa3072");
    let foreign = place.refusal(&stranger.signed());
    assert_says(&foreign, [stranger.fingerprint(), place.fingerprint()]);

    let unsigned = place.gpg(&["--store"], TEXT);
    assert_eq!(place.refusal(&unsigned), "the message is not signed");
    let text_mode = place.gpg(&["--textmode", "--compress-algo", "none", "--sign"], TEXT);
    assert!(place.refusal(&text_mode).contains("type Text"));
    for garbage in [
        &[][..],
        &[0x5A; 64],
        &[0xFF; 64],
        b"no packet",
        &[0xA3, 1, 0, 0],
    ] {
        assert!(place.refusal(garbage).contains("read"), "{garbage:?}");
    }
}

#[test]
fn no_part_of_a_message_passes_for_it() {
    let place = Place::of("nistp256");
    for message in [place.signed(), place.gpg(&["--sign"], TEXT)] {
        for length in 0..message.len() {
            assert!(
                place.signer.check(TEXT, &message[..length]).is_err(),
                "{length}"
            );
        }
    }
    // A compressed packet without a length goes on to the end, and gpg also ignores what is left of it.
    let twice = [place.signed(), place.signed()].concat();
    assert!(place.refusal(&twice).contains("cannot read"));
}

/// Every octet changed once; gpg is asked about all that pass here.
#[test]
fn no_change_passes_here_that_gpg_would_not_take() {
    let place = Place::of("ed25519");
    let good = place.signed();
    let dir = tempfile::tempdir().unwrap();
    let mut passed = Vec::new();
    for place_of_change in 0..good.len() {
        for change in [1, 0x80] {
            let mut message = good.clone();
            message[place_of_change] ^= change;
            if place.signer.check(TEXT, &message).is_ok() {
                let file = dir.path().join(format!("{place_of_change}-{change}"));
                fs::write(&file, &message).unwrap();
                passed.push(file);
            }
        }
    }
    // Name and date of the literal packet, say, are not signed.
    assert!(
        !passed.is_empty() && passed.len() < good.len() / 4,
        "{passed:?}"
    );
    let files: Vec<_> = passed.iter().map(|file| file.to_string_lossy()).collect();
    let mut arguments = vec!["--trust-model", "always", "--verify-files"];
    arguments.extend(files.iter().map(AsRef::as_ref));
    let output = place.home.home.gpg().args(&arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let valid = status::status_lines(&said)
        .filter(|(keyword, _)| *keyword == "VALIDSIG")
        .filter(|(_, rest)| rest.split(' ').next() == Some(place.fingerprint()));
    assert_eq!(valid.count(), passed.len(), "{said}");
}

fn replace(octets: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = octets
        .windows(old.len())
        .position(|window| window == old)
        .unwrap();
    [&octets[..at], new, &octets[at + old.len()..]].concat()
}

fn workload(gnupg: Gnupg) -> (Workload, GnupgStack) {
    let homes = Arc::new(GnupgHomes::new(gnupg).unwrap());
    let stack = GnupgStack::new(homes, keys());
    (stack.prepare(&case(1)).unwrap(), stack)
}

fn case(workers: u32) -> Case {
    keymark_testkit::case("ed25519")
        .stack(StackName::GPG)
        .operation(Operation::Sign)
        .workers(workers)
        .input_bytes(40)
        .build()
}

/// Signs an input so often, one after the other.
fn signed(workload: &mut Workload, times: usize) -> Vec<(usize, Vec<u8>)> {
    let mut sign = || (0, performed(workload, 0).unwrap());
    (0..times).map(|_| sign()).collect()
}

#[test]
fn gpg_is_asked_about_a_few_messages_once_a_case() {
    let directory = tempfile::tempdir().unwrap();
    let refuses = "case \"$*\" in *--verify-files*) echo 'gpg: BAD signature' >&2; exit 1;; esac";
    let (mut workload, _stack) = workload(gpg_with(directory.path(), refuses));
    let outputs = signed(&mut workload, 5);
    let first = verdicts(&workload, &outputs);
    assert_eq!(first[..2], [Ok(()), Ok(())]);
    for verdict in &first[2..] {
        let reason = verdict.as_ref().unwrap_err();
        assert_says(&reason, ["gpg does not", "BAD"]);
    }
    assert_eq!(verdicts(&workload, &outputs), vec![Ok(()); 5]);
}

#[test]
fn what_is_wrong_stays_wrong_whatever_gpg_says() {
    let (mut workload, _stack) = workload(Gnupg::find(None).unwrap());
    let mut outputs = signed(&mut workload, 2);
    outputs[1].1 = vec![0x5A; 80];
    for _ in 0..2 {
        let verdicts = verdicts(&workload, &outputs);
        assert_eq!(verdicts[0], Ok(()));
        let reason = verdicts[1].as_ref().unwrap_err();
        assert_says(&reason, ["cannot read the OpenPGP message"]);
    }
}

#[test]
fn gpg_checks_the_signatures_of_a_key_that_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let nothing = "case \"$*\" in *--export*) exit 0;; esac";
    let (mut workload, _stack) = workload(gpg_with(directory.path(), nothing));
    let mut outputs = signed(&mut workload, 3);
    outputs[1].1 = vec![0x5A; 80];
    let verdicts = verdicts(&workload, &outputs);
    assert_eq!((&verdicts[0], &verdicts[2]), (&Ok(()), &Ok(())));
    assert!(verdicts[1].is_err());
}

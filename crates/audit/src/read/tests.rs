use proptest::prelude::*;

use super::*;
use crate::key::{Numbers, PublicKey};
use keymark_advice::policy::Use;

macro_rules! fixture {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!("fixtures/", $name)).as_slice(),
        )
    };
}

/// Made by gpg 2.2.40, OpenSSL 3, OpenSSH 9 and rsop for these tests; the keys are used nowhere.
const FILES: [(&str, &[u8]); 10] = [
    fixture!("ring.gpg"),
    fixture!("carol.asc"),
    fixture!("pubring.kbx"),
    fixture!("p224.pem"),
    fixture!("p224.der"),
    fixture!("p224.key"),
    fixture!("id_ed25519"),
    fixture!("id_ed25519.pub"),
    fixture!("known_hosts"),
    // By rsop 0.12.0, profile rfc9980, without its signatures.
    fixture!("composites.pgp"),
];

fn bytes(name: &str) -> &'static [u8] {
    let (_, bytes) = FILES.iter().find(|(file, _)| *file == name).unwrap();
    bytes
}

fn read(name: &str) -> Read {
    of(name, bytes(name))
}

fn keys(read: &Read) -> Vec<&PublicKey> {
    read.keys.iter().map(|found| &found.key).collect()
}

fn names(read: &Read) -> Vec<String> {
    keys(read).into_iter().map(PublicKey::name).collect()
}

fn of(name: &str, bytes: &[u8]) -> Read {
    let mut read = Read::default();
    read.bytes(name, bytes);
    read.settle();
    assert!(read.named() > 0, "{name} was passed over");
    read
}

fn summary(read: &Read) -> Vec<String> {
    let line = |key: &FoundKey| format!("{} {} {}", key.place, key.key.name(), key.owner);
    read.keys.iter().map(line).collect()
}

/// The fingerprint is the one that rsop tells; a secret key has its private part behind the public one.
#[test]
fn composites_are_keys_of_both_parts() {
    let found = read("composites.pgp");
    let [signs, encrypts] = found.keys.as_slice() else {
        panic!("{:?}", summary(&found));
    };
    let print = "926A94D57F826794992F2C0D1E7ACA54F246FE7646CEEFCA20F6F9CEBE366D8F";
    assert_eq!(signs.fingerprint.as_deref(), Some(print));
    assert_eq!(
        (&*signs.uses, &*encrypts.uses),
        (&[Use::Signature][..], &[Use::Encryption][..])
    );
    for key in [signs, encrypts] {
        assert_eq!(key.key.strength().unwrap().0, 192, "{}", key.key.name());
    }
    // One octet short of a key on a curve and one of a lattice.
    let header = [6, 0, 0, 0, 0, 30, 0, 0, 7, 0xbf];
    let body = [&header, &bytes("composites.pgp")[13..][..0x7bf]].concat();
    let (high, low) = (((body.len() - 192) >> 8) + 192, (body.len() - 192) & 0xff);
    let short = [&[0xc6, high as u8, low as u8][..], &body].concat();
    let cut = of("short.pgp", &short);
    assert_eq!((cut.keys.len(), cut.not_read.len()), (0, 1));
}

#[test]
fn each_form_is_read() {
    for (name, wanted) in [
        (
            "ring.gpg",
            &[
                "ring.gpg ed25519 Carol <carol@example.org>",
                "ring.gpg cv25519 Carol <carol@example.org>",
                "ring.gpg dsa1024 Old <old@example.org>",
            ][..],
        ),
        (
            "carol.asc",
            &[
                "carol.asc:1 ed25519 Carol <carol@example.org>",
                "carol.asc:1 cv25519 Carol <carol@example.org>",
            ],
        ),
        (
            "composites.pgp",
            &[
                "composites.pgp mldsa65+ed25519 keymark test key",
                "composites.pgp mlkem768+x25519 keymark test key",
            ],
        ),
        ("p224.pem", &["p224.pem:1 nistp224 CN=p224"]),
        ("p224.der", &["p224.der nistp224 CN=p224"]),
        ("p224.key", &["p224.key:1 nistp224 "]),
        ("id_ed25519", &["id_ed25519:1 ed25519 "]),
        ("id_ed25519.pub", &["id_ed25519.pub:1 ed25519 user@ed25519"]),
        (
            "known_hosts",
            &[
                "known_hosts:1 rsa3072 host.example.org,10.0.0.1",
                "known_hosts:2 ed25519 |1|abc=|def=",
            ],
        ),
    ] {
        let found = read(name);
        assert_eq!(summary(&found), wanted);
        assert_eq!(found.not_read, []);
    }
    // The same keys, whatever is around them.
    for (one, other) in [
        ("ring.gpg", "pubring.kbx"),
        ("p224.pem", "p224.key"),
        ("id_ed25519", "id_ed25519.pub"),
    ] {
        assert_eq!(keys(&read(one)), keys(&read(other)));
    }
}

#[test]
fn self_signatures_say_when_a_key_ends_and_how_they_were_made() {
    let ring = read("ring.gpg");
    let [carol, subkey, old] = ring.keys.as_slice() else {
        panic!("{:?}", summary(&ring));
    };
    let end = |key: &FoundKey| key.expires.unwrap().to_string();
    assert_eq!((carol.expires, carol.broken), (None, None));
    assert_eq!((&*end(subkey), &*end(old)), ("2050-01-01", "2020-01-01"));
    assert_eq!(subkey.uses, [Use::Encryption]);
    assert_eq!(old.broken.map(|broken| broken.hash), Some("SHA-1"));
    assert!(matches!(&old.key.numbers, Numbers::Dsa { q, .. } if q.len() == 20));
}

/// A damaged private part follows what is read.
#[test]
fn of_a_private_key_the_public_part_alone_is_read() {
    let (blocks, _) = armor::blocks(bytes("id_ed25519"));
    let mut private = blocks[0].bytes().unwrap().to_vec();
    let end = private.len();
    private[end - 140..].fill(0xff);
    let key = ssh::of_private(&Location::of(""), &private).unwrap().key;
    assert_eq!([&key], *keys(&read("id_ed25519.pub")));
}

#[test]
fn damaged_files_are_named_and_the_others_go_on() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(place.path().join(name), bytes).unwrap();
    for (name, bytes) in FILES {
        write(name, bytes);
    }
    write("cut.pem", &bytes("p224.pem")[..200]);
    write("cut.kbx", &bytes("pubring.kbx")[..700]);
    write("notes.txt", b"nothing here");
    write(
        "list",
        b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== cut\nssh-rsa AAAA\xff",
    );
    std::fs::create_dir(place.path().join("more")).unwrap();
    write("more/wrong.crt", b"\x30\x03\x02\x01\x00");
    std::os::unix::fs::symlink(place.path(), place.path().join("more/round")).unwrap();
    let mut found = Read::default();
    found.path(place.path());
    assert_eq!(found.keys.len(), 3 + 2 + 3 + 1 + 1 + 1 + 1 + 1 + 2 + 2 + 2);
    let mut named: Vec<String> = found.not_read.iter().map(ToString::to_string).collect();
    named.sort();
    let wanted = ["cut.kbx", "cut.pem:1", "list:1", "list:2", "wrong.crt"];
    assert_eq!(named.len(), wanted.len(), "{named:?}");
    for (named, name) in named.iter().zip(wanted) {
        assert!(named.contains(name), "{named}");
    }
    let [text] = &found.without_key[..] else {
        panic!("{:?}", found.without_key);
    };
    assert!(text.place.within.ends_with("notes.txt") && text.what == "text");
}

/// A file may link outside, as in /etc/ssl/certs; a directory may not, and nothing is waited for.
#[test]
fn a_directory_is_not_left_and_nothing_in_it_is_waited_for() {
    use std::os::unix::fs::symlink;

    let place = tempfile::tempdir().unwrap();
    let (inside, outside) = (place.path().join("inside"), place.path().join("outside"));
    for directory in [&inside, &outside, &inside.join("more")] {
        std::fs::create_dir(directory).unwrap();
    }
    std::fs::write(outside.join("id.pub"), bytes("id_ed25519.pub")).unwrap();
    std::fs::write(outside.join("p224.pem"), bytes("p224.pem")).unwrap();
    symlink(outside.join("p224.pem"), inside.join("linked.pem")).unwrap();
    symlink(&outside, inside.join("out")).unwrap();
    symlink("/", inside.join("root")).unwrap();
    symlink("..", inside.join("more/round")).unwrap();
    symlink("/dev/zero", inside.join("zero")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(inside.join("S.agent")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(inside.join("fifo"))
        .status();
    assert!(made.unwrap().success());
    let mut found = Read::default();
    found.path(&inside);
    assert_eq!(names(&found), ["nistp224"]);
    let mut named: Vec<String> = found.not_read.iter().map(ToString::to_string).collect();
    named.sort();
    for (named, wanted) in named.iter().zip([
        "fifo (a pipe",
        "out (a link",
        "root (a link",
        "zero (a pipe",
    ]) {
        assert!(named.contains(wanted), "{named}");
    }
    assert_eq!(named.len(), 4, "{named:?}");
    assert_eq!(found.without_key.len(), 1, "{:?}", found.without_key);
}

/// The key that sshd takes is the one that is found, whatever options and comments have in them.
#[test]
fn a_key_in_an_option_is_not_the_lines_key() {
    let text = |name| std::str::from_utf8(bytes(name)).unwrap();
    let real = text("id_ed25519.pub").trim_end();
    let known = text("known_hosts");
    let decoy = known.lines().next().unwrap().split_once(' ').unwrap().1;
    for line in [
        format!("environment=\"X= {decoy} y\" {real}"),
        format!("environment=\"X=\\\" {decoy} y\",no-pty {real} \"o'brien"),
        format!("from=\"a b\",command=\"x \\\"{decoy}\\\" {decoy}\"\t{real} {decoy}"),
        format!("{real} {decoy} \""),
        format!("  no-pty,command=\"{decoy}\" {real}"),
        format!("host\" {real}"),
    ] {
        assert_eq!(names(&of("file", line.as_bytes())), ["ed25519"], "{line}");
    }
    // A line that sshd refuses has a reason, and not a key.
    let refused = format!("command=\"{decoy}\" ssh-rsa AAAA");
    let broken = of("file", refused.as_bytes());
    assert_eq!((broken.keys.len(), broken.not_read.len()), (0, 1));
}

#[test]
fn packets_that_say_nothing_may_come_before_a_key() {
    let ring = bytes("ring.gpg");
    let keys = summary(&of("ring.gpg", ring));
    for before in [
        &b"\xca\x03PGP"[..],
        b"\xcc\x02\0\x01",
        b"\xb0\x01x",
        b"\xd5\x03abc\xca\x03PGP",
    ] {
        let found = of("ring.gpg", &[before, ring].concat());
        assert_eq!(summary(&found), keys, "{before:?}");
    }
}

fn block(label: &str, body: &str) -> String {
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

#[test]
fn encrypted_and_endless_blocks_say_what_is_wrong() {
    let reason = |text: &str| of("file", text.as_bytes()).not_read[0].reason.clone();
    // An algorithm of PKCS#5, and octets.
    let encrypted = block("ENCRYPTED PRIVATE KEY", "MBEwCwYJKoZIhvcNAQUNBAIJCQ==");
    assert!(reason(&encrypted).contains("give its public key"));
    let legacy = block("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n\nAAAA");
    assert!(reason(&legacy).contains("give its public key"));
    assert!(reason(&block("CERTIFICATE", "!")).contains("not Base64"));
    assert!(reason("-----BEGIN CERTIFICATE-----\nAAAA").contains("has no end"));
    let both = [legacy.as_bytes(), bytes("id_ed25519.pub")].concat();
    let found = of("file", &both);
    let (not_read, without_key) = (found.not_read.len(), found.without_key.len());
    assert_eq!((found.keys.len(), not_read, without_key), (1, 0, 1));
}

#[test]
fn what_has_no_key_is_named() {
    let what = |bytes: &[u8]| of("file", bytes).without_key[0].what.clone();
    assert_eq!(what(b""), "empty file");
    assert_eq!(what(b"0. First, read this"), "text");
    assert_eq!(what("Überschrift".as_bytes()), "text");
    assert_eq!(what(b"\xdcberschrift in Latin-1"), "text");
    // 23 and 5: a prime and a generator.
    let dh = [0x30, 6, 2, 1, 23, 2, 1, 5];
    assert_eq!(what(&dh), "Diffie-Hellman parameters");
    let dh = block("DH PARAMETERS", "MAYCARcCAQU=");
    assert_eq!(what(dh.as_bytes()), "DH PARAMETERS");
    let reason = |name: &str, bytes: &[u8]| of(name, bytes).not_read[0].reason.clone();
    assert!(reason("file", &[0, 1, 2, 3]).contains("binary"));
    assert!(reason("key.pub", b"no key").contains("no key"));
    assert!(reason("file", b"\xff\xfes\0s\0h\0").contains("UTF-16"));
    assert!(reason("file", &[0x30, 0x82, 4, 0, 0x30]).contains("cut off"));
    assert!(reason("file", b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== x").contains("cut off"));
}

/// As text editors and other systems leave a file.
#[test]
fn what_is_around_a_key_does_not_matter() {
    for name in ["p224.pem", "id_ed25519.pub", "carol.asc"] {
        let bytes = bytes(name);
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        for changed in [
            [MARK, bytes].concat(),
            text.replace('\n', "\r\n").into_bytes(),
            text.replace('\n', "\r").into_bytes(),
            [b"M\xfcller \x80\n", bytes].concat(),
            [b"0 1 2\n", bytes].concat(),
            [bytes, b"\n\0\xff\n"].concat(),
        ] {
            assert_eq!(keys(&of("file", &changed)), keys(&read(name)), "{name}");
        }
    }
}

/// No panic, whatever is cut off or changed.
#[test]
fn every_beginning_of_a_file_is_read_or_refused() {
    for (name, bytes) in FILES {
        for end in 0..bytes.len() {
            of(name, &bytes[..end]);
        }
    }
}

proptest! {
    #[test]
    fn nothing_that_is_made_up_is_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        of("file", &bytes);
        of("file", &[&[0x30][..], &bytes].concat());
        of("file", &[&[0x99][..], &bytes].concat());
    }

    #[test]
    fn nothing_that_was_changed_is_a_panic(
        file in 0..FILES.len(), at in any::<prop::sample::Index>(), octet in any::<u8>()
    ) {
        let (name, bytes) = FILES[file];
        let mut bytes = bytes.to_vec();
        let at = at.index(bytes.len());
        bytes[at] = octet;
        of(name, &bytes);
    }
}

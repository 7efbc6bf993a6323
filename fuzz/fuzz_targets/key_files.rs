//! Files of keys by the forms that audits tell apart: lines of authorized_keys with options that are made up, DER of the right
//! length, PEM, and armor between lines.

#![no_main]

use keymark_audit::Read;
use libfuzzer_sys::fuzz_target;

/// A key of OpenSSH, the one that a line is about.
const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILb6pQfmCPkhSPRFEsRIN3N4CZLaUfzDBhHyDVW+rZOx";

/// The end of options as sshd finds it: the first space outside of quotes. An octet beyond ASCII in the beginning is a packet's.
fn is_one_option(text: &[u8]) -> bool {
    let (mut is_quoted, mut before) = (false, b' ');
    for octet in text {
        is_quoted ^= *octet == b'"' && before != b'\\';
        before = *octet;
        if !is_quoted && octet.is_ascii_whitespace() {
            return false;
        }
    }
    !is_quoted && text.first().is_some_and(u8::is_ascii_graphic) && !text.starts_with(b"#") && !text.starts_with(b"----")
}

fn base64(octets: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let chunks = octets.chunks(3);
    let letters = chunks.flat_map(|chunk| {
        let number = chunk.iter().fold(0, |sum, octet| sum << 8 | usize::from(*octet));
        let number = number << (8 * (3 - chunk.len()));
        (0..=chunk.len()).map(move |at| char::from(LETTERS[number >> (18 - 6 * at) & 63]))
    });
    letters.collect()
}

fn read(content: &[u8]) -> Read {
    let mut read = Read::default();
    read.bytes("file", content);
    read
}

fn line(options: &[u8]) {
    if options.contains(&b'\n') || options.contains(&b'\r') || !is_one_option(options) {
        return;
    }
    let found = read(&[options, b" ", KEY.as_bytes()].concat());
    // What begins as a binary file does is read as one.
    if found.not_read.iter().any(|item| item.place.line.is_none()) || found.keys.is_empty() {
        return;
    }
    assert_eq!(found.keys.len(), 1);
    assert_eq!(found.keys[0].key.name(), "ed25519");
    let plain = read(KEY.as_bytes());
    assert!(found.keys[0].key == plain.keys[0].key, "the key of an option");
}

fuzz_target!(|data: &[u8]| {
    let Some((form, content)) = data.split_first() else {
        return;
    };
    let length = (content.len() as u32).to_be_bytes();
    match form % 4 {
        0 => line(content),
        1 => drop(read(&[&[0x30, 0x84], &length[..], content].concat())),
        2 => {
            let labels = ["CERTIFICATE", "PUBLIC KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PUBLIC KEY BLOCK"];
            let label = labels[usize::from(form / 4) % labels.len()];
            let pem = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", base64(content));
            drop(read(pem.as_bytes()));
        }
        _ => drop(read(&[b"-----BEGIN NOTE-----\n", content, b"\n-----END NOTE-----\n", KEY.as_bytes()].concat())),
    }
});

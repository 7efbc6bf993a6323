//! What servers write when something goes wrong.

use std::fs;
use std::path::Path;

/// Of the end of a log.
const LINES: usize = 6;
/// Longest line that is shown.
const LONGEST: usize = 300;

/// A fault that servers tell by words of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    PortTaken,
    KeyMismatch,
    NoCipher,
    NoGroup,
    Pin,
    Weak,
    Permission,
    Files,
}

/// Words of Apache, nginx, haproxy and OpenSSL, the more telling ones first.
const WORDS: [(&str, Fault); 16] = [
    ("Address already in use", Fault::PortTaken),
    ("could not bind to address", Fault::PortTaken),
    ("cannot bind socket", Fault::PortTaken),
    ("key values mismatch", Fault::KeyMismatch),
    ("AH02565", Fault::KeyMismatch),
    ("no cipher match", Fault::NoCipher),
    ("AH01898", Fault::NoCipher),
    ("Unable to configure permitted SSL ciphers", Fault::NoCipher),
    ("set1_curves_list", Fault::NoGroup),
    ("SSL_CONF_cmd(\"Groups\"", Fault::NoGroup),
    ("SSLOpenSSLConfCmd Groups", Fault::NoGroup),
    ("Login failed", Fault::Pin),
    ("key too small", Fault::Weak),
    ("dh key too small", Fault::Weak),
    ("Permission denied", Fault::Permission),
    ("Too many open files", Fault::Files),
];

impl Fault {
    /// What the log tells, if it tells one that is known.
    pub(crate) fn in_log(log: &str) -> Option<Self> {
        let mut words = WORDS.iter();
        words
            .find(|(words, _)| log.contains(words))
            .map(|(_, fault)| *fault)
    }

    /// What that is.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::PortTaken => "the port is taken",
            Self::KeyMismatch => "certificate and private key do not belong together",
            Self::NoCipher => "the server's OpenSSL has none of the ciphers",
            Self::NoGroup => "the server's OpenSSL lacks one of the groups",
            Self::Pin => "the token has refused the PIN",
            Self::Weak => "OpenSSL refuses a key or parameters as too small",
            Self::Permission => "it may not read something",
            Self::Files => "it has too few file descriptors",
        }
    }

    /// What to do.
    pub(crate) const fn advice(self) -> &'static str {
        match self {
            Self::PortTaken => "take another, or have a free one chosen",
            Self::KeyMismatch => "give the key that the certificate was made for",
            Self::NoCipher => "'openssl ciphers -v STRING' says what a cipher string stands for",
            Self::NoGroup => {
                "'openssl list -kem-algorithms' and 'openssl ecparam -list_curves' say what it has"
            }
            Self::Pin => "the PIN is not sent a second time",
            Self::Weak => "allow it by --allow-weak",
            Self::Permission => "set TMPDIR to a directory that the server's user may pass through",
            Self::Files => "raise the limit: ulimit -n",
        }
    }
}

/// The end of a log, in one line; empty where there is none.
pub(crate) fn tail(file: &Path) -> String {
    let log = read(file);
    let lines: Vec<String> = log
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(visible)
        .collect();
    lines[lines.len().saturating_sub(LINES)..].join(" | ")
}

/// All of it, as far as it is text.
pub(crate) fn read(file: &Path) -> String {
    String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned()
}

/// A line without control characters, and not too long.
pub(crate) fn visible(line: &str) -> String {
    let clean = line.chars().map(|letter| {
        if letter.is_control() {
            '\u{fffd}'
        } else {
            letter
        }
    });
    clean.take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_one_line_without_control_characters() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("log");
        fs::write(&file, "a\nb\n\nc\x1b[31m\n").unwrap();
        assert_eq!(tail(&file), "a | b | c\u{fffd}[31m");
        assert_eq!(tail(&directory.path().join("none")), "");
        let many: String = (0..100).map(|number| format!("{number}\n")).collect();
        fs::write(&file, many).unwrap();
        assert_eq!(tail(&file), "94 | 95 | 96 | 97 | 98 | 99");
    }
}

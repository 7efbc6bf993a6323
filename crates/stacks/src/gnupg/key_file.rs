//! The agent's key files: private keys as S-expressions (agent/keyformat.txt of GnuPG).

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::error::Error;
use keymark_stores::test_key::{Numbers, TestKey};

use super::sexp::Sexp;

/// The S-expression of a key file, in either of its formats: bare canonical, or `Key: (…)` with
/// continuation lines that begin with a space (agent/keyformat.txt).
pub(super) fn expression(file: &[u8]) -> Option<Sexp> {
    if file.first() == Some(&b'(') {
        return Sexp::parse(file).ok();
    }
    let mut text = Vec::new();
    let mut inside = false;
    for line in file.split_inclusive(|octet| *octet == b'\n') {
        if let Some(rest) = line.strip_prefix(b"Key: ") {
            inside = true;
            text.extend(rest);
        } else if let (true, Some(rest)) = (inside, line.strip_prefix(b" ")) {
            // The line may have been wrapped within a token: join without the line feed.
            text.pop();
            text.extend(rest);
        } else {
            inside = false;
        }
    }
    Sexp::parse(&text).ok()
}

/// `None` when a number is missing.
pub(super) fn test_key(algorithm: Algorithm, expression: &Sexp) -> Option<Result<TestKey, Error>> {
    let key = expression.find("private-key")?;
    let number = |name: &str| key.iter().find_map(|item| item.find(name))?.first()?.atom();
    let reversed: Vec<u8>;
    let numbers = match algorithm.family() {
        Family::Rsa(_) => Numbers::Rsa {
            n: number("n")?,
            e: number("e")?,
            d: number("d")?,
            p: number("p")?,
            q: number("q")?,
        },
        Family::Dsa(_) => Numbers::Dsa {
            p: number("p")?,
            q: number("q")?,
            g: number("g")?,
            y: number("y")?,
            x: number("x")?,
        },
        Family::Elgamal(_) => Numbers::Elgamal {
            p: number("p")?,
            g: number("g")?,
            y: number("y")?,
            x: number("x")?,
        },
        Family::Weierstrass(_) => Numbers::Weierstrass {
            point: number("q")?,
            d: number("d")?,
        },
        // An MPI, big-endian and without leading zeros, where RFC 7748 has 32 octets little-endian.
        Family::Cv25519 => {
            let d = number("d")?;
            let digits = d.iter().rev().copied().chain(std::iter::repeat(0)).take(32);
            reversed = digits.collect();
            Numbers::Raw { secret: &reversed }
        }
        Family::Ed25519 => Numbers::Raw {
            secret: last(number("d")?, 32)?,
        },
        Family::Ed448 | Family::Cv448 => Numbers::Raw {
            secret: number("d")?,
        },
        _ => return None,
    };
    Some(TestKey::from_numbers(algorithm, &numbers))
}

/// The last `length` octets: a leading zero may stand before them.
fn last(octets: &[u8], length: usize) -> Option<&[u8]> {
    octets.get(octets.len().checked_sub(length)?..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_files_are_unwrapped_within_tokens() {
        let file = b"Created: 20261121T035838\nKey: (private-key (ecc (curve \"NI\n ST P-256\")(q #04\n AB#)))\nUse: x\n";
        let read = expression(file).unwrap();
        assert_eq!(read.value("curve"), Some(b"NIST P-256".as_slice()));
        assert_eq!(read.value("q"), Some([0x04, 0xAB].as_slice()));
        assert_eq!(
            expression(b"(11:private-key(3:rsa))").unwrap().find("rsa"),
            Some([].as_slice())
        );
        assert_eq!(expression(b"Created: 1\n"), None);
    }

    #[test]
    fn curve25519_scalars_are_turned_round_and_filled() {
        let expression = Sexp::parse(b"(private-key (ecc (d #0102#)))").unwrap();
        let key = test_key("cv25519".parse().unwrap(), &expression)
            .unwrap()
            .unwrap();
        assert_eq!(key.algorithm.name(), "cv25519");
        assert!(test_key("rsa2048".parse().unwrap(), &expression).is_none());
    }
}

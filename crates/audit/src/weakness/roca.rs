//! ROCA, CVE-2017-15361: Infineon's library made primes p = k·M + (65537^a mod M), M being a primorial. A modulus then
//! is a power of 65537 modulo each of the first primes.
//!
//! Nemec, Sys, Svenda, Klinec, Matyas, "The Return of Coppersmith's Attack", ACM CCS 2017. The test is the one by
//! discrete logarithm of its authors' detector (crocs-muni/roca, `DlogFprint`), which takes a random modulus for one of
//! these in 2^-154 of all cases.

use std::sync::LazyLock;

use rug::Integer;

use super::{bits, number, power, primorial};

/// The product of the first 39 primes, up to 167, divides the M of every length of key.
static PRODUCT: LazyLock<Integer> = LazyLock::new(|| primorial(168));
const GENERATOR: u32 = 65_537;
/// The order of the generator modulo the product, and the powers of primes that it is the product of.
const ORDER: u64 = 2_454_106_387_091_158_800;
const PARTS: [u64; 13] = [16, 81, 25, 7, 11, 13, 17, 23, 29, 37, 41, 53, 83];
/// The detector looks at no shorter modulus.
const SHORTEST: u32 = 256;

/// Returns whether a modulus has the fingerprint.
pub fn has_fingerprint(modulus: &[u8]) -> bool {
    bits(modulus) >= SHORTEST && is_power_of_generator(&number(modulus))
}

/// Pohlig and Hellman: whether there is a logarithm in each of the subgroups. Which one it is, nobody needs.
fn is_power_of_generator(modulus: &Integer) -> bool {
    let product = &*PRODUCT;
    let rest = Integer::from(modulus % product);
    let power = |base: &Integer, exponent: u64| power(base, &exponent.into(), product);
    power(&rest, ORDER) == 1_u32
        && PARTS.iter().all(|part| {
            let generator = power(&Integer::from(GENERATOR), ORDER / part);
            let wanted = power(&rest, ORDER / part);
            let mut reached = Integer::from(1);
            (0..*part).any(|_| {
                let found = reached == wanted;
                reached *= &generator;
                reached %= product;
                found
            })
        })
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use rug::integer::Order;

    use super::*;

    /// Moduli of the detector's own tests, with what it says of them, and some made by the formula.
    #[test]
    fn published_vectors_are_told_apart() {
        let lines = include_str!("roca-vectors.txt").lines();
        let vectors = lines.filter_map(|line| line.split_once(' '));
        let mut seen = [0, 0];
        for (verdict, modulus) in vectors.filter(|(verdict, _)| *verdict != "#") {
            let modulus = Integer::from_str_radix(modulus.trim(), 16).unwrap();
            let found = has_fingerprint(&modulus.to_digits(Order::Msf));
            assert_eq!(found, verdict == "weak", "{modulus:x}");
            seen[usize::from(found)] += 1;
        }
        assert!(seen[0] >= 4 && seen[1] >= 4, "{seen:?}");
    }

    /// Random odd numbers of 2048 bits, which the test cannot tell from moduli.
    #[test]
    fn of_ten_thousand_random_moduli_none_is_suspected() {
        let mut random = ChaCha8Rng::seed_from_u64(26);
        let mut octets = [0; 256];
        for _ in 0..10_000 {
            random.fill_bytes(&mut octets);
            octets[0] |= 0x80;
            octets[255] |= 1;
            assert!(!has_fingerprint(&octets), "{octets:02x?}");
        }
    }

    #[test]
    fn the_logarithm_has_to_be_one() {
        assert!(is_power_of_generator(&Integer::from(GENERATOR)));
        assert!(is_power_of_generator(&Integer::from(1)));
        assert!(!is_power_of_generator(&Integer::from(3_u32)));
        assert!(!has_fingerprint(&GENERATOR.to_be_bytes()));
    }
}

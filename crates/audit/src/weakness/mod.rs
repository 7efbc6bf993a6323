//! Tests of a public key's numbers. Each is a file that cites its source.

pub mod batch_gcd;
pub mod fermat;
pub mod known;
pub mod roca;
pub mod small;

use rug::Integer;
use rug::integer::Order;

/// Bits of a number that is tested, at most: OpenSSL and OpenSSH take no more, and how long a test takes grows with their third
/// power.
pub const TESTED_BITS: u32 = 16_384;

/// An unsigned number from its octets, the first of which weighs most.
pub fn number(octets: &[u8]) -> Integer {
    Integer::from_digits(octets, Order::Msf)
}

/// A power modulo a number that is not zero.
pub fn power(base: &Integer, exponent: &Integer, modulus: &Integer) -> Integer {
    // Only a negative exponent may have no power, and octets make none.
    let power = base.pow_mod_ref(exponent, modulus);
    power.map(Integer::from).unwrap_or_default()
}

/// The product of the primes below a number.
fn primorial(below: u32) -> Integer {
    let is_prime = |number: &u32| {
        (2..*number)
            .take_while(|d| d * d <= *number)
            .all(|d| !number.is_multiple_of(d))
    };
    (2..below).filter(is_prime).map(Integer::from).product()
}

/// The octets without zeros that lead.
pub fn trimmed(octets: &[u8]) -> &[u8] {
    let zeros = octets.iter().take_while(|octet| **octet == 0).count();
    &octets[zeros..]
}

/// Returns the number of bits.
pub fn bits(octets: &[u8]) -> u32 {
    let octets = trimmed(octets);
    let leading = octets.first().map_or(0, |first| first.leading_zeros());
    octets.len() as u32 * 8 - leading
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_whatever_their_length() {
        assert_eq!(number(&[]), 0_u32);
        assert_eq!(number(&[0, 1, 2]), 258_u32);
        let octets = [1, 0, 0, 0, 0, 0, 0, 0, 5];
        assert_eq!(number(&octets).to_string(), "18446744073709551621");
        assert_eq!(bits(&octets), 65);
        assert_eq!(bits(&[0, 0]), 0);
    }
}

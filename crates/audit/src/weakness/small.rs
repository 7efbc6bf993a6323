//! Numbers that are too small: factors, exponents, subgroups.

use std::sync::LazyLock;

use keymark_advice::key_spec::{IDENTIFIERS, KeySpec};
use keymark_bench::Family;
use rug::Integer;

use super::{bits, number, power, primorial};
use crate::finding::{Finding, FindingKind};

/// Factors below this are looked for: what has one is no product of two primes, but damaged. badkeys has the same bound.
const FACTORS: u32 = 65_538;

/// FIPS 186-5, A.1.1: the public exponent is odd, above 2^16 and below 2^256.
const EXPONENT_BITS: std::ops::RangeInclusive<u32> = 17..=256;

/// Returns the problem of an RSA exponent. One above 2^256 may hide a small exponent of decryption (Wiener 1990).
pub fn exponent(e: &[u8]) -> Option<Finding> {
    let is_even = e.last().is_some_and(|last| last % 2 == 0);
    Some(Finding::of(match bits(e) {
        bits if bits < 2 || is_even => FindingKind::InvalidExponent,
        bits if bits < *EXPONENT_BITS.start() => FindingKind::SmallExponent,
        bits if bits > *EXPONENT_BITS.end() => FindingKind::LargeExponent,
        _ => return None,
    }))
}

/// The product of the primes in question: one division tells whether any of them divides.
static PRODUCT: LazyLock<Integer> = LazyLock::new(|| primorial(FACTORS));

/// The smallest factor of a modulus, if it is small. Zero is divisible by all.
pub fn factor(modulus: &[u8]) -> Option<u32> {
    let number = number(modulus);
    if number == 0_u32 {
        return Some(2);
    }
    // All small primes that divide it: of divisors in ascending order the first is one of them.
    let small = Integer::from(&*PRODUCT % &number).gcd(&number);
    let divides = |divisor: &u32| small.is_divisible_u(*divisor);
    (small != 1_u32).then(|| (2..FACTORS).find(divides))?
}

/// Why the number of a DSA key is not in the subgroup that it should be in (FIPS 186-4, A.2.2; SP 800-56A, 5.6.2.3.1).
pub fn outside_of_subgroup([p, q, g, y]: [&[u8]; 4]) -> Option<&'static str> {
    let [p, q, g, y] = [p, q, g, y].map(number);
    if q <= 1_u32 || p <= q || !Integer::from(&p - 1_u32).is_divisible(&q) {
        return Some("q does not divide p - 1");
    }
    let is_inside =
        |element: &Integer| *element > 1_u32 && *element < p && power(element, &q, &p) == 1_u32;
    if !is_inside(&g) {
        return Some("its generator is not of the order q");
    }
    (!is_inside(&y)).then_some("its public number is not in the subgroup of order q")
}

/// Returns whether a public number modulo p is 0, 1 or p - 1, whose powers anybody knows.
pub fn is_trivial([p, y]: [&[u8]; 2]) -> bool {
    let [p, y] = [p, y].map(number);
    y <= 1_u32 || y >= p || y == p - 1_u32
}

/// Returns whether a point's string has a small order, on the two curves on which those have to be refused.
pub fn is_of_small_order(string: &[u8], family: Family) -> bool {
    let name = KeySpec::Family(family).to_string();
    let Some(listed) = IDENTIFIERS.small_order.get(&name) else {
        return false;
    };
    let mut string = string.to_vec();
    if let Some(last) = string.last_mut() {
        *last &= 0x7f;
    }
    listed.contains(&hex::encode(string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_judged_at_their_limits() {
        for (e, verdict) in [
            (0_u32, Some(FindingKind::InvalidExponent)),
            (1, Some(FindingKind::InvalidExponent)),
            (65_536, Some(FindingKind::InvalidExponent)),
            (3, Some(FindingKind::SmallExponent)),
            (65_535, Some(FindingKind::SmallExponent)),
            (65_537, None),
            (65_539, None),
        ] {
            let found = exponent(&e.to_be_bytes()).map(|finding| finding.kind);
            assert_eq!(found, verdict, "{e}");
        }
        let mut large = [0; 33];
        large[32] = 1;
        large[1] = 0x80;
        assert_eq!(exponent(&large), None);
        large[0] = 1;
        let kind = exponent(&large).map(|finding| finding.kind);
        assert_eq!(kind, Some(FindingKind::LargeExponent));
    }

    #[test]
    fn small_factors_are_found() {
        assert_eq!(
            factor(&(65_537_u64 * 4_294_967_291).to_be_bytes()),
            Some(65_537)
        );
        assert_eq!(factor(&(65_539_u64 * 4_294_967_291).to_be_bytes()), None);
        assert_eq!(factor(&[4]), Some(2));
        assert_eq!(factor(&[]), Some(2));
    }

    /// p = 23, q = 11: the squares are the subgroup.
    #[test]
    fn a_subgroup_holds_its_own() {
        let of = |q: u8, g: u8, y: u8| outside_of_subgroup([&[23], &[q], &[g], &[y]]);
        assert_eq!(of(11, 4, 9), None);
        assert_eq!(of(7, 4, 9), Some("q does not divide p - 1"));
        assert_eq!(of(11, 5, 9), Some("its generator is not of the order q"));
        assert!(of(11, 4, 5).is_some_and(|why| why.contains("public number")));
        assert!(of(0, 4, 5).is_some() && of(1, 4, 5).is_some() && of(11, 4, 1).is_some());
        assert!(is_trivial([&[23], &[22]]) && is_trivial([&[23], &[1]]) && is_trivial([&[], &[5]]));
        assert!(!is_trivial([&[23], &[5]]));
    }

    #[test]
    fn points_of_small_order_are_known_with_either_sign() {
        let mut point = [0xff; 32];
        point[0] = 0xec;
        assert!(is_of_small_order(&point, Family::Ed25519));
        assert!(is_of_small_order(&point, Family::Cv25519));
        point[0] = 0xed;
        assert!(!is_of_small_order(&point, Family::Ed25519));
        assert!(!is_of_small_order(&[], Family::Cv25519));
        assert!(!is_of_small_order(&[0; 32], Family::Cv448));
    }
}

//! Primes that are too close: Fermat's factorisation finds them in a few steps. Böck, "Fermat Factorization in the
//! Wild", IACR ePrint 2023/026 (CVE-2022-26320), whose hundred steps are kept here.

use rug::Integer;

use super::number;

const STEPS: u32 = 100;

/// Returns the step in which the modulus falls apart, if it does.
pub fn factored_in(modulus: &[u8]) -> Option<u32> {
    let modulus = number(modulus);
    if modulus <= 5_u32 {
        return None;
    }
    let middle = Integer::from(&modulus - 1_u32).sqrt() + 1_u32;
    let mut square = Integer::from(middle.square_ref()) - &modulus;
    // (a + 1)² - a² = 2a + 1
    let mut gap = (middle << 1_u32) + 1_u32;
    for step in 1..=STEPS {
        if square.is_perfect_square() {
            return Some(step);
        }
        square += &gap;
        gap += 2_u32;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(p: u64, q: u64) -> Vec<u8> {
        (u128::from(p) * u128::from(q)).to_be_bytes().to_vec()
    }

    #[test]
    fn close_factors_are_found_and_distant_ones_are_not() {
        assert_eq!(factored_in(&product(4_294_967_291, 4_294_967_291)), Some(1));
        assert_eq!(factored_in(&product(4_294_967_291, 4_294_967_311)), Some(1));
        // a = (p + q) / 2 lies 51 steps above the root: (q - p)² / (8 √n).
        assert!(factored_in(&product(4_294_967_291, 4_296_287_291)).is_some_and(|step| step > 20));
        assert_eq!(factored_in(&product(4_294_967_291, 4_304_967_317)), None);
        assert_eq!(factored_in(&[]), None);
        assert_eq!(factored_in(&[1]), None);
    }
}

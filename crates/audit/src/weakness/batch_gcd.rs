//! Moduli with a prime in common: Bernstein, "How to find smooth parts of integers" (2004), and Heninger, Durumeric,
//! Wustrow, Halderman, "Mining Your Ps and Qs", USENIX Security 2012.
//!
//! The tree holds products N and sums of cofactors D: at a leaf N is a modulus and D is 1, and above
//! N = N₁N₂, D = D₁N₂ + D₂N₁. At the root D = Σ N/Nᵢ, which modulo Nᵢ is N/Nᵢ, the product of all others. So D is reduced
//! on the way down, and not N modulo squares, which are twice as long.

use rug::Integer;

/// Returns what each of the moduli, which differ and are not zero, has in common with the product of the others: 1, if
/// nothing.
pub fn common_factors(moduli: &[Integer]) -> Vec<Integer> {
    let mut sums = vec![Integer::from(1); moduli.len()];
    let mut levels: Vec<Vec<Integer>> = Vec::new();
    let mut level = moduli.to_vec();
    while level.len() > 1 {
        sums = level
            .chunks(2)
            .zip(sums.chunks(2))
            .map(|(products, sums)| match (products, sums) {
                ([left, right], [of_left, of_right]) => {
                    Integer::from(of_left * right) + of_right * left
                }
                (_, sums) => sums.first().cloned().unwrap_or(Integer::ZERO),
            })
            .collect();
        let products = level.chunks(2).map(|pair| pair.iter().product());
        let products = products.collect();
        levels.push(std::mem::replace(&mut level, products));
    }
    while let Some(level) = levels.pop() {
        let reduced = level.iter().zip(sums.iter().flat_map(|sum| [sum, sum]));
        sums = reduced
            .map(|(product, sum)| Integer::from(sum % product))
            .collect();
    }
    let with_rest = moduli.iter().zip(sums);
    with_rest.map(|(modulus, rest)| rest.gcd(modulus)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Common factors by definition, for few and small numbers.
        #[test]
        fn it_is_the_common_factor_with_the_product_of_the_others(
            moduli in proptest::collection::btree_set(2_u32..100_000, 1..40)
        ) {
            let moduli: Vec<Integer> = moduli.into_iter().map(Integer::from).collect();
            let found = common_factors(&moduli);
            for (place, modulus) in moduli.iter().enumerate() {
                let others = moduli.iter().enumerate().filter(|(other, _)| *other != place);
                let product: Integer = others.map(|(_, other)| other).product();
                prop_assert_eq!(&found[place], &Integer::from(modulus.gcd_ref(&product)));
            }
        }
    }

    #[test]
    fn nobody_shares_with_nobody() {
        assert_eq!(common_factors(&[]), Vec::<Integer>::new());
        assert_eq!(common_factors(&[Integer::from(15_u32)]), [Integer::from(1)]);
    }
}

//! Which moduli of many have a prime in common: Bernstein, "How to find smooth parts of integers" (2004), and Heninger,
//! Durumeric, Wustrow, Halderman, "Mining Your Ps and Qs", USENIX Security 2012.
//!
//! The tree holds products N and, beside them, sums of cofactors D: at a leaf N is a modulus and D is 1, and above
//! N = N₁N₂, D = D₁N₂ + D₂N₁. At the root D = Σ N/Nᵢ, which modulo Nᵢ is N/Nᵢ, the product of all others. So D is reduced
//! on the way down, and not N modulo squares, which are twice as long.

use malachite_base::num::arithmetic::traits::Gcd as _;
use malachite_base::num::basic::traits::One as _;
use malachite_nz::natural::Natural;

/// Moduli of which the tree keeps one product. Their own small tree is made again on the way down, which takes little time
/// and saves half of the memory.
const GROUP: usize = 256;

/// What each of the moduli, which differ and are not zero, has in common with the product of the others: 1, if nothing.
pub fn common_factors(moduli: &[Natural]) -> Vec<Natural> {
    let groups = moduli.chunks(GROUP);
    let (products, sums) = groups.clone().map(|group| Tree::of(group).root()).unzip();
    let rests = Tree::up(products, sums).down();
    let with_rest = groups.zip(rests).flat_map(|(group, rest)| {
        let below = Tree {
            sum: rest,
            ..Tree::of(group)
        };
        group.iter().zip(below.down())
    });
    with_rest.map(|(modulus, rest)| modulus.gcd(rest)).collect()
}

/// Products, the single one above all last, and what stands beside it.
struct Tree {
    levels: Vec<Vec<Natural>>,
    sum: Natural,
}

impl Tree {
    /// With moduli as its leaves.
    fn of(moduli: &[Natural]) -> Self {
        Self::up(moduli.to_vec(), vec![Natural::ONE; moduli.len()])
    }

    fn up(mut level: Vec<Natural>, mut sums: Vec<Natural>) -> Self {
        let mut levels = Vec::new();
        while level.len() > 1 {
            sums = level
                .chunks(2)
                .zip(sums.chunks(2))
                .map(|pairs| match pairs {
                    ([left, right], [of_left, of_right]) => of_left * right + of_right * left,
                    (_, sums) => sums.iter().sum(),
                })
                .collect();
            let products = level.chunks(2).map(|pair| pair.iter().product());
            let products = products.collect();
            levels.push(std::mem::replace(&mut level, products));
        }
        levels.push(level);
        Self {
            levels,
            sum: sums.pop().unwrap_or(Natural::ONE),
        }
    }

    /// Product and sum of all.
    fn root(mut self) -> (Natural, Natural) {
        let product = self.levels.pop().and_then(|mut level| level.pop());
        (product.unwrap_or(Natural::ONE), self.sum)
    }

    /// The sum modulo each of the leaves.
    fn down(mut self) -> Vec<Natural> {
        let mut sums = vec![self.sum];
        while let Some(level) = self.levels.pop() {
            let reduced = level.iter().zip(sums.iter().flat_map(|sum| [sum, sum]));
            sums = reduced.map(|(product, sum)| sum % product).collect();
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// By the definition, of few and small numbers.
        #[test]
        fn it_is_the_common_factor_with_the_product_of_the_others(
            moduli in proptest::collection::btree_set(2_u32..100_000, 1..40)
        ) {
            let moduli: Vec<Natural> = moduli.into_iter().map(Natural::from).collect();
            let found = common_factors(&moduli);
            for (place, modulus) in moduli.iter().enumerate() {
                let others = moduli.iter().enumerate().filter(|(other, _)| *other != place);
                let product: Natural = others.map(|(_, other)| other).product();
                prop_assert_eq!(&found[place], &modulus.gcd(&product));
            }
        }
    }

    #[test]
    fn nobody_shares_with_nobody() {
        assert_eq!(common_factors(&[]), Vec::<Natural>::new());
        assert_eq!(common_factors(&[Natural::from(15_u32)]), [Natural::ONE]);
    }
}

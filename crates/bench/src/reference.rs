//! Speed of the machine: a fixed calculation, timed before and after each block.

use std::hint::black_box;

/// Rounds of the calculation: half a millisecond on a processor of 2020, so that it sees the clock rate, the neighbor
/// on the core and a host that takes time away, and costs little.
const ROUNDS: u64 = 100_000;

/// The calculation: multiplications of 64 bits in four chains, as in the arithmetic of long numbers, in
/// registers, and without a system call. It stays as it is: runs of different versions are compared by it.
pub fn calculate() {
    let mut chains = [1_u64, 2, 3, 4];
    for round in 0..ROUNDS {
        for chain in &mut chains {
            let product =
                u128::from(*chain).wrapping_mul(0x9E37_79B9_7F4A_7C15) + u128::from(round);
            *chain = (product as u64) ^ ((product >> 64) as u64);
        }
    }
    black_box(chains);
}

//! Durations in buckets of one width relative to their value, as HDR histograms have them (Tene, 2013): 32 to
//! the octave, so that a bucket's middle is within 1.6 % of what is in it. Written here, because the counts
//! stand in shared memory at places that never move, which a crate that owns its counts cannot do.

use std::time::Duration;

/// Buckets to an octave, as a power of two.
const PRECISION: u32 = 5;
/// Values of 2⁴¹ ns, 37 minutes, and more share the last bucket.
const OCTAVES: u32 = 41;
/// How many buckets there are.
pub const BUCKETS: usize = ((OCTAVES - PRECISION + 1) << PRECISION) as usize;

/// The bucket of a duration in nanoseconds.
pub const fn bucket(nanoseconds: u64) -> usize {
    if nanoseconds < 1 << PRECISION {
        return nanoseconds as usize;
    }
    let octave = u64::BITS - 1 - nanoseconds.leading_zeros();
    if octave >= OCTAVES {
        return BUCKETS - 1;
    }
    let shift = octave - PRECISION;
    let within = (nanoseconds >> shift) as usize & ((1 << PRECISION) - 1);
    (((shift + 1) as usize) << PRECISION) + within
}

/// The middle of a bucket.
pub const fn middle(bucket: usize) -> Duration {
    let (octave, within) = (bucket >> PRECISION, bucket & ((1 << PRECISION) - 1));
    if octave == 0 {
        return Duration::from_nanos(within as u64);
    }
    let shift = octave - 1;
    let low = (((1 << PRECISION) + within) as u64) << shift;
    Duration::from_nanos(low + (1 << shift) / 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_buckets_middle_is_near_what_is_in_it(nanoseconds in 0_u64..1 << OCTAVES) {
            let middle = middle(bucket(nanoseconds)).as_nanos() as f64;
            prop_assert!((middle - nanoseconds as f64).abs() <= nanoseconds as f64 / 63.0);
        }

        #[test]
        fn longer_durations_have_no_earlier_bucket(one: u64, other: u64) {
            let (short, long) = (one.min(other), one.max(other));
            prop_assert!(bucket(short) <= bucket(long) && bucket(long) < BUCKETS);
        }
    }

    #[test]
    fn the_buckets_follow_each_other() {
        for at in 1..BUCKETS {
            let nanoseconds = u64::try_from(middle(at).as_nanos()).unwrap();
            assert_eq!(bucket(nanoseconds), at);
        }
    }
}

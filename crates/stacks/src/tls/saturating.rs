//! How much a server can do: loads with more and more users, each shorter than the one that counts, and, for a limit on
//! the 99th percentile, with arrivals at one rate after the other.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::{Error, Load, Pacing, Rate, Saturation, TriedDemand};
use keymark_load::Measurement;

/// A load on the way is this part of the one that counts.
const PART: u32 = 4;
/// Shorter ones have no steady state of whole seconds.
const SHORTEST: Duration = Duration::from_secs(3);

/// Length of a load on the way.
pub(super) fn step(duration: Duration) -> Duration {
    (duration / PART).max(SHORTEST)
}

/// Looks for the number of users with the best throughput, and for the highest rate within the limit.
pub(super) fn search(
    most: NonZeroU32,
    p99: Option<Duration>,
    mut measure: impl FnMut(Load) -> Result<Measurement, Error>,
) -> Result<Saturation, Error> {
    const CALL: &str = "looking for the server's limits";
    let found = keymark_load::search(most, p99, |tried| {
        let measured = measure(match tried {
            TriedDemand::Users(count) => Load::closed(NonZeroU32::new(count).unwrap_or(most)),
            TriedDemand::Rate(rate) => Load {
                pacing: Pacing::Open(
                    Rate::try_from(rate).map_err(|wrong| Error::call(CALL, wrong, ""))?,
                ),
                ..Load::single()
            },
        })?;
        let shown = measured.tried(tried);
        shown.map_err(|none| Error::call(CALL, none, "make the loads longer with --duration"))
    })?;
    found.ok_or_else(|| {
        let advice = "'keymark tls bench --users 1' shows their class";
        Error::call(CALL, "every load failed", advice)
    })
}

//! How much a server can do: loads with more and more users, each shorter than the one that counts, and, for a limit on
//! the 99th percentile, with arrivals at one rate after the other.

use std::time::Duration;

use keymark_bench::case::Load;
use keymark_bench::error::Error;
use keymark_bench::server_load::{Saturation, TriedDemand};
use keymark_load::{Arrivals, Demand, Measurement, Spacing, Users};
use keymark_stats::PerSecond;
use std::num::NonZeroU32;

use super::measuring::IN_FLIGHT;

/// A load on the way is this part of the one that counts.
const PART: u32 = 4;
/// Shorter ones have no steady state of whole seconds.
const SHORTEST: Duration = Duration::from_secs(3);

/// Length of a load on the way.
pub(super) fn step(duration: Duration) -> Duration {
    (duration / PART).max(SHORTEST)
}

pub(super) fn users(count: NonZeroU32) -> Demand {
    Demand::Users(Users {
        count,
        pause: Duration::ZERO,
    })
}

pub(super) fn arrivals(rate: PerSecond) -> Demand {
    Demand::Arrivals(Arrivals {
        rate,
        spacing: Spacing::Poisson,
        most_in_flight: IN_FLIGHT,
    })
}

/// What a case asks for, the search apart.
pub(crate) fn demand(load: Load) -> Demand {
    match load.pacing.rate() {
        Some(rate) => arrivals(PerSecond(rate.per_second())),
        None => Demand::Users(Users {
            count: load.concurrency,
            pause: load.pacing.pause().unwrap_or_default(),
        }),
    }
}

/// Looks for the number of users with the best throughput, and for the highest rate within the limit.
pub(super) fn search(
    most: NonZeroU32,
    p99: Option<Duration>,
    mut measure: impl FnMut(Demand) -> Result<Measurement, Error>,
) -> Result<Saturation, Error> {
    const CALL: &str = "looking for the server's limits";
    let found = keymark_load::search(most, p99, |tried| {
        let measured = measure(match tried {
            TriedDemand::Users(count) => users(NonZeroU32::new(count).unwrap_or(most)),
            TriedDemand::Rate(rate) => arrivals(PerSecond(rate)),
        })?;
        let shown = measured.tried(tried);
        shown.map_err(|none| Error::call(CALL, none, "make the loads longer with --duration"))
    })?;
    found.ok_or_else(|| {
        let advice = "'keymark tls bench --users 1' shows their class";
        Error::call(CALL, "every load failed", advice)
    })
}

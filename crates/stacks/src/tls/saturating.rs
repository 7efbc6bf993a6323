//! How much a server can do: loads with more and more users, each shorter than the one that counts, and, for a limit on
//! the 99th percentile, with arrivals at one rate after the other.

use std::time::Duration;

use keymark_bench::error::Error;
use keymark_bench::server_load::{Saturation, Tried, TriedDemand};
use keymark_load::{
    Arrivals, Demand, Measurement, Observed, RateSearch, Spacing, Think, Users, UsersSearch,
};
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
        think: Think::None,
        ramp: Duration::ZERO,
    })
}

pub(super) fn arrivals(rate: PerSecond) -> Demand {
    Demand::Arrivals(Arrivals {
        rate,
        spacing: Spacing::Poisson,
        most_in_flight: IN_FLIGHT,
    })
}

/// Looks for the number of users with the best throughput, and for the highest rate within the limit.
pub(super) fn search(
    most: NonZeroU32,
    p99: Option<Duration>,
    mut measure: impl FnMut(Demand) -> Result<Measurement, Error>,
) -> Result<Saturation, Error> {
    let mut tried = Vec::new();
    let mut look = |demand, as_tried| -> Result<Observed, Error> {
        let measured = measure(demand)?;
        let observed = Observed::of(&measured).map_err(|none| {
            let advice = "make the loads longer with --duration";
            Error::call("looking for the server's limits", none, advice)
        })?;
        tried.push(Tried {
            demand: as_tried,
            rate: observed.rate.0,
            p99_ns: u64::try_from(observed.p99.as_nanos()).unwrap_or(u64::MAX),
            failed: observed.failed.0,
            unfinished: observed.unfinished.0,
        });
        Ok(observed)
    };
    let mut search = UsersSearch::new(most);
    while let Some(next) = search.next() {
        search.tell(next, look(users(next), TriedDemand::Users(next.get()))?);
    }
    let found = search.found().ok_or_else(|| {
        let advice = "'keymark tls bench --users 1' shows their class";
        Error::call(
            "looking for the server's limits",
            "every load failed",
            advice,
        )
    })?;
    let mut rate_within_limit = None;
    if let Some(limit) = p99 {
        let mut search = RateSearch::new(found.best.rate, limit);
        while let Some(rate) = search.next() {
            search.tell(rate, look(arrivals(rate), TriedDemand::Rate(rate.0))?);
        }
        rate_within_limit = search.found().map(|(rate, _)| rate.0);
    }
    Ok(Saturation {
        tried,
        best_users: found.best_users.get(),
        knee_users: found.knee_users.get(),
        rate_within_limit,
    })
}

//! What a search for a server's limits has found.

use keymark_bench::server_load::{ServerLoad, TriedDemand};
use keymark_stats::PerSecond;
use serde::{Deserialize, Serialize};

/// The limits of a server. The best rate itself is the row's throughput, of a load of its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Saturated {
    /// Users of the load that counts.
    pub best_users: u32,
    /// The fewest that reached nearly as much.
    pub knee_users: u32,
    /// What those reached on the way.
    pub knee_rate: Option<PerSecond>,
    /// The highest rate of arrivals at which 99 % of the transactions stayed below the limit.
    pub within_limit: Option<PerSecond>,
    /// Loads that it took.
    pub loads: u64,
}

impl Saturated {
    pub(super) fn of(load: &ServerLoad) -> Option<Self> {
        let found = load.saturation.as_ref()?;
        let mut tried = found.tried.iter();
        let knee = tried.find(|tried| tried.demand == TriedDemand::Users(found.knee_users));
        Some(Self {
            best_users: found.best_users,
            knee_users: found.knee_users,
            knee_rate: knee.map(|tried| PerSecond(tried.rate)),
            within_limit: found.rate_within_limit.map(PerSecond),
            loads: found.tried.len() as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keymark_testkit::record::server_load;

    #[test]
    fn the_knee_has_the_rate_that_was_tried_with_its_users() {
        let mut load = server_load();
        let found = Saturated::of(&load).unwrap();
        assert_eq!(
            (found.best_users, found.knee_rate, found.loads),
            (4, None, 2)
        );
        assert_eq!(found.within_limit, Some(PerSecond(2.5)));
        load.saturation.as_mut().unwrap().knee_users = 4;
        assert_eq!(
            Saturated::of(&load).unwrap().knee_rate,
            Some(PerSecond(3.0))
        );
        load.saturation = None;
        assert_eq!(Saturated::of(&load), None);
    }
}

//! Loads on servers beside what waiting for their tokens predicts, by the private-key operation alone.

use keymark_bench::case::{Case, Pacing};
use keymark_bench::key_use::Calculator;
use keymark_bench::layers::Places;
use keymark_bench::record::CaseRecord;
use keymark_stats::{Demand, PerSecond, Queue, Response, Seconds, ServiceTimes};

/// A server whose processors take more than this share of the token's time is no queue before tokens.
const SERVER_AT_MOST: f64 = 0.1;

/// What is predicted of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Queued {
    /// Its place in the plan.
    pub case: usize,
    /// What transactions meet.
    pub response: Response,
}

impl Queued {
    /// Of a load whose tokens are what it waits for.
    pub(super) fn of(
        index: usize,
        record: &CaseRecord,
        places: impl Fn(&Case) -> Option<Places>,
        seed: u64,
    ) -> Option<Self> {
        let (case, load) = (&record.case, record.server_load.as_deref()?);
        let alone = load.alone.as_ref()?;
        let places = places(case).filter(|_| alone.by == Calculator::Token)?;
        let each = alone.durations.each();
        let times = ServiceTimes::of(each.map(|nanos| Seconds::from_nanos(nanos as f64)))?;
        let server = load.server_cpu_ns? as f64 / 1e9 / load.totals.transactions.max(1) as f64;
        let apart = load.server.get("key_places");
        let tokens = places.tokens.get();
        if server > SERVER_AT_MOST * times.mean().0
            || apart.is_some_and(|apart| *apart != tokens.to_string())
        {
            return None;
        }
        let users = |pause| Demand::Users {
            count: case.concurrency(),
            pause,
        };
        let queue = Queue {
            times: &times,
            demand: match case.load.pacing {
                Pacing::Closed => users(Seconds(0.0)),
                Pacing::Thinking(longest) => users(Seconds(longest.as_secs_f64())),
                Pacing::Open(rate) => Demand::Arrivals(PerSecond(rate.per_second())),
            },
            tokens: tokens.into(),
            distribution: places.distribution,
            seed,
        };
        let response = queue.response(None)?;
        Some(Self {
            case: index,
            response,
        })
    }
}

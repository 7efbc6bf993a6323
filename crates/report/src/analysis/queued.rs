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

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU8, NonZeroU32};

    use keymark_bench::case::{Load, StackName};
    use keymark_bench::key_use::OperationAlone;
    use keymark_bench::operation::Operation;
    use keymark_bench::server_load::Durations;
    use keymark_stats::Distribution;
    use keymark_testkit::record::{case, server_load};

    use super::*;

    fn loaded(by: Calculator) -> CaseRecord {
        let mut load = server_load();
        load.server_cpu_ns = Some(load.totals.transactions * 2_000_000);
        load.alone = Some(OperationAlone {
            operation: Operation::Sign,
            by,
            durations: Durations(vec![(740_000_000, 5)]),
        });
        let mut of = case("rsa2048", StackName::of("server"));
        of.load = Load::closed(NonZeroU32::new(16).unwrap());
        CaseRecord {
            server_load: Some(Box::new(load)),
            ..CaseRecord::new(of)
        }
    }

    fn predicted(record: &CaseRecord) -> Option<Response> {
        let places = |_: &Case| {
            Some(Places {
                tokens: NonZeroU8::new(4).unwrap(),
                distribution: Distribution::LeastConn,
            })
        };
        Queued::of(0, record, places, 1).map(|queued| queued.response)
    }

    #[test]
    fn sixteen_users_share_four_tokens() {
        let found = predicted(&loaded(Calculator::Token)).unwrap();
        assert!((found.rate.0 - 4.0 / 0.74).abs() < 1e-3, "{found:?}");
        assert!((found.mean.0 - 4.0 * 0.74).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn what_waits_for_something_else_is_not_predicted() {
        let by_processor = loaded(Calculator::Libcrypto("3.0".to_owned()));
        assert_eq!(predicted(&by_processor), None);
        let change = |change: fn(&mut keymark_bench::server_load::ServerLoad)| {
            let mut record = loaded(Calculator::Token);
            change(record.server_load.as_mut().unwrap());
            predicted(&record)
        };
        assert!(change(|_| ()).is_some());
        // A server that is busy itself; four servers with one token.
        assert_eq!(change(|load| load.server_cpu_ns = Some(u64::MAX)), None);
        let one = change(|load| {
            load.server.insert("key_places".to_owned(), "1".to_owned());
        });
        assert_eq!(one, None);
    }
}

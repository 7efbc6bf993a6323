//! Loads on tokens compared with the waiting that the operation alone predicts.

use keymark_bench::{
    Calculator, Case, CaseRecord, Operation, Pacing, Record, ServerLoad, StackName, StoreKind,
};
use keymark_stats::{Demand, Distribution, PerSecond, Queue, Response, Seconds, ServiceTimes};

use super::Analysis;

/// A server whose processors take more than this share of the token's time is no queue before tokens.
const SERVER_AT_MOST: f64 = 0.1;

/// Tokens that operations of a case wait for, and which of them is given the next one.
pub type Tokens = (u8, Distribution);

impl Analysis {
    /// Adds predictions for loads whose operations wait for these tokens.
    pub fn queued(mut self, record: &Record, tokens: impl Fn(&Case) -> Option<Tokens>) -> Self {
        for (row, own) in self.rows.iter_mut().zip(&record.cases) {
            row.predicted = tokens(&own.case).and_then(|tokens| predicted(record, own, tokens));
        }
        self
    }
}

fn predicted(record: &Record, own: &CaseRecord, tokens: Tokens) -> Option<Response> {
    let (case, load) = (&own.case, own.server_load.as_deref()?);
    let times = if case.operation == Operation::Handshake {
        handshakes(load, tokens.0)?
    } else {
        signatures(&record.cases, case)?
    };
    let users = |pause| Demand::Users {
        count: case.workers(),
        pause,
    };
    let queue = Queue {
        times: &times,
        demand: match case.load.pacing {
            Pacing::Closed => users(Seconds(0.0)),
            Pacing::Thinking(longest) => users(Seconds(longest.as_secs_f64())),
            Pacing::Open(rate) => Demand::Arrivals(PerSecond(rate.per_second())),
        },
        tokens: tokens.0.into(),
        distribution: tokens.1,
        seed: record.plan.settings.seed,
    };
    queue.response(None)
}

/// The private-key operations of a server's handshakes, where its tokens are what it waits for.
fn handshakes(load: &ServerLoad, tokens: u8) -> Option<ServiceTimes> {
    // A resumed session waits for no token.
    let alone = load.alone.as_ref().filter(|_| load.resumed().0 == 0);
    let alone = alone.filter(|alone| alone.by == Calculator::Token)?;
    let each = alone.durations.each();
    let times = ServiceTimes::of(each.map(|nanos| Seconds::from_nanos(nanos as f64)))?;
    let server = load.server_cpu_ns? as f64 / 1e9 / load.totals.transactions.max(1) as f64;
    let apart = load.server.get("key_places");
    let shared = apart.is_some_and(|apart| *apart != tokens.to_string());
    (server <= SERVER_AT_MOST * times.mean().0 && !shared).then_some(times)
}

/// Returns gpg's signing times with the token of a service.
fn signatures(records: &[CaseRecord], of: &Case) -> Option<ServiceTimes> {
    let signs = |record: &&CaseRecord| {
        let case = &record.case;
        (case.stack, case.operation) == (StackName::GPG, Operation::Sign)
            && (case.algorithm, &case.device) == (of.algorithm, &of.device)
            && case.store != StoreKind::SOFTWARE
            && case.is_alone()
    };
    ServiceTimes::measured(records.iter().find(signs)?.latencies())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use keymark_bench::{Durations, Load, OperationAlone};
    use keymark_testkit::record::{case, of, server_load};

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
        of.operation = Operation::Handshake;
        of.load = Load::closed(NonZeroU32::new(16).unwrap());
        CaseRecord {
            server_load: Some(Box::new(load)),
            ..CaseRecord::new(of)
        }
    }

    fn predicted(own: CaseRecord) -> Option<Response> {
        let record = of(vec![own]);
        let tokens = |_: &Case| Some((4, Distribution::LeastConn));
        Analysis::of(&record, &[]).queued(&record, tokens).rows[0].predicted
    }

    #[test]
    fn sixteen_users_share_four_tokens() {
        let found = predicted(loaded(Calculator::Token)).unwrap();
        assert!((found.rate.0 - 4.0 / 0.74).abs() < 1e-3, "{found:?}");
        assert!((found.mean.0 - 4.0 * 0.74).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn what_waits_for_something_else_is_not_predicted() {
        let by_processor = loaded(Calculator::Libcrypto("3.0".to_owned()));
        assert_eq!(predicted(by_processor), None);
        let changed = |change: fn(&mut ServerLoad)| {
            let mut record = loaded(Calculator::Token);
            change(record.server_load.as_mut().unwrap());
            predicted(record)
        };
        assert!(changed(|_| ()).is_some());
        // A server that is busy itself; four servers with one token.
        assert_eq!(changed(|load| load.server_cpu_ns = Some(u64::MAX)), None);
        let one = |load: &mut ServerLoad| {
            load.server.insert("key_places".to_owned(), "1".to_owned());
        };
        assert_eq!(changed(one), None);
    }
}

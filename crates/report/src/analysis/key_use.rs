//! The private key's part in handshakes under load, and the calls to a token.

use keymark_bench::{Calculator, Case, FunctionCalls, Record, ServerLoad, TokenCalls};
use keymark_stats::{Ratio, Seconds};

use super::tables::handshakes;
use crate::non_empty;
use crate::units::counted;
use crate::{Block, Cell, Column, RemarkKind, Section, Table};

/// The parts of a transaction; each mean is one of the steady state, or of the whole load where only that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spent {
    /// The operation in keymark's process, while nobody else asks.
    pub(crate) alone: Option<Seconds>,
    /// The operation in the server's processes, under load.
    traced: Option<Seconds>,
    /// Time of the operation spent waiting for others.
    waited: Option<Seconds>,
    /// The handshake less the operation.
    rest: Option<Seconds>,
    /// The transaction less connection and handshake.
    http: Option<Seconds>,
    /// The operation over the handshake.
    share: Option<Ratio>,
    /// The operation over the processor time that the server spends on a transaction.
    pub(crate) of_processor: Option<Ratio>,
}

impl Spent {
    pub(crate) fn of(case: &Case, load: &ServerLoad) -> Option<Self> {
        let alone = load.alone.as_ref().and_then(|alone| alone.mean());
        let calls = load.token_calls.as_ref();
        let traced = calls.and_then(TokenCalls::of_operation);
        let operation = traced.or(alone)?;
        // Of resumed sessions there is none.
        let each = Seconds(operation.0 * (1.0 - load.resumed_share().0));
        let handshake = load.mean(|second| &second.handshake);
        let whole = load.mean(|second| &second.whole);
        let connect = load.mean(|second| &second.connect);
        // Latency counts from when a transaction was due, and what it waited before it began is neither.
        let is_open = case.load.pacing.rate().is_some();
        let http = || Some(Seconds(whole?.0 - connect?.0 - handshake?.0));
        let over = |whole: Seconds| Ratio(each.0 / whole.0);
        let processor = load.server_cpu_ns.filter(|_| calls.is_none());
        Some(Self {
            alone,
            traced,
            waited: calls.and_then(|calls| waited(calls, alone)),
            rest: handshake.map(|handshake| Seconds(handshake.0 - each.0)),
            http: if is_open { None } else { http() },
            share: handshake.map(over),
            of_processor: processor
                .filter(|_| in_file(load))
                .map(|time| Seconds(time as f64 / 1e9 / load.totals.transactions.max(1) as f64))
                .map(over),
        })
    }
}

/// A twin says who waited in it; of another device the time is more than the operation takes alone, or it is not known.
fn waited(calls: &TokenCalls, alone: Option<Seconds>) -> Option<Seconds> {
    let waited = calls.waited().filter(|waited| waited.0 > 0.0);
    waited.or_else(|| {
        let more = calls.of_operation()?.0 - alone?.0;
        Some(Seconds(more.max(0.0)))
    })
}

/// Returns whether the server calculates itself, in processor time of its own.
fn in_file(load: &ServerLoad) -> bool {
    let alone = load.alone.as_ref();
    alone.is_some_and(|alone| alone.by != Calculator::Token)
}

/// The sections of a record, if anything is known.
pub(crate) fn sections(record: &Record) -> Vec<Section> {
    let loads = || {
        record
            .cases
            .iter()
            .filter_map(|case| Some((&case.case, case.server_load.as_deref()?)))
    };
    let mut sections = Vec::new();
    let spent = loads().filter_map(|(case, load)| Some((case, Spent::of(case, load)?)));
    if let Some(spent) = non_empty(spent) {
        sections.push(Section::headed(
            "where the time of a transaction goes (the private-key operation measured by itself, the rest by \
             subtraction)",
            vec![Block::Table(breakdown(&spent)), Block::remark(RemarkKind::Basis, EXPLAINED)],
        ));
    }
    let traced = loads().filter_map(|(case, load)| Some((case, load, load.token_calls.as_ref()?)));
    if let Some(traced) = non_empty(traced) {
        let mut blocks = vec![Block::Table(asked(&traced))];
        blocks.extend(
            traced
                .iter()
                .filter_map(|(case, _, calls)| failed(case, calls)),
        );
        sections.push(Section::headed(
            "what the server asked of its token, from the start of the load to the end of its drain",
            blocks,
        ));
    }
    sections
}

const EXPLAINED: &str = "only the private key is measured: with the server's libcrypto or the token, in keymark's \
                         process before and after the load; the rest of the handshake and HTTP are differences of \
                         means, and include waiting for a busy server";

fn breakdown(spent: &[(&Case, Spent)]) -> Table {
    // A difference of means that noise has made negative is at most nothing.
    let difference = |time: Option<Seconds>| time.map(|time| Seconds(time.0.max(0.0)));
    handshakes(spent, |(case, _)| case)
        .value("private key, alone", |(_, spent)| spent.alone)
        .value("in the server", |(_, spent)| spent.traced)
        .if_any()
        .optional(3, "waiting", |(_, spent)| spent.waited)
        .if_any()
        .value("rest of the handshake", |(_, spent)| difference(spent.rest))
        .optional(2, "HTTP", |(_, spent)| difference(spent.http))
        .optional(4, "share of handshake", |(_, spent)| {
            spent.share.map(Cell::share)
        })
        .optional(1, "share of server CPU", |(_, spent)| {
            spent.of_processor.map(Cell::share)
        })
        .if_any()
        .provenance(|(case, _)| case.provenance)
        .table()
}

/// Calls of a function, or of all that do not use the key.
struct FunctionRow<'a> {
    case: &'a Case,
    name: String,
    function: FunctionCalls,
    handshakes: f64,
    handshake: Option<Seconds>,
}

/// A line a function with the private key, and one for all others.
fn asked(traced: &[(&Case, &ServerLoad, &TokenCalls)]) -> Table {
    let waits = |(_, _, calls): &(&Case, &ServerLoad, &TokenCalls)| {
        let mut functions = calls.functions.values();
        functions.any(|function| function.waited_ns > 0)
    };
    let waits = traced.iter().any(waits);
    let mut lines: Vec<FunctionRow<'_>> = Vec::new();
    for (case, load, calls) in traced {
        let mut line = |name: String, function: FunctionCalls| {
            lines.push(FunctionRow {
                case,
                name,
                function,
                handshakes: calls.handshakes.max(1) as f64,
                handshake: load.mean(|second| &second.handshake),
            });
        };
        let mut others = (0_usize, FunctionCalls::default());
        for (name, function) in &calls.functions {
            if function.of_operation {
                line(name.clone(), function.clone());
            } else {
                others.0 += 1;
                others.1.calls += function.calls;
                others.1.total_ns += function.total_ns;
                others.1.failed += function.failed;
            }
        }
        if others.0 > 0 {
            line(counted(others.0, "other function"), others.1);
        }
    }
    handshakes(lines, |line| line.case)
        .name("function", |line| line.name.clone())
        .optional(1, "calls", |line| line.function.calls)
        .value("a handshake", |line| {
            Cell::from(Ratio(line.function.calls as f64 / line.handshakes))
        })
        .value("mean", |line| line.function.mean())
        .optional(3, "p99", |line| line.function.durations.quantile(0.99))
        .maybe(waits.then(|| Column::value("waiting").leave(4)), |line| {
            let waited = line.function.waited();
            waited.filter(|_| line.function.of_operation)
        })
        .optional(2, "of the handshake", |line| {
            let each = line.function.total_ns as f64 / 1e9 / line.handshakes;
            Some(Cell::share(Ratio(each / line.handshake?.0)))
        })
        .provenance(|line| line.case.provenance)
        .table()
}

/// Calls with the private key that the token refused, or that none was made.
fn failed(case: &Case, calls: &TokenCalls) -> Option<Block> {
    let working = calls
        .functions
        .iter()
        .filter(|(_, function)| function.of_operation);
    let (mut made, mut words) = (0, Vec::new());
    for (name, FunctionCalls { calls, failed, .. }) in working {
        made += calls;
        if *failed > 0 {
            words.push(format!("{failed} of {calls} calls of {name} failed"));
        }
    }
    if made == 0 {
        words.push("the server did not use its token: are the sessions resumed?".to_owned());
    }
    let text = format!("{case}: {}", words.join(", "));
    (!words.is_empty()).then(|| Block::remark(RemarkKind::Basis, text))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use keymark_bench::case::StackName;
    use keymark_bench::key_use::OperationAlone;
    use keymark_bench::operation::Operation;
    use keymark_bench::server_load::Durations;

    use keymark_testkit::record::{case, server_load};

    use super::*;

    fn alone(nanoseconds: u64, by: Calculator) -> OperationAlone {
        OperationAlone {
            operation: Operation::Sign,
            by,
            durations: Durations(vec![(nanoseconds, 3)]),
        }
    }

    fn calls(waited_ns: u64) -> TokenCalls {
        let sign = FunctionCalls {
            calls: 10,
            total_ns: 5_000_000,
            waited_ns,
            of_operation: true,
            ..FunctionCalls::default()
        };
        TokenCalls {
            handshakes: 10,
            processes: 1,
            functions: BTreeMap::from([("C_Sign".to_owned(), sign)]),
        }
    }

    #[test]
    fn the_rest_is_what_the_operation_leaves() {
        let case = case("rsa2048", StackName::of("nginx"));
        let of = |load: &ServerLoad| Spent::of(&case, load);
        let nothing = ServerLoad {
            alone: None,
            token_calls: None,
            ..server_load()
        };
        assert_eq!(of(&nothing), None, "nothing is known of the key");
        let handshake = (2.0 * 0.0009 + 0.001) / 3.0;
        let file = ServerLoad {
            alone: Some(alone(400_000, Calculator::Libcrypto("3.0.19".to_owned()))),
            ..nothing.clone()
        };
        let spent = of(&file).unwrap();
        assert!((spent.rest.unwrap().0 - (handshake - 0.0004)).abs() < 1e-9);
        // 40 ms for nine transactions.
        assert!((spent.of_processor.unwrap().0 - 0.09).abs() < 1e-9);
        assert_eq!((spent.traced, spent.waited), (None, None));
        let token = ServerLoad {
            token_calls: Some(calls(0)),
            alone: Some(alone(400_000, Calculator::Token)),
            ..server_load()
        };
        let spent = of(&token).unwrap();
        assert_eq!(spent.traced, Some(Seconds(0.0005)));
        assert!((spent.waited.unwrap().0 - 0.0001).abs() < 1e-9);
        assert_eq!(spent.of_processor, None, "a device has its own");
        let twin = ServerLoad {
            token_calls: Some(calls(1_000_000)),
            ..token
        };
        assert_eq!(of(&twin).unwrap().waited, Some(Seconds(0.0001)));
    }

    /// Half of the steady state's eight.
    #[test]
    fn a_resumed_session_has_no_part_of_the_key() {
        let mut load = ServerLoad {
            alone: Some(alone(400_000, Calculator::Libcrypto("3.0.19".to_owned()))),
            token_calls: None,
            ..server_load()
        };
        load.seconds[1].resumed = 4;
        let spent = Spent::of(&case("rsa2048", StackName::of("nginx")), &load).unwrap();
        assert!((spent.of_processor.unwrap().0 - 0.045).abs() < 1e-9);
        let handshake = (2.0 * 0.0009 + 0.001) / 3.0;
        assert!((spent.rest.unwrap().0 - (handshake - 0.0002)).abs() < 1e-9);
        assert_eq!(spent.alone, Some(Seconds(0.0004)));
    }

    #[test]
    fn what_failed_and_what_was_never_asked_is_said() {
        let case = case("rsa2048", StackName::of("nginx"));
        assert!(failed(&case, &calls(0)).is_none());
        let said = |calls: &TokenCalls| format!("{:?}", failed(&case, calls));
        assert!(said(&TokenCalls::default()).contains("resumed?"));
        let mut refused = calls(0);
        if let Some(sign) = refused.functions.get_mut("C_Sign") {
            sign.failed = 2;
        }
        assert!(said(&refused).contains("2 of 10 calls of C_Sign failed"));
    }
}

//! A load on a server.

use std::collections::BTreeMap;

use keymark_bench::key_use::{Calculator, FunctionCalls, OperationAlone, TokenCalls};
use keymark_bench::operation::Operation;
use keymark_bench::server_load::{
    Batch, Durations, LoadLimit, Saturation, Second, ServerLoad, Steady, Totals, Transaction,
    Tried, TriedDemand,
};

/// So many transactions in that time.
pub const fn batch(round: u32, completed: u64, length_ns: u64) -> Batch {
    Batch {
        completed,
        length_ns,
        round,
    }
}

/// A load of three seconds, of which two were steady.
pub fn server_load() -> ServerLoad {
    let durations = |each: &[(u64, u64)]| Durations(each.to_vec());
    let second = |whole: &[(u64, u64)]| Second {
        connect: durations(&[(60_000, 3)]),
        handshake: durations(&[(900_000, 2), (1_000_000, 1)]),
        first_byte: durations(&[(90_000, 3)]),
        whole: durations(whole),
        failures: BTreeMap::from([("handshake timeout".to_owned(), 1)]),
    };
    ServerLoad {
        server: BTreeMap::from([("program".to_owned(), "nginx 1.22.1".to_owned())]),
        client: "rustls".to_owned(),
        seed: 7,
        elapsed_ns: 3_000_000_000,
        steady: Some(Steady {
            stretches: vec![(1, 3)],
            batches: vec![batch(0, 3, 1_000_000_000), batch(0, 5, 1_000_000_000)],
        }),
        unsteady: None,
        seconds: vec![
            second(&[(9_000_000, 1)]),
            second(&[(1_100_000, 2), (1_200_000, 1)]),
            second(&[(1_100_000, 4), (1_300_000, 1)]),
        ],
        sample: vec![Transaction {
            scheduled_ns: 0,
            start_ns: 10,
            connect_ns: 60_000,
            handshake_ns: 900_000,
            first_byte_ns: 90_000,
            whole_ns: 1_100_000,
        }],
        totals: Totals {
            transactions: 9,
            failed: 3,
            bytes: 36_864,
            time_ns: 18_100_000,
            longest_ns: 9_000_000,
            shortest_ns: 1_100_000,
        },
        cut_off: 2,
        waiting: 0,
        server_cpu_ns: Some(40_000_000),
        client_cpu_ns: 30_000_000,
        limit: LoadLimit::Elsewhere,
        drained_ns: Some(5_000_000),
        token_calls: Some(token_calls()),
        alone: Some(alone()),
        log: vec!["[warn] a line".to_owned()],
        saturation: Some(saturation()),
        killed_ns: Some(1_500_000_000),
    }
}

fn token_calls() -> TokenCalls {
    let sign = FunctionCalls {
        calls: 12,
        failed: 1,
        total_ns: 6_000_000,
        waited_ns: 1_200_000,
        durations: Durations(vec![(400_000, 6), (600_000, 6)]),
        of_operation: true,
    };
    TokenCalls {
        handshakes: 12,
        processes: 2,
        functions: BTreeMap::from([("C_Sign".to_owned(), sign)]),
    }
}

fn alone() -> OperationAlone {
    OperationAlone {
        operation: Operation::Sign,
        by: Calculator::Token,
        durations: Durations(vec![(390_000, 2), (410_000, 2)]),
    }
}

fn saturation() -> Saturation {
    Saturation {
        tried: vec![
            Tried {
                demand: TriedDemand::Users(4),
                rate: 3.0,
                p99_ns: 1_300_000,
                failed: 0.25,
                unfinished: 0.0,
            },
            Tried {
                demand: TriedDemand::Rate(2.5),
                rate: 2.4,
                p99_ns: 1_200_000,
                failed: 0.0,
                unfinished: 0.01,
            },
        ],
        best_users: 4,
        knee_users: 2,
        rate_within_limit: Some(2.5),
    }
}

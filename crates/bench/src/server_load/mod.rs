//! Load on a server, in place of samples: transactions are too many for a row each. Durations are kept per second,
//! within one in a thousand, with a sample of whole transactions.

mod durations;
mod totals;

use std::collections::BTreeMap;
use std::time::Duration;

use keymark_stats::{Blocks, PerSecond, Ratio, Seconds, Window};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{OperationAlone, TokenCalls, nanoseconds};
pub use durations::Durations;
use durations::mean;
pub use totals::Totals;

/// A load that is over, or was stopped. Times count from its start, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServerLoad {
    /// Properties of the server: its program and version, MPM, cipher, group, parameters of DH, sessions, …
    pub server: BTreeMap<String, String>,
    /// TLS library of the client.
    pub client: String,
    /// Seed of pauses, arrivals and the sample.
    pub seed: u64,
    /// Time from the start to the cut-off.
    pub elapsed_ns: u64,
    /// Steady part; none if nothing was steady.
    pub steady: Option<Steady>,
    /// Why there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsteady: Option<String>,
    /// Second by second.
    pub seconds: Vec<Second>,
    /// Some whole transactions, each as likely to be here as any other.
    pub sample: Vec<Transaction>,
    /// Sums over the whole load.
    pub totals: Totals,
    /// Transactions that were under way at the cut-off: neither successes nor failures.
    pub cut_off: u64,
    /// Arrivals that were due and had not begun at the cut-off.
    pub waiting: u64,
    /// Processor time of the server's processes during the load; none where they are not keymark's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_ns: Option<u64>,
    /// Processor time around a service that signs for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_cpu: Option<ServiceCpu>,
    /// Processor time of the client's threads.
    pub client_cpu_ns: u64,
    /// Limit of the rate.
    pub limit: LoadLimit,
    /// Time that the server stayed busy after the cut-off; none where keymark cannot see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drained_ns: Option<u64>,
    /// Calls of the server to its token, if they were traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_calls: Option<TokenCalls>,
    /// The private-key operation by itself, if it could be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<OperationAlone>,
    /// The end of what the server has written, line by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// The search that led to this load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
    /// Time when one of the servers was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed_ns: Option<u64>,
    /// Clients on several machines, and what kept one from loading to the end; empty of this machine alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clients: BTreeMap<String, Option<String>>,
}

/// Processor time around a service during the load, apart from that of its own processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServiceCpu {
    /// Processor time of gpg-agents and scdaemons; none where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_ns: Option<u64>,
    /// Processor time of everything on this machine.
    pub machine_ns: u64,
    /// Processors of this machine.
    pub cores: u64,
}

impl ServiceCpu {
    /// Returns the time since an earlier reading.
    pub fn since(&self, earlier: &Self) -> Self {
        let agent = self.agent_ns.zip(earlier.agent_ns);
        Self {
            agent_ns: agent.map(|(now, then)| now.saturating_sub(then)),
            machine_ns: self.machine_ns.saturating_sub(earlier.machine_ns),
            cores: self.cores,
        }
    }

    fn then(self, later: Self) -> Self {
        let agent = self.agent_ns.zip(later.agent_ns);
        Self {
            agent_ns: agent.map(|(one, other)| one.saturating_add(other)),
            machine_ns: self.machine_ns.saturating_add(later.machine_ns),
            ..self
        }
    }
}

/// A search for what a server can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// Every load that was tried, in order.
    pub tried: Vec<Tried>,
    /// Users of the load that counts.
    pub best_users: u32,
    /// The fewest that reached nearly as much.
    pub knee_users: u32,
    /// The highest rate of arrivals, in transactions per second, at which 99 % stayed below the limit.
    pub rate_within_limit: Option<f64>,
}

/// A load on the way, shorter than the one that counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// Users or rate of the attempt.
    pub demand: TriedDemand,
    /// Transactions per second.
    pub rate: f64,
    /// 99th percentile of the durations.
    pub p99_ns: u64,
    /// Share of failed transactions.
    pub failed: f64,
    /// Share of due transactions that had not ended.
    pub unfinished: f64,
}

/// Users or rate of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum TriedDemand {
    /// Number of users in closed loops.
    Users(u32),
    /// Arrivals at random, at that rate per second.
    Rate(f64),
}

/// Steady part of a load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Steady {
    /// Its stretches, each from a whole second to another one.
    pub stretches: Vec<(u64, u64)>,
    /// Transactions that succeeded, some at a time.
    pub batches: Vec<Batch>,
}

/// Transactions that succeeded one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Number of transactions.
    pub completed: u64,
    /// Time from the end of the previous transaction to the end of the last one.
    pub length_ns: u64,
    /// The round of the run in which this was.
    pub round: u32,
}

impl Steady {
    /// Returns true if a second is in one of the stretches.
    pub fn has(&self, second: u64) -> bool {
        self.stretches
            .iter()
            .any(|(from, to)| (*from..*to).contains(&second))
    }

    /// The batches, as estimates take them.
    pub fn windows(&self) -> Vec<Window> {
        let window = |batch: &Batch| Window {
            completed: batch.completed as f64,
            length_ns: batch.length_ns,
            round: batch.round,
        };
        self.batches.iter().map(window).collect()
    }

    /// Transactions per second.
    pub fn rate(&self) -> PerSecond {
        let sum = |of: fn(&Batch) -> u64| self.batches.iter().map(of).sum::<u64>() as f64;
        PerSecond(sum(|batch| batch.completed) / (sum(|batch| batch.length_ns) / 1e9))
    }
}

/// Transactions that ended in one second.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Second {
    /// Time until the TCP connection was open.
    pub connect: Durations,
    /// Time from there to the end of the handshake.
    pub handshake: Durations,
    /// Time from there to the first byte of the answer.
    pub first_byte: Durations,
    /// Time from the scheduled start, or the start in a closed loop, to the last byte.
    pub whole: Durations,
    /// Successful transactions whose handshake resumed a session.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resumed: u64,
    /// Failures by class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, u64>,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference over"
)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Second {
    /// Returns the number of successful transactions.
    pub fn transactions(&self) -> u64 {
        self.whole.count()
    }

    /// Returns the number of failed transactions.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Adds the same second of another thread.
    pub fn add(&mut self, other: &Self) {
        self.connect.add(&other.connect);
        self.handshake.add(&other.handshake);
        self.first_byte.add(&other.first_byte);
        self.whole.add(&other.whole);
        self.resumed += other.resumed;
        for (failure, count) in &other.failures {
            *self.failures.entry(failure.clone()).or_default() += count;
        }
    }
}

/// A transaction that succeeded, by its phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transaction {
    /// Scheduled start.
    pub scheduled_ns: u64,
    /// Actual start.
    pub start_ns: u64,
    /// Time until the TCP connection was open.
    pub connect_ns: u64,
    /// Time from there to the end of the handshake.
    pub handshake_ns: u64,
    /// Time from there to the first byte of the answer.
    pub first_byte_ns: u64,
    /// Time from the scheduled start to the last byte.
    pub whole_ns: u64,
}

impl Transaction {
    /// Returns the time of the last byte since the load's start.
    pub const fn ended(&self) -> Duration {
        Duration::from_nanos(self.scheduled_ns.saturating_add(self.whole_ns))
    }
}

/// Limit of the rate, as far as the client can tell. The greater limit of two loads holds for both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum LoadLimit {
    /// Not the client.
    Elsewhere,
    /// There was no steady state to tell it by.
    #[default]
    Unknown,
    /// The client itself had no time left: rate and durations are its own.
    Client,
}

impl ServerLoad {
    /// Durations of whole transactions in the steady stretch, a block a second. In which order they came within it was
    /// not kept: it is drawn, from the seed, so that no estimate takes the order of a histogram for a drift.
    pub fn latencies(&self) -> Blocks {
        let mut order = ChaCha8Rng::seed_from_u64(self.seed);
        Blocks::from_blocks(self.steady_seconds().map(|(number, second)| {
            let mut durations: Vec<u64> = second.whole.each().collect();
            shuffle(&mut durations, &mut order);
            (number, durations)
        }))
    }

    /// Mean of a phase in the steady stretch; none of nothing.
    pub fn mean(&self, phase: impl Fn(&Second) -> &Durations) -> Option<Seconds> {
        let seconds = self.steady_seconds();
        mean(seconds.flat_map(|(_, second)| &phase(second).0))
    }

    /// The seconds of the steady stretch, with their numbers.
    fn steady_seconds(&self) -> impl Iterator<Item = (u32, &Second)> {
        let steady = self.steady.as_ref();
        let seconds = (0_u32..).zip(&self.seconds);
        seconds.filter(move |(number, _)| steady.is_some_and(|it| it.has(u64::from(*number))))
    }

    /// Transactions that resumed a session, and all, in the steady stretch.
    pub fn resumed(&self) -> (u64, u64) {
        let seconds = self.steady_seconds();
        seconds.fold((0, 0), |(resumed, all), (_, second)| {
            (resumed + second.resumed, all + second.transactions())
        })
    }

    /// Returns the part of them that resumed a session.
    pub fn resumed_share(&self) -> Ratio {
        let (resumed, all) = self.resumed();
        Ratio(resumed as f64 / all.max(1) as f64)
    }

    /// The batches of the steady state.
    pub fn windows(&self) -> Vec<Window> {
        self.steady
            .as_ref()
            .map(Steady::windows)
            .unwrap_or_default()
    }

    /// Appends another load of the same case, as if this one had gone on.
    pub fn then(mut self, mut later: Self) -> Self {
        let seconds = self.seconds.len() as u64;
        let from = seconds * 1_000_000_000;
        for transaction in &mut later.sample {
            transaction.scheduled_ns += from;
            transaction.start_ns += from;
        }
        self.sample.append(&mut later.sample);
        self.seconds.append(&mut later.seconds);
        // One that never settled tells nothing of the others.
        if let Some(later) = later.steady {
            let steady = self.steady.get_or_insert_default();
            let moved = later
                .stretches
                .into_iter()
                .map(|(from, to)| (from + seconds, to + seconds));
            steady.stretches.extend(moved);
            steady.batches.extend(later.batches);
        }
        let unsteady = self.unsteady.or(later.unsteady);
        self.totals.add(&later.totals);
        let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        Self {
            elapsed_ns: self.elapsed_ns.saturating_add(later.elapsed_ns),
            unsteady: unsteady.filter(|_| self.steady.is_none()),
            cut_off: self.cut_off + later.cut_off,
            waiting: self.waiting + later.waiting,
            server_cpu_ns: sum(self.server_cpu_ns, later.server_cpu_ns),
            service_cpu: self
                .service_cpu
                .zip(later.service_cpu)
                .map(|(one, other)| one.then(other)),
            client_cpu_ns: self.client_cpu_ns.saturating_add(later.client_cpu_ns),
            limit: self.limit.max(later.limit),
            drained_ns: self.drained_ns.max(later.drained_ns),
            totals: self.totals,
            ..self
        }
    }

    /// Returns the failures over the whole load by class.
    pub fn failures(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        let each = self.seconds.iter().flat_map(|second| &second.failures);
        for (class, count) in each {
            *all.entry(class.as_str()).or_default() += count;
        }
        all
    }
}

/// Every order is as likely (Fisher & Yates; Durstenfeld 1964).
fn shuffle(durations: &mut [u64], order: &mut ChaCha8Rng) {
    for last in (1..durations.len()).rev() {
        durations.swap(last, order.random_range(0..=last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_load_stands_behind_the_first_one() {
        let second = |done: u64| Second {
            whole: Durations((1..=done).map(|one| (one, 1)).collect()),
            ..Second::default()
        };
        let batch = |round| Batch {
            completed: 4,
            length_ns: 1_000_000_000 * u64::from(round + 1),
            round,
        };
        let transaction = Transaction {
            scheduled_ns: 5,
            start_ns: 7,
            connect_ns: 1,
            handshake_ns: 1,
            first_byte_ns: 1,
            whole_ns: 10,
        };
        let load = |round| ServerLoad {
            seed: 1,
            elapsed_ns: 2_000_000_000,
            steady: Some(Steady {
                stretches: vec![(1, 2)],
                batches: vec![batch(round)],
            }),
            seconds: vec![second(1), second(2)],
            sample: vec![transaction],
            cut_off: 1,
            server_cpu_ns: Some(3),
            client_cpu_ns: 4,
            limit: [LoadLimit::Elsewhere, LoadLimit::Client][round as usize],
            ..ServerLoad::default()
        };
        let both = load(0).then(load(1));
        let steady = both.steady.clone().unwrap();
        assert_eq!(steady.stretches, [(1, 2), (3, 4)]);
        assert!((steady.rate().0 - 8.0 / 3.0).abs() < 1e-12);
        let latencies = both.latencies();
        let counts = latencies.iter().map(|(_, some)| some.len());
        assert_eq!(counts.collect::<Vec<_>>(), [2, 2]);
        assert_eq!(both.sample[1].scheduled_ns, 2_000_000_005);
        assert_eq!((both.elapsed_ns, both.cut_off), (4_000_000_000, 2));
        assert_eq!(
            (both.server_cpu_ns, both.limit),
            (Some(6), LoadLimit::Client)
        );
        let half = load(0).then(ServerLoad {
            steady: None,
            unsteady: Some("too short".to_owned()),
            ..load(1)
        });
        assert_eq!((half.steady, half.unsteady), (load(0).steady, None));
    }
}

//! A load on a server: as siege sums it up, so that old articles compare line by line, and where its time went; what a
//! search for the limits has found, and what clients noticed when one of several servers was killed.

use keymark_bench::{Case, LoadLimit, Second, ServerLoad, TriedDemand};
use keymark_stats::{Estimate, PerSecond, Ratio, Seconds, poisson_cdf};

use super::key_use::Spent;

/// The figures that siege prints, with its names, for which all of the load counts, its start and end too (the row's
/// throughput is that of the steady state); the phases of transactions in the steady state; and whose processors they took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnderLoad {
    /// Requests that were answered.
    pub transactions: u64,
    /// Transactions as a share of themselves and the failed ones, in per cent.
    pub availability: f64,
    /// Mean time of a transaction.
    pub response_time: Seconds,
    /// Transactions over elapsed time.
    pub transaction_rate: PerSecond,
    /// Sum of all transactions' times over elapsed time.
    pub concurrency: f64,
    /// Transactions that failed.
    pub failed: u64,
    /// The longest.
    pub longest: Seconds,
    /// The shortest.
    pub shortest: Seconds,
    /// Mean time until the connection stood.
    pub connect: Option<Seconds>,
    /// Mean time from there to the end of the handshake.
    pub handshake: Option<Seconds>,
    /// Mean time from there to the answer's first byte.
    pub first_byte: Option<Seconds>,
    /// Time that 95 % of the transactions of the steady state did not exceed.
    pub p95: Option<Seconds>,
    /// Processor time of the server's processes; none where they are not keymark's.
    pub server_cpu: Option<Seconds>,
    /// Processor time of the client.
    pub client_cpu: Seconds,
    /// The limit of the rate, as far as the client can tell.
    pub limit: LoadLimit,
    /// Parts of a transaction's time.
    pub(crate) spent: Option<Spent>,
    /// Utilization of a signing service.
    pub busy: Option<Busy>,
    /// Limits that a search has found.
    pub saturated: Option<Saturated>,
    /// Failures after a server was killed.
    pub loss: Option<Loss>,
    /// Part of the transactions that resumed a session.
    pub resumed: Ratio,
    /// True if an open loop offered more transactions than were completed; none of users.
    pub overrun: Option<bool>,
}

impl UnderLoad {
    /// Processor time of the server's processes for a transaction.
    pub(crate) fn server_cpu_each(&self) -> Option<Seconds> {
        self.each(self.server_cpu?)
    }

    /// Processor time of the client for a transaction.
    pub(super) fn client_cpu_each(&self) -> Option<Seconds> {
        self.each(self.client_cpu)
    }

    fn each(&self, processor: Seconds) -> Option<Seconds> {
        let transactions = self.transactions as f64;
        (transactions > 0.0).then(|| Seconds(processor.0 / transactions))
    }

    pub(super) fn of(case: &Case, load: &ServerLoad, rate: Option<Estimate<PerSecond>>) -> Self {
        let totals = load.totals;
        let seconds = |nanoseconds: u64| Seconds(nanoseconds as f64 / 1e9);
        let over = |sum: f64, by: f64| if by > 0.0 { sum / by } else { 0.0 };
        let (transactions, elapsed) = (totals.transactions as f64, seconds(load.elapsed_ns));
        let time = seconds(totals.time_ns);
        Self {
            transactions: totals.transactions,
            availability: 100.0 * over(transactions, transactions + totals.failed as f64),
            response_time: Seconds(over(time.0, transactions)),
            transaction_rate: PerSecond(over(transactions, elapsed.0)),
            concurrency: over(time.0, elapsed.0),
            failed: totals.failed,
            longest: seconds(totals.longest_ns),
            shortest: seconds(totals.shortest_ns),
            connect: load.mean(|second| &second.connect),
            handshake: load.mean(|second| &second.handshake),
            first_byte: load.mean(|second| &second.first_byte),
            p95: p95(load).map(seconds),
            server_cpu: load.server_cpu_ns.map(seconds),
            client_cpu: seconds(load.client_cpu_ns),
            limit: load.limit,
            spent: Spent::of(case, load),
            busy: Busy::of(load),
            saturated: Saturated::of(load, rate),
            loss: Loss::of(load),
            resumed: load.resumed_share(),
            overrun: is_overrun(case, load),
        }
    }
}

/// Part of the arrivals that a server without a queue leaves at most, as in the search for its limits.
const LEFT: f64 = 0.03;

/// Probability below which fewer completions than offered transactions are not put down to chance.
const CHANCE: f64 = 0.025;

/// Returns whether an open loop left transactions and completed significantly fewer than it offered; none without arrivals.
///
/// Counts completions, which Poisson arrivals bound exactly: the rate's interval is wide if there are few.
fn is_overrun(case: &Case, load: &ServerLoad) -> Option<bool> {
    let offered = case.load.pacing.rate()?.per_second() * load.elapsed_ns as f64 / 1e9;
    let completed = load.totals.transactions;
    let left = (load.totals.failed + load.cut_off + load.waiting) as f64;
    let are_few = poisson_cdf(completed, offered) < CHANCE;
    Some(are_few && left > LEFT * (left + completed as f64))
}

/// Utilization during the whole load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Busy {
    /// The machine's processors, whatever they did.
    pub cores: Ratio,
    /// Each gpg-agent, with its scdaemon.
    pub agents: Option<Ratio>,
}

impl Busy {
    fn of(load: &ServerLoad) -> Option<Self> {
        let spent = load.service_cpu?;
        let agents = load.server.get("agents").and_then(|word| word.parse().ok());
        // Readings are a little further apart than the load is long.
        let share = |time: u64, of: u64| {
            let whole = (load.elapsed_ns * of.max(1)) as f64;
            Ratio((time as f64 / whole).min(1.0))
        };
        Some(Self {
            cores: share(spent.machine_ns, spent.cores),
            agents: spent.agent_ns.map(|time| share(time, agents.unwrap_or(1))),
        })
    }
}

/// Nearest rank, in nanoseconds.
fn p95(load: &ServerLoad) -> Option<u64> {
    let mut durations = load.latencies().durations().to_vec();
    durations.sort_unstable();
    let rank = (durations.len() * 95).div_ceil(100);
    durations.get(rank.checked_sub(1)?).copied()
}

/// The limits of a server. The best rate itself is the row's throughput, of a load of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturated {
    /// Users of the load that counts.
    pub best_users: u32,
    /// The fewest that reached nearly as much.
    pub knee_users: u32,
    /// Rate with the knee's users during the search; none above the best rate.
    pub knee_rate: Option<PerSecond>,
    /// Highest rate of arrivals at which 99 % of the transactions stayed below the limit; none above the best rate.
    pub within_limit: Option<PerSecond>,
    /// True if the search saw more than the best rate: the server was slower by then.
    pub exceeded: bool,
    /// Loads that it took.
    pub loads: u64,
}

impl Saturated {
    pub(super) fn of(load: &ServerLoad, best: Option<Estimate<PerSecond>>) -> Option<Self> {
        let found = load.saturation.as_ref()?;
        let mut tried = found.tried.iter();
        let knee = tried.find(|tried| tried.demand == TriedDemand::Users(found.knee_users));
        let knee = knee.map(|tried| PerSecond(tried.rate));
        let within = found.rate_within_limit.map(PerSecond);
        let most = best.map_or(f64::INFINITY, |best| best.high.unwrap_or(best.value).0);
        let possible = |rate: &PerSecond| rate.0 <= most;
        Some(Self {
            best_users: found.best_users,
            knee_users: found.knee_users,
            knee_rate: knee.filter(possible),
            within_limit: within.filter(possible),
            exceeded: [knee, within].iter().flatten().any(|rate| !possible(rate)),
            loads: found.tried.len() as u64,
        })
    }
}

/// The loss of a server in the middle of a load, to the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Transactions that failed from then on.
    pub failed: u64,
    /// Time from the loss to the end of the last second with a failure.
    pub lasted: Seconds,
    /// Rate of the steady seconds before.
    pub before: Option<PerSecond>,
    /// Rate of those after the last failure.
    pub after: Option<PerSecond>,
}

impl Loss {
    pub(super) fn of(load: &ServerLoad) -> Option<Self> {
        const SECOND: u64 = 1_000_000_000;
        let killed = load.killed_ns?;
        let second = usize::try_from(killed / SECOND).ok()?;
        // Such a load is one without a pause.
        let stretches = load.steady.iter().flat_map(|steady| &steady.stretches);
        let steady = stretches.last().map_or(0..0, |&(from, to)| {
            let index = |second: u64| usize::try_from(second).unwrap_or(usize::MAX);
            index(from)..index(to).min(load.seconds.len())
        });
        let failed = |second: &Second| second.failures.values().sum::<u64>();
        let since = load.seconds.get(second..).unwrap_or_default();
        let last = since.iter().rposition(|second| failed(second) > 0);
        let healed = last.map_or(second + 1, |last| second + last + 1);
        let lasted = last.map_or(0.0, |_| healed as f64 - killed as f64 / SECOND as f64);
        Some(Self {
            failed: since.iter().map(failed).sum(),
            lasted: Seconds(lasted),
            before: rate(load, steady.start..second),
            after: rate(load, healed.max(steady.start)..steady.end),
        })
    }
}

fn rate(load: &ServerLoad, seconds: std::ops::Range<usize>) -> Option<PerSecond> {
    let seconds = load.seconds.get(seconds).filter(|some| !some.is_empty())?;
    let done = |second: &Second| second.whole.0.iter().map(|(_, count)| count).sum::<u64>();
    let sum: u64 = seconds.iter().map(done).sum();
    Some(PerSecond(sum as f64 / seconds.len() as f64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use keymark_bench::server_load::{Durations, Steady};
    use keymark_bench::{Pacing, StackName};
    use keymark_testkit::record::{batch, case, server_load};

    use super::*;

    #[test]
    fn figures_are_those_of_sieges_manual() {
        let siege = UnderLoad::of(&case("rsa2048", StackName::RAW), &server_load(), None);
        assert_eq!((siege.transactions, siege.failed), (9, 3));
        assert!((siege.availability - 75.0).abs() < 1e-9);
        assert!((siege.transaction_rate.0 - 3.0).abs() < 1e-9);
        assert!((siege.concurrency - 0.0181 / 3.0).abs() < 1e-12);
        assert_eq!(siege.longest, Seconds(0.009));
        // Of the steady state's eight, in which the longest is not.
        assert_eq!(siege.p95, Some(Seconds(0.0013)));
        let handshake = (2.0 * 0.0009 + 0.001) / 3.0;
        assert!((siege.handshake.unwrap().0 - handshake).abs() < 1e-12);
        let nothing = ServerLoad {
            totals: Default::default(),
            seconds: Vec::new(),
            steady: None,
            ..server_load()
        };
        let siege = UnderLoad::of(&case("rsa2048", StackName::RAW), &nothing, None);
        assert_eq!((siege.p95, siege.response_time), (None, Seconds(0.0)));
    }

    #[test]
    fn latencies_and_rate_are_those_of_the_steady_state() {
        let load = server_load();
        let mut durations = load.latencies().durations().to_vec();
        durations.sort_unstable();
        let expected = [[1_100_000; 6].as_slice(), &[1_200_000, 1_300_000]].concat();
        assert_eq!(durations, expected);
        let windows = load.windows();
        let completed: Vec<f64> = windows.iter().map(|window| window.completed).collect();
        assert_eq!(completed, [3.0, 5.0]);
        assert_eq!(load.failures(), [("handshake timeout", 3)].into());
    }

    #[test]
    fn the_knee_has_the_rate_that_was_tried_with_its_users() {
        let mut load = server_load();
        let found = Saturated::of(&load, None).unwrap();
        assert_eq!(
            (found.best_users, found.knee_rate, found.loads),
            (4, None, 2)
        );
        assert_eq!(found.within_limit, Some(PerSecond(2.5)));
        load.saturation.as_mut().unwrap().knee_users = 4;
        assert_eq!(
            Saturated::of(&load, None).unwrap().knee_rate,
            Some(PerSecond(3.0))
        );
        // Of a rate that was lower than the search's, those are left out that it does not reach.
        let slow = Saturated::of(&load, Some(Estimate::bare(PerSecond(2.6)))).unwrap();
        assert_eq!((slow.knee_rate, slow.exceeded), (None, true));
        assert_eq!(slow.within_limit, Some(PerSecond(2.5)));
        load.saturation = None;
        assert_eq!(Saturated::of(&load, None), None);
    }

    #[test]
    fn a_server_that_completes_fewer_than_arrive_is_saturated() {
        let overrun = |pacing, completed, waiting| {
            let mut case = case("rsa2048", StackName::of("nginx"));
            case.load.pacing = pacing;
            let mut load = server_load();
            load.elapsed_ns = 8_000_000_000;
            load.totals.failed = 0;
            (load.totals.transactions, load.cut_off, load.waiting) = (completed, 0, waiting);
            is_overrun(&case, &load)
        };
        let open = Pacing::Open("5/s".parse().unwrap());
        assert_eq!(overrun(open, 10, 30), Some(true), "of a slow HSM");
        assert_eq!(overrun(open, 40, 4), Some(false), "all were completed");
        assert_eq!(overrun(open, 35, 4), Some(false), "by chance");
        assert_eq!(overrun(open, 20, 0), Some(false), "fewer came by chance");
        assert_eq!(overrun(Pacing::Closed, 10, 30), None);
    }

    #[test]
    fn what_was_lost_and_for_how_long_is_told() {
        let second = |done: u64, failed: u64| Second {
            whole: Durations(vec![(1_000_000, done)]),
            failures: BTreeMap::from([("closed".to_owned(), failed)]),
            ..Second::default()
        };
        let load = ServerLoad {
            seconds: [(9, 3), (8, 0), (8, 0), (5, 2), (1, 1), (4, 0), (4, 0)]
                .map(|(done, failed)| second(done, failed))
                .to_vec(),
            steady: Some(Steady {
                stretches: vec![(1, 7)],
                batches: vec![batch(0, 2, 300_000_000); 20],
            }),
            killed_ns: Some(3_250_000_000),
            ..server_load()
        };
        let loss = Loss::of(&load).unwrap();
        assert_eq!((loss.failed, loss.lasted), (3, Seconds(1.75)));
        assert_eq!(
            (loss.before, loss.after),
            (Some(PerSecond(8.0)), Some(PerSecond(4.0)))
        );
        let unhurt = ServerLoad {
            seconds: vec![second(8, 0); 7],
            ..load.clone()
        };
        let loss = Loss::of(&unhurt).unwrap();
        assert_eq!((loss.failed, loss.lasted), (0, Seconds(0.0)));
        let nothing = ServerLoad {
            killed_ns: None,
            ..load
        };
        assert_eq!(Loss::of(&nothing), None);
    }
}

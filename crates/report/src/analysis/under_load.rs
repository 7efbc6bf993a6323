//! A load on a server: as siege sums it up, so that old articles compare line by line, and where its time went.

use keymark_bench::server_load::{LoadLimit, ServerLoad};
use keymark_stats::{PerSecond, Seconds};
use serde::{Deserialize, Serialize};

use super::loss::Loss;
use super::saturation::Saturated;

/// The figures that siege prints, with its names, for which all of the load counts, its start and end too (the row's
/// throughput is that of the steady state); the phases of transactions in the steady state; and whose processors they took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UnderLoad {
    /// Requests that were answered.
    pub transactions: u64,
    /// Transactions as a share of themselves and the failed ones, in per cent.
    pub availability: f64,
    /// From the start to the cut-off.
    pub elapsed: Seconds,
    /// Bytes of all answers.
    pub data_transferred: u64,
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
    /// Processor time of the server's processes; none where they are somebody else's.
    pub server_cpu: Option<Seconds>,
    /// Processor time of the client.
    pub client_cpu: Seconds,
    /// What limited the rate, as far as the client can tell.
    pub limit: LoadLimit,
    /// What the search for the server's limits has found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturated: Option<Saturated>,
    /// What clients noticed of a server that was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
}

impl UnderLoad {
    /// Processor time of the server's processes for a transaction.
    pub(super) fn server_cpu_each(&self) -> Option<Seconds> {
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

    pub(super) fn of(load: &ServerLoad) -> Self {
        let totals = load.totals;
        let seconds = |nanoseconds: u64| Seconds(nanoseconds as f64 / 1e9);
        let over = |sum: f64, by: f64| if by > 0.0 { sum / by } else { 0.0 };
        let (transactions, elapsed) = (totals.transactions as f64, seconds(load.elapsed_ns));
        let time = seconds(totals.time_ns);
        Self {
            transactions: totals.transactions,
            availability: 100.0 * over(transactions, transactions + totals.failed as f64),
            elapsed,
            data_transferred: totals.bytes,
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
            saturated: Saturated::of(load),
            loss: Loss::of(load),
        }
    }
}

/// Nearest rank, in nanoseconds.
fn p95(load: &ServerLoad) -> Option<u64> {
    let mut durations = load.latencies().durations().to_vec();
    durations.sort_unstable();
    let rank = (durations.len() * 95).div_ceil(100);
    durations.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use keymark_testkit::record::server_load;

    use super::*;

    #[test]
    fn figures_are_those_of_sieges_manual() {
        let siege = UnderLoad::of(&server_load());
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
        let siege = UnderLoad::of(&nothing);
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
}

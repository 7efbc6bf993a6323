//! The figures that siege prints, with its names and meanings, so that old articles compare line by line.

use std::fmt;
use std::time::Duration;

use keymark_stats::PerSecond;

/// What siege 4.0.7 prints at its end. All of the run counts, its start and end too; for the server's capacity see
/// [`crate::Steady`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiegeFigures {
    /// Requests that were answered.
    pub transactions: u64,
    /// Transactions as a share of themselves and the failed ones, in per cent.
    pub availability: f64,
    /// From the start until the last user was done; what was under way then does not count.
    pub elapsed: Duration,
    /// Bytes of all answers' bodies. (siege's manual says heads as well; siege 4.0.7 counts bodies.)
    pub data_transferred: u64,
    /// Mean time of a transaction, from before the connection to the answer's end.
    pub response_time: Duration,
    /// Transactions over elapsed time, a second.
    pub transaction_rate: PerSecond,
    /// Bytes over elapsed time, a second.
    pub throughput: f64,
    /// Sum of all transactions' times over elapsed time.
    pub concurrency: f64,
    /// Answers with a status below 400.
    pub successful: u64,
    /// Transactions that failed, for whatever reason. (siege counts an answer with status 400 or more as a transaction
    /// besides.)
    pub failed: u64,
    /// The longest transaction.
    pub longest: Duration,
    /// The shortest transaction.
    pub shortest: Duration,
}

/// Sums over a run, from which they follow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) transactions: u64,
    pub(crate) failed: u64,
    pub(crate) bytes: u64,
    pub(crate) time: Duration,
    pub(crate) longest: Duration,
    pub(crate) shortest: Option<Duration>,
}

impl Totals {
    /// A transaction that succeeded.
    pub(crate) fn push(&mut self, whole: Duration, bytes: u64) {
        self.transactions += 1;
        self.bytes += bytes;
        self.time += whole;
        self.longest = self.longest.max(whole);
        self.shortest = Some(self.shortest.map_or(whole, |least| least.min(whole)));
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.transactions += other.transactions;
        self.failed += other.failed;
        self.bytes += other.bytes;
        self.time += other.time;
        self.longest = self.longest.max(other.longest);
        let both = [self.shortest, other.shortest];
        self.shortest = both.into_iter().flatten().min();
    }

    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
    pub(crate) fn figures(&self, elapsed: Duration) -> SiegeFigures {
        let transactions = self.transactions as f64;
        let all = transactions + self.failed as f64;
        let over = |sum: f64, by: f64| if by > 0.0 { sum / by } else { 0.0 };
        let seconds = elapsed.as_secs_f64();
        let mean = over(self.time.as_secs_f64(), transactions);
        SiegeFigures {
            transactions: self.transactions,
            availability: 100.0 * over(transactions, all),
            elapsed,
            data_transferred: self.bytes,
            response_time: Duration::from_secs_f64(mean),
            transaction_rate: PerSecond(over(transactions, seconds)),
            throughput: over(self.bytes as f64, seconds),
            concurrency: over(self.time.as_secs_f64(), seconds),
            successful: self.transactions,
            failed: self.failed,
            longest: self.longest,
            shortest: self.shortest.unwrap_or_default(),
        }
    }
}

impl fmt::Display for SiegeFigures {
    /// As siege prints them.
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MEGABYTE: f64 = 1024.0 * 1024.0;
        let seconds = |duration: Duration| duration.as_secs_f64();
        let megabytes = self.data_transferred as f64 / MEGABYTE;
        writeln!(f, "Transactions:            {:>12} hits", self.transactions)?;
        writeln!(f, "Availability:            {:>12.2} %", self.availability)?;
        writeln!(
            f,
            "Elapsed time:            {:>12.2} secs",
            seconds(self.elapsed)
        )?;
        writeln!(f, "Data transferred:        {megabytes:>12.2} MB")?;
        writeln!(
            f,
            "Response time:           {:>12.4} secs",
            seconds(self.response_time)
        )?;
        writeln!(
            f,
            "Transaction rate:        {:>12.2} trans/sec",
            self.transaction_rate.0
        )?;
        writeln!(
            f,
            "Throughput:              {:>12.2} MB/sec",
            self.throughput / MEGABYTE
        )?;
        writeln!(f, "Concurrency:             {:>12.2}", self.concurrency)?;
        writeln!(f, "Successful transactions: {:>12}", self.successful)?;
        writeln!(f, "Failed transactions:     {:>12}", self.failed)?;
        writeln!(
            f,
            "Longest transaction:     {:>12.4}",
            seconds(self.longest)
        )?;
        write!(
            f,
            "Shortest transaction:    {:>12.4}",
            seconds(self.shortest)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_sieges_manual() {
        let mut one = Totals::default();
        one.push(Duration::from_secs(1), 100);
        one.push(Duration::from_secs(3), 100);
        let mut totals = Totals {
            failed: 1,
            ..Totals::default()
        };
        totals.push(Duration::from_secs(2), 100);
        totals.add(&one);
        let figures = totals.figures(Duration::from_secs(4));
        assert_eq!((figures.transactions, figures.failed), (3, 1));
        assert!((figures.availability - 75.0).abs() < 1e-9);
        assert_eq!(figures.response_time, Duration::from_secs(2));
        assert!((figures.transaction_rate.0 - 0.75).abs() < 1e-9);
        assert!((figures.throughput - 75.0).abs() < 1e-9);
        assert!((figures.concurrency - 1.5).abs() < 1e-9);
        assert_eq!(figures.longest, Duration::from_secs(3));
        assert_eq!(figures.shortest, Duration::from_secs(1));
        assert!(
            figures
                .to_string()
                .contains("Availability:                   75.00 %")
        );
    }

    #[test]
    fn nothing_done_is_nothing_divided() {
        let figures = Totals::default().figures(Duration::ZERO);
        assert_eq!(figures.response_time, Duration::ZERO);
        assert!(figures.transaction_rate.0.abs() < f64::EPSILON);
    }
}

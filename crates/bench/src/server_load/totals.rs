//! Sums over a whole load.

use super::*;

/// Sums over a load, of which siege's figures are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Transactions that succeeded.
    pub transactions: u64,
    /// Failed transactions.
    pub failed: u64,
    /// Bytes of all answers.
    pub bytes: u64,
    /// Time of all transactions that succeeded.
    pub time_ns: u64,
    /// Longest time.
    pub longest_ns: u64,
    /// Shortest time.
    pub shortest_ns: u64,
}

impl Totals {
    /// Adds another transaction that succeeded, with its duration and its bytes.
    pub fn push(&mut self, whole: Duration, bytes: u64) {
        let time_ns = nanoseconds(whole);
        self.add(&Self {
            transactions: 1,
            bytes,
            time_ns,
            longest_ns: time_ns,
            shortest_ns: time_ns,
            failed: 0,
        });
    }

    /// Adds the sums of another part of the load.
    pub fn add(&mut self, other: &Self) {
        self.shortest_ns = match (self.transactions, other.transactions) {
            (0, _) => other.shortest_ns,
            (_, 0) => self.shortest_ns,
            _ => self.shortest_ns.min(other.shortest_ns),
        };
        self.transactions += other.transactions;
        self.failed += other.failed;
        self.bytes += other.bytes;
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_two_parts_are_those_of_both() {
        let mut one = Totals {
            failed: 1,
            ..Totals::default()
        };
        let mut other = Totals::default();
        one.add(&other);
        other.push(Duration::from_secs(3), 100);
        one.push(Duration::from_secs(2), 100);
        one.add(&other);
        assert_eq!((one.transactions, one.failed, one.bytes), (2, 1, 200));
        assert_eq!(
            (one.shortest_ns, one.longest_ns),
            (2_000_000_000, 3_000_000_000)
        );
        assert_eq!(one.time_ns, 5_000_000_000);
    }
}

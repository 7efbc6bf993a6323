//! Parts of an operation's time, measured during it and not by subtraction.

use std::collections::BTreeMap;
use std::time::Duration;

use keymark_stats::Seconds;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// A part of an operation's time.
    pub enum Part("part") {
        /// Processor time of the gpg process.
        Gpg = "gpg",
        /// Processor time of gpg-agent.
        Agent = "gpg-agent",
        /// Processor time of scdaemon.
        Scdaemon = "scdaemon",
        /// PC/SC calls less the card's own work.
        Transport = "transport",
        /// The card's own work.
        Card = "card",
        /// PC/SC calls through a real reader: transport and card, which nobody there tells apart.
        Calls = "PC/SC calls",
        /// A process of the program that does nothing.
        ProgramStart = "program start",
        /// Loading of the key by another process: a PKCS#11 module is loaded, the PIN verified and the key found, or a
        /// file is read.
        KeyLoad = "key load",
        /// The private-key operation by itself, asked in keymark's own process.
        Operation = "operation",
        /// Rest that nobody has measured.
        Rest = "rest",
        /// Rest in which programs wait for each other.
        Waiting = "waiting",
        /// Processor time of the workers themselves, with what they do between operations: what a library
        /// calculates that is called, and next to nothing where a device does the work.
        Worker = "worker",
        /// Verification of the PIN. No part of the operation: before the first, or before each.
        Verify = "VERIFY",
    }
}

/// The mean of a part over the operations that had it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PartMean {
    /// Operations.
    pub n: u64,
    /// Mean.
    pub mean_s: Seconds,
}

/// The parts of a case's operations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Parts(pub BTreeMap<Part, PartMean>);

/// Sums of parts while a case is under way, in nanoseconds. What is left of a whole may be less than nothing in a
/// single operation, where clocks disagree; cut to zero, it would raise the mean.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PartSums(BTreeMap<Part, (u64, i64)>);

impl PartSums {
    /// Adds what a part took in one operation.
    pub fn add(&mut self, part: Part, time: Duration) {
        self.add_signed(part, 1, signed(time));
    }

    /// Adds what is left of a whole.
    pub fn add_remainder(&mut self, part: Part, whole: Duration, known: Duration) {
        self.add_signed(part, 1, signed(whole).saturating_sub(signed(known)));
    }

    /// Adds the time that a part took in all these operations together.
    pub fn add_all(&mut self, part: Part, operations: u64, time: Duration) {
        if operations > 0 {
            self.add_signed(part, operations, signed(time));
        }
    }

    fn add_signed(&mut self, part: Part, operations: u64, nanoseconds: i64) {
        let (n, total) = self.0.entry(part).or_default();
        *n += operations;
        *total = total.saturating_add(nanoseconds);
    }

    /// Adds the sums of others.
    pub fn merge(&mut self, others: &Self) {
        for (part, (n, total)) in &others.0 {
            self.add_signed(*part, *n, *total);
        }
    }

    /// Keeps only the verification of a PIN, which does not come again after the warm-up.
    pub fn of_warm_up(mut self) -> Self {
        self.0.retain(|part, _| *part == Part::Verify);
        self
    }

    /// The means.
    pub fn means(&self) -> Parts {
        let mean = |(part, (n, total)): (&Part, &(u64, i64))| {
            let mean_s = Seconds(*total as f64 / 1e9 / *n as f64);
            (*part, PartMean { n: *n, mean_s })
        };
        Parts(self.0.iter().map(mean).collect())
    }
}

fn signed(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_the_operations_that_had_the_part() {
        let ms = Duration::from_millis;
        let mut sums = PartSums::default();
        sums.add(Part::Card, ms(10));
        sums.add(Part::Card, ms(30));
        sums.add(Part::Verify, ms(800));
        // Nothing is cut off.
        sums.add_remainder(Part::Waiting, ms(5), ms(6));
        sums.add_remainder(Part::Waiting, ms(7), ms(4));
        sums.add_all(Part::Worker, 4, ms(2));
        sums.add_all(Part::Worker, 0, ms(1));
        let mut other = PartSums::default();
        other.merge(&sums);
        let means = other.means().0;
        for (part, n, mean) in [
            (Part::Card, 2, 0.02),
            (Part::Verify, 1, 0.8),
            (Part::Waiting, 2, 0.001),
            (Part::Worker, 4, 0.0005),
        ] {
            let mean_s = Seconds(mean);
            assert_eq!(means[&part], PartMean { n, mean_s }, "{part}");
        }
        let warm_up = sums.of_warm_up().means().0;
        assert_eq!(warm_up.keys().collect::<Vec<_>>(), [&Part::Verify]);
    }
}

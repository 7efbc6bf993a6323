//! One run against another, or the two copies of each case within one run.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use keymark_bench::case::{Case, CaseKey, Provenance};
use keymark_bench::record::{CaseRecord, Record};
use keymark_bench::store::Assumed;
use keymark_stats::{Estimate, Method, Ratio, Seconds, differs, independent, paired};

use crate::analysis::overload::overload;
use crate::analysis::{case_cells, case_columns};
use crate::document::{
    Block, Cell, Column, Document, Remark, RemarkKind, Section, Table, TableRow,
};

/// A pair of cases that measure the same thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The case in the first run.
    pub old: Case,
    /// The case in the second.
    pub new: Case,
    /// Mean of the first.
    pub old_mean: Seconds,
    /// Mean of the second.
    pub new_mean: Seconds,
    /// Second over first; without interval if either is an article's bare mean.
    pub ratio: Estimate<Ratio>,
    /// What the devices' times are taken from, the first's and the second's, where nobody measured them.
    pub assumed: [Option<Assumed>; 2],
}

/// What a pair shows, with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The second is slower.
    Slower,
    /// The second is faster.
    Faster,
    /// The interval of the ratio holds 1.
    NoDifference,
    /// There is no interval to judge by.
    Unknown,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::NoDifference => "no difference seen",
            Self::Unknown => "no interval",
        })
    }
}

impl Pair {
    /// The same, with what is known of the two runs' devices.
    fn on(self, old: &Record, new: &Record) -> Self {
        let assumed = |case: &Case, record: &Record| {
            let mut devices = record.stores.iter();
            let device = devices.find(|device| device.device == case.device)?;
            device.assumed(case.capability())
        };
        Self {
            assumed: [assumed(&self.old, old), assumed(&self.new, new)],
            ..self
        }
    }

    /// Whether both are predictions, which are exact: the same question has the same answer.
    fn is_exact(&self) -> bool {
        [&self.old, &self.new]
            .iter()
            .all(|case| case.provenance == Provenance::Predicted)
    }

    /// What it shows.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.is_exact() {
            return match self.ratio.value.0.total_cmp(&1.0) {
                Ordering::Less => Verdict::Faster,
                Ordering::Equal => Verdict::NoDifference,
                Ordering::Greater => Verdict::Slower,
            };
        }
        match (self.ratio.low, self.ratio.high) {
            (Some(_), Some(_)) if !differs(&self.ratio) => Verdict::NoDifference,
            (Some(_), Some(_)) if self.ratio.value.0 > 1.0 => Verdict::Slower,
            (Some(_), Some(_)) => Verdict::Faster,
            _ => Verdict::Unknown,
        }
    }

    /// Whether the second is slower by more than `fraction` with 95 % confidence; of predictions, whether
    /// it is.
    #[must_use]
    pub fn slower_than(&self, fraction: f64) -> bool {
        let least = if self.is_exact() {
            Some(self.ratio.value)
        } else {
            self.ratio.low
        };
        least.is_some_and(|least| least.0 > 1.0 + fraction)
    }
}

/// Pairs up two runs, in the order of the first. Cases are paired by everything but the device if
/// the runs have no device in common (another machine's name, an article's spelling).
#[must_use]
pub fn compare(old: &Record, new: &Record) -> Vec<Pair> {
    let common = old
        .cases
        .iter()
        .any(|a| new.cases.iter().any(|b| a.case.device == b.case.device));
    let same = |a: &Case, b: &Case| {
        let wanted = if common {
            b.key()
        } else {
            CaseKey {
                device: a.device.clone(),
                // The sources of articles differ in the length of the message by bytes only.
                input_bytes: a.input_bytes,
                ..b.key()
            }
        };
        a.key() == wanted && a.replica == b.replica
    };
    let seed = new.plan.settings.seed;
    let pairs = old.cases.iter().flat_map(|a| {
        new.cases
            .iter()
            .filter(move |b| same(&a.case, &b.case))
            .filter_map(move |b| pair(a, b, |old, new| independent(new, old, seed)))
    });
    pairs.map(|pair| pair.on(old, new)).collect()
}

/// Pairs up the first two copies of every case that stands in a plan more than once.
#[must_use]
pub fn replicas(record: &Record) -> Vec<Pair> {
    let seed = record.plan.settings.seed;
    let second = |a: &CaseRecord| {
        record
            .cases
            .iter()
            .find(|b| b.case.replica == 1 && b.case.key() == a.case.key())
    };
    record
        .cases
        .iter()
        .filter(|a| a.case.replica == 0)
        .filter_map(|a| pair(a, second(a)?, |old, new| paired(new, old, seed)))
        .map(|pair| pair.on(record, record))
        .collect()
}

/// The report of a comparison. Each row has the device and the provenance of its first case.
#[must_use]
pub fn document(pairs: &[Pair]) -> Document {
    let mut columns = case_columns();
    columns.extend([
        Column::name("against"),
        Column::value("first").leave(2),
        Column::value("second").leave(3),
        Column::value("ratio (95 % interval)").shorten(1),
        Column::value("verdict"),
        Column::provenance(),
        Column::provenance_of("against provenance"),
    ]);
    let mut table = Table::new(columns);
    table.rows = pairs.iter().map(row).collect();
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(assumptions(pairs).into_iter().map(Block::Remark));
    Document::of(vec![Section::bare(blocks)])
}

/// Figures whose device time nobody measured, each once.
fn assumptions(pairs: &[Pair]) -> BTreeSet<Remark> {
    let cases = pairs
        .iter()
        .flat_map(|pair| [&pair.old, &pair.new].into_iter().zip(pair.assumed));
    let said = cases.filter_map(|(case, assumed)| {
        let text = format!(
            "{}: the device's time of {} {} is assumed, {}: nobody measured it",
            case.device, case.algorithm, case.operation, assumed?
        );
        Some(Remark::new(RemarkKind::Basis, text))
    });
    said.collect()
}

fn row(pair: &Pair) -> TableRow {
    let mut cells = case_cells(&pair.old);
    cells.extend([
        if pair.new.device == pair.old.device {
            Cell::text("itself")
        } else {
            Cell::Device(pair.new.device.clone())
        },
        Cell::Duration(pair.old_mean),
        Cell::Duration(pair.new_mean),
        Cell::RatioEstimate(pair.ratio),
        Cell::text(pair.verdict()),
        Cell::Provenance(pair.new.provenance),
    ]);
    TableRow::of(&pair.old, cells)
}

fn pair(
    old: &CaseRecord,
    new: &CaseRecord,
    ratio: impl Fn(&keymark_stats::Blocks, &keymark_stats::Blocks) -> Option<Estimate<Ratio>>,
) -> Option<Pair> {
    // A queue that grows has no mean to compare.
    if [old, new]
        .into_iter()
        .any(|record| overload(record).is_some())
    {
        return None;
    }
    let mean = |record: &CaseRecord| match &record.published {
        Some(published) => Some(published.mean),
        None => {
            let n = record
                .samples()
                .filter(|s| s.outcome == keymark_bench::sample::Outcome::Done)
                .count();
            let latencies = record.blocks.iter().flat_map(|block| block.latencies_ns());
            let sum: f64 = latencies.map(|latency| latency as f64).sum();
            (n > 0).then(|| Seconds(sum / n as f64 / 1e9))
        }
    };
    let (old_mean, new_mean) = (mean(old)?, mean(new)?);
    let ratio = if old.published.is_some() || new.published.is_some() {
        Estimate {
            value: Ratio(new_mean.0 / old_mean.0),
            low: None,
            high: None,
            confidence: keymark_stats::CONFIDENCE,
            method: Method::PointOnly,
        }
    } else {
        ratio(&old.latencies(), &new.latencies())?
    };
    Some(Pair {
        old: old.case.clone(),
        new: new.case.clone(),
        old_mean,
        new_mean,
        ratio,
        assumed: [None, None],
    })
}

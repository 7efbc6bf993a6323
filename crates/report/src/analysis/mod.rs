//! The analysis of a record: a row per case, scaling, breakdowns, remarks.

mod beside;
mod breakdown;
pub(crate) mod key_use;
pub(crate) mod latencies;
mod limits;
mod queued;
mod remarks;
mod scaling;
pub(crate) mod servers;
mod services;
pub(crate) mod tables;
mod under_load;

use std::time::Duration;

use keymark_bench::{
    Assumed, Block, Case, CaseId, CaseRecord, Comparison, CpuTime, Ending, Layers, Pacing, Parts,
    Plan, Point, PublishedMean, Record, StoreIdentity, Timestamp,
};
use keymark_stats::{
    Band, Estimate, MachineSpeed, PerSecond, Ratio, Response, Seconds, Summary, Warning, Window,
    paired, throughput,
};

use crate::{Answer, non_empty};

pub use beside::PublishedFigure;
pub use breakdown::{Basis, Breakdown, FamilyBreakdown, Layer, Path};
pub use latencies::{Latencies, MachineState, Overload};
pub use limits::{Finding, Undecided};
pub use remarks::failures;
pub use scaling::{Bounds, Limit, Refused, Scaling};
pub use servers::{Rates, RelativeRate};
pub use under_load::{Busy, Loss, Saturated, UnderLoad};

pub(crate) use beside::asks_the_same;
pub(crate) use remarks::and;

/// A case with its estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its place in the plan.
    pub id: CaseId,
    pub case: Case,
    /// Statistics of the samples; `None` without samples or for a failed case.
    pub summary: Option<Summary>,
    /// The overload of an open loop, which has no latencies.
    pub overload: Option<Overload>,
    /// Operations per second, as observed.
    pub throughput: Option<Estimate<PerSecond>>,
    /// Mean time over the baseline's; none if the plan has no baseline for it.
    pub ratio: Option<Estimate<Ratio>>,
    /// The case that the ratio is to; none if that is this one.
    pub baseline: Option<CaseId>,
    /// Mean processor time of the child process, user and system.
    pub child_cpu: Option<(Seconds, Seconds)>,
    /// Operations that failed.
    pub failed: usize,
    /// Why the case ended early, if it did.
    pub failure: Option<String>,
    /// End of the case, if it has ended.
    pub ending: Option<Ending>,
    /// Mean of an article or a prediction, in place of samples.
    pub published: Option<PublishedMean>,
    /// Parts of the time, measured on the way.
    pub parts: Option<Parts>,
    /// Basis of a device's time that nobody measured.
    pub assumed: Option<Assumed>,
    /// A load on a server.
    pub under_load: Option<UnderLoad>,
    /// Prediction of a load by waiting for its tokens.
    pub predicted: Option<Response>,
}

impl Row {
    /// Adds the basis of assumed times from the run's devices.
    pub fn on(self, devices: &[StoreIdentity]) -> Self {
        let device = devices
            .iter()
            .find(|device| device.device == self.case.device);
        Self {
            assumed: device.and_then(|device| device.assumed(self.case.capability())),
            ..self
        }
    }

    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let summary = self.summary.as_ref();
        summary.map(Summary::warnings).unwrap_or_default()
    }

    pub(crate) fn has_drifted(&self) -> bool {
        let mut warnings = self.warnings().into_iter();
        warnings.any(|warning| matches!(warning, Warning::Drift(_)))
    }

    /// Number of operations behind the figures.
    pub fn n(&self) -> Option<u64> {
        let published = self.published.as_ref();
        let summary = self.summary.as_ref();
        let measured = summary.map(|summary| summary.n as u64);
        measured.or_else(|| published?.n)
    }

    /// Returns the band of a prediction.
    pub fn band(&self) -> Option<Band> {
        self.published.as_ref()?.band
    }

    /// The mean: measured, or as published.
    pub fn mean(&self) -> Option<Seconds> {
        Some(self.time()?.value)
    }

    /// Returns the mean with its interval, which an article's mean lacks.
    pub fn time(&self) -> Option<Estimate<Seconds>> {
        let measured = self.summary.as_ref().map(|summary| summary.mean);
        measured.or_else(|| Some(Estimate::bare(self.published.as_ref()?.mean)))
    }

    /// Returns the mean with its interval, a prediction's with its band.
    pub(crate) fn banded_time(&self) -> Option<Estimate<Seconds>> {
        match (self.mean(), self.band()) {
            (Some(mean), Some(band)) if self.summary.is_none() => {
                Some(Estimate::banded(mean, band))
            }
            _ => self.time(),
        }
    }

    /// Returns the mean with its bounds. An article's bare mean counts as exact.
    pub(crate) fn bounds(&self) -> Option<Estimate<Seconds>> {
        let is_exact = self.summary.is_none() && self.band().is_none();
        let exact = self.mean().filter(|_| is_exact).map(Estimate::exact);
        exact.or_else(|| self.banded_time())
    }

    /// Returns the relative half-width of the row's main figure, a load's rate or the mean time. The inner option is
    /// `None` without an interval.
    pub(crate) fn doubt(&self) -> Option<Option<f64>> {
        if self.under_load.is_some() {
            return Some(self.throughput?.relative_half_width());
        }
        Some(self.summary.as_ref()?.mean.relative_half_width())
    }

    /// Returns whether users tolerate an operation's mean time, by its bounds. Percentiles have no upper bound in short runs.
    pub fn tolerable(&self, tolerance: Duration) -> Option<Answer> {
        let within = |time: Seconds| time.0 <= tolerance.as_secs_f64();
        let time = self.bounds()?;
        Some(match (time.low, time.high) {
            (_, Some(high)) if within(high) => Answer::Yes,
            (Some(low), _) if !within(low) => Answer::No,
            _ => Answer::Unknown,
        })
    }
}

/// Everything said about a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Cases in the plan's order.
    pub rows: Vec<Row>,
    /// Cases measured at several concurrencies.
    pub scaling: Vec<Scaling>,
    /// Cases measured through several stacks of a family.
    pub breakdowns: Vec<FamilyBreakdown>,
    /// The machine's speed, by a reference calculation around the blocks.
    pub speed: Option<MachineSpeed>,
    /// Rates of servers compared with one another.
    pub rates: Vec<Rates>,
    /// The families there are.
    pub(crate) families: Vec<Layers>,
}

impl Analysis {
    /// Analyses a record, with what is known of how stacks lie on one another. Random numbers come from the
    /// plan's seed, so this is repeatable.
    pub fn of(record: &Record, families: &[Layers]) -> Self {
        let machine = MachineState::of(machine_speed(record), &record.cases);
        let seed = record.plan.settings.seed;
        let latencies = record
            .cases
            .iter()
            .map(|case| Latencies::of(case, &machine, seed));
        let latencies: Vec<Latencies> = latencies.collect();
        let row = |index| {
            let latencies = |index: usize| &latencies[index];
            let row = row_of(&record.plan, &record.cases, index, latencies, &machine);
            row.on(&record.stores)
        };
        let rows: Vec<Row> = (0..record.cases.len()).map(row).collect();
        Self {
            rates: Vec::new(),
            scaling: scaling::scaling(record, &rows, families),
            breakdowns: breakdown::breakdowns(&rows, &latencies, families),
            families: families.to_vec(),
            speed: machine.speed,
            rows,
        }
    }

    /// Returns whether a case goes through a whole program of a family.
    pub(crate) fn is_whole(&self, case: &Case) -> bool {
        let mut wholes = self.families.iter().filter_map(|of| of.whole.as_ref());
        wholes.any(|whole| whole.point == Point::of(case))
    }

    /// Adds rates of servers as families of stacks compare them.
    pub fn compared<'c>(
        self,
        record: &Record,
        comparisons: impl Iterator<Item = &'c Comparison>,
    ) -> Self {
        Self {
            rates: servers::relative(&record.cases, comparisons, record.plan.settings.seed),
            ..self
        }
    }
}

fn machine_speed(record: &Record) -> Option<MachineSpeed> {
    let blocks = record.cases.iter().flat_map(|case| &case.blocks);
    let mut times: Vec<(Timestamp, u64)> = blocks
        .filter_map(|block| Some((block.samples.first()?.start, block.reference_ns?)))
        .collect();
    times.sort_unstable();
    let times: Vec<u64> = times.into_iter().map(|(_, time)| time).collect();
    MachineSpeed::of(&times, record.plan.settings.seed)
}

/// The row of one finished case, as soon as its baseline is finished too; `latencies` are those of both.
pub fn row_of<'l>(
    plan: &Plan,
    records: &[CaseRecord],
    index: usize,
    latencies: impl Fn(usize) -> &'l Latencies,
    machine: &MachineState,
) -> Row {
    let record = &records[index];
    let seed = plan.settings.seed;
    let windows = windows(record);
    let overload = latencies::overload(record);
    let has_figure = |record: &CaseRecord| record.failure().is_none();
    let has_mean = |record| has_figure(record) && latencies::overload(record).is_none();
    let baseline = plan
        .baseline(index)
        .filter(|&baseline| has_mean(record) && has_mean(&records[baseline]));
    let throughput = has_figure(record)
        .then(|| throughput(&windows, &machine.dependence, seed))
        .flatten();
    let load = record.server_load.as_deref();
    Row {
        id: CaseId::at(index),
        case: record.case.clone(),
        summary: has_mean(record)
            .then(|| latencies(index).summary(machine, seed))
            .flatten(),
        overload,
        throughput,
        ratio: baseline.and_then(|baseline| ratio(records, latencies, index, baseline, seed)),
        baseline: baseline.filter(|other| *other != index).map(CaseId::at),
        child_cpu: child_cpu(record),
        failed: record.failed(),
        failure: record.failure().map(str::to_owned),
        ending: record.ending.clone(),
        published: record.published.clone(),
        parts: record.parts.clone(),
        assumed: None,
        under_load: load.map(|load| UnderLoad::of(&record.case, load, throughput)),
        predicted: None,
    }
}

/// To itself a case is 1, exactly; figures of an article have no interval.
fn ratio<'l>(
    records: &[CaseRecord],
    latencies: impl Fn(usize) -> &'l Latencies,
    index: usize,
    baseline: usize,
    seed: u64,
) -> Option<Estimate<Ratio>> {
    if index == baseline {
        let measured = !latencies(index).measured.is_empty() || records[index].published.is_some();
        return measured.then(|| Estimate::exact(Ratio(1.0)));
    }
    match (&records[index].published, &records[baseline].published) {
        (Some(a), Some(b)) => Some(Estimate::bare(Ratio(a.mean.0 / b.mean.0))),
        _ => {
            let (own, other) = Latencies::alike(latencies(index), latencies(baseline));
            paired(own, other, seed)
        }
    }
}

/// Returns the noun for the rows' main figures.
pub(crate) fn figure_of(rows: &[Row]) -> &'static str {
    let read = || rows.iter().filter(|row| row.doubt().is_some());
    let is_load = |row: &Row| row.under_load.is_some();
    match (read().any(is_load), read().all(is_load)) {
        (false, _) => "mean",
        (true, true) => "rate",
        (true, false) => "figure",
    }
}

/// The windows in which all workers of a case were busy; in an open loop, what a block covers of its
/// queue's time. None of users who think: a block's ends cut their pauses, the longest most often.
pub(crate) fn windows(record: &CaseRecord) -> Vec<Window> {
    if let Some(load) = &record.server_load {
        return load.windows();
    }
    let window = |block: &Block| match record.case.load.pacing {
        Pacing::Closed => block.window(record.case.workers()),
        Pacing::Open(_) => arrivals(block),
        Pacing::Thinking(_) => None,
    };
    record.blocks.iter().filter_map(window).collect()
}

/// A block in which nothing arrived also covers its time.
fn arrivals(block: &Block) -> Option<Window> {
    Some(Window {
        completed: block.done().count() as f64,
        length_ns: block.queue?.length_ns,
        round: block.round,
    })
}

/// Mean user and system time of the children.
fn child_cpu(record: &CaseRecord) -> Option<(Seconds, Seconds)> {
    let times = non_empty(record.samples().filter_map(|sample| sample.cpu))?;
    let mean = |of: fn(&CpuTime) -> u32| {
        let sum: u64 = times.iter().map(|cpu| u64::from(of(cpu))).sum();
        Seconds(sum as f64 / times.len() as f64 / 1e6)
    };
    Some((mean(|cpu| cpu.user_us), mean(|cpu| cpu.system_us)))
}

//! What watches a run: the progress bar, and the stream of JSON objects.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keymark_bench::case::{Case, CaseId};
use keymark_bench::clock::{Clock, Harness, Timestamp};
use keymark_bench::plan::Plan;
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::Observer;
use keymark_bench::sample::Block;
use keymark_bench::store::StoreIdentity;
use keymark_report::analysis::{Latencies, Row, row_of};
use keymark_report::table::FlatRow;
use keymark_report::{units, visible};
use keymark_stats::{MachineSpeed, Seconds};

use crate::output;

/// Steps of the bar.
const STEPS: u64 = 1000;

/// A bar on stderr, if that is a terminal.
pub(crate) struct Progress<'a> {
    bar: ProgressBar,
    clock: &'a dyn Clock,
    started: Timestamp,
    limit: Option<Duration>,
    cases: usize,
    finished: usize,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(plan: &Plan, clock: &'a dyn Clock) -> Self {
        // indicatif draws nothing where stderr is no terminal.
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} % {wide_msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            clock,
            started: clock.now(),
            limit: plan.settings.time_limit,
            cases: plan.cases.len(),
            finished: 0,
        }
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn step(&self, done: f64) {
        self.bar
            .set_position((done.clamp(0.0, 1.0) * STEPS as f64) as u64);
    }
}

impl Observer for Progress<'_> {
    fn preparing(&mut self, id: CaseId, case: &Case) {
        self.bar.set_message(format!(
            "preparing {} of {}: {}",
            id.0 + 1,
            self.cases,
            visible::visible(&case.to_string())
        ));
        self.step(f64::from(id.0) / self.cases as f64);
    }

    fn measuring(&mut self, _: &Harness, _: usize) {
        self.started = self.clock.now();
        self.step(0.0);
    }

    fn block(&mut self, _: CaseId, _: &Block) {
        let elapsed = self.clock.now().since(self.started);
        let by_cases = self.finished as f64 / self.cases as f64;
        let by_time = self
            .limit
            .map_or(0.0, |limit| elapsed.as_secs_f64() / limit.as_secs_f64());
        self.step(by_cases.max(by_time));
        self.bar.set_message(format!(
            "measuring, {}, {} of {} cases done",
            units::duration(Seconds(elapsed.as_secs_f64())),
            self.finished,
            self.cases
        ));
    }

    fn finished(&mut self, _: CaseId, _: &CaseRecord) {
        self.finished += 1;
    }
}

/// One JSON object a finished case, as soon as its baseline is finished too. A reader who has seen enough
/// ends the run.
pub(crate) struct JsonStream<'a> {
    plan: &'a Plan,
    devices: &'a [StoreIdentity],
    interrupt: &'a AtomicBool,
    records: Vec<CaseRecord>,
    /// What the reference took around each block so far, in nanoseconds.
    references: Vec<u64>,
    waiting: Vec<usize>,
}

impl<'a> JsonStream<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        devices: &'a [StoreIdentity],
        interrupt: &'a AtomicBool,
    ) -> Self {
        Self {
            plan,
            devices,
            interrupt,
            records: plan.cases.iter().cloned().map(CaseRecord::new).collect(),
            references: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Whether the case that this one's ratio needs has ended.
    fn is_complete(&self, index: usize) -> bool {
        let baseline = self.plan.baseline(index);
        baseline.is_none_or(|baseline| self.records[baseline].ending.is_some())
    }

    /// At the machine's mean speed up to now, both it and what its ratio needs.
    fn row(&self, index: usize, speed: Option<&MachineSpeed>) -> Row {
        let seed = self.plan.settings.seed;
        let of = |index: usize| Latencies::of(&self.records[index], speed, seed);
        let own = of(index);
        let other = self.plan.baseline(index).filter(|other| *other != index);
        let other = other.map(of);
        let latencies = |asked: usize| match &other {
            Some(other) if asked != index => other,
            _ => &own,
        };
        row_of(self.plan, &self.records, index, latencies)
    }
}

impl Observer for JsonStream<'_> {
    fn block(&mut self, _: CaseId, block: &Block) {
        self.references.extend(block.reference_ns);
    }

    fn finished(&mut self, id: CaseId, record: &CaseRecord) {
        let index = id.0 as usize;
        self.records[index] = record.clone();
        self.waiting.push(index);
        let (complete, waiting) = self
            .waiting
            .iter()
            .partition(|index| self.is_complete(**index));
        self.waiting = waiting;
        let complete: Vec<usize> = complete;
        let speed = MachineSpeed::of(&self.references, self.plan.settings.seed);
        for index in complete {
            let row = self.row(index, speed.as_ref());
            print_json(&FlatRow::from(&row.on(self.devices)));
        }
        if output::is_gone() {
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

/// One object on a line of stdout.
pub(crate) fn print_json(value: &impl serde::Serialize) {
    match visible::json(value) {
        Ok(text) => output::line(&text),
        Err(error) => output::error(&format!("an object cannot be written as JSON: {error}")),
    }
}

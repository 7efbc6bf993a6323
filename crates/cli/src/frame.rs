//! The frame that all runs have, whatever is measured: a record, its place in the archive, who watches, and what is
//! said at the end.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use itertools::Itertools;
use keymark_bench::runner::Observer;
use keymark_bench::{
    Block, Case, CaseId, CaseRecord, Environment, Plan, Record, RunId, RunState, SCHEMA, Stopped,
    StoreIdentity,
};
use keymark_records::archive::Identity;
use keymark_report::analysis::{Latencies, MachineState, Row, failures, row_of};
use keymark_report::table::FlatRow;
use keymark_stats::MachineSpeed;

use crate::args::RunArguments;
use crate::documents::{self, export};
use crate::exit::Exit;
use crate::saving::{self, Saving};
use crate::{output, rerun, view};

/// The cases that a dry run would measure.
pub(crate) fn print_cases(cases: &[Case]) {
    output::heading(&format!("{} cases", cases.len()));
    for case in cases {
        output::line(&format!("  {case}"));
    }
}

/// The record before anything is measured.
pub(crate) fn record(plan: Plan, stores: Vec<StoreIdentity>) -> Record {
    let now = jiff::Timestamp::now();
    let mut environment = Environment::capture(env!("KEYMARK_VERSION"));
    environment.command = rerun::typed();
    environment.view = view::view();
    Record {
        schema: SCHEMA,
        id: RunId::fresh(now),
        started: now,
        state: RunState::Unfinished,
        series: None,
        environment,
        harness: None,
        stores,
        cases: plan.cases.iter().cloned().map(CaseRecord::new).collect(),
        plan,
    }
}

/// Measures into the record, which is saved block by block, and shows it. Agents and test keys are gone by then;
/// `measure` returns what it could not undo.
pub(crate) fn run<E: Display>(
    (archive, arguments): (Option<&PathBuf>, &RunArguments),
    mut record: Record,
    interrupt: &AtomicBool,
    measure: impl FnOnce(&mut Record, &mut dyn Observer) -> Vec<E>,
) -> Exit {
    record.environment.machine.clone_from(&arguments.machine);
    let (plan, devices) = (record.plan.clone(), record.stores.clone());
    // A run is worth more than its archive.
    let mut saving = (!arguments.no_save).then(|| {
        let identity = arguments.identity.wanted();
        Saving::open(archive, &record.id, identity)
    });
    let mut writers = saving.as_mut().map(|saving| saving.begin(&record));
    let json = arguments.form.is_json();
    let mut stream = json.then(|| JsonStream::new(&plan, &devices, interrupt));
    let mut observers: Vec<&mut dyn Observer> = Vec::new();
    let observing = writers.iter_mut().flatten().flatten();
    observers.extend(observing.map(|writer| writer as &mut dyn Observer));
    observers.extend(stream.as_mut().map(|stream| stream as &mut dyn Observer));
    let kept = measure(&mut record, &mut observers);
    let written = writers.map(|writers| saving::finish(writers, record.state));
    let saved = saving.zip(written);
    let saved = saved.map(|(saving, written)| saving.conclude(written));
    if !json {
        documents::print(&record, &[], &arguments.shown);
    }
    let exit = conclude(&record, saved.as_ref(), json);
    let is_written = write(std::slice::from_ref(&record), None, arguments);
    for error in &kept {
        output::error(&error.to_string());
    }
    if kept.is_empty() && is_written {
        exit
    } else {
        Exit::Failed
    }
}

/// Puts a run that is complete into the archive. It is worth showing whether or not that can be.
pub(crate) fn keep(record: &Record, archive: Option<&PathBuf>) -> Exit {
    let kept = Saving::open(archive, &record.id, Identity::Hidden).insert(record);
    conclude(record, Some(&kept), false)
}

/// Says where the run is and what failed in it.
fn conclude(record: &Record, saved: Option<&Result<(), String>>, json: bool) -> Exit {
    match saved {
        Some(Err(error)) => output::error(&format!("cannot save the run: {error}")),
        Some(Ok(())) if !json => output::note(&format!(
            "saved as {}; 'keymark show' shows it again",
            record.id
        )),
        Some(Ok(())) | None => {}
    }
    if json {
        let failed = record
            .cases
            .iter()
            .filter_map(|case| Some((&case.case, case.failure()?)));
        for warning in failures(failed) {
            output::warning(&warning);
        }
    }
    let mut endings = record.cases.iter().filter_map(|case| case.ending.as_ref());
    if record.state == RunState::Interrupted {
        return Exit::Interrupted;
    }
    let failed = endings.any(|ending| ending.stopped == Stopped::Failed);
    Exit::of(failed || saved.is_some_and(Result::is_err), false)
}

/// Writes a run, or a series by its name, to the file that is wanted. Returns whether nothing failed.
pub(crate) fn write(records: &[Record], series: Option<&str>, arguments: &RunArguments) -> bool {
    let Some(file) = &arguments.output else {
        return true;
    };
    match export::to_file(records, series, file) {
        Ok(()) => output::note(&format!("wrote {}", file.path.display())),
        Err(failure) => {
            output::error(&failure.message);
            return false;
        }
    }
    true
}

/// Prints a JSON object per finished case, as soon as its baseline is finished. A reader that leaves
pub(crate) struct JsonStream<'a> {
    plan: &'a Plan,
    devices: &'a [StoreIdentity],
    interrupt: &'a AtomicBool,
    records: Vec<CaseRecord>,
    /// Times of the reference around each block so far, in nanoseconds.
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

    /// Returns whether the baseline of the case has ended.
    fn is_complete(&self, index: usize) -> bool {
        let baseline = self.plan.baseline(index);
        baseline.is_none_or(|baseline| self.records[baseline].ending.is_some())
    }

    /// Analyses a case and its baseline by the machine's speed so far.
    fn row(&self, index: usize, machine: &MachineState) -> Row {
        let seed = self.plan.settings.seed;
        let both = [Some(index), self.plan.baseline(index)]
            .into_iter()
            .flatten();
        let of = |index: usize| (index, Latencies::of(&self.records[index], machine, seed));
        let latencies: BTreeMap<usize, Latencies> = both.unique().map(of).collect();
        let latencies = |index: usize| &latencies[&index];
        row_of(self.plan, &self.records, index, latencies, machine)
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
        let machine = MachineState::of(speed, &self.records);
        for index in complete {
            let row = self.row(index, &machine);
            output::print_json(&FlatRow::from(&row.on(self.devices)));
        }
        if output::is_gone() {
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

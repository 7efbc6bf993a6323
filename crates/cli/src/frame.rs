//! The frame that all runs have, whatever is measured: a record, its place in the archive, who watches, and what is
//! said at the end.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use keymark_bench::runner::Observer;
use keymark_bench::{
    Case, CaseRecord, Environment, Plan, Record, RunId, RunState, SCHEMA, Stopped, StoreIdentity,
};
use keymark_records::archive::Identity;
use keymark_report::analysis::failures;

use crate::args::RunArguments;
use crate::documents::{self, export};
use crate::exit::Exit;
use crate::observers::JsonStream;
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
        Exit::Interrupted
    } else if saved.is_some_and(Result::is_err)
        || endings.any(|ending| ending.stopped == Stopped::Failed)
    {
        Exit::Failed
    } else {
        Exit::Fine
    }
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

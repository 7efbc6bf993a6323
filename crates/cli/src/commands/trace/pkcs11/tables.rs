//! The tables of a trace of PKCS#11 calls.

use std::path::Path;
use std::time::Duration;

use itertools::Itertools;
use keymark_report::units::{self, counted};
use keymark_report::{Block, Cell, Column, Remark, RemarkKind, TableOf, grouped};
use keymark_shim_protocol::pkcs11::trace::{CallTimes, Calls, TracedThread, together};
use keymark_shim_protocol::pkcs11::{Call, Traced, WITH_PRIVATE_KEY};
use keymark_stats::Ratio;
use keymark_stores::pkcs11::name;

use super::super::Origin;
use super::super::tables::of_one_card;

/// A process, its threads together.
#[derive(Debug)]
pub(super) struct Process {
    number: u32,
    name: String,
    threads: usize,
    begin_ns: u64,
    calls: Calls,
}

pub(super) fn processes(threads: &[TracedThread]) -> Vec<Process> {
    let of_process = |(number, of): (u32, Vec<&TracedThread>)| Process {
        number,
        name: of
            .first()
            .map_or_else(String::new, |thread| thread.name.clone()),
        threads: of.len(),
        begin_ns: of.iter().map(|thread| thread.begin_ns).min().unwrap_or(0),
        calls: (of.iter().map(|thread| &thread.calls)).fold(Calls::new(), together),
    };
    let found = grouped(threads, |thread| thread.process).into_iter();
    let found = found.map(of_process);
    found.sorted_by_key(|process| process.begin_ns).collect()
}

/// The calls of all.
pub(super) fn all(processes: &[Process]) -> Calls {
    let calls = processes.iter().map(|process| &process.calls);
    calls.fold(Calls::new(), together)
}

fn total<'a>(calls: impl Iterator<Item = &'a CallTimes>) -> Duration {
    calls.map(|times| times.total).sum()
}

fn count(calls: &Calls, call: Call) -> u64 {
    let times = calls.get(&Traced::Whole(call));
    times.map_or(0, |times| times.count)
}

fn share(time: Duration, whole: Duration) -> Cell {
    Cell::share(Ratio(time.as_secs_f64() / whole.as_secs_f64()))
}

/// A line a function, in the order in which they were first called.
pub(super) fn calls(calls: &Calls, whole: Duration, origin: &Origin) -> Block {
    let mut lines: Vec<_> = calls.iter().collect();
    lines.sort_by_key(|(_, times)| times.first_begin_ns);
    let waits = calls.values().any(|times| !times.waited.is_zero());
    let waited = waits.then(|| Column::value("waited").leave(3));
    let table = TableOf::new(lines)
        .name("function", |(traced, _)| traced.name())
        .value("n", |(_, times)| times.count)
        .value("first", |(_, times)| times.first)
        .value("later, mean", |(_, times)| times.later())
        .optional(2, "p99", |(_, times)| times.quantile(0.99))
        .value("together", |(_, times)| times.total)
        .optional(1, "share", |(_, times)| share(times.total, whole))
        .maybe(waited, |(_, times)| times.waited)
        .name("failures", |(_, times)| {
            Some(format!("{} × {}", times.failed, name(times.code? as u32)))
        });
    of_one_card(table, origin)
}

/// Says how much of the time the module takes: `62 % of the time is the module's (1.20 of 1.94 s).`
pub(super) fn verdict(calls: &Calls, whole: Duration) -> String {
    let inside = total(calls.values());
    format!(
        "{:.0} % of the time is the module's ({} of {}, all threads together).",
        100.0 * inside.as_secs_f64() / whole.as_secs_f64(),
        units::time(inside),
        units::time(whole)
    )
}

/// Round trip of the example, in milliseconds.
const ROUND_TRIP_MS: f64 = 20.0;

/// Says how many calls a client sends to a device behind a network, and what they cost there.
pub(super) fn over_network(threads: &[TracedThread]) -> String {
    let (mut all, mut start, mut later, mut operations, mut working) = (0, 0, 0, 0, 0);
    for TracedThread { remote, calls, .. } in threads {
        all += remote.all;
        if remote.first == 0 {
            start += remote.all;
            continue;
        }
        start += remote.first;
        later += remote.last - remote.first;
        operations += done(calls);
        working += 1;
    }
    let cost = |calls: f64| units::time(Duration::from_secs_f64(calls * ROUND_TRIP_MS / 1e3));
    let sent = format!("{} to the token", counted(all, "call"));
    let each = format!("A round trip of {ROUND_TRIP_MS} ms each adds");
    if operations == 0 {
        return format!("{sent}. {each} {}.", cost(all as f64));
    }
    let took = format!(
        "{} took {sent}",
        counted(operations, "private-key operation")
    );
    if operations == working {
        let needed = counted(operations, "call");
        return format!("{took}. {each} {}; {needed} needed.", cost(all as f64));
    }
    let later = later as f64 / (operations - working) as f64;
    format!(
        "{took}: {start} up to the first, then {later:.1} for each. {each} {} to the start and {} to each operation; 1 \
         call per operation needed.",
        cost(start as f64),
        cost(later)
    )
}

/// Returns the number of operations with a private key that succeeded.
fn done(calls: &Calls) -> u64 {
    let work = calls.iter().filter(|(traced, _)| traced.is_operation());
    work.map(|(_, times)| times.count - times.failed).sum()
}

pub(super) fn summary(calls: &Calls) -> Block {
    let count = |call| count(calls, call);
    let words = format!(
        "{} opened, {} closed, {}",
        counted(count(Call::C_OpenSession), "session"),
        count(Call::C_CloseSession),
        counted(count(Call::C_Login) + count(Call::C_LoginUser), "login")
    );
    Block::Remark(Remark::new(RemarkKind::Elsewhere, words))
}

/// A line a process: who, how much, and what its first operation took against the later ones.
pub(super) fn by_process(processes: &[Process], whole: Duration, origin: &Origin) -> Block {
    let work = |process: &Process| {
        let work = WITH_PRIVATE_KEY
            .iter()
            .filter_map(|call| process.calls.get(&Traced::Whole(*call)));
        work.cloned().reduce(|mut all, times| {
            all.add(&times);
            all
        })
    };
    let lines = processes.iter().map(|process| (process, work(process)));
    let table = TableOf::new(lines)
        .name("process", |(process, _)| {
            format!("{} ({})", process.name, process.number)
        })
        .optional(0, "threads", |(process, _)| process.threads)
        .value("calls", |(process, _)| {
            process.calls.values().map(|times| times.count).sum::<u64>()
        })
        .optional(2, "sessions", |(process, _)| {
            count(&process.calls, Call::C_OpenSession)
        })
        .optional(3, "logins", |(process, _)| {
            count(&process.calls, Call::C_Login)
        })
        .value("operations", |(_, work)| {
            work.as_ref().map_or(0, |times| times.count)
        })
        .value("first", |(_, work)| Some(work.as_ref()?.first))
        .value("later, mean", |(_, work)| work.as_ref()?.later())
        .value("in the module", |(process, _)| {
            total(process.calls.values())
        })
        .optional(1, "share", |(process, _)| {
            share(total(process.calls.values()), whole)
        });
    of_one_card(table, origin)
}

pub(super) fn nothing_asked(whole: Duration, own: &Path) -> Block {
    let whole = units::time(whole);
    let text = format!(
        "the program ran for {whole} and did not load the module: give it the module's path, or {{module}} in an \
         argument. It should load {}",
        own.display()
    );
    Block::Remark(Remark::new(RemarkKind::Elsewhere, text))
}

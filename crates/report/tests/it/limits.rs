//! What limits threads and processes, of simulated systems whose limit is known.

use std::collections::BTreeMap;

use crate::queues::{Lock, System, record};
use crate::{only, plain};
use keymark_bench::case::Worker;
use keymark_bench::error::{ReturnCode, Shortage};
use keymark_bench::record::{Ending, Record};
use keymark_bench::stop::Stopped;
use keymark_report::analysis::{Analysis, Finding, Limit, Refused, Undecided};
use keymark_report::render::Width;
use keymark_testkit::assert_says;

const LEVELS: [u32; 4] = [1, 2, 4, 8];
const SEEDS: u64 = 20;

/// What calculates for half a millisecond on four cores.
const SOFTWARE: System = System {
    cores: 4,
    calculates_us: 500.0,
    lock: None,
    device: None,
};
/// What waits for a device of one processor for 20 ms.
const SERIAL: System = System {
    cores: 2,
    calculates_us: 30.0,
    lock: None,
    device: Some((1, 20_000.0)),
};

/// What is found of threads and of processes.
fn found(record: &Record) -> [Option<Finding>; 2] {
    let analysis = Analysis::of(record, &[]);
    [Worker::Thread, Worker::Process].map(|worker| {
        let mut groups = analysis.scaling.iter();
        let group = groups.find(|group| group.case.load.worker == worker)?;
        group.finding.clone()
    })
}

/// In nearly all runs that is found, and in none anything else, but that the figures do not tell.
#[track_caller]
fn is_found(system: System, threads: Limit, processes: Limit) {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut right = 0;
    for seed in 0..SEEDS {
        let [of_threads, of_processes] =
            found(&record(system, &LEVELS, &LEVELS, 40, seed)).map(Option::unwrap);
        for (finding, expected) in [(of_threads, threads), (of_processes, processes)] {
            *counts.entry(format!("{finding:?}")).or_default() += 1;
            let imprecise = finding.why == Some(Undecided::Imprecise);
            assert!(
                finding.limit == expected || imprecise,
                "{system:?}: {finding:?} for {expected}"
            );
            right += u64::from(finding.limit == expected);
        }
    }
    assert!(
        right >= SEEDS * 2 * 9 / 10,
        "{system:?}: {right}: {counts:?}"
    );
}

#[test]
fn a_device_that_does_one_at_a_time_limits_both() {
    is_found(SERIAL, Limit::Device, Limit::Device);
    // Half of the time around it is the worker's own.
    let slow_library = System {
        cores: 8,
        calculates_us: 400.0,
        device: Some((1, 2_000.0)),
        ..SERIAL
    };
    is_found(slow_library, Limit::Device, Limit::Device);
}

#[test]
fn a_device_of_three_lanes_does_three_at_a_time() {
    let lanes = System {
        cores: 16,
        device: Some((3, 20_000.0)),
        ..SERIAL
    };
    is_found(lanes, Limit::Device, Limit::Device);
    let record = record(lanes, &LEVELS, &LEVELS, 40, 1);
    let document = Analysis::of(&record, &[]).document(&record, &[]);
    assert_says(&plain(&document, Width::Unlimited), ["up to 3 at a time"]);
}

#[test]
fn a_library_that_locks_limits_threads_alone() {
    let locks = System {
        lock: Some(Lock::Process),
        ..SOFTWARE
    };
    is_found(locks, Limit::Library, Limit::Cores);
    // The lock is held while the device is asked, which would do four at a time.
    let one_connection = System {
        lock: Some(Lock::ProcessAndDevice),
        device: Some((4, 20_000.0)),
        ..SERIAL
    };
    is_found(one_connection, Limit::Library, Limit::Device);
}

#[test]
fn where_nothing_else_does_the_cores_limit_both() {
    is_found(SOFTWARE, Limit::Cores, Limit::Cores);
    let two = System {
        cores: 2,
        calculates_us: 100.0,
        ..SOFTWARE
    };
    is_found(two, Limit::Cores, Limit::Cores);
}

#[test]
fn a_device_of_many_lanes_shows_no_limit_yet() {
    let cloud = System {
        cores: 2,
        device: Some((64, 20_000.0)),
        ..SERIAL
    };
    is_found(cloud, Limit::NoneSeen, Limit::NoneSeen);
}

#[test]
fn a_lock_of_all_processes_is_not_taken_for_the_device() {
    let system = System {
        lock: Some(Lock::All),
        ..SOFTWARE
    };
    let undecided = Some(Finding::from(Undecided::Calculation));
    for seed in 0..SEEDS {
        let record = record(system, &LEVELS, &LEVELS, 40, seed);
        assert_eq!(found(&record), [undecided.clone(), undecided.clone()]);
    }
}

#[test]
fn other_programs_on_the_cores_are_not_taken_for_a_limit_of_the_device() {
    // One of two cores is another program's.
    let system = System {
        cores: 1,
        ..SOFTWARE
    };
    let undecided = Some(Finding::from(Undecided::Calculation));
    for seed in 0..SEEDS {
        let mut record = record(system, &LEVELS, &LEVELS, 40, seed);
        record.environment.cores = 2;
        assert_eq!(found(&record), [undecided.clone(), undecided.clone()]);
    }
}

#[test]
fn threads_alone_do_not_tell_library_and_device_apart() {
    let locks = System {
        lock: Some(Lock::Process),
        ..SOFTWARE
    };
    for (system, why) in [
        (SERIAL, Undecided::ThreadsAlone),
        (locks, Undecided::ThreadsCalculating),
    ] {
        let [threads, processes] = found(&record(system, &LEVELS, &[], 40, 5));
        assert_eq!(threads, Some(Finding::from(why)));
        assert_eq!(processes, None);
    }
    // Of several processes and one thread, that is the one worker.
    let [threads, processes] = found(&record(SERIAL, &[1], &[2, 4], 40, 5));
    assert_eq!(threads, None);
    assert_eq!(processes.unwrap().limit, Limit::Device);
}

#[test]
fn one_block_decides_nothing() {
    let few = found(&record(SERIAL, &[1, 2], &[1, 2], 1, 3));
    let imprecise = Some(Finding::from(Undecided::Imprecise));
    assert_eq!(few, [imprecise.clone(), imprecise]);
}

#[test]
fn what_was_watched_for_milliseconds_decides_nothing() {
    let short = System {
        calculates_us: 50.0,
        ..SOFTWARE
    };
    for seed in 0..SEEDS {
        for found in found(&record(short, &[1, 2], &[1, 2], 20, seed)) {
            let Some(Undecided::TooShort(watched)) = found.as_ref().and_then(|found| found.why)
            else {
                panic!("{found:?}")
            };
            // Of 80 operations of 50 µs by two, in 20 rounds.
            assert!(watched.0 > 0.02 && watched.0 < 0.06, "{watched:?}");
        }
    }
}

/// A run whose threads of the higher levels are refused with that code.
fn refused(code: ReturnCode) -> Record {
    let mut record = record(SOFTWARE, &LEVELS, &[], 40, 2);
    let ending = Ending {
        stopped: Stopped::Failed,
        reason: Some(format!("C_OpenSession failed: {code}")),
        code: Some(code),
        message_bytes: None,
    };
    for case in record
        .cases
        .iter_mut()
        .filter(|case| case.case.workers() > 2)
    {
        case.blocks.clear();
        case.ending = Some(ending.clone());
    }
    record
}

#[test]
fn too_few_sessions_and_too_little_memory_are_limits_of_their_own() {
    for (code, shortage, limit) in [
        (too_many_sessions(), Shortage::Sessions, Limit::Sessions),
        (ReturnCode::AGENT_MEMORY, Shortage::Memory, Limit::Memory),
    ] {
        let record = refused(code);
        let analysis = Analysis::of(&record, &[]);
        let [group] = &analysis.scaling[..] else {
            panic!("{:?}", analysis.scaling)
        };
        let refused = Refused {
            shortage,
            workers: 4,
            had: Some(2),
        };
        assert_eq!((group.refused, group.limit()), (Some(refused), Some(limit)));
    }
}

/// The device has eight sessions, of which the threads of one level get too few.
fn too_many_sessions() -> ReturnCode {
    ReturnCode::named("CKR_SESSION_COUNT", 0xb1)
}

#[test]
fn both_curves_and_what_limits_them_on_a_terminal_of_100_columns() {
    let locks = System {
        lock: Some(Lock::Process),
        ..SOFTWARE
    };
    let section = |record: &Record| {
        let document = Analysis::of(record, &[]).document(record, &[]);
        plain(&only(document, "in parallel"), Width::Columns(100))
    };
    let systems = [SERIAL, locks, SOFTWARE]
        .map(|system| section(&record(system, &[1, 2, 3, 4, 6, 8], &LEVELS, 40, 2)));
    let shown = [systems.join("\n"), section(&refused(too_many_sessions()))].join("\n");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
    insta::assert_snapshot!("limits", shown);
}

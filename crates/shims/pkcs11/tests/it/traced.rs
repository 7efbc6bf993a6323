//! Calls that are counted, and data that is not kept.

use std::time::Duration;

use keymark_shim_protocol::pkcs11::trace::{TracedThread, read};
use keymark_shim_protocol::pkcs11::{Call, Traced};
use keymark_testkit::softhsm::PIN;
use keymark_testkit::waiting::until;

use crate::world::{World, killed};

fn count(threads: &[TracedThread], traced: Traced) -> u64 {
    let times = threads
        .iter()
        .filter_map(|thread| thread.calls.get(&traced));
    times.map(|times| times.count).sum()
}

fn whole(threads: &[TracedThread], call: Call) -> u64 {
    count(threads, Traced::Whole(call))
}

#[test]
fn the_calls_of_each_process_and_thread_are_counted() {
    let (world, trace) = World::new().traced();
    let done = world.operations((3, 2), 5, &["length"]);
    let threads = read(&trace).unwrap();
    assert_eq!(whole(&threads, Call::C_Sign), 30);
    assert_eq!(count(&threads, Traced::Length(Call::C_Sign)), 30);
    assert_eq!(whole(&threads, Call::C_SignInit), 30);
    assert_eq!(whole(&threads, Call::C_OpenSession), 6);
    assert_eq!(whole(&threads, Call::C_Finalize), 3);
    // Of two threads one finds the user logged in (CKR_USER_ALREADY_LOGGED_IN).
    let logins = threads
        .iter()
        .filter_map(|thread| thread.calls.get(&Traced::Whole(Call::C_Login)));
    let refused: Vec<u64> = logins.filter_map(|times| times.code).collect();
    assert_eq!(refused, [0x100; 3]);
    let mut processes: Vec<u32> = done.iter().map(|operation| operation.process).collect();
    processes.sort_unstable();
    processes.dedup();
    for process in processes {
        let of_it: Vec<_> = threads
            .iter()
            .filter(|thread| thread.process == process)
            .collect();
        // One that initializes, and two that sign.
        assert_eq!(of_it.len(), 3);
        assert!(of_it.iter().all(|thread| thread.name == "client"));
        let signs =
            |thread: &&&TracedThread| thread.calls.contains_key(&Traced::Whole(Call::C_Sign));
        assert_eq!(of_it.iter().filter(signs).count(), 2);
    }
    let all: Duration = threads
        .iter()
        .filter_map(|thread| thread.calls.get(&Traced::Whole(Call::C_Sign)))
        .map(|times| times.total)
        .sum();
    let seen: u64 = done
        .iter()
        .map(|operation| operation.end - operation.begin)
        .sum();
    assert!(
        all > Duration::ZERO && all <= Duration::from_nanos(seen),
        "{all:?}"
    );
}

#[test]
fn what_was_counted_outlives_a_process_that_is_killed() {
    let (world, trace) = World::new().traced();
    let child = world.client((2, 1), 1_000_000, &["sign"]).spawn().unwrap();
    until("both have signed", || {
        let threads = read(&trace).unwrap();
        let sign = Traced::Whole(Call::C_Sign);
        threads
            .iter()
            .filter(|thread| thread.calls.contains_key(&sign))
            .count()
            == 2
    });
    killed(child);
    let threads = read(&trace).unwrap();
    assert!(whole(&threads, Call::C_Sign) >= 2);
    assert_eq!(whole(&threads, Call::C_Finalize), 0);
}

#[test]
fn nothing_of_what_calls_carry_is_kept() {
    let (world, trace) = World::new().traced();
    assert_eq!(world.operations((1, 1), 2, &["decrypt"]).len(), 2);
    let kept = std::fs::read(&trace).unwrap();
    let has = |wanted: &[u8]| kept.windows(wanted.len()).any(|part| part == wanted);
    assert!(has(b"client"));
    assert!(!has(PIN.as_bytes()) && !has(b"to be signed") && !has(b"my token"));
}

#[test]
fn waiting_for_a_twin_is_told_from_its_work() {
    let (world, trace) = World::new().twin(50).traced();
    assert_eq!(world.operations((1, 3), 1, &["sign"]).len(), 3);
    let threads = read(&trace).unwrap();
    let mut waited: Vec<u128> = threads
        .iter()
        .filter_map(|thread| thread.calls.get(&Traced::Whole(Call::C_Sign)))
        .map(|times| times.waited.as_millis())
        .collect();
    waited.sort_unstable();
    // Together they came, one after another they were served.
    assert!(
        waited[0] < 40 && waited[1] >= 10 && waited[2] >= 60,
        "{waited:?}"
    );
}

#[test]
fn a_trace_that_is_none_is_refused_in_words() {
    let (world, trace) = World::new().traced();
    std::fs::write(&trace, "x".repeat(10_000)).unwrap();
    let output = world.client((1, 1), 1, &["sign"]).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("it is not a trace of PKCS#11 calls"),
        "{said}"
    );
}

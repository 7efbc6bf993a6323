//! Workers that are processes: here the far end is a thread behind the same two pipes.

use std::io::{PipeReader, PipeWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::case::{Case, Worker};
use keymark_bench::clock::{Clock, ManualClock, MonotonicClock};
use keymark_bench::error::Error;
use keymark_bench::record::CaseRecord;
use keymark_bench::sample::Sample;
use keymark_bench::stop::Stopped;
use keymark_bench::worker::{self, Channel, Peer, Reply, Request, WorkerProcess};
use keymark_bench::workload::{Crew, Input, KeyHandle, Performed, Stack, Verifiable, Workload};
use keymark_testkit::assert_says;
use keymark_testkit::fake;

use super::setup::{drive_on, plan, runs, stopped};

/// The line to a far end that is a thread.
struct Pipes {
    to: PipeWriter,
    from: PipeReader,
    met: bool,
}

impl Channel for Pipes {
    fn begin(&mut self) -> Result<Peer, Error> {
        let before = std::mem::replace(&mut self.met, true);
        Ok(if before { Peer::Known } else { Peer::New })
    }

    fn send(&mut self, order: &Request) -> Result<(), Error> {
        worker::write(&mut self.to, order)
    }

    fn recv(&mut self, _: Option<Duration>) -> Result<Reply, Error> {
        worker::read(&mut self.from)
    }
}

/// What the far end does with its third operation and all that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    Fail,
    Lie,
    Vanish,
    RefuseTheKey,
}

/// Answers with its input's byte, a fifth of a millisecond later.
struct Echo(Then, u32);

impl KeyHandle for Echo {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        std::thread::sleep(Duration::from_micros(200));
        self.1 += 1;
        output[0] = input.bytes[0];
        if self.1 > 3 {
            match self.0 {
                Then::Fail => return Err(Error::call("C_Sign", "CKR_DEVICE_REMOVED", "")),
                Then::Lie => output[0] ^= 1,
                Then::Vanish => panic!("as a process that is killed"),
                Then::GoOn | Then::RefuseTheKey => {}
            }
        }
        Ok(Performed {
            length: 1,
            cpu: None,
        })
    }
}

fn same(result: &Verifiable<'_>) -> Result<(), String> {
    let right = result.output == [result.input as u8 + 1];
    right.then_some(()).ok_or("another byte".to_owned())
}

#[derive(Debug)]
struct Far(Then);

impl Stack for Far {
    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        assert_eq!(case.load.worker, Worker::Process);
        let then = self.0;
        let start = |number| {
            let (orders, to) = std::io::pipe().unwrap();
            let (from, words) = std::io::pipe().unwrap();
            // One of them only is out of order.
            let then = if number == 0 { then } else { Then::GoOn };
            std::thread::spawn(move || {
                let handle: Box<dyn KeyHandle> = Box::new(Echo(then, 0));
                let handle = if then == Then::RefuseTheKey {
                    Err(Error::call("C_OpenSession", "CKR_SESSION_COUNT", ""))
                } else {
                    Ok(handle)
                };
                // The near end going away is how it ends.
                let _ = worker::serve(orders, words, handle);
            });
            WorkerProcess::new(
                Pipes {
                    to,
                    from,
                    met: false,
                },
                1,
            )
        };
        Ok(Workload {
            crew: Crew::Processes((0..case.workers()).map(start).collect()),
            inputs: [Input { bytes: vec![1] }, Input { bytes: vec![2] }].into(),
            verifier: Arc::new(same),
            output_capacity: 1,
        })
    }
}

fn run(case: Case, then: Then, number: u32) -> CaseRecord {
    run_by(&MonotonicClock::new(), case, then, number)
}

fn run_by(clock: &dyn Clock, case: Case, then: Then, number: u32) -> CaseRecord {
    let interrupt = AtomicBool::new(false);
    let plan = plan(&[case], runs(number));
    let mut measured = drive_on(&Far(then), clock, &plan, &interrupt, &mut ());
    assert!(!interrupt.load(Ordering::Relaxed));
    measured.cases.remove(0)
}

fn by_processes(number: u32) -> Case {
    let mut case = fake::case("ed25519").workers(number).build();
    case.load.worker = Worker::Process;
    case
}

#[test]
fn each_process_brings_its_samples_on_keymarks_clock() {
    let before = MonotonicClock::new();
    let record = run(by_processes(3), Then::GoOn, 120);
    assert_eq!(stopped(&record), Stopped::RuleMet);
    let samples: Vec<&Sample> = record.samples().collect();
    assert_eq!(samples.len(), 120, "shared out to the last one");
    for worker in 0..3 {
        assert!(samples.iter().any(|sample| sample.worker == worker));
    }
    let took = Duration::from_micros(200);
    assert!(
        samples
            .iter()
            .all(|sample| sample.end.since(sample.start) >= took)
    );
    let last = samples.iter().map(|sample| sample.end).max().unwrap();
    // Epochs agree to a millisecond: keymark's clock was made after this one.
    assert!(last <= before.now().after(Duration::from_millis(1)));
    // They work at the same time.
    let overlap = record.blocks.iter().any(|block| {
        let samples = block.samples.iter();
        let of = |worker| {
            samples
                .clone()
                .filter(move |sample| sample.worker == worker)
        };
        of(0).any(|one| of(1).any(|other| one.start < other.end && other.start < one.end))
    });
    assert!(overlap);
}

#[test]
fn an_open_loop_is_dealt_to_the_processes() {
    let mut case = by_processes(2);
    case.load.pacing = fake::case("ed25519").rate("2000/s").build().load.pacing;
    let record = run(case, Then::GoOn, 300);
    assert_eq!(stopped(&record), Stopped::RuleMet);
    assert!(
        record
            .samples()
            .all(|sample| sample.start >= sample.scheduled)
    );
    let late = record
        .samples()
        .filter(|sample| sample.start > sample.scheduled);
    assert!(late.count() > 0, "a queue builds up now and then");
}

#[test]
fn what_goes_wrong_in_a_process_ends_the_case_with_its_reason() {
    for (then, reason) in [
        (Then::Fail, "C_Sign failed: CKR_DEVICE_REMOVED"),
        (Then::Lie, "another byte"),
        (Then::Vanish, "talking to a worker process failed"),
        (
            Then::RefuseTheKey,
            "C_OpenSession failed: CKR_SESSION_COUNT",
        ),
    ] {
        let record = run(by_processes(2), then, 100);
        let failure = record.failure().unwrap();
        assert!(failure.contains(reason), "{then:?}: {failure}");
    }
}

#[test]
fn a_clock_that_cannot_be_shared_is_refused() {
    let record = run_by(&ManualClock::default(), by_processes(1), Then::GoOn, 1);
    assert_says(
        &record.failure().unwrap(),
        ["cannot be used in another process"],
    );
}

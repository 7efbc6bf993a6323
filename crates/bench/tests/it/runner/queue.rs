//! Workers that queue for one server: its rate from the blocks, compared with its own count.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keymark_bench::case::Case;
use keymark_bench::clock::{Clock as _, MonotonicClock, Timestamp};
use keymark_bench::error::Error;
use keymark_bench::sample::{Block, Sample};
use keymark_bench::workload::{Crew, Input, KeyHandle, Performed, Verifiable, Workload};
use keymark_testkit::fake;

use super::setup::{drive_on, plan, runs};

/// A closed loop of `workers` on one server of constant service time, as the runner cuts a block of it: each
/// leads in with an operation that is not counted, and none starts after the deadline.
fn closed_md1(workers: u32, service: u64, of_each: u64) -> Block {
    let mut free = 0;
    let mut samples: Vec<Sample> = Vec::new();
    // In the order in which they came to the queue.
    let mut queue: Vec<(u32, u64, bool)> = (0..workers).map(|worker| (worker, 0, true)).collect();
    let mut begin = None;
    while !queue.is_empty() {
        let (worker, asked, leads_in) = queue.remove(0);
        let end = asked.max(free) + service;
        free = end;
        let begin = *begin.get_or_insert(end);
        if !leads_in {
            samples.push(Sample::done(worker, Timestamp(asked), Timestamp(end)));
        }
        if end < begin + of_each * u64::from(workers) * service {
            queue.push((worker, end, false));
        }
    }
    Block {
        samples,
        ..Block::default()
    }
}

#[test]
fn a_serial_server_is_as_fast_for_many_as_for_one() {
    let service = 1_000_000;
    for workers in [1, 2, 4, 10, 32] {
        for of_each in [1, 8, 20] {
            let window = closed_md1(workers, service, of_each)
                .window(workers)
                .unwrap();
            let rate = window.completed / window.length_ns as f64 * service as f64;
            assert!((rate - 1.0).abs() < 1e-9, "{workers} × {of_each}: {rate}");
        }
    }
}

/// When the server was done with each operation.
type Served = Arc<Mutex<Vec<Timestamp>>>;

/// Serves one after the other.
fn serve(clock: &MonotonicClock, requests: &Receiver<Sender<()>>, served: &Served) {
    while let Ok(request) = requests.recv() {
        std::thread::sleep(Duration::from_micros(500));
        served.lock().unwrap().push(clock.now());
        // A client that has given up needs no answer.
        let _ = request.send(());
    }
}

struct Client(Sender<Sender<()>>);

impl KeyHandle for Client {
    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        let (answer, answered) = channel();
        self.0.send(answer).unwrap();
        answered.recv().unwrap();
        Ok(Performed::default())
    }
}

fn anything(_: &Verifiable<'_>) -> Result<(), String> {
    Ok(())
}

/// A workload of threads that ask for anything.
fn workload<H: KeyHandle + 'static>(
    case: &Case,
    handle: impl Fn() -> H,
) -> Result<Workload, Error> {
    let crew = Crew::threads(case.workers(), |_| Ok(Box::new(handle())))?;
    Ok(Workload {
        crew,
        inputs: [Input { bytes: Vec::new() }].into(),
        verifier: Arc::new(anything),
        output_capacity: 1,
    })
}

/// As many servers as workers, each of the same service time.
#[derive(Debug)]
struct Servers(Duration);

impl KeyHandle for Servers {
    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        std::thread::sleep(self.0);
        Ok(Performed::default())
    }
}

#[test]
fn who_comes_first_is_served_first_across_the_ends_of_blocks_too() {
    let clock = MonotonicClock::new();
    let stack = |case: &Case| workload(case, || Servers(Duration::from_millis(60)));
    // Nine tenths of what both can do, so that a worker waits at the ends of most blocks.
    let case = fake::case("ed25519").workers(2).rate("30/s").build();
    let plan = plan(&[case], runs(180));
    let measured = drive_on(&stack, &clock, &plan, &AtomicBool::new(false), &mut ());
    let blocks = &measured.cases[0].blocks;
    let waiting = |block: &&Block| block.queue.unwrap().waiting > 0;
    assert!(blocks.iter().filter(waiting).count() > 3, "nobody waited");
    for block in blocks {
        let mut samples: Vec<&Sample> = block.samples.iter().collect();
        samples.sort_by_key(|sample| sample.scheduled);
        for pair in samples.windows(2) {
            let late = pair[0].start.since(pair[1].start);
            assert!(
                late < Duration::from_millis(10),
                "served {late:?} after the next"
            );
        }
    }
}

/// From when every worker has begun to when one has ended.
fn bounds(block: &Block, workers: u32) -> (Timestamp, Timestamp) {
    let of = |worker| {
        block
            .samples
            .iter()
            .filter(move |sample| sample.worker == worker)
    };
    let begun = (0..workers).map(|worker| of(worker).map(|sample| sample.start).min().unwrap());
    let ended = (0..workers).map(|worker| of(worker).map(|sample| sample.end).max().unwrap());
    (begun.max().unwrap(), ended.min().unwrap())
}

#[test]
fn throughput_under_load_is_what_the_server_did() {
    const WORKERS: u32 = 6;
    let clock = Arc::new(MonotonicClock::new());
    let (requests, received) = channel();
    let served = Served::default();
    let (watch, record) = (Arc::clone(&clock), Arc::clone(&served));
    let server = std::thread::spawn(move || serve(&watch, &received, &record));
    let requests = Mutex::new(requests);
    let stack = move |case: &Case| workload(case, || Client(requests.lock().unwrap().clone()));
    let case = fake::case("ed25519").workers(WORKERS).build();
    let plan = plan(&[case], runs(1_200));
    let interrupt = AtomicBool::new(false);
    let measured = drive_on(&stack, clock.as_ref(), &plan, &interrupt, &mut ());
    drop(stack);
    server.join().unwrap();
    // On a machine with much to do a worker may come too late for a block, which then has no window.
    let blocks = measured.cases[0].blocks.iter();
    let windows = blocks.filter_map(|block| Some((block, block.window(WORKERS)?)));
    let (blocks, windows): (Vec<&Block>, Vec<_>) = windows.unzip();
    let counted: f64 = windows.iter().map(|window| window.completed).sum();
    // Counted by the server itself, whatever the machine did meanwhile.
    let served = served.lock().unwrap();
    let within = |block: &Block| {
        let (from, to) = bounds(block, WORKERS);
        served
            .iter()
            .filter(|end| (from..to).contains(*end))
            .count()
    };
    let done: usize = blocks.into_iter().map(within).sum();
    assert!(done > 800, "{done}");
    let ratio = counted / done as f64;
    assert!(
        (ratio - 1.0).abs() < 0.03,
        "{counted} where the server did {done}"
    );
}

//! Closed queues: workers that calculate on cores, hold a lock, and ask a device, on a machine that wanders.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU32;

use keymark_bench::case::{Load, Pacing, Worker};
use keymark_bench::clock::Timestamp;
use keymark_bench::operation::Operation;
use keymark_bench::parts::{Part, PartMean, Parts};
use keymark_bench::record::{CaseRecord, Record, RunId};
use keymark_bench::sample::{Block, Sample};
use keymark_bench::stop::Stopped;
use keymark_stats::Seconds;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Who waits for whom while one calculates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Threads of one process.
    Process,
    /// Threads of one process, and while the device is asked.
    ProcessAndDevice,
    /// All workers.
    All,
}

/// A system with a limit that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct System {
    pub cores: u32,
    /// Processor time of an operation.
    pub calculates_us: f64,
    pub lock: Option<Lock>,
    /// Lanes, and the time an operation takes in one.
    pub device: Option<(usize, f64)>,
}

/// Operations of a block, over all workers.
const OPERATIONS: usize = 80;
/// How much blocks differ, how alike neighbors are, and how much the operations in one differ.
const NOISE: (f64, f64, f64) = (0.1, 0.6, 0.05);

/// The machine's slowness over a run: an autoregression of its logarithm, the same for all cases of a round.
fn wander(rng: &mut ChaCha8Rng, rounds: u32) -> Vec<f64> {
    let (deviation, alike, _) = NOISE;
    let mut state = 0.0;
    let mut step = || {
        let uniform: f64 = (0..12).map(|_| rng.random_range(0.0..1.0)).sum();
        state = alike * state + (1.0 - alike * alike).sqrt() * deviation * (uniform - 6.0);
        f64::exp(state)
    };
    (0..rounds).map(|_| step()).collect()
}

impl System {
    /// One block of that number of workers, from the moment when all have done something.
    fn block(
        self,
        round: u32,
        (workers, kind): (u32, Worker),
        slowness: f64,
        rng: &mut ChaCha8Rng,
    ) -> Block {
        let mut cores = vec![0.0_f64; self.cores as usize];
        let mut lanes = vec![0.0_f64; self.device.map_or(0, |(lanes, _)| lanes)];
        let mut locks = vec![0.0_f64; workers as usize];
        let lock_of = |worker: u32| match (self.lock?, kind) {
            (Lock::All, _) | (Lock::Process | Lock::ProcessAndDevice, Worker::Thread) => Some(0),
            (Lock::Process | Lock::ProcessAndDevice, Worker::Process) => Some(worker as usize),
        };
        // Who is free first goes first; times in whole nanoseconds are ordered.
        let mut free: BinaryHeap<Reverse<(u64, u32)>> =
            (0..workers).map(|worker| Reverse((0, worker))).collect();
        let mut samples = Vec::new();
        let first = |all: &mut Vec<f64>, ready: f64, took: f64| {
            let place = (0..all.len())
                .min_by(|a, b| all[*a].total_cmp(&all[*b]))
                .unwrap();
            let end = all[place].max(ready) + took;
            all[place] = end;
            end
        };
        while samples.len() < OPERATIONS {
            let Reverse((now, worker)) = free.pop().unwrap();
            let jitter = 1.0 + NOISE.2 * rng.random_range(-1.0..1.0);
            let lock = lock_of(worker);
            let ready = lock.map_or(now as f64, |lock| locks[lock].max(now as f64));
            let mut end = first(
                &mut cores,
                ready,
                self.calculates_us * 1e3 * slowness * jitter,
            );
            let calculated = end;
            if let Some((_, device_us)) = self.device {
                end = first(&mut lanes, end, device_us * 1e3 * jitter);
            }
            if let Some(lock) = lock {
                locks[lock] = match self.lock {
                    Some(Lock::ProcessAndDevice) => end,
                    Some(Lock::Process | Lock::All) | None => calculated,
                };
            }
            samples.push(Sample::done(worker, Timestamp(now), Timestamp(end as u64)));
            free.push(Reverse((end as u64, worker)));
        }
        // What was begun while others had not begun leads in.
        samples.retain(|sample| sample.start.0 > 0);
        samples.sort_by_key(|sample| sample.end);
        Block {
            round,
            samples,
            ..Block::default()
        }
    }
}

/// A run of the system by threads and by processes, in rounds.
pub fn record(
    system: System,
    threads: &[u32],
    processes: &[u32],
    rounds: u32,
    seed: u64,
) -> Record {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let machine = wander(&mut rng, rounds);
    let threads = threads.iter().map(|workers| (*workers, Worker::Thread));
    let loads = threads.chain(processes.iter().map(|workers| (*workers, Worker::Process)));
    let mut cases: Vec<CaseRecord> = Vec::new();
    for load in loads {
        let case = keymark_testkit::case("rsa2048").operation(Operation::Sign);
        let mut case = case.build();
        case.load = Load {
            workers: NonZeroU32::new(load.0).unwrap(),
            worker: load.1,
            pacing: Pacing::Closed,
        };
        let mut block = |round: u32| system.block(round, load, machine[round as usize], &mut rng);
        let blocks: Vec<Block> = (0..rounds).map(&mut block).collect();
        let worker = PartMean {
            n: blocks.iter().map(|block| block.samples.len() as u64).sum(),
            mean_s: Seconds(system.calculates_us * 1e-6),
        };
        cases.push(CaseRecord {
            blocks,
            ending: Some(Stopped::RuleMet.into()),
            parts: Some(Parts([(Part::Worker, worker)].into())),
            ..CaseRecord::new(case)
        });
    }
    let mut record = keymark_testkit::record::of(cases);
    record.id = RunId("20260101-000000-0003".to_owned());
    record.plan.settings.seed = seed;
    record.environment.cores = system.cores;
    record
}

//! Makes what reports and lists are measured on (docs/report.md):
//!
//!     cargo run --release -p keymark-report --example large -- record 200 1000 > record.json
//!     cargo run --release -p keymark-report --example large -- archive 10000 runs.sqlite3
//!
//! The runs of an archive are of 50 machines, and each case is measured on all of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a tool for tests may panic"
)]

use std::io::{BufWriter, Write};
use std::path::Path;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, Provenance, StackName};
use keymark_bench::record::{CaseRecord, Record, RunId};
use keymark_bench::sample::Block;
use keymark_bench::stop::Stopped;
use keymark_records::archive::Archive;
use keymark_records::exchange::json;
use keymark_testkit::record::{block, case, of};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Samples of a block.
const BLOCK: u32 = 20;
/// Devices that cases are spread over.
const DEVICES: u32 = 8;
/// Of each run of an archive.
const CASES: u32 = 8;
/// Runs until the same cases come again.
const TURN: u32 = 20;
const MACHINES: u32 = 50;
const SAMPLES: u32 = 60;

fn numbered(number: u32) -> Case {
    let algorithms: Vec<Algorithm> = Algorithm::all().collect();
    let algorithm = algorithms[(number / DEVICES) as usize % algorithms.len()];
    let device = number % DEVICES;
    Case {
        device: DeviceName::new(format!("token-{device}")),
        provenance: match device {
            0..4 => Provenance::Measured,
            4..6 => Provenance::Virtual,
            _ => Provenance::Twin,
        },
        replica: number / (DEVICES * algorithms.len() as u32),
        ..case(algorithm.name(), StackName::RAW)
    }
}

/// Blocks of one case after the other, in rounds; times from 50 µs up to seconds, a tenth around their mean.
fn measured(number: u32, samples: u32, random: &mut ChaCha8Rng) -> CaseRecord {
    let mean = 50_000.0 * 1.06_f64.powi(number.cast_signed() % 200);
    let blocks = (0..samples.div_ceil(BLOCK)).map(|round| {
        let latencies: Vec<u64> = (0..BLOCK)
            .map(|_| (mean * random.random_range(0.9..1.1)) as u64)
            .collect();
        Block {
            reference_ns: Some(300_000 + random.random_range(0..9_000)),
            ..block(round, &latencies)
        }
    });
    CaseRecord {
        blocks: blocks.collect(),
        ending: Some(Stopped::RuleMet.into()),
        ..CaseRecord::new(numbered(number))
    }
}

fn record(number: u32, cases: std::ops::Range<u32>, samples: u32) -> Record {
    let mut random = ChaCha8Rng::seed_from_u64(number.into());
    let cases = cases.map(|case| measured(case, samples, &mut random));
    let mut record = of(cases.collect());
    record.started += jiff::SignedDuration::from_mins(30 * i64::from(number));
    record.id = RunId::new(record.started, number as u16);
    let (machine, cpu) = (number / TURN % MACHINES, number / TURN % 3);
    record.environment.machine = Some(format!("machine-{machine:02}"));
    record.environment.cpu_model = Some(format!("a processor that is made up, {cpu}"));
    record
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["record", cases, samples] => {
            let record = record(0, 0..cases.parse().unwrap(), samples.parse().unwrap());
            let mut out = BufWriter::new(std::io::stdout().lock());
            json::write(&record, &mut out).unwrap();
            out.flush().unwrap();
        }
        ["archive", runs, path] => {
            let mut archive = Archive::open(Path::new(path)).unwrap();
            for number in 0..runs.parse().unwrap() {
                let first = number % TURN * CASES;
                archive
                    .insert(&record(number, first..first + CASES, SAMPLES))
                    .unwrap();
            }
        }
        _ => panic!("record CASES SAMPLES, or archive RUNS ARCHIVE"),
    }
}

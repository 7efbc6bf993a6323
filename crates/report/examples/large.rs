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
use keymark_bench::case::{Case, DeviceName, Load, Parameters, Provenance, StackName, StoreKind};
use keymark_bench::clock::Timestamp;
use keymark_bench::environment::Environment;
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::{CaseRecord, Record, RunId, RunState, SCHEMA};
use keymark_bench::sample::{Block, Sample};
use keymark_bench::stop::Stopped;
use keymark_records::archive::Archive;
use keymark_records::exchange::json;
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

fn case(number: u32) -> Case {
    let algorithms: Vec<Algorithm> = Algorithm::all().collect();
    let algorithm = algorithms[(number / DEVICES) as usize % algorithms.len()];
    let operations = algorithm.operations();
    let device = number % DEVICES;
    Case {
        device: DeviceName::new(match device {
            0 => "software".to_owned(),
            device => format!("token-{device}"),
        }),
        store: StoreKind::of(if device == 0 { "software" } else { "pkcs11" }),
        provenance: match device {
            0..4 => Provenance::Measured,
            4..6 => Provenance::Virtual,
            _ => Provenance::Twin,
        },
        algorithm,
        operation: operations[number as usize % operations.len()],
        stack: StackName::RAW,
        parameters: Parameters::NONE,
        load: Load::single(),
        input_bytes: 40,
        replica: number / (DEVICES * algorithms.len() as u32),
        strength: None,
    }
}

/// Blocks of one case after the other, in rounds; times from 50 µs up to seconds, a tenth around their mean.
fn measured(number: u32, samples: u32, random: &mut ChaCha8Rng) -> CaseRecord {
    let mean = 50_000.0 * 1.06_f64.powi(number.cast_signed() % 200);
    let block = |round: u32, random: &mut ChaCha8Rng| {
        let mut clock = u64::from(round) * 100_000_000_000;
        let samples = (0..BLOCK).map(|_| {
            let start = Timestamp(clock);
            clock += (mean * random.random_range(0.9..1.1)) as u64;
            Sample::done(0, start, Timestamp(clock))
        });
        Block {
            round,
            samples: samples.collect(),
            queue: None,
            reference_ns: Some(300_000 + random.random_range(0..9_000)),
        }
    };
    CaseRecord {
        blocks: (0..samples.div_ceil(BLOCK))
            .map(|round| block(round, random))
            .collect(),
        ending: Some(Stopped::RuleMet.into()),
        ..CaseRecord::new(case(number))
    }
}

fn record(number: u32, cases: std::ops::Range<u32>, samples: u32) -> Record {
    let mut random = ChaCha8Rng::seed_from_u64(number.into());
    let cases: Vec<CaseRecord> = cases
        .map(|case| measured(case, samples, &mut random))
        .collect();
    let start: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let started = start + jiff::SignedDuration::from_mins(30 * i64::from(number));
    Record {
        schema: SCHEMA,
        id: RunId::new(started, number as u16),
        started,
        state: RunState::Finished,
        series: None,
        plan: Plan {
            cases: cases.iter().map(|record| record.case.clone()).collect(),
            settings: Settings::default(),
        },
        environment: Environment {
            machine: Some(format!("machine-{:02}", number / TURN % MACHINES)),
            cpu_model: Some(format!(
                "a processor that is made up, {}",
                number / TURN % 3
            )),
            cores: 4,
            keymark: "0".to_owned(),
            ..Environment::default()
        },
        harness: None,
        stores: Vec::new(),
        cases,
    }
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

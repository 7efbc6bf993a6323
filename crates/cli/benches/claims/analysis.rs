//! Time and memory of analyzing a million samples.

use std::num::NonZeroU32;
use std::process::Command;

use keymark_bench::case::Case;
use keymark_bench::clock::{Clock, MonotonicClock, Timestamp};
use keymark_bench::environment::Environment;
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::{CaseRecord, Record, RunId, RunState, SCHEMA};
use keymark_bench::sample::{Block, Sample};
use keymark_report::analysis::Analysis;

use super::figure::{Failure, Figure, Limit};

/// Argument with which the binary calls itself, so that the memory is that of the analysis alone.
pub(crate) const ARGUMENT: &str = "analyse-a-million";
const BLOCKS: u32 = 500;
const SAMPLES: u32 = 2000;

/// Both figures, out of a process of their own.
pub(crate) fn measure() -> Result<[Figure; 2], Failure> {
    let output = Command::new(std::env::current_exe()?)
        .arg(ARGUMENT)
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    let (Some(Ok(seconds)), Some(Ok(megabytes))) = (numbers.next(), numbers.next()) else {
        return Err(format!("the analysis ended with {}: {text}", output.status).into());
    };
    let name = "analysis of a million samples, one core";
    let time = Figure::new(name, seconds, Limit::AtMost(2.0), " s");
    let name = "its peak memory, including the samples";
    Ok([
        time,
        Figure::new(name, megabytes, Limit::AtMost(200.0), " MB"),
    ])
}

/// The process's part: prints seconds and megabytes.
pub(crate) fn analyse(case: &Case) -> Result<String, Failure> {
    let record = record(case);
    let clock = MonotonicClock::new();
    let start = clock.now();
    let analysis = Analysis::of(&record, &[]);
    let seconds = clock.now().since(start).as_secs_f64();
    if analysis.rows.iter().any(|row| row.summary.is_none()) {
        return Err("nothing was analyzed".into());
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM")?;
    let kilobytes: f64 = peak.trim().trim_end_matches(" kB").parse()?;
    Ok(format!("{seconds} {}", kilobytes / 1000.0))
}

/// A million latencies around a millisecond with a tail, from a linear congruential generator
/// (Knuth, MMIX): what they are does not matter here, only how many.
fn record(case: &Case) -> Record {
    let mut state = 1_u64;
    let mut now = 0;
    let mut block = |round| {
        let mut sample = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let uniform = ((state >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
            let start = Timestamp(now);
            now += 1_000_000 + (-uniform.ln() * 20_000.0) as u64;
            let end = Timestamp(now);
            Sample::done(0, start, end)
        };
        Block {
            round,
            samples: (0..SAMPLES).map(|_| sample()).collect(),
            ..Block::default()
        }
    };
    let blocks = (0..BLOCKS).map(&mut block).collect();
    Record {
        schema: SCHEMA,
        id: RunId("million".to_owned()),
        started: jiff::Timestamp::UNIX_EPOCH,
        state: RunState::Finished,
        series: None,
        plan: Plan {
            cases: vec![case.clone()],
            settings: Settings::default(),
        },
        environment: Environment {
            cores: NonZeroU32::MIN.get(),
            ..Environment::default()
        },
        harness: None,
        stores: Vec::new(),
        cases: vec![CaseRecord {
            blocks,
            ..CaseRecord::new(case.clone())
        }],
    }
}

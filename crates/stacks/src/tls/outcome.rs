//! From what the client has measured to what is kept.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::error::Error;
use keymark_bench::record::Ending;
use keymark_bench::server_load::{LoadLimit, Second, ServerLoad, Steady, Transaction};
use keymark_bench::stop::Stopped;
use keymark_load::{Bottleneck, Measurement, NoSteadyState, Phase};

/// What is known of a server of keymark's own beside its answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Processor time of its processes.
    pub(super) processor: Duration,
    /// How long it was busy after the load.
    pub(super) drained: Duration,
}

/// `server` is everything that it was.
pub(super) fn of(
    measured: &Measurement,
    server: BTreeMap<String, String>,
    seen: Option<Seen>,
) -> ServerLoad {
    let steady = steady(measured);
    ServerLoad {
        server,
        client: measured.engine.to_string(),
        seed: measured.settings.seed,
        elapsed_ns: nanoseconds(measured.elapsed),
        unsteady: steady.as_ref().err().map(ToString::to_string),
        steady: steady.ok(),
        seconds: measured.seconds.iter().map(second).collect(),
        sample: measured.sample.iter().map(transaction).collect(),
        totals: measured.totals(),
        cut_off: measured.cut_off,
        waiting: measured.waiting,
        server_cpu_ns: seen.map(|seen| nanoseconds(seen.processor)),
        client_cpu_ns: nanoseconds(measured.processor()),
        limit: match measured.bottleneck() {
            Ok(Bottleneck::Client { .. }) => LoadLimit::Client,
            Ok(Bottleneck::Elsewhere { .. }) => LoadLimit::Elsewhere,
            Err(_) => LoadLimit::Unknown,
        },
        drained_ns: seen.map(|seen| nanoseconds(seen.drained)),
        token_calls: None,
        alone: None,
        log: Vec::new(),
        saturation: None,
        killed_ns: None,
    }
}

/// The steady state, if there was one and anything was done in it.
fn steady(measured: &Measurement) -> Result<Steady, NoSteadyState> {
    let span = measured.window()?;
    let (part, completed) = measured.completed_in_parts(span)?;
    Ok(Steady {
        from_s: span.begin.as_secs(),
        to_s: span.end.as_secs(),
        part_ns: nanoseconds(part),
        completed,
    })
}

/// A load, and how the server ended if it did before its time.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) load: ServerLoad,
    pub(super) ended: Option<Error>,
}

impl From<ServerLoad> for Loaded {
    fn from(load: ServerLoad) -> Self {
        Self { load, ended: None }
    }
}

/// How a case ended.
pub(super) fn ending(load: &Result<Loaded, Error>, interrupt: &AtomicBool) -> Ending {
    let plain = |stopped, reason| Ending {
        stopped,
        reason,
        code: None,
    };
    match load {
        Ok(Loaded {
            ended: Some(error), ..
        }) => plain(Stopped::Failed, Some(error.to_string())),
        // What fails then does so because it was to end.
        _ if interrupt.load(Ordering::Relaxed) => plain(Stopped::Interrupted, None),
        Err(error) => Ending {
            code: error.code().cloned(),
            ..plain(Stopped::Failed, Some(error.to_string()))
        },
        Ok(Loaded { load, .. }) if load.totals.transactions == 0 => {
            plain(Stopped::Failed, Some(why_nothing(load)))
        }
        Ok(_) => plain(Stopped::RuleMet, None),
    }
}

/// Why no transaction of a load succeeded: what most of them failed of.
fn why_nothing(load: &ServerLoad) -> String {
    let failures = load.failures();
    let most = failures.iter().max_by_key(|(_, count)| **count);
    most.map_or_else(
        || "no transaction finished before the load ended".to_owned(),
        |(class, count)| {
            format!(
                "no transaction succeeded: {count} of {} {class}",
                load.totals.failed
            )
        },
    )
}

fn second(second: &keymark_load::Second) -> Second {
    let phase = |phase| second.phase(phase).clone();
    let failures = second.failures.iter();
    Second {
        connect: phase(Phase::Connect),
        handshake: phase(Phase::Handshake),
        first_byte: phase(Phase::FirstByte),
        whole: phase(Phase::Whole),
        failures: failures
            .map(|(failure, count)| (failure.to_string(), *count))
            .collect(),
    }
}

fn transaction(one: &keymark_load::Transaction) -> Transaction {
    Transaction {
        scheduled_ns: nanoseconds(one.scheduled),
        start_ns: nanoseconds(one.started),
        connect_ns: nanoseconds(one.connect),
        handshake_ns: nanoseconds(one.handshake),
        first_byte_ns: nanoseconds(one.first_byte),
        whole_ns: nanoseconds(one.whole),
    }
}

/// 584 years fit.
pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

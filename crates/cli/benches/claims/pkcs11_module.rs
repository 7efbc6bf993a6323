//! keymark's own PKCS#11 module: what tracing costs, and how well a twin keeps its device's time. The callers are C
//! programs, the estimates independent of keymark's.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use keymark_shim_protocol::pkcs11::settings::{Settings, TwinSettings};
use keymark_shim_protocol::pkcs11::trace;
use keymark_stores::pkcs11::wrapped;
use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken};

use super::c_loop::{Calls, Pkcs11Loop};
use super::figure::{Failure, Figure, Limit, in_turn};

/// Pairs of the module with and without the trace before it.
const PAIRS: usize = 200;
/// The twin's service time in milliseconds. Short, so that what the module adds would show.
const SERVICE_MS: f64 = 20.0;
/// Operations of a twin's callers, together.
const OPERATIONS: u32 = 240;
/// Processes, and threads in each.
const CALLERS: [(u32, u32); 5] = [(1, 1), (1, 4), (4, 1), (2, 8), (8, 2)];
/// A caller that came that much earlier, in nanoseconds, came first.
const EARLIER: u64 = 5_000_000;

/// Round trip of a twin behind a network in milliseconds.
const ROUND_TRIP_MS: f64 = 20.0;
/// Threads that share two sessions.
const THREADS: u32 = 8;
/// Operations of each of them.
const EACH: u32 = 30;
/// Quota of operations per second, and how many of them are admitted at once.
const QUOTA: (f64, usize) = (100.0, 10);

/// All of it.
pub(crate) fn measure() -> Result<Vec<Figure>, Failure> {
    let token = SoftHsmToken::new();
    token.make_key("rsa:2048", "01", "rsa2048");
    Pkcs11Loop::compile(&token.path(""))?;
    let mut figures = tracing(&token)?;
    let client = client(&token);
    figures.extend(twin(&token, &client)?);
    figures.extend(network(&token, &client)?);
    Ok(figures)
}

/// The C callers.
fn client(token: &SoftHsmToken) -> PathBuf {
    let client = token.path("client");
    let shims = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("shims");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O2", "-o"]).arg(&client);
    compiler.arg(shims.join("pkcs11/tests/it/client.c"));
    token.run(compiler.args(["-ldl", "-lpthread"]));
    client
}

/// A twin that signs in that time, with more lines of its profile.
fn twin_module(
    token: &SoftHsmToken,
    name: &str,
    (seconds, network): (f64, &str),
) -> Result<PathBuf, Failure> {
    let profile = token.path(&format!("{name}.toml"));
    fs::write(
        &profile,
        format!(
            "schema=1\nname='{name}'\nstore='pkcs11'\nproduct='X'\nsource='overhead'\n\
             [[service]]\nalgorithm='rsa2048'\noperation='sign'\nconstant_s={seconds}\n{network}\n"
        ),
    )?;
    let settings = Settings {
        trace: Some(token.path(&format!("{name}.trace"))),
        twin: Some(TwinSettings {
            profile: profile.display().to_string(),
            device: Some(token.path(&format!("{name}.device"))),
            ..TwinSettings::default()
        }),
        ..Settings::default()
    };
    module(token, &format!("{name}.so"), settings)
}

/// keymark's module before SoftHSM2, for processes that have nothing of it in their environment.
fn module(token: &SoftHsmToken, name: &str, settings: Settings) -> Result<PathBuf, Failure> {
    let configuration = token.configuration().display().to_string();
    let settings = Settings {
        module: Some(SoftHsmToken::library()),
        environment: BTreeMap::from([(CONFIGURATION.to_owned(), configuration)]),
        ..settings
    };
    Ok(wrapped(&settings, &token.path(""), name)?)
}

fn tracing(token: &SoftHsmToken) -> Result<Vec<Figure>, Failure> {
    let traced = Settings {
        trace: Some(token.path("trace")),
        ..Settings::default()
    };
    let traced = module(token, "traced.so", traced)?;
    let plain = SoftHsmToken::library();
    // One gets ready after the other: while a process logs in, SoftHSM2 shows the token to no other.
    let configuration = token.configuration();
    let start = |module: &PathBuf, calls| -> Result<Pkcs11Loop, Failure> {
        let by = (
            module.as_path(),
            Some((CONFIGURATION, configuration.as_path())),
        );
        let mut ready = Pkcs11Loop::start(&token.path(""), by, "rsa2048", calls)?;
        ready.rate(1)?;
        Ok(ready)
    };
    let (mut with, mut without) = (start(&traced, Calls::Info)?, start(&plain, Calls::Info)?);
    let call = 1.0 / without.rate(1)?;
    let cost = 1.0 / in_turn(PAIRS, |_| with.rate(1), |_| without.rate(1))?;
    let name = format!(
        "additional time of a PKCS#11 call through the tracing module, median of {PAIRS} pairs"
    );
    let added = (cost - 1.0) * call * 1e6;
    let added = Figure::new(name, added, Limit::AtMost(1.0), " µs");
    let (mut with, mut without) = (start(&traced, Calls::Sign)?, start(&plain, Calls::Sign)?);
    let ratio = in_turn(PAIRS, |_| with.rate(1), |_| without.rate(1))?;
    let name = format!(
        "throughput of a C loop over a traced SoftHSM2, rsa2048 sign, over an untraced one, median of {PAIRS} pairs"
    );
    Ok(vec![
        added,
        Figure::new(name, ratio, Limit::AtLeast(0.99), ""),
    ])
}

/// Start and end of an operation of the C callers, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Served {
    begin: u64,
    end: u64,
    /// Start of C_Sign, behind C_SignInit, which is the module's alone.
    asked: u64,
}

fn twin(token: &SoftHsmToken, client: &Path) -> Result<Vec<Figure>, Failure> {
    let module = twin_module(token, "twin", (SERVICE_MS / 1e3, ""))?;
    let mut figures = Vec::new();
    for (processes, threads) in CALLERS {
        let each = OPERATIONS / (processes * threads);
        let mut callers = Command::new(client);
        callers.arg(&module).args([PIN, "1"]);
        callers.args([processes, threads, each].map(|number| number.to_string()));
        let output = token.run(callers.arg("sign"));
        let mut served = parsed(&output.stdout)?;
        served.sort_unstable_by_key(|served| served.end);
        let who = format!("{} callers in {processes} processes", processes * threads);
        let name = format!("service time of a PKCS#11 twin off its profile, {who}");
        let service = service_ms(&served, processes * threads);
        figures.push(off(name, service / SERVICE_MS, 1.0));
        let name = format!("operations of a PKCS#11 twin served before an earlier one, {who}");
        let overtakers = out_of_turn(&served) as f64;
        figures.push(Figure::new(name, overtakers, Limit::AtMost(0.0), ""));
    }
    Ok(figures)
}

/// Known answers of a twin behind a network.
fn network(token: &SoftHsmToken, client: &Path) -> Result<Vec<Figure>, Failure> {
    let run = |module: &Path, [threads, each]: [u32; 2], how: &str, sessions: Option<&str>| {
        let mut callers = Command::new(client);
        callers.arg(module).args([PIN, "1", "1"]);
        callers.args([threads, each].map(|number| number.to_string()));
        callers.envs(sessions.map(|sessions| ("CLIENT_SESSIONS", sessions)));
        token.run(callers.arg(how)).stdout
    };
    let round_trip = format!("[network]\nround_trip_s = {}", ROUND_TRIP_MS / 1e3);
    let remote = twin_module(token, "remote", (1e-5, &round_trip))?;
    run(&remote, [1, 100], "sign", None);
    let (mut count, mut total) = (0, Duration::ZERO);
    for thread in trace::read(&token.path("remote.trace"))? {
        for (_, times) in thread.calls.iter().filter(|(traced, _)| traced.is_remote()) {
            count += times.count;
            total += times.total;
        }
    }
    let expected = count as f64 * ROUND_TRIP_MS / 1e3;
    let mut served = parsed(&run(&remote, [THREADS, EACH], "sign", Some("2")))?;
    served.sort_unstable_by_key(|served| served.end);
    // Until then two threads have something to do.
    served.truncate(served.len() - EACH as usize);
    let each = service_ms(&served, THREADS);
    let limited = format!(
        "[network]\nquota_per_s = {}\nquota_burst = {}",
        QUOTA.0, QUOTA.1
    );
    let limited = twin_module(token, "limited", (5e-3, &limited))?;
    let lines = run(&limited, [4, 100], "again", None);
    let mut admitted = parsed(&lines)?;
    admitted.sort_unstable_by_key(|served| served.end);
    // Behind those that are admitted at once.
    let rate = 1e3 / service_ms(&admitted[QUOTA.1..], 4);
    let calls = format!(
        "time of {count} calls over a network of {ROUND_TRIP_MS} ms, off calls × round trip"
    );
    let shared =
        format!("rate of {THREADS} threads with two sessions over that network, off that of two");
    let quota = format!("rate under a quota of {}/s, off the quota", QUOTA.0);
    Ok(vec![
        off(calls, total.as_secs_f64() / expected, 1.0),
        // A thread that is given a session has to wake up first.
        off(shared, ROUND_TRIP_MS / 2.0 / each, 2.0),
        off(quota, rate / QUOTA.0, 2.0),
    ])
}

/// Returns the deviation of a ratio from 1, with its limit, in percent.
fn off(name: String, ratio: f64, most: f64) -> Figure {
    let off = 100.0 * (ratio - 1.0).abs();
    Figure::new(name, off, Limit::AtMost(most), " %")
}

/// Refusals are no operations.
fn parsed(lines: &[u8]) -> Result<Vec<Served>, Failure> {
    let text = std::str::from_utf8(lines)?;
    let served = |line: &str| -> Option<Served> {
        let mut numbers = line.split(' ').skip(2).map(str::parse);
        Some(Served {
            begin: numbers.next()?.ok()?,
            end: numbers.next()?.ok()?,
            asked: numbers.next()?.ok()?,
        })
    };
    let all: Option<Vec<Served>> = text
        .lines()
        .filter(|line| !line.starts_with("refused"))
        .map(served)
        .collect();
    all.ok_or_else(|| format!("the client said {text:?}").into())
}

/// Mean of one caller's calls of C_Sign. With several the mean distance of their ends, while all of them were there:
/// the device is never idle then, and is free of how the run begins and ends.
fn service_ms(served: &[Served], callers: u32) -> f64 {
    let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
    if callers == 1 {
        let all: u64 = served.iter().map(|one| one.end - one.asked).sum();
        return milliseconds(all) / served.len() as f64;
    }
    let callers = callers as usize;
    let busy = &served[callers..served.len() - callers];
    let (Some(first), Some(last)) = (busy.first(), busy.last()) else {
        return 0.0;
    };
    milliseconds(last.end - first.end) / (busy.len() - 1) as f64
}

/// Number done before another that had come clearly earlier. `served` is in the order of ends.
fn out_of_turn(served: &[Served]) -> usize {
    let mut latest = 0;
    let late = |one: &&Served| {
        let overtaken = one.begin + EARLIER < latest;
        latest = latest.max(one.begin);
        overtaken
    };
    served.iter().filter(late).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimates_find_the_devices_time_and_who_was_overtaken() {
        let served: Vec<Served> = (0..40_u64)
            .map(|number| Served {
                begin: number.saturating_sub(3) * 20_000_000,
                end: (number + 1) * 20_000_000,
                asked: 0,
            })
            .collect();
        assert!((service_ms(&served, 4) - 20.0).abs() < 1e-9);
        assert_eq!(out_of_turn(&served), 0);
        let alone = [Served {
            begin: 0,
            end: 5_000_007,
            asked: 7,
        }; 3];
        assert!((service_ms(&alone, 1) - 5.0).abs() < 1e-9);
        let mut swapped = served;
        swapped.swap(20, 21);
        assert_eq!(out_of_turn(&swapped), 1);
    }
}

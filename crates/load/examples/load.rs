//! A load by hand: `cargo run --release -p keymark-load --example load -- 127.0.0.1:8443 --users 8 --duration 10`.
#![allow(clippy::print_stdout, reason = "a program")]

use std::error::Error;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::case::{KeyExchange, TlsVersion};
use keymark_bench::clock::MonotonicClock;
use keymark_load::{
    Arrivals, Certificate, Context, Demand, Expected, FirstThink, Measurement, Observer, Phase,
    Progress, Settings, Spacing, Target, Think, Users, WeakSizes, run,
};
use keymark_load::{Observed, search_rate, search_users};
use keymark_stats::PerSecond;

const USAGE: &str = "load ADDRESS [--users N] [--delay S] [--ramp S] [--rate R] [--cap N] [--duration S] \
    [--threads N] [--seed N] [--tls tls1.2|tls1.3] [--kex NAME] [--cipher NAME] [--cert SHA256|ALGORITHM] [--engine E] \
    [--name HOST] [--path PATH] [--weak yes] [--first fresh|residual] [--as-siege yes] \
    [--saturate SECONDS_OF_P99] [--quiet yes]";

struct Options(Vec<String>);

impl Options {
    fn get<T: FromStr>(&self, name: &str, default: T) -> Result<T, Box<dyn Error>>
    where
        T::Err: Error + 'static,
    {
        let at = self.0.iter().position(|word| word == name);
        match at.map(|at| self.0.get(at + 1).ok_or("an option without its value")) {
            Some(word) => Ok(word?.parse()?),
            None => Ok(default),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|word| word == name)
    }
}

struct Lines;

impl Observer for Lines {
    fn progress(&mut self, now: &Progress) {
        let (rate, p99) = (now.rate.0, now.p99.unwrap_or_default());
        eprint!(
            "\r{rate:8.0}/s, {} failed, p99 {p99:.1?}, {:.0?} left   ",
            now.failed, now.left
        );
    }
}

fn demand(options: &Options) -> Result<Demand, Box<dyn Error>> {
    let seconds = |name, default| options.get(name, default).map(Duration::from_secs_f64);
    if options.has("--rate") {
        return Ok(Demand::Arrivals(Arrivals {
            rate: PerSecond(options.get("--rate", 100.0)?),
            spacing: Spacing::Poisson,
            most_in_flight: NonZeroU32::new(options.get("--cap", 1000)?).ok_or(USAGE)?,
        }));
    }
    let most = seconds("--delay", 0.0)?;
    let first = match options.get("--first", "fresh".to_owned())?.as_str() {
        "residual" => FirstThink::Residual,
        _ => FirstThink::Fresh,
    };
    Ok(Demand::Users(Users {
        count: NonZeroU32::new(options.get("--users", 8)?).ok_or(USAGE)?,
        think: if most.is_zero() {
            Think::None
        } else if options.has("--as-siege") {
            Think::Siege { most }
        } else {
            Think::Uniform { most, first }
        },
        ramp: seconds("--ramp", 0.0)?,
    }))
}

fn target(options: &Options) -> Result<Target, Box<dyn Error>> {
    let address = options.0.first().ok_or(USAGE)?.parse()?;
    let certificate = options.get("--cert", String::new())?;
    Ok(Target {
        address,
        server_name: options.get("--name", "localhost".to_owned())?,
        path: options.get("--path", "/".to_owned())?,
        expected: Expected {
            version: options.get("--tls", TlsVersion::V1_3)?,
            key_exchange: options.get("--kex", KeyExchange::EcdheP256)?,
            cipher: if options.has("--cipher") {
                Some(options.get("--cipher", keymark_load::CipherSuite(0))?)
            } else {
                None
            },
            certificate: if certificate.is_empty() {
                Certificate::Any
            } else if let Ok(pin) = certificate.parse() {
                Certificate::Pinned(pin)
            } else {
                Certificate::Key(certificate.parse()?)
            },
            body: None,
        },
    })
}

/// Resident pages of this process, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}

fn show(measured: &Measurement, before_kib: u64) {
    println!("{:?}", measured.totals());
    for (negotiated, count) in &measured.negotiated {
        println!("{count} x {negotiated} ({})", measured.engine);
    }
    for (failure, count) in measured.failures() {
        println!("FAILED {count} x {failure}");
    }
    match measured.steady() {
        Ok(steady) => {
            let rate = steady.rate;
            println!(
                "steady {:.1?}..{:.1?}: {:.1}/s ({:.1} to {:.1}), response {:.3} ms, concurrency {:.2}",
                steady.span.begin,
                steady.span.end,
                rate.value.0,
                rate.low.map_or(f64::NAN, |low| low.0),
                rate.high.map_or(f64::NAN, |high| high.0),
                1e3 * steady.response.value.0,
                steady.concurrency
            );
        }
        Err(none) => println!("{none}"),
    }
    for phase in Phase::ALL {
        let durations = measured.phase(phase);
        let at = |share| 1e3 * durations.quantile(share).map_or(f64::NAN, |at| at.0);
        println!(
            "{phase:10}  p50 {:.3} ms  p95 {:.3} ms  p99 {:.3} ms  max {:.3} ms",
            at(0.5),
            at(0.95),
            at(0.99),
            at(1.0)
        );
    }
    let processor = measured.processor();
    let each = processor.as_secs_f64() / measured.transactions().max(1) as f64;
    println!(
        "client CPU {processor:.2?}, {:.1} µs a transaction",
        1e6 * each
    );
    if let Ok(bottleneck) = measured.bottleneck() {
        println!("{bottleneck}");
    }
    println!(
        "cut off {}, waiting {}, memory {} KiB above {before_kib} KiB",
        measured.cut_off,
        measured.waiting,
        resident_kib() - before_kib
    );
}

/// Best throughput over users, then the highest rate whose p99 stays below a limit.
fn saturate(
    target: &Target,
    settings: &Settings,
    limit: Duration,
    clock: &MonotonicClock,
) -> Result<(), Box<dyn Error>> {
    let measure = |demand: Demand| -> Result<Observed, Box<dyn Error>> {
        let settings = Settings {
            demand,
            ..settings.clone()
        };
        let mut context = Context {
            clock,
            stop: &AtomicBool::new(false),
            observer: &mut keymark_load::Unwatched,
        };
        let measured = run(target, &settings, &mut context)?;
        let observed = Observed::of(&measured)?;
        println!("{demand:?}: {observed:?}, {}", measured.bottleneck()?);
        Ok(observed)
    };
    let most = NonZeroU32::new(256).ok_or(USAGE)?;
    let of_users = |count| {
        let (think, ramp) = (Think::None, Duration::ZERO);
        measure(Demand::Users(Users { count, think, ramp }))
    };
    let found = search_users(most, of_users)?.ok_or("every load failed")?;
    println!("{found:#?}");
    let of_rate = |rate| {
        measure(Demand::Arrivals(Arrivals {
            rate,
            spacing: Spacing::Poisson,
            most_in_flight: most,
        }))
    };
    println!("{:?}", search_rate(found.best.rate, limit, of_rate)?);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options(std::env::args().skip(1).collect());
    let duration = Duration::from_secs_f64(options.get("--duration", 10.0)?);
    let mut settings = Settings::new(demand(&options)?, duration);
    settings.threads = NonZeroU32::new(options.get("--threads", 1)?).ok_or(USAGE)?;
    settings.seed = options.get("--seed", 1)?;
    if options.has("--weak") {
        settings.weak = WeakSizes::Allowed;
    }
    if options.has("--engine") {
        settings.engine = Some(options.get("--engine", keymark_load::Engine::Rustls)?);
    }
    let clock = MonotonicClock::new();
    let (mut lines, mut unwatched) = (Lines, keymark_load::Unwatched);
    let mut context = Context {
        clock: &clock,
        stop: &AtomicBool::new(false),
        observer: if options.has("--quiet") {
            &mut unwatched
        } else {
            &mut lines
        },
    };
    let target = target(&options)?;
    if options.has("--saturate") {
        let limit = Duration::from_secs_f64(options.get("--saturate", 0.01)?);
        return saturate(&target, &settings, limit, &clock);
    }
    let before = resident_kib();
    let measured = run(&target, &settings, &mut context)?;
    eprintln!();
    show(&measured, before);
    Ok(())
}

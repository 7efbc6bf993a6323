//! `keymark capacity`

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use clap::{ArgGroup, Args};
use keymark_advice::capacity::Service;
use keymark_bench::outside::read;
use keymark_bench::{Algorithm, DeviceName, Operation, StackName};
use keymark_stats::{PerSecond, Seconds, ServiceTimes};

use super::{FormatArguments, PictureFile, count, duration, stack, usable};

/// Bytes of a file of samples: some millions.
const SAMPLES: u64 = 64 << 20;
/// The lowest rate that is drawn, as a share of the highest: below it every curve is flat.
const LOWEST: f64 = 1e-4;

/// `keymark capacity`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("service").required(true).args(["device", "service_time"]))]
#[command(group = ArgGroup::new("demand").required(true).args(["rate", "users"]))]
pub struct CapacityArguments {
    /// The token: a device of 'keymark bench', or twin:PROFILE
    #[arg(long, short, value_name = "DEVICE", requires = "algorithm")]
    pub device: Option<String>,
    /// Algorithm of its key
    #[arg(long, short, value_name = "NAME", requires = "device")]
    pub algorithm: Option<Algorithm>,
    /// Operation of the key [default: sign, or decrypt with keys that do not sign]
    #[arg(long, value_name = "NAME", requires = "device")]
    pub operation: Option<Operation>,
    /// Through which stack it was measured
    #[arg(long, value_name = "NAME", value_parser = stack, default_value = "raw")]
    pub stack: StackName,
    /// Instead of a device: 740ms, a mixture with weights (150ms:95,300ms:5), or a .csv file of samples, a time a line
    #[arg(long, value_name = "TIME", value_parser = service_time)]
    pub service_time: Option<Service>,
    /// Round trip of a call to a token behind a network [default: that of the profile]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub round_trip: Option<Duration>,
    /// Calls to the token for one operation: 'keymark trace' counts those of a program
    #[arg(long, value_name = "N", value_parser = |text: &str| count("calls", 1_000, text), default_value = "1")]
    pub calls: NonZeroU32,
    /// Operations that the tokens' service admits, all together [default: the quota of the profile]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub quota: Option<PerSecond>,
    /// Operations that arrive at random: 2/s, 500/min, 1000000/day; -o draws all of a range (1/s..20/s); the answer is for its end
    #[arg(long, value_name = "RATE", value_parser = rates)]
    pub rate: Option<Rates>,
    /// Peak load, in multiples of that rate
    #[arg(long, value_name = "N", requires = "rate", value_parser = peak, default_value = "1")]
    pub peak: f64,
    /// Users instead, who ask again after each answer
    #[arg(long, value_name = "N", value_parser = |text: &str| count("users", 100_000, text))]
    pub users: Option<NonZeroU32>,
    /// Longest pause of users before each operation [default: none]
    #[arg(long, value_name = "TIME", requires = "users", value_parser = duration)]
    pub think: Option<Duration>,
    /// 99 % of the operations take no longer [default: the queue does not grow; users wait at most as long as an operation takes]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub p99: Option<Duration>,
    /// Spare tokens
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..10))]
    pub spare: u32,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Draw response times over rates into this file (.svg or .png), a curve for each number of tokens
    #[arg(long, short, value_name = "FILE", conflicts_with = "users", value_parser = PictureFile::parse)]
    pub output: Option<PictureFile>,
    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
}

/// The highest rate, and where a range of them begins.
#[derive(Debug, Clone, Copy)]
pub struct Rates(pub PerSecond, pub Option<PerSecond>);

fn rates(text: &str) -> Result<Rates, String> {
    let Some((from, to)) = text.split_once("..") else {
        return Ok(Rates(rate(text)?, None));
    };
    let (from, to) = (rate(from)?, rate(to)?);
    if from.0 >= to.0 {
        return Err(format!("the range '{text}' must rise, like 1/s..20/s"));
    }
    if from.0 < to.0 * LOWEST {
        return Err(format!(
            "the range '{text}' is too wide; it must end at {:.0} times its beginning or below",
            1.0 / LOWEST
        ));
    }
    Ok(Rates(to, Some(from)))
}

pub(super) fn rate(text: &str) -> Result<PerSecond, String> {
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = match unit {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        "day" => 86_400.0,
        _ => f64::NAN,
    };
    let rate = number.parse::<f64>().map(|number| number / seconds);
    let rate = rate.ok().filter(|rate| (1e-9..=1e9).contains(rate));
    let wrong =
        || format!("'{text}' is not a rate; write it like 2/s, 500/min, 90/h or 1000000/day");
    rate.map(PerSecond).ok_or_else(wrong)
}

fn peak(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|peak| (1.0..=1e6).contains(peak));
    number.ok_or_else(|| format!("the peak must be a number from 1 on, such as 5, not '{text}'"))
}

fn service_time(text: &str) -> Result<Service, String> {
    let path = Path::new(text);
    let file = path.extension().is_some_and(|ending| ending == "csv");
    let times = if file { samples(path) } else { mixture(text) }?;
    if times.are_too_rare() {
        return Err(format!(
            "the longest times of '{text}' are too rare to simulate; one in 100,000 operations or more must take them"
        ));
    }
    Ok(Service {
        device: DeviceName::new("token"),
        times,
        source: format!("as given: {text}"),
        network: None,
    })
}

/// `740ms`, `150ms:95,300ms:5`: each as often as its weight says.
fn mixture(text: &str) -> Result<ServiceTimes, String> {
    let parts = text.split(',').map(|part| {
        let (time, weight) = part.split_once(':').unwrap_or((part, "1"));
        let weight = weight
            .parse()
            .ok()
            .filter(|weight| (0.0..1e9).contains(weight));
        let weight = weight.ok_or_else(|| format!("'{part}' must have a weight, like 150ms:95"))?;
        Ok((Seconds(duration(time)?.as_secs_f64()), weight))
    });
    let parts: Vec<(Seconds, f64)> = parts.collect::<Result<_, String>>()?;
    ServiceTimes::mixture(parts).ok_or_else(|| format!("'{text}' has no weight above 0"))
}

/// The first column: seconds, or times with their unit. The first line may be a heading.
fn samples(path: &Path) -> Result<ServiceTimes, String> {
    let name = path.display();
    let text = read::text(path, SAMPLES).map_err(|error| format!("cannot read {name}: {error}"))?;
    let mut times = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let cell = line.split(',').next().unwrap_or_default().trim();
        // A bare number is one of seconds; the limits are those of the command line.
        let seconds = match cell.parse() {
            Ok(seconds) => Duration::try_from_secs_f64(seconds)
                .map_err(|error| format!("'{cell}' is not a time: {error}"))
                .and_then(|time| usable(time, cell)),
            Err(_) => duration(cell),
        };
        match seconds {
            Ok(seconds) => times.push(Seconds(seconds.as_secs_f64())),
            Err(_) if cell.is_empty() || (number == 1 && cell.parse::<f64>().is_err()) => {}
            Err(wrong) => return Err(format!("{name}, line {number}: {wrong}")),
        }
    }
    ServiceTimes::of(times).ok_or_else(|| format!("{name} must have a time above 0 on each line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_a_unit_of_time() {
        for (text, expected) in [
            ("2/s", 2.0),
            ("2", 2.0),
            ("90/min", 1.5),
            ("86400/day", 1.0),
        ] {
            assert_eq!(rate(text), Ok(PerSecond(expected)), "{text}");
        }
        for bad in ["", "0/s", "-1/s", "2/x", "nan/s", "inf"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
        let range = rates("1/s..20/s").unwrap();
        assert_eq!((range.1, range.0), (Some(PerSecond(1.0)), PerSecond(20.0)));
        assert!(rates("1/s..1e9/s").is_err());
    }

    #[test]
    fn service_times_are_constants_mixtures_and_files() {
        let mean = |text: &str| service_time(text).map(|given| given.times.mean().0);
        assert_eq!(mean("740ms"), Ok(0.74));
        assert!((mean("150ms:95,300ms:5").unwrap() - 0.1575).abs() < 1e-9);
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("times.csv");
        let name = file.to_str().unwrap();
        std::fs::write(&file, "time,what\n0.1,a\n300ms,b\n").unwrap();
        assert!((mean(name).unwrap() - 0.2).abs() < 1e-9);
        std::fs::write(&file, "0.1\nfast\n").unwrap();
        assert!(
            mean(name)
                .unwrap_err()
                .contains("line 2: 'fast' is not a time")
        );
        for bad in ["-2", "1e308", "1e99", "0", "nan", "inf", "1e-12"] {
            std::fs::write(&file, format!("0.1\n{bad}\n")).unwrap();
            assert!(mean(name).is_err(), "{bad}");
        }
        for bad in "150ms:x 150ms:0,300ms:0 fast nowhere.csv 1ms:-1".split(' ') {
            assert!(mean(bad).is_err(), "{bad}");
        }
        // By weight, however small that is; what decides and is too rare to simulate is refused.
        assert!((mean("1ms:99999,100s:1").unwrap() - 0.00199999).abs() < 1e-9);
        assert!(
            mean("1ms:999999999,1000s:1")
                .unwrap_err()
                .contains("too rare")
        );
    }
}

//! `keymark capacity`

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use clap::{ArgGroup, Args};
use keymark_advice::capacity::Service;
use keymark_bench::outside::read;
use keymark_bench::{Algorithm, DeviceName, Operation, StackName};
use keymark_stats::{PerSecond, Seconds, ServiceTimes};

use super::plot::{PictureFile, picture_file};
use super::{TableArguments, count, duration, stack};

/// Bytes of a file of samples: some millions.
const SAMPLES: u64 = 64 << 20;
/// What a mixture consists of.
const ATOMS: f64 = 10_000.0;

/// `keymark capacity`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("service").required(true).args(["device", "service_time"]))]
#[command(group = ArgGroup::new("demand").required(true).args(["rate", "operations", "users"]))]
pub struct CapacityArguments {
    /// The token: a device of 'keymark bench', or twin:PROFILE
    #[arg(long, value_name = "DEVICE", requires = "algorithm")]
    pub device: Option<String>,
    /// Algorithm of its key
    #[arg(long, value_name = "NAME", requires = "device")]
    pub algorithm: Option<Algorithm>,
    /// What is asked of the key [default: sign, or decrypt with keys that do not sign]
    #[arg(long, value_name = "NAME", requires = "device")]
    pub operation: Option<Operation>,
    /// Through which stack it was measured
    #[arg(long, value_name = "NAME", value_parser = stack, default_value = "raw")]
    pub stack: StackName,
    /// Instead of a device: 740ms, a mixture with weights (150ms:95,300ms:5), or a .csv file of samples, a time a line
    #[arg(long, value_name = "TIME", value_parser = service_time)]
    pub service_time: Option<Service>,
    /// Operations that arrive at random: 2/s, 500/min; --plot draws all of a range (1/s..20/s); the answer is for its end
    #[arg(long, value_name = "RATE", value_parser = rates)]
    pub rate: Option<Rates>,
    /// The same over a longer time: 1000000/day
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub operations: Option<PerSecond>,
    /// How many times that rate the peak is
    #[arg(long, value_name = "N", requires = "operations", value_parser = peak, default_value = "1")]
    pub peak: f64,
    /// Users instead, who ask again after each answer
    #[arg(long, value_name = "N", value_parser = |text: &str| count("users", 100_000, text))]
    pub users: Option<NonZeroU32>,
    /// They pause before, for a random time up to this [default: none]
    #[arg(long, value_name = "TIME", requires = "users", value_parser = duration)]
    pub delay: Option<Duration>,
    /// 99 % of the operations take no longer [default: the queue does not grow; users wait no longer than an operation takes]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub p99: Option<Duration>,
    /// This many tokens may be broken
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..10))]
    pub spare: u32,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Draw response times over rates, a curve for each number of tokens (.svg or .png)
    #[arg(long, value_name = "FILE", conflicts_with = "users", value_parser = picture_file)]
    pub plot: Option<PictureFile>,
    /// One JSON object for each way of distribution and number of tokens, and one with the fewest
    #[arg(long)]
    pub json: bool,
    /// How tables are shown
    #[command(flatten)]
    pub tables: TableArguments,
}

/// The highest rate, and where a range of them begins.
#[derive(Debug, Clone, Copy)]
pub struct Rates(pub PerSecond, pub Option<PerSecond>);

fn rates(text: &str) -> Result<Rates, String> {
    let Some((from, to)) = text.split_once("..") else {
        return Ok(Rates(rate(text)?, None));
    };
    let (from, to) = (rate(from)?, rate(to)?);
    let rises = from.0 < to.0;
    let rates = rises.then_some(Rates(to, Some(from)));
    rates.ok_or_else(|| format!("the range '{text}' must rise, like 1/s..20/s"))
}

fn rate(text: &str) -> Result<PerSecond, String> {
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
    let times = if file { samples(path) } else { mixture(text) };
    Ok(Service {
        device: DeviceName::new("token"),
        times: times?,
        source: format!("as given: {text}"),
    })
}

/// `740ms`, `150ms:95,300ms:5`: each as often as its weight says, to one in ten thousand.
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
    let sum: f64 = parts.iter().map(|(_, weight)| weight).sum();
    let atoms = if parts.len() == 1 { 1.0 } else { ATOMS };
    let each = parts.iter().flat_map(|(time, weight)| {
        std::iter::repeat_n(*time, (weight / sum * atoms).round() as usize)
    });
    ServiceTimes::of(each).ok_or_else(|| format!("'{text}' has no weight above 0"))
}

/// The first column: seconds, or times with their unit. The first line may be a heading.
fn samples(path: &Path) -> Result<ServiceTimes, String> {
    let name = path.display();
    let text = read::text(path, SAMPLES).map_err(|error| format!("cannot read {name}: {error}"))?;
    let mut times = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let cell = line.split(',').next().unwrap_or_default().trim();
        let seconds = cell
            .parse()
            .or_else(|_| duration(cell).map(|time| time.as_secs_f64()));
        match seconds {
            Ok(seconds) => times.push(Seconds(seconds)),
            Err(_) if number == 1 || cell.is_empty() => {}
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
        assert!(rates("20/s..1/s").is_err());
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
        std::fs::write(&file, "0.1\n-2\n").unwrap();
        for bad in [name, "150ms:x", "150ms:0,300ms:0", "fast", "nowhere.csv"] {
            assert!(mean(bad).is_err(), "{bad}");
        }
    }
}

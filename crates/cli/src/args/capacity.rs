//! `keymark capacity`

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgGroup, Args};
use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::StackName;
use keymark_bench::operation::Operation;
use keymark_bench::outside::read;
use keymark_stats::{PerSecond, Seconds, ServiceTimes};

use super::plot::{PictureFile, picture_file};
use super::{TableArguments, count, duration, stack};

/// Bytes of a file of samples: some millions.
const SAMPLES: u64 = 64 << 20;
/// A mixture is in so many parts.
const PARTS: f64 = 10_000.0;

/// `keymark capacity`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("service").required(true).args(["device", "service_time"]))]
#[command(group = ArgGroup::new("demand").required(true).args(["rate", "operations", "users"]))]
pub struct CapacityArguments {
    /// The token: a device of 'keymark bench', or twin:PROFILE
    #[arg(
        long,
        value_name = "DEVICE",
        requires = "algorithm",
        help_heading = "What an operation takes"
    )]
    pub device: Option<String>,
    /// Algorithm of its key
    #[arg(
        long,
        value_name = "NAME",
        requires = "device",
        help_heading = "What an operation takes"
    )]
    pub algorithm: Option<Algorithm>,
    /// What is asked of the key [default: sign, or decrypt with keys that do not sign]
    #[arg(
        long,
        value_name = "NAME",
        requires = "device",
        help_heading = "What an operation takes"
    )]
    pub operation: Option<Operation>,
    /// Through which stack it was measured
    #[arg(long, value_name = "NAME", requires = "device", value_parser = stack, default_value = "raw", help_heading = "What an operation takes")]
    pub stack: StackName,
    /// Instead of a device: 740ms, a mixture with weights (150ms:95,300ms:5), or a .csv file of samples, a time a line
    #[arg(long, value_name = "TIME", value_parser = service_time, help_heading = "What an operation takes")]
    pub service_time: Option<GivenTimes>,
    /// Operations that arrive at random: 2/s, 500/min; a range (1/s..20/s) is drawn by --plot, and its end answered
    #[arg(long, value_name = "RATE", value_parser = rates, help_heading = "Who asks")]
    pub rate: Option<Rates>,
    /// The same over a longer time: 1000000/day
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Who asks")]
    pub operations: Option<PerSecond>,
    /// How many times that rate the busiest time has
    #[arg(long, value_name = "N", requires = "operations", value_parser = peak, default_value = "1", help_heading = "Who asks")]
    pub peak: f64,
    /// Users instead, who ask again after each answer
    #[arg(long, value_name = "N", value_parser = users, help_heading = "Who asks")]
    pub users: Option<NonZeroU32>,
    /// They pause before, for a random time up to this [default: none]
    #[arg(long, value_name = "TIME", requires = "users", value_parser = duration, help_heading = "Who asks")]
    pub delay: Option<Duration>,
    /// 99 % of the operations take no longer [default: the queue does not grow; users wait no longer than an operation takes]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "What is enough")]
    pub p99: Option<Duration>,
    /// So many tokens may be broken
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..10), help_heading = "What is enough")]
    pub spare: u32,
    /// So many there are: do they suffice?
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "What is enough")]
    pub tokens: Option<NonZeroU32>,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Draw the 99th percentile over the load, a curve for each number of tokens (.svg or .png)
    #[arg(long, value_name = "FILE", value_parser = picture_file, help_heading = "Output")]
    pub plot: Option<PictureFile>,
    /// One JSON object for each way of distribution and number of tokens, and one with the fewest
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// How tables are shown
    #[command(flatten)]
    pub tables: TableArguments,
}

/// Service times that somebody names.
#[derive(Debug, Clone)]
pub struct GivenTimes {
    /// All as likely.
    pub times: ServiceTimes,
    /// As they were written.
    pub words: String,
}

/// A rate, or a range of them.
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    /// Where it begins.
    pub from: Option<PerSecond>,
    /// The highest.
    pub to: PerSecond,
}

fn rates(text: &str) -> Result<Rates, String> {
    let Some((from, to)) = text.split_once("..") else {
        return Ok(Rates {
            from: None,
            to: rate(text)?,
        });
    };
    let (from, to) = (rate(from)?, rate(to)?);
    if from.0 >= to.0 {
        return Err(format!("the range '{text}' must rise, like 1/s..20/s"));
    }
    Ok(Rates {
        from: Some(from),
        to,
    })
}

fn rate(text: &str) -> Result<PerSecond, String> {
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = match unit.trim() {
        "s" => Some(1.0),
        "min" => Some(60.0),
        "h" | "hour" => Some(3600.0),
        "day" => Some(86_400.0),
        _ => None,
    };
    let number: Option<f64> = number.trim().parse().ok();
    let rate = number
        .zip(seconds)
        .map(|(number, seconds)| number / seconds);
    let rate = rate.filter(|rate| (1e-9..=1e9).contains(rate));
    rate.map(PerSecond).ok_or_else(|| {
        format!("'{text}' is not a rate above 0; write it like 2/s, 500/min or 1000000/day")
    })
}

fn peak(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|peak| (1.0..=1e6).contains(peak));
    number.ok_or_else(|| format!("the peak must be a number from 1 on, such as 5, not '{text}'"))
}

fn users(text: &str) -> Result<NonZeroU32, String> {
    count("users", 100_000, text)
}

fn tokens(text: &str) -> Result<NonZeroU32, String> {
    count("tokens", keymark_advice::capacity::MOST_TOKENS, text)
}

fn service_time(text: &str) -> Result<GivenTimes, String> {
    let file = Path::new(text).extension();
    let times = match file.filter(|ending| ending.eq_ignore_ascii_case("csv")) {
        Some(_) => samples(&PathBuf::from(text))?,
        None => mixture(text)?,
    };
    let words = text.to_owned();
    Ok(GivenTimes { times, words })
}

/// `740ms`, `150ms:95,300ms:5`: each as often as its weight says, to one in ten thousand.
fn mixture(text: &str) -> Result<ServiceTimes, String> {
    let parts = text.split(',').map(|part| {
        let (time, weight) = part.split_once(':').unwrap_or((part, "1"));
        let time = duration(time.trim())?;
        let weight: Option<f64> = weight.trim().parse().ok();
        let weight = weight.filter(|weight| (0.0..1e9).contains(weight));
        let weight = weight.ok_or_else(|| format!("'{part}' must have a weight, like 150ms:95"))?;
        Ok((Seconds(time.as_secs_f64()), weight))
    });
    let parts: Vec<(Seconds, f64)> = parts.collect::<Result<_, String>>()?;
    let sum: f64 = parts.iter().map(|(_, weight)| weight).sum();
    let each = parts.iter().flat_map(|(time, weight)| {
        let number = if parts.len() == 1 {
            1.0
        } else {
            weight / sum * PARTS
        };
        std::iter::repeat_n(*time, number.round() as usize)
    });
    ServiceTimes::of(each).ok_or_else(|| format!("'{text}' has no weight above 0"))
}

/// The first column: seconds, or times with their unit. The first line may be a heading.
fn samples(path: &Path) -> Result<ServiceTimes, String> {
    let name = path.display();
    let text = read::text(path, SAMPLES).map_err(|error| format!("cannot read {name}: {error}"))?;
    let lines = text
        .lines()
        .map(|line| line.split(',').next().unwrap_or_default().trim());
    let mut times = Vec::new();
    for (number, cell) in (1..).zip(lines).filter(|(_, cell)| !cell.is_empty()) {
        let seconds = cell.parse().ok();
        match seconds.or_else(|| Some(duration(cell).ok()?.as_secs_f64())) {
            Some(seconds) => times.push(Seconds(seconds)),
            None if number == 1 => {}
            None => {
                return Err(format!(
                    "{name}, line {number}: '{cell}' is no time; write seconds, or 740ms"
                ));
            }
        }
    }
    ServiceTimes::of(times)
        .ok_or_else(|| format!("{name} has no time above 0 on each line, as it must"))
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
        assert_eq!(
            (range.from, range.to),
            (Some(PerSecond(1.0)), PerSecond(20.0))
        );
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
        assert!(mean(name).unwrap_err().contains("line 2: 'fast'"));
        std::fs::write(&file, "0.1\n-2\n").unwrap();
        for bad in [name, "150ms:x", "150ms:0,300ms:0", "fast", "nowhere.csv"] {
            assert!(mean(bad).is_err(), "{bad}");
        }
    }
}

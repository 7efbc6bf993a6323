//! Checks that intervals and alarms are honest: the same is compared with the same. At 95 % confidence the intervals of
//! about 5 of 100 ratios miss 1 by chance; more than 8 means that they are too narrow for this machine. Across runs
//! at most 5 % of comparisons may raise any alarm.

use std::collections::BTreeMap;
use std::path::Path;

use super::figure::{Failure, Figure, Limit};
use super::program::{self, keymark};

const PLANS: u32 = 100;
const LIMIT: f64 = 8.0;
/// Series at different times; each is compared with each other one, both ways.
const SERIES: u32 = 12;
const RUNS: u32 = 5;
/// Calls of `bench --against`, each compared both ways.
const ALTERNATING: u32 = 10;
const PAIRS: u32 = 3;
/// Arguments of each run.
const MEASURE: &str =
    "bench --algorithm rsa2048,nistp256,ed25519 --operation sign --stack raw,agent,gpg --time 2s";
const ABOVE: &str = "5%";

/// Number of pairs of copies within a plan that are called different.
pub(crate) fn within_plans() -> Result<Vec<Figure>, Failure> {
    let directory = tempfile::tempdir()?;
    let archive = directory.path().join("runs.sqlite3");
    let mut different: BTreeMap<String, u32> = BTreeMap::new();
    for plan in 0..PLANS {
        let measure = format!(
            "bench --algorithm ed25519 --operation sign --stack raw,agent,gpg --replicas 2 --time 3s --seed {plan} \
             --format=json"
        );
        printed(&archive, &measure)?;
        let pairs = printed(&archive, "compare last --format=json")?;
        for line in pairs.lines() {
            let pair: serde_json::Value = serde_json::from_str(line)?;
            // Not the verdict, which allows for the number of cases.
            let bounds = (pair["ratio_low"].as_f64(), pair["ratio_high"].as_f64());
            let (Some(case), (Some(low), Some(high))) = (pair["case"].as_str(), bounds) else {
                return Err(format!("no pair: {line}").into());
            };
            *different.entry(case.to_owned()).or_default() += u32::from(low > 1.0 || high < 1.0);
        }
    }
    if different.is_empty() {
        return Err("nothing was compared".into());
    }
    let figure = |(case, count): (String, u32)| {
        let name = format!("{case}: copies called different, of {PLANS}");
        Figure::new(name, count.into(), Limit::AtMost(LIMIT), "")
    };
    Ok(different.into_iter().map(figure).collect())
}

fn printed(archive: &Path, words: &str) -> Result<String, Failure> {
    let output = program::run(&mut keymark(archive, words))?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
    }
}

/// Share of comparisons of the same program with any alarm: of series apart, and of series that alternated.
pub(crate) fn across_runs() -> Result<Vec<Figure>, Failure> {
    let directory = tempfile::tempdir()?;
    let archive = &directory.path().join("series.sqlite3");
    for seed in 0..SERIES {
        let series = format!("{MEASURE} --repeat {RUNS} --pause 2s --seed {seed}");
        program::run(&mut keymark(archive, &series))?;
    }
    let mut apart = Alarms::default();
    for old in 0..SERIES {
        for new in (0..SERIES).filter(|new| *new != old) {
            apart.count(archive, old, new)?;
        }
    }
    let mut alternating = Alarms::default();
    for seed in 0..ALTERNATING {
        let pairs = format!("{MEASURE} --repeat {PAIRS} --pause 1s --seed {seed}");
        program::run(keymark(archive, &pairs).args(["--against", program::PATH]))?;
        alternating.count(archive, 0, 1)?;
        alternating.count(archive, 1, 0)?;
    }
    Ok(vec![
        apart.figure("series at different times"),
        alternating.figure("series that alternated"),
    ])
}

/// Comparisons, and those with any alarm.
#[derive(Default)]
struct Alarms {
    raised: u32,
    comparisons: u32,
}

impl Alarms {
    /// Compares the series that are so far back.
    fn count(&mut self, archive: &Path, old: u32, new: u32) -> Result<(), Failure> {
        let compare = format!("compare series:last~{old} series:last~{new} --fail-above {ABOVE}");
        let output = program::run(&mut keymark(archive, &compare))?;
        self.comparisons += 1;
        self.raised += u32::from(output.status.code() == Some(1));
        Ok(())
    }

    fn figure(&self, what: &str) -> Figure {
        let Self {
            raised,
            comparisons,
        } = self;
        let name =
            format!("{what}, comparisons with any alarm above {ABOVE} ({raised} of {comparisons})");
        let share = f64::from(*raised) / f64::from(*comparisons);
        Figure::new(name, 100.0 * share, Limit::AtMost(5.0), " %")
    }
}

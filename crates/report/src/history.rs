//! What a case has taken over time: one trend a machine, with the runs at which it changed.

use itertools::Itertools;
use keymark_bench::series::SeriesId;
use keymark_bench::{Case, Environment, RunId};
use keymark_stats::{ChangePoints, Estimate, Seconds, Step, change_points, estimate_of_runs};
use rayon::prelude::*;
use serde::Serialize;

use crate::compare::facts_of;
use crate::grouped;

/// Of the simulated series that say how large a change has to be, and of the intervals of single runs.
pub(crate) const SEED: u64 = 1;

/// More trends than these are not read one after the other: a table has a line for each.
pub const READ_THROUGH: usize = 12;

/// A case in one run that was finished.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// The run.
    pub run: RunId,
    /// When it started.
    pub started: jiff::Timestamp,
    /// The series that it is of, if it is of one.
    pub series: Option<SeriesId>,
    /// On what.
    pub environment: Environment,
    /// The case.
    pub case: Case,
    /// Its mean, as it was measured.
    pub mean: Seconds,
    /// Its row.
    pub(crate) id: i64,
}

/// A run, or a series: runs of one series share what the machine did at the time, and count once.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Name of the run, or of the series.
    pub name: String,
    /// When it, or its first run, started.
    pub started: jiff::Timestamp,
    /// Its runs.
    pub runs: usize,
    /// Mean, of several runs the geometric mean of theirs. A single run's has bounds as soon as the archive has read its
    /// samples.
    pub mean: Estimate<Seconds>,
    /// A single run's case in the archive.
    pub(crate) row: Option<i64>,
    environment: Environment,
}

/// One case on one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// What was measured.
    pub case: Case,
    /// On what, in words.
    pub machine: String,
    /// The oldest first.
    pub points: Vec<Point>,
    /// Where it changed; `None` with too few points to say.
    pub changes: Option<ChangePoints>,
    /// The levels between the changes.
    pub steps: Vec<Step>,
}

/// A point with its level, for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(
    missing_docs,
    reason = "the names are the documentation; see docs/comparing.md"
)]
pub struct HistoryRow {
    pub case: String,
    pub provenance: String,
    pub machine: String,
    pub run: String,
    pub started: jiff::Timestamp,
    pub runs: usize,
    pub mean_s: f64,
    pub level: Option<usize>,
    pub level_s: Option<f64>,
    pub level_low_s: Option<f64>,
    pub level_high_s: Option<f64>,
    pub change: bool,
    pub ratio: Option<f64>,
    pub ratio_low: Option<f64>,
    pub ratio_high: Option<f64>,
    pub changed_with: Vec<String>,
}

/// What tells one machine from another, as far as a record says.
const MACHINE: [&str; 5] = ["machine", "processor", "cores", "virtual machine", "memory"];

/// One trend a case and machine, in the order in which they first came. Machines are never mixed.
pub fn trends(past: &[Past]) -> Vec<Trend> {
    let groups = grouped(past, |each| {
        let (case, machine) = (&each.case, machine(&each.environment));
        (case.key(), case.provenance, machine)
    });
    let trend = |((_, _, machine), members): ((_, _, String), Vec<&Past>)| {
        let points = points(&members);
        let means: Vec<Seconds> = points.iter().map(|point| point.mean.value).collect();
        let changes = change_points(&means, SEED);
        let steps = changes.as_ref().map(|changes| changes.steps(&means));
        Trend {
            case: members[0].case.clone(),
            machine,
            points,
            steps: steps.unwrap_or_default(),
            changes,
        }
    };
    // How large a change has to be is simulated for each.
    groups.into_par_iter().map(trend).collect()
}

/// What a record says of its machine that another one would say otherwise.
pub fn machine(environment: &Environment) -> String {
    let facts = facts_of(environment);
    let words = MACHINE.iter().filter_map(|name| {
        let value = facts.get(*name)?;
        Some(match *name {
            "cores" if value == "1" => "1 core".to_owned(),
            "cores" => format!("{value} cores"),
            "virtual machine" => format!("virtual machine ({value})"),
            _ => value.clone(),
        })
    });
    { words }.join(", ")
}

fn points(members: &[&Past]) -> Vec<Point> {
    // A run of no series is alone.
    let together = grouped(members.iter().copied(), |each| match &each.series {
        Some(series) => (Some(series), None),
        None => (None, Some(&each.run)),
    });
    let point = |(_, runs): (_, Vec<&Past>)| {
        let means: Vec<Seconds> = runs.iter().map(|run| run.mean).collect();
        let first = runs[0];
        Some(Point {
            name: match &first.series {
                Some(series) => format!("series:{series}"),
                None => first.run.to_string(),
            },
            started: first.started,
            runs: runs.len(),
            mean: match runs.as_slice() {
                [only] => Estimate::bare(only.mean),
                _ => estimate_of_runs(&means)?,
            },
            row: (runs.len() == 1).then_some(first.id),
            environment: first.environment.clone(),
        })
    };
    together.into_iter().filter_map(point).collect()
}

impl Trend {
    /// The level of a point.
    pub(crate) fn level(&self, point: usize) -> Option<(usize, &Step)> {
        let mut steps = self.steps.iter().enumerate();
        steps.find(|(_, step)| (step.start..step.end).contains(&point))
    }

    /// What else is new at a point, compared with the one before: `keymark: 0.1.0 → 0.2.0`.
    pub(crate) fn changed_with(&self, point: usize) -> Vec<String> {
        let before = point.checked_sub(1).and_then(|at| self.points.get(at));
        let Some((before, now)) = before.zip(self.points.get(point)) else {
            return Vec::new();
        };
        let (old, new) = (facts_of(&before.environment), facts_of(&now.environment));
        let changed = old.iter().filter_map(|(name, old)| {
            let new = new.get(name)?;
            (old != new).then(|| format!("{name}: {old} → {new}"))
        });
        changed.collect()
    }

    /// Every point, for programs.
    pub fn rows(&self) -> Vec<HistoryRow> {
        let row = |(number, point): (usize, &Point)| {
            let level = self.level(number);
            let step = level.map(|(_, step)| step);
            let change = step.filter(|step| step.start == number && number > 0);
            let ratio = change.and_then(|step| step.ratio);
            HistoryRow {
                case: self.case.to_string(),
                provenance: self.case.provenance.to_string(),
                machine: self.machine.clone(),
                run: point.name.clone(),
                started: point.started,
                runs: point.runs,
                mean_s: point.mean.value.0,
                level: level.map(|(number, _)| number),
                level_s: step.map(|step| step.level.value.0),
                level_low_s: step.and_then(|step| Some(step.level.low?.0)),
                level_high_s: step.and_then(|step| Some(step.level.high?.0)),
                change: change.is_some(),
                ratio: ratio.map(|ratio| ratio.value.0),
                ratio_low: ratio.and_then(|ratio| Some(ratio.low?.0)),
                ratio_high: ratio.and_then(|ratio| Some(ratio.high?.0)),
                changed_with: change.map_or_else(Vec::new, |_| self.changed_with(number)),
            }
        };
        self.points.iter().enumerate().map(row).collect()
    }
}

/// When a run began, for people.
pub(crate) fn date(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::StackName;
    use keymark_bench::record::RunId;
    use keymark_bench::series::SeriesId;
    use keymark_testkit::assert_says;

    use super::*;
    use crate::charts::terminal::{self, Signs};
    use crate::pictures;
    use keymark_testkit::record::{case, mixed as record};

    fn run(number: u32, microseconds: f64, kernel: &str) -> Past {
        let record = record("x");
        Past {
            run: RunId(format!("run-{number:02}")),
            started: record.started,
            series: None,
            environment: Environment {
                kernel: Some(kernel.to_owned()),
                ..record.environment
            },
            case: case("rsa2048", StackName::RAW),
            mean: Seconds(microseconds * 1e-6),
            id: i64::from(number),
        }
    }

    /// Twelve runs that take a millisecond, twelve of a newer kernel that take a quarter more.
    fn slower_since() -> Vec<Past> {
        let noise = |number: u32| f64::from(number * 7 % 5);
        let before = (0..12).map(|number| run(number, 1000.0 + noise(number), "6.1"));
        let after = (12..24).map(|number| run(number, 1250.0 + noise(number), "6.5"));
        before.chain(after).collect()
    }

    #[test]
    fn a_change_is_said_with_what_else_changed() {
        let trends = trends(&slower_since());
        let [trend] = trends.as_slice() else {
            panic!("{trends:?}");
        };
        assert_eq!(trend.changes.as_ref().unwrap().starts, [12]);
        let rows = trend.rows();
        assert_eq!(
            (rows.len(), rows[12].change, rows[11].change),
            (24, true, false)
        );
        assert_eq!(rows[12].changed_with, ["kernel: 6.1 → 6.5"]);
        assert!((rows[12].ratio.unwrap() - 1.25).abs() < 0.01);
        assert!(rows[23].level_low_s.unwrap() > 1.24e-3);
        let [answer] = &crate::report::history(&trends, 2).answers[..] else {
            panic!("one trend");
        };
        let text = &answer.text;
        assert!(text.starts_with("rsa2048 decrypt software raw: takes 1.25 times as long since 2026-11-21 (run-12), more than"), "{text}");
        assert!(text.ends_with("; with kernel: 6.1 → 6.5."), "{text}");
    }

    #[test]
    fn machines_are_never_mixed() {
        let mut past = slower_since();
        for run in &mut past[12..] {
            run.environment.cpu_model = Some("another".to_owned());
        }
        let trends = trends(&past);
        assert_eq!(trends.len(), 2);
        for trend in &trends {
            assert_eq!(trend.changes.as_ref().unwrap().starts, Vec::<usize>::new());
            assert_eq!(trend.points.len(), 12);
            let said = &crate::report::history(std::slice::from_ref(trend), 2).answers[0].text;
            assert!(
                said.contains("no change in 12 runs beyond this machine's own noise"),
                "{said}"
            );
        }
    }

    #[test]
    fn a_series_counts_once() {
        let mut past = slower_since();
        for run in &mut past[12..] {
            run.series = Some(SeriesId("s".to_owned()));
        }
        let trends = trends(&past);
        assert_eq!(trends[0].points.len(), 13);
        let last = &trends[0].points[12];
        assert_eq!((last.name.as_str(), last.runs), ("series:s", 12));
        assert!(last.mean.low.is_some() && trends[0].points[0].mean.low.is_none());
        assert_eq!(
            trends[0].changes.as_ref().unwrap().starts,
            Vec::<usize>::new()
        );
    }

    #[test]
    fn points_are_drawn_by_their_levels() {
        let trends = trends(&slower_since());
        let chart = pictures::history(&trends[0], 20).unwrap();
        let drawn = terminal::draw(&chart, Signs::Unicode, 100);
        assert_says(
            &drawn,
            [
                "rsa2048 decrypt software raw, run by run",
                "1.00 ms",
                "1.25 ms",
            ],
        );
        assert_eq!(drawn.matches('●').count(), 20 + 1, "{drawn}");
        assert_eq!(
            drawn
                .lines()
                .filter(|line| line.starts_with("level "))
                .count(),
            2,
            "{drawn}"
        );
        assert_eq!(pictures::history(&trends[0], 1), None);
    }

    #[test]
    fn few_runs_say_so() {
        let trends = trends(&slower_since()[..3]);
        assert_eq!(trends[0].changes, None);
        assert_eq!(crate::report::history(&trends, 2).answers, []);
        let said = serde_json::to_string(&crate::report::history(&trends, 2)).unwrap();
        assert_says(
            &said,
            ["3 runs; finding changes needs 8", "1 earlier one hidden"],
        );
    }
}

//! Pictures of runs: rows of the analysis become charts. What a chart says was computed by analysis; here it gets its
//! place, and words for readers who do not see it.

mod bars;
mod distributions;
mod dots;
mod drift;
mod load;
mod names;
mod throughput;

use itertools::Itertools;
use keymark_bench::{Case, DeviceName, Provenance, Record};
use keymark_records::exchange::share::devices;
use keymark_stats::{Estimate, Quantity, Seconds};
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

use crate::analysis::{Analysis, Row};
use crate::charts::{About, Chart, Dot, Fill, Interval, Mark, Path, Polyline, Scale, Spacing};
use crate::units;
use crate::verdict::{Finding, Verdict};
use crate::visible::visible;

pub(crate) use bars::{PARTS, of_family, of_parts};
pub(crate) use distributions::stepped;
pub(crate) use dots::{DotRow, means, predictions};
pub(crate) use drift::drifted;
pub use load::{LoadCurve, LoadPoint, LoadUnit, of_curves};

/// Message in place of a picture with too little in it.
pub const NOT_ENOUGH: &str = "not enough data for a picture";

/// Rows of a picture; the table has more.
const ROWS: usize = 100;
/// Curves of a picture; more look alike.
const CURVES: usize = 8;
/// Longest bar over the shortest at which bars from zero can be compared.
const COMPARABLE: f64 = 50.0;
/// Loads of a server that make a curve.
const LOADS: usize = 3;

/// A kind of picture.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Display,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "lowercase")]
#[allow(missing_docs, reason = "each has its message")]
pub enum PictureKind {
    #[strum(message = "mean times, rates or predictions as dots with intervals")]
    Means,
    #[strum(message = "parts of the time as bars: needs several stacks, or parts")]
    Layers,
    #[strum(message = "how often each duration came, with percentiles")]
    Distributions,
    #[strum(
        message = "throughput and speed-up over workers: needs --workers 1,2,4 and more than a few samples"
    )]
    Throughput,
    #[strum(message = "response time over load, with the knee: needs several users or rates")]
    Load,
    #[strum(message = "durations in order of time, with drift and machine speed")]
    Samples,
}

impl PictureKind {
    /// All kinds.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the word of the command line.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns what it shows, and what a run needs for it.
    pub fn about(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }
}

/// A run with its analysis.
#[derive(Debug, Clone, Copy)]
pub struct AnalyzedRun<'a> {
    pub record: &'a Record,
    pub analysis: &'a Analysis,
}

impl<'a> AnalyzedRun<'a> {
    fn rows(self) -> impl Iterator<Item = (&'a Record, &'a Row)> {
        self.analysis.rows.iter().map(move |row| (self.record, row))
    }

    fn tolerance(self) -> Seconds {
        Seconds(self.record.plan.settings.tolerance.as_secs_f64())
    }
}

/// Draws the pictures of a kind, each with all runs.
pub fn charts(runs: &[AnalyzedRun<'_>], kind: PictureKind) -> Vec<Chart> {
    match kind {
        PictureKind::Means => dots::charts(runs),
        PictureKind::Layers => bars::charts(runs),
        PictureKind::Distributions => distributions::charts(runs),
        PictureKind::Throughput => throughput::charts(runs),
        PictureKind::Load => load::charts(runs),
        PictureKind::Samples => drift::chart(runs).into_iter().collect(),
    }
}

/// Returns the kind that shows what verdicts are about: loads of servers; parts of the time of several keys through one
/// program, unless more devices are compared or the longest bar hides the others; means where anything is compared.
/// Without a comparison: several workers, the distribution of a single case, or means.
pub fn default_kind(verdicts: &[&Verdict], runs: &[AnalyzedRun<'_>]) -> Option<PictureKind> {
    let findings = || verdicts.iter().flat_map(|verdict| verdict.findings());
    let any = |wanted: fn(&Finding) -> bool| findings().any(wanted);
    let serves = any(|finding| matches!(finding, Finding::Rates { .. }));
    let keys = any(|finding| matches!(finding, Finding::Keys { .. } | Finding::Commits { .. }));
    let shares = any(|finding| matches!(finding, Finding::KeyShares { .. }));
    let devices = findings().filter_map(|finding| {
        if let Finding::Devices { rankings } = finding {
            Some(rankings.iter().map(|ranking| ranking.devices.len()).sum())
        } else {
            None
        }
    });
    let between: Option<usize> = devices.max();
    let rows = || runs.iter().flat_map(|run| run.rows());
    let mut timed = rows().filter(|(_, row)| row.mean().is_some());
    let single =
        matches!((timed.next(), timed.next()), (Some((_, row)), None) if row.published.is_none());
    let wanted = [
        (PictureKind::Load, serves && load::most_loads(runs) >= LOADS),
        (
            PictureKind::Means,
            serves || any(|finding| matches!(finding, Finding::Predictions { .. })),
        ),
        (
            PictureKind::Layers,
            (keys || shares) && bars::comparable(runs, between.unwrap_or(0).max(2)),
        ),
        (PictureKind::Means, keys || between.is_some()),
        (PictureKind::Load, true),
        (PictureKind::Throughput, true),
        (PictureKind::Distributions, single),
        (PictureKind::Means, true),
        (PictureKind::Distributions, true),
    ];
    let wanted = wanted.into_iter().filter(|(_, wanted)| *wanted);
    let mut kinds = wanted.map(|(kind, _)| kind);
    kinds.find(|kind| !charts(runs, *kind).is_empty())
}

/// Keeps only the cases whose name has all of these words.
pub fn keep_cases(record: &mut Record, words: &str) {
    record.cases.retain(|record| {
        let name = record.case.to_string().to_lowercase();
        let mut words = words.split_whitespace().map(str::to_lowercase);
        words.all(|word| name.split_whitespace().any(|own| own == word))
    });
    record.plan.cases = record.cases.iter().map(|case| case.case.clone()).collect();
}

/// Adds the run to the names of devices, if the same case is in several runs.
pub fn distinguish(records: &mut [Record]) {
    let keys = |record: &Record| {
        let keys = record.cases.iter().map(|case| case.case.key());
        keys.unique().collect_vec()
    };
    if records.iter().flat_map(keys).all_unique() {
        return;
    }
    for record in records {
        let id = record.id.to_string();
        for device in devices(record) {
            *device = DeviceName::new(format!("{device} ({id})"));
        }
    }
}

/// The first of a list that can be drawn, and how many can; none if none can.
fn drawable<T>(
    all: impl IntoIterator<Item = T>,
    most: usize,
    sound: impl Fn(&T) -> bool,
) -> Option<(Vec<T>, usize)> {
    let mut shown: Vec<T> = all.into_iter().filter(sound).collect();
    let count = shown.len();
    shown.truncate(most);
    (count > 0).then_some((shown, count))
}

/// A chart without panels, with words for the first of its parts, and meanings of their fills.
fn framed(
    kind: PictureKind,
    title: &str,
    parts: impl Iterator<Item = (Provenance, String)>,
    most: usize,
    x: Scale,
) -> Chart {
    let title = capital(&visible(title));
    let (kinds, words): (Vec<Provenance>, Vec<String>) = parts.unzip();
    let kinds = kinds.into_iter().sorted_unstable().dedup();
    Chart {
        kind: kind.word(),
        summary: format!("{title}. {}.", names::listed(&words, most)),
        title,
        x,
        panels: Vec::new(),
        keys: Vec::new(),
        fills: kinds.map(|kind| (fill(kind), kind.to_string())).collect(),
        notes: Vec::new(),
    }
}

/// Begins a title with a capital letter, unless the first word is a name with a digit, as that of a key.
fn capital(title: &str) -> String {
    let first = title.split(' ').next().unwrap_or_default();
    let mut letters = title.chars();
    match letters.next() {
        Some(letter) if !first.contains(|c: char| c.is_ascii_digit() || c == ':') => {
            letter.to_uppercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}

/// `rsa2048 decrypt software gpg, measured`
fn named(case: &Case) -> String {
    format!("{}, {}", visible(&case.to_string()), case.provenance)
}

/// `from 1.2 ms to 3.4 ms`
fn span(from: Seconds, to: Seconds) -> String {
    let [from, to] = [from, to].map(units::duration);
    format!("from {from} to {to}")
}

fn about(label: &str, text: String) -> About {
    let case = Some(visible(label).into_owned());
    About { case, text }
}

fn interval<T: Quantity>(estimate: &Estimate<T>) -> Option<Interval> {
    let [low, high] = [estimate.low, estimate.high].map(|bound| bound.map(T::to_f64));
    (low.is_some() || high.is_some()).then_some(Interval { low, high })
}

/// A line through points of a case.
fn line(
    label: &str,
    fill: Fill,
    series: usize,
    points: impl IntoIterator<Item = (f64, f64)>,
) -> Polyline {
    Polyline {
        points: points.into_iter().collect(),
        path: Path::Straight,
        series,
        fill,
        label: None,
        about: About {
            case: None,
            text: visible(label).into_owned(),
        },
    }
}

/// A line through figures of a case, named at its right end, and a dot at each figure.
fn track(
    (label, name): (&str, &str),
    fill: Fill,
    series: usize,
    figures: impl IntoIterator<Item = (f64, f64, Option<Interval>, About)>,
) -> Vec<Mark> {
    let dot = |(x, y, interval, about)| Dot {
        x,
        y,
        interval,
        series,
        fill,
        about,
    };
    let dots: Vec<Dot> = figures.into_iter().map(dot).collect();
    let line = Polyline {
        label: Some(name.to_owned()),
        ..line(label, fill, series, dots.iter().map(|dot| (dot.x, dot.y)))
    };
    let dots = dots.into_iter().map(Mark::Dot);
    std::iter::once(Mark::Line(line)).chain(dots).collect()
}

/// Returns logarithmic spacing if the largest value is more than `apart` times the least, else `near`.
fn spacing(values: impl IntoIterator<Item = f64>, apart: f64, near: Spacing) -> Option<Spacing> {
    let ends = values.into_iter().minmax_by(f64::total_cmp).into_option();
    ends.map(|(least, most)| {
        if most > least * apart {
            Spacing::Logarithmic
        } else {
            near
        }
    })
}

/// Tells if a value has a place on a logarithmic axis.
fn is_drawn(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// Look of a figure of a kind, without color.
const fn fill(provenance: Provenance) -> Fill {
    match provenance {
        Provenance::Measured => Fill::Solid,
        Provenance::Virtual => Fill::Half,
        Provenance::Twin => Fill::Hatched,
        Provenance::Predicted => Fill::Dotted,
        Provenance::Published => Fill::Hollow,
    }
}

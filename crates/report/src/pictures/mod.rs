//! Charts of a document's figures. Everything that a chart says was computed by analysis; here it only gets its place, and
//! words for who does not see it.

mod distributions;
mod kind;
mod layers;
mod load;
mod means;
mod names;
mod samples;
mod throughput;

use itertools::Itertools;
use keymark_bench::Provenance;
use keymark_stats::Seconds;

use crate::charts::{About, Chart, Fill, Line, Path, Scale};
use crate::units;
use crate::visible::visible;
use crate::{Figure, Plot, Subject};

pub use crate::document::Kind;
pub use kind::{default_kind, joined, keep_cases, tell_apart};

/// What stands in place of a picture that there is too little for.
pub const NOT_ENOUGH: &str = "not enough data for a picture";

/// More rows than this are no picture that anybody reads; the table has them all.
const ROWS: usize = 100;
/// More curves than this are not told apart.
const CURVES: usize = 8;

/// The chart of a figure; none if there is not enough in it, for which [`NOT_ENOUGH`] stands.
pub fn chart(figure: &Figure) -> Option<Chart> {
    let title = &figure.title;
    match &figure.plot {
        Plot::Means { tolerance, means } => means::chart(title, *tolerance, means),
        Plot::Distributions { distributions } => distributions::chart(title, distributions),
        Plot::Histograms { histograms } => distributions::histograms(title, histograms),
        Plot::Rates { rates } => means::rates(title, rates),
        Plot::Layers { stacks, left_out } => layers::chart(title, stacks, left_out),
        Plot::Throughput { curves } => throughput::chart(title, curves),
        Plot::ResponseTimes { load, curves } => load::chart(title, *load, curves),
        Plot::Samples {
            timelines,
            of,
            machine,
        } => samples::chart(title, timelines, *of, machine),
        Plot::Security { tolerance, means } => means::security(title, *tolerance, means),
        Plot::Predictions {
            tolerance,
            predictions,
        } => means::predictions(title, *tolerance, predictions),
    }
}

/// The first of a list that can be drawn, and how many there are of these.
fn drawable<T>(all: &[T], most: usize, sound: impl Fn(&T) -> bool) -> Option<(Vec<&T>, usize)> {
    let mut shown: Vec<&T> = all.iter().filter(|one| sound(one)).collect();
    let count = shown.len();
    shown.truncate(most);
    (count > 0).then_some((shown, count))
}

/// A chart whose panels are still to come, with the words for so many of its parts, and what their fills mean.
fn framed(
    kind: &'static str,
    title: &str,
    parts: impl Iterator<Item = (Provenance, String)>,
    most: usize,
    x: Scale,
) -> Chart {
    let title = capital(&visible(title));
    let (kinds, said): (Vec<Provenance>, Vec<String>) = parts.unzip();
    let kinds = kinds.into_iter().sorted_unstable().dedup();
    Chart {
        kind,
        summary: format!("{title}. {}.", names::listed(&said, most)),
        title,
        x,
        panels: Vec::new(),
        keys: Vec::new(),
        fills: kinds.map(|kind| (fill(kind), kind.to_string())).collect(),
        notes: Vec::new(),
    }
}

/// With a capital letter, unless the first word is a name with a digit in it, as a key's is.
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

/// `rsa2048 decrypt software gnupg, measured`
fn said_of(of: &Subject) -> String {
    format!("{}, {}", visible(&of.label), of.provenance)
}

/// `from 1.2 ms to 3.4 ms`
fn span(from: Seconds, to: Seconds) -> String {
    let [from, to] = [from, to].map(units::duration);
    format!("from {from} to {to}")
}

/// What a mark is that has a place in the picture, of a case that is called so.
fn about(label: &str, text: String) -> About {
    let case = Some(visible(label).into_owned());
    About { case, text }
}

/// A line through points, of a case and what is said of it there.
fn line(
    of: &Subject,
    series: usize,
    what: &str,
    points: impl IntoIterator<Item = (f64, f64)>,
) -> Line {
    Line {
        points: points.into_iter().collect(),
        path: Path::Straight,
        series,
        fill: fill(of.provenance),
        label: None,
        about: About {
            case: None,
            text: format!("{}{what}", visible(&of.label)),
        },
    }
}

/// How a figure was had, as it is seen without colour.
const fn fill(provenance: Provenance) -> Fill {
    match provenance {
        Provenance::Measured => Fill::Solid,
        Provenance::Virtual => Fill::Half,
        Provenance::Twin => Fill::Hatched,
        Provenance::Predicted => Fill::Dotted,
        Provenance::Published => Fill::Hollow,
    }
}

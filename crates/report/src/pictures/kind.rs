//! Kinds of pictures, which one fits a run, and which cases of which runs it shows.

use itertools::Itertools;
use keymark_bench::{DeviceName, Provenance, Record};

use crate::analysis::figures::joined_loads;
use crate::{Figure, Kind, LoadCurve, LoadUnit, Plot, Stack, Statement, Topic};
use keymark_records::exchange::share::devices;

/// Bars on one axis from zero are told apart if the longest is no more than so many times the shortest.
const TOLD: f64 = 50.0;
/// Fewer loads of a server than these are no curve that anybody reads.
const LOADS: usize = 3;

/// The kind that shows what an answer is about: predictions and loads where it speaks of them, rates where servers had one
/// or two loads; parts of the time of several keys through one program, unless it compares more cases between devices or
/// the longest bar hides the others; means where it compares anything.
/// Where it compares nothing: throughput of several workers, the distribution of a single case, or means.
pub fn default_kind(answers: &[Statement], figures: &[Figure]) -> Option<Kind> {
    // A figure may be there with too little in it to be drawn.
    let has = |kind: &Kind| {
        let mut shown = figures.iter().filter(|figure| figure.kind() == *kind);
        shown.any(|figure| super::chart(figure).is_some())
    };
    let says = |topics: &[Topic]| answers.iter().any(|said| topics.contains(&said.topic));
    let devices = answers.iter().filter(|said| said.topic == Topic::Devices);
    let between = devices.map(|said| said.rows.len()).max().unwrap_or(0);
    let parts = figures.iter().any(|figure| {
        matches!(&figure.plot, Plot::Layers { stacks, .. }
            if stacks.len() >= between.max(2) && span(stacks) <= TOLD)
    });
    let mut order = Vec::new();
    let mut wanted = |kind: Kind, if_said: bool| order.extend(if_said.then_some(kind));
    wanted(Kind::Predictions, true);
    let several = figures.iter().any(|figure| {
        matches!(&figure.plot, Plot::ResponseTimes { curves, .. }
            if curves.iter().any(|curve| curve.points.len() >= LOADS))
    });
    wanted(Kind::ResponseTimes, several && says(&[Topic::Servers]));
    wanted(Kind::Rates, says(&[Topic::Servers]));
    wanted(Kind::Layers, parts && says(&[Topic::Keys, Topic::Layers]));
    let compared = [Topic::Devices, Topic::Keys, Topic::Change];
    wanted(Kind::Means, says(&compared));
    wanted(Kind::ResponseTimes, true);
    wanted(Kind::Throughput, true);
    let only = figures.iter().any(|figure| {
        matches!(&figure.plot, Plot::Means { means, .. }
            if matches!(means.as_slice(), [only] if only.of.provenance != Provenance::Published))
    });
    wanted(Kind::Distributions, only);
    order.extend([Kind::Means, Kind::Distributions]);
    order.into_iter().find(has)
}

/// How many times the shortest bar the longest is.
fn span(stacks: &[Stack]) -> f64 {
    let sums = || stacks.iter().map(|stack| stack.sum.0);
    sums().fold(0.0, f64::max) / sums().fold(f64::INFINITY, f64::min)
}

/// Figures of several runs: what shows the same stands in one.
pub fn joined(figures: Vec<Figure>) -> Vec<Figure> {
    let mut all: Vec<Figure> = Vec::new();
    for figure in figures {
        let same =
            |other: &&mut Figure| (other.kind(), &other.title) == (figure.kind(), &figure.title);
        match all.iter_mut().find(same) {
            Some(known) => join(&mut known.plot, figure.plot),
            None => all.push(figure),
        }
    }
    all
}

/// What is of another kind is left out, which [`joined`] does not ask for.
fn join(known: &mut Plot, more: Plot) {
    macro_rules! one_behind_the_other {
        ($($kind:ident: $list:ident),*) => {
            match (known, more) {
                $((Plot::$kind { $list, .. }, Plot::$kind { $list: more, .. }) => $list.extend(more),)*
                (
                    Plot::ResponseTimes { curves, load, .. },
                    Plot::ResponseTimes { curves: more, .. },
                ) => join_loads(curves, more, *load),
                (
                    Plot::Samples { timelines, of, .. },
                    Plot::Samples { timelines: more, of: others, .. },
                ) => {
                    timelines.extend(more);
                    *of += others;
                }
                _ => {}
            }
        };
    }
    one_behind_the_other!(
        Means: means, Rates: rates, Security: means, Distributions: distributions, Histograms: histograms,
        Layers: stacks, Throughput: curves, Predictions: predictions
    );
}

/// The same case under other loads is one curve.
fn join_loads(curves: &mut Vec<LoadCurve>, more: Vec<LoadCurve>, load: LoadUnit) {
    for curve in more {
        let same = |other: &&mut LoadCurve| {
            (&other.of.label, other.of.provenance) == (&curve.of.label, curve.of.provenance)
        };
        match curves.iter_mut().find(same) {
            Some(known) => joined_loads(known, curve, load),
            None => curves.push(curve),
        }
    }
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

/// Where the same case stands in several runs, their devices are named with the run.
pub fn tell_apart(records: &mut [Record]) {
    let mut keys = records.iter().flat_map(|record| {
        let keys = record.cases.iter().map(|case| case.case.key());
        keys.unique()
    });
    if keys.all_unique() {
        return;
    }
    for record in records {
        let id = record.id.to_string();
        for device in devices(record) {
            *device = DeviceName::new(format!("{device} ({id})"));
        }
    }
}

//! Several workers at once: what limits them, from how many on more are useless, and what would help.

use itertools::Itertools;
use keymark_bench::{Case, Provenance, StackName, StoreKind, Worker};
use keymark_stats::{Estimate, PerSecond, Ratio};

use super::figure::{self, VAGUE, between, in_times, is_virtual_card, listed, place, way, what};
use super::{Statement, Topic};
use crate::analysis::{Analysis, Limit, Scaling};
use crate::grouped;
use crate::units::counted;
use crate::visible::sentence;

/// Gain below which several workers gain nothing.
const NOTHING: f64 = 1.2;
/// Ratio of rates below which more workers are useless.
const HARDLY: f64 = 1.1;
/// Share of a bound from which on it limits.
const NEARLY: f64 = 0.9;

/// A curve whose limit is known.
struct Curve<'a> {
    scaling: &'a Scaling,
    limit: Limit,
    /// Number of workers beyond which more are useless.
    from: Option<u32>,
    most: u32,
    gain: Estimate<Ratio>,
}

impl<'a> Curve<'a> {
    fn of(scaling: &'a Scaling) -> Option<Self> {
        let (most, gain) = scaling.gains.iter().rfind(|(workers, _)| *workers > 1)?;
        let from = enough(&scaling.levels);
        let nothing = is_nothing(gain);
        let limit = match scaling.limit() {
            // A device whose workers together get no more, whatever they wait for.
            None if nothing && scaling.case.stack == StackName::RAW => Limit::Undecided,
            None | Some(Limit::Undecided) => return None,
            // A bound that is far away limits nobody who still gains.
            Some(Limit::Server(_) | Limit::Cores) if from.is_none() && !reached(scaling, gain) => {
                Limit::NoneSeen
            }
            Some(limit) => limit,
        };
        // A gain that may be a loss says nothing, unless it is nothing for certain.
        let is_gain = gain.low.is_some_and(|low| low.0 > 1.0);
        (gain.is_within(VAGUE) && (is_gain || nothing)).then_some(Self {
            scaling,
            limit,
            from,
            most: *most,
            gain: *gain,
        })
    }
}

fn is_nothing(gain: &Estimate<Ratio>) -> bool {
    gain.high.is_some_and(|high| high.0 < NOTHING)
}

/// Returns whether a gain is nearly all that the lowest bound permits.
fn reached(scaling: &Scaling, gain: &Estimate<Ratio>) -> bool {
    scaling.bounds.as_ref().is_some_and(|bounds| {
        let server = bounds.by_server().map_or(f64::INFINITY, |bound| bound.0);
        gain.value.0 >= NEARLY * server.min(bounds.by_cores().0)
    })
}

/// Returns the fewest workers whose rate larger numbers hardly surpass; `None` if the most still do more.
fn enough(levels: &[(u32, Estimate<PerSecond>)]) -> Option<u32> {
    if !levels.iter().all(|(_, rate)| rate.is_within(VAGUE)) {
        return None;
    }
    let is_enough = |place: &usize| {
        let rate = &levels[*place].1;
        levels[place + 1..]
            .iter()
            .all(|(_, other)| !rate.is_below(other) && other.value.0 <= HARDLY * rate.value.0)
    };
    let place = (0..levels.len()).find(is_enough)?;
    (place + 1 < levels.len()).then(|| levels[place].0)
}

/// Says what limits workers, first the limit of the most cases.
pub(super) fn workers(analysis: &Analysis, cores: u32) -> Vec<Statement> {
    let curves = analysis.scaling.iter().filter(|curve| {
        !is_virtual_card(&curve.case) && curve.case.provenance != Provenance::Predicted
    });
    let curves = curves.filter_map(Curve::of);
    let mut kinds = grouped(curves, |curve| {
        let could_gain = cores > 1 && curve.scaling.case.concurrency() == 1;
        (
            curve.limit,
            curve.from,
            could_gain && is_nothing(&curve.gain),
        )
    });
    kinds.sort_by_key(|(_, curves)| usize::MAX - curves.len());
    let said = kinds.iter().map(|((limit, from, nothing), curves)| {
        let is_theirs = |case: &Case| {
            let mut own = curves.iter().map(|curve| &curve.scaling.case);
            own.any(|own| place(own) == place(case) && own.capability() == case.capability())
        };
        let rows = analysis
            .rows
            .iter()
            .filter(|row| row.throughput.is_some() && is_theirs(&row.case));
        let topic = match *nothing {
            true => Topic::Striking,
            false => Topic::Workers,
        };
        let text = format!(
            "{}; {}",
            reach(*from, *nothing, curves),
            why(*limit, *from, cores)
        );
        Statement::new(topic, sentence(&text), rows.map(|row| row.id))
    });
    said.collect()
}

/// Says how far more workers help.
fn reach(from: Option<u32>, nothing: bool, curves: &[Curve<'_>]) -> String {
    let ways = grouped(curves, |curve| way(&curve.scaling.case)).into_iter();
    let names = listed(ways.map(|(through, of)| {
        let keys = of.iter().map(|curve| {
            let case = &curve.scaling.case;
            let elsewhere = (case.store != StoreKind::SOFTWARE).then(|| figure::on(case));
            what(case) + &elsewhere.unwrap_or_default()
        });
        let kind = match of[0].scaling.case.load.worker {
            Worker::Process => " in processes",
            Worker::Thread => "",
        };
        format!("{} {through}{kind}", listed(keys.dedup()))
    }));
    let by_gain = |a: &&Curve<'_>, b: &&Curve<'_>| a.gain.value.0.total_cmp(&b.gain.value.0);
    let ends = curves.iter().minmax_by(by_gain).into_option();
    let gain = ends.map_or_else(String::new, |(least, most)| {
        between(&in_times(&least.gain), &in_times(&most.gain))
    });
    let most = curves.iter().map(|curve| curve.most).max();
    let most = most.unwrap_or_default();
    match (from, nothing) {
        (_, true) => {
            format!("{most} workers at once gain nothing with {names} ({gain} one worker's rate)")
        }
        (Some(from), false) => {
            let from = counted(from, "worker");
            format!("with {names}, more than {from} are useless ({gain} one worker's rate)")
        }
        (None, false) => format!("{most} workers do {gain} what one does with {names}"),
    }
}

/// Says what limits workers and what would help.
fn why(limit: Limit, from: Option<u32>, cores: u32) -> String {
    match limit {
        Limit::Server(name) => format!(
            "the {name} is one process that does one thing at a time: a second {name} or a faster key would help, more \
             cores would not"
        ),
        Limit::Cores => {
            let cores = counted(cores, "core");
            format!("the {cores} are busy: more cores or a faster key would help")
        }
        Limit::Library => {
            "threads wait for each other in the library: processes instead of threads would help"
                .to_owned()
        }
        Limit::Device => {
            "the device is busy: a second device would help, more cores would not".to_owned()
        }
        Limit::Sessions => "the device has no more sessions".to_owned(),
        Limit::Undecided => "the device or its library does one thing at a time".to_owned(),
        Limit::NoneSeen => match from {
            None => "more may do still more".to_owned(),
            Some(_) => "what limits them is not known".to_owned(),
        },
    }
}

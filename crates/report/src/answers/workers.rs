//! Several workers at once: what limits them, from how many on more are useless, and what would help.

use itertools::Itertools;
use keymark_bench::{Case, Provenance, StackName, StoreKind, Worker};
use keymark_stats::{Estimate, PerSecond};

use super::figure::{Bounded, between, device, is_virtual_card, listed, place, way, what};
use super::{Statement, Topic};
use crate::analysis::{Analysis, Limit, Scaling};
use crate::grouped;
use crate::units::counted;
use crate::visible::sentence;

/// Who gains less with all the cores there are gains nothing worth the name.
const NOTHING: f64 = 1.2;
/// More workers who do no more than so many times as much are useless.
const HARDLY: f64 = 1.1;
/// Who reaches this share of a bound is limited by it.
const NEARLY: f64 = 0.9;

/// A sentence for each limit, that of the most cases first.
pub(super) fn workers(analysis: &Analysis, cores: u32) -> Vec<Statement> {
    let curves = analysis
        .scaling
        .iter()
        .filter(|curve| !is_virtual_card(&curve.case));
    let curves = curves.filter(|curve| curve.case.provenance != Provenance::Predicted);
    let curves = curves.filter_map(Curve::of);
    let mut kinds = grouped(curves, |curve| {
        (curve.limit, curve.from, curve.gains_nothing(cores))
    });
    kinds.sort_by_key(|(_, curves)| usize::MAX - curves.len());
    let said = kinds.iter().map(|((limit, from, nothing), curves)| {
        let topic = match *nothing {
            true => Topic::Striking,
            false => Topic::Workers,
        };
        let is_theirs = |case: &Case| {
            let mut own = curves.iter().map(|curve| &curve.scaling.case);
            own.any(|own| place(own) == place(case) && own.capability() == case.capability())
        };
        let measured = analysis.rows.iter().filter(|row| row.throughput.is_some());
        let rows = measured
            .filter(|row| is_theirs(&row.case))
            .map(|row| row.id);
        Statement::new(topic, said(*limit, *from, *nothing, curves, cores), rows)
    });
    said.collect()
}

/// What is known of all that were measured: who gains least for a limit that is seen, or what all gain.
pub(crate) fn title(analysis: &Analysis, cores: u32) -> Option<String> {
    let all = analysis.scaling.iter();
    let curves: Option<Vec<Curve<'_>>> = all.map(Curve::of).collect();
    let mut curves = curves.filter(|curves| !curves.is_empty())?;
    curves.sort_by(|a, b| a.gain.value.total_cmp(&b.gain.value));
    let least = curves.first()?;
    let (workers, gain) = (least.most, gains(&curves));
    Some(match least.limit {
        Limit::Server(name) => format!(
            "{} keeps the {name} busy: {workers} workers gain {}",
            on(&least.scaling.case),
            least.gain.in_times()
        ),
        Limit::Cores => {
            let cores = counted(cores, "core");
            format!("the {cores} are busy: {workers} workers gain {gain}")
        }
        Limit::Library | Limit::Device | Limit::Sessions | Limit::NoneSeen | Limit::Undecided => {
            format!("{workers} workers gain {gain}")
        }
    })
}

/// What is known of a curve.
struct Curve<'a> {
    scaling: &'a Scaling,
    limit: Limit,
    /// From so many workers on, more do no more for certain.
    from: Option<u32>,
    most: u32,
    gain: Bounded,
}

impl<'a> Curve<'a> {
    /// Of those whose limit is known.
    fn of(scaling: &'a Scaling) -> Option<Self> {
        let (most, gain) = scaling.gains.iter().rfind(|(workers, _)| *workers > 1)?;
        let (most, gain) = (*most, Bounded::from(*gain));
        let from = enough(&scaling.levels);
        let nothing = gain.high < NOTHING;
        let limit = match scaling.limit() {
            // A device of which all workers together get no more, whatever in front of it they wait for.
            None if nothing && scaling.case.stack == StackName::RAW => Limit::Undecided,
            None | Some(Limit::Undecided) => return None,
            // A bound that is far away limits nobody who still gains.
            Some(Limit::Server(_) | Limit::Cores) if from.is_none() && !reached(scaling, &gain) => {
                Limit::NoneSeen
            }
            Some(limit) => limit,
        };
        // Fewer workers than cores, or a gain of which nothing is known, tell nothing.
        // Nor does one that may as well be a loss, unless it is nothing for certain.
        let tells = gain.tells() && (gain.low > 1.0 || nothing);
        tells.then_some(Self {
            scaling,
            limit,
            from,
            most,
            gain,
        })
    }

    /// Although there are cores for it.
    fn gains_nothing(&self, cores: u32) -> bool {
        self.gain.high < NOTHING && cores > 1 && self.scaling.case.concurrency() == 1
    }
}

/// Whether a gain is nearly all that the lowest bound permits.
fn reached(scaling: &Scaling, gain: &Bounded) -> bool {
    scaling.bounds.as_ref().is_some_and(|bounds| {
        let server = bounds.by_server().map_or(f64::INFINITY, |bound| bound.0);
        gain.value >= NEARLY * server.min(bounds.by_cores().0)
    })
}

/// The fewest workers whose rate larger numbers hardly surpass, as far as is known of all of them; none if the most
/// still do more.
fn enough(levels: &[(u32, Estimate<PerSecond>)]) -> Option<u32> {
    let rates = levels.iter().map(|(_, rate)| Bounded::from(*rate));
    let rates: Vec<Bounded> = rates.collect();
    let surpassed = |rate: &Bounded, place: usize| {
        let mut more = rates[place + 1..].iter();
        more.any(|other| rate.is_below(other) || other.value > HARDLY * rate.value)
    };
    let known = rates.iter().all(Bounded::tells);
    let place = (0..rates.len()).find(|place| !surpassed(&rates[*place], *place))?;
    (known && place + 1 < levels.len()).then(|| levels[place].0)
}

/// `rsa4096 sign`, with its device where that is not this CPU.
fn on(case: &Case) -> String {
    if case.store == StoreKind::SOFTWARE {
        what(case)
    } else {
        format!("{} on {}", what(case), device(case))
    }
}

/// From the least to the most.
fn gains(curves: &[Curve<'_>]) -> String {
    let gains = curves.iter().map(|curve| curve.gain);
    let ends = gains.minmax_by(|a, b| a.value.total_cmp(&b.value));
    let ends = ends
        .into_option()
        .map(|ends| <[Bounded; 2]>::from(ends).map(|gain| gain.in_times()));
    ends.map_or_else(String::new, |[least, most]| between(&least, &most))
}

fn said(
    limit: Limit,
    from: Option<u32>,
    nothing: bool,
    curves: &[Curve<'_>],
    cores: u32,
) -> String {
    let ways = grouped(curves, |curve| way(&curve.scaling.case)).into_iter();
    let names = listed(ways.map(|(through, of)| {
        let whats = listed(of.iter().map(|curve| on(&curve.scaling.case)).dedup());
        let processes = of[0].scaling.case.load.worker == Worker::Process;
        let kind = processes.then_some(" in processes");
        format!("{whats} {through}{}", kind.unwrap_or_default())
    }));
    let gain = gains(curves);
    let workers = curves.iter().map(|curve| curve.most).max();
    let workers = workers.unwrap_or_default();
    let reach = match (from, nothing) {
        (_, true) => format!(
            "{workers} workers at once gain nothing with {names} ({gain} one worker's rate)"
        ),
        (Some(from), false) => {
            format!(
                "with {names}, more than {} are useless ({gain} one worker's rate)",
                counted(from, "worker")
            )
        }
        (None, false) => format!("{workers} workers do {gain} what one does with {names}"),
    };
    let why = match limit {
        Limit::Server(name) => format!(
            "gpg's {name} is one process that does one thing at a time: a second {name} or a faster key would help, more \
             cores would not"
        ).replace("gpg's agent", "the agent"),
        Limit::Cores => format!("the {} are busy: more cores or a faster key would help", counted(cores, "core")),
        Limit::Library => "threads wait for each other in the library: processes instead of threads would help".to_owned(),
        Limit::Device => "the device is busy: a second device would help, more cores would not".to_owned(),
        Limit::Sessions => "the device has no more sessions".to_owned(),
        Limit::Undecided => "the device or its library does one thing at a time".to_owned(),
        Limit::NoneSeen => match from {
            None => "more may do still more".to_owned(),
            Some(_) => "what limits them is not known".to_owned(),
        },
    };
    sentence(&format!("{reach}; {why}"))
}

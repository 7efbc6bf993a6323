//! Devices: the fastest with each key, also beside this CPU. And two surprises: a library many times slower than another,
//! and a device against its published figures.

use itertools::Itertools;
use keymark_bench::{Case, Provenance, Record, StackName, StoreKind};
use keymark_stats::{Estimate, Ratio};

use super::figure::{
    RowFigure, alone, besides, between, device, in_times, library, listed, to, way, what,
};
use super::{Statement, Topic};
use crate::analysis::Analysis;
use crate::grouped;
use crate::site::Identified;
use crate::units::{self, counted};
use crate::visible::sentence;
use keymark_records::published::{PublishedRow, PublishedTable};

/// Name of the processor in a published table.
const PUBLISHED_CPU: &str = "CPU";
/// Surprising ratio of two libraries' times.
const MANY: f64 = 2.0;
/// Ratio to a published time that another computer does not explain.
const SLOWER: f64 = 1.2;

/// A key that is on several devices.
struct Contest<'a> {
    ranked: Vec<RowFigure<'a>>,
    cpu: Option<RowFigure<'a>>,
}

/// A device and the CPU beside it.
type Pair<'f, 'a> = (&'f RowFigure<'a>, &'f RowFigure<'a>);

impl<'a> Contest<'a> {
    fn of(group: Vec<RowFigure<'a>>) -> Self {
        let (cpu, mut ranked): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|figure| is_cpu(figure.case()));
        ranked.sort_by(|a, b| a.value.0.total_cmp(&b.value.0));
        let cpu = cpu.into_iter().next();
        Self { ranked, cpu }
    }

    fn pair(&self) -> Option<Pair<'_, 'a>> {
        Some((self.ranked.first()?, self.cpu.as_ref()?))
    }
}

/// Returns whether it is this or the article's processor.
fn is_cpu(case: &Case) -> bool {
    let published = case.provenance == Provenance::Published;
    case.store == StoreKind::SOFTWARE || published && case.device.as_str() == PUBLISHED_CPU
}

/// Returns the keys on several devices, through the program with the most of them.
fn contests(analysis: &Analysis) -> Vec<Contest<'_>> {
    let figures = alone(&analysis.rows);
    let figures = figures.filter(|figure| figure.case().provenance != Provenance::Predicted);
    let mut groups = grouped(figures, |figure| {
        let case = figure.case();
        (case.operation, case.stack, &case.parameters, case.algorithm)
    });
    groups.retain(|(_, group)| !group.iter().map(|figure| &figure.case().device).all_equal());
    let ways = grouped(groups, |((operation, stack, parameters, _), _)| {
        (*operation, *stack, *parameters)
    });
    let way = ways.into_iter().min_by_key(|((_, stack, _), keys)| {
        let is_library = *stack == StackName::RAW;
        (is_library, usize::MAX - keys.len())
    });
    let keys = way.into_iter().flat_map(|(_, keys)| keys);
    keys.map(|(_, group)| Contest::of(group)).collect()
}

/// Names the fastest device besides the CPU, and compares it with the CPU.
pub(super) fn devices(analysis: &Analysis) -> Vec<Statement> {
    let contests = contests(analysis);
    let ranked = || contests.iter().flat_map(|contest| &contest.ranked);
    // Tokens that are software on this CPU are no devices to choose from.
    let topic = match ranked().all(|figure| figure.case().provenance == Provenance::Virtual) {
        true => Topic::Tokens,
        false => Topic::Devices,
    };
    let said = if ranked().map(|figure| &figure.case().device).all_equal() {
        vec![beside_cpu(topic, &contests)]
    } else {
        vec![fastest(topic, &contests), cpu_alone(topic, &contests)]
    };
    said.into_iter().flatten().collect()
}

/// Names the fastest of several devices with each key.
fn fastest(topic: Topic, contests: &[Contest<'_>]) -> Option<Statement> {
    let won = contests.iter().filter_map(|contest| {
        let first = contest.ranked.first()?;
        let alike = contest
            .ranked
            .iter()
            .filter(|figure| !first.is_below(figure));
        let doubt = match (
            alike.clone().count(),
            alike.clone().all(RowFigure::is_known),
        ) {
            (1, _) => "",
            (_, true) => " (alike)",
            (_, false) => " (too uncertain to tell apart)",
        };
        let who = listed(alike.map(|figure| device(figure.case()))) + doubt;
        Some((
            who,
            format!("{} ({})", first.case().algorithm, first.time()),
        ))
    });
    let won = grouped(won, |(who, _)| who.clone()).into_iter();
    let mut won =
        won.map(|(who, of)| format!("{who} with {}", listed(of.into_iter().map(|(_, key)| key))));
    let case = contests.first()?.ranked.first()?.case();
    let has_cpu = contests.iter().any(|contest| contest.cpu.is_some());
    let besides = if has_cpu { " besides this CPU" } else { "" };
    let (to, way) = (to(case.operation), way(case));
    let text = format!("fastest device{besides} {to} {way}: {}", won.join("; "));
    let rows = contests.iter().flat_map(|contest| &contest.ranked);
    Some(Statement::new(
        topic,
        sentence(&text),
        rows.map(RowFigure::id),
    ))
}

/// Returns the fastest device with each key that is also on the CPU, by the ratio of their times.
fn pairs<'f, 'a>(
    contests: &'f [Contest<'a>],
    told: impl Fn(&Pair<'f, 'a>) -> bool,
) -> Vec<Pair<'f, 'a>> {
    let pairs = contests.iter().filter_map(Contest::pair).filter(told);
    pairs
        .sorted_by(|a, b| a.0.factor(a.1).total_cmp(&b.0.factor(b.1)))
        .collect()
}

fn of_pairs(topic: Topic, text: &str, pairs: &[Pair<'_, '_>]) -> Statement {
    let rows = pairs.iter().flat_map(|(own, cpu)| [own.id(), cpu.id()]);
    Statement::new(topic, sentence(text), rows)
}

/// Compares one device with the CPU, key by key.
fn beside_cpu(topic: Topic, contests: &[Contest<'_>]) -> Option<Statement> {
    let differ = |(own, cpu): &Pair<'_, '_>| own.is_below(cpu) || cpu.is_below(own);
    let pairs = pairs(contests, |pair| {
        differ(pair) || pair.0.is_known() && pair.1.is_known()
    });
    let (own, cpu) = pairs.first()?;
    let base = match cpu.case().store == StoreKind::SOFTWARE {
        true => "this CPU",
        false => "the CPU",
    };
    let (first, last) = (
        pairs.first(),
        pairs.last().filter(|last| last.0.id() != own.id()),
    );
    let ends = first.into_iter().chain(last).map(|pair| {
        let takes = match differ(pair) {
            true => format!("{} {base}'s time", pair.0.times(pair.1)),
            false => format!("as long as {base}"),
        };
        format!(
            "{takes} with {} ({})",
            pair.0.case().algorithm,
            pair.0.time()
        )
    });
    let (to, way, name) = (
        to(own.case().operation),
        way(own.case()),
        device(own.case()),
    );
    let text = format!("{to} {way}, {name} takes {}", listed(ends));
    Some(of_pairs(topic, &text, &pairs))
}

/// Says how much faster the CPU is than the fastest of the others.
fn cpu_alone(topic: Topic, contests: &[Contest<'_>]) -> Option<Statement> {
    let pairs = pairs(contests, |(own, cpu)| cpu.is_below(own));
    let ((first, cpu), (last, last_cpu)) = (pairs.first()?, pairs.last()?);
    let (least, key) = (first.times(cpu), what(first.case()));
    let text = if first.id() == last.id() {
        format!("even the fastest takes {least} this CPU's time ({key})")
    } else {
        format!(
            "even the fastest device takes {} this CPU's time: least with {key}, most with {}",
            between(&least, &last.times(last_cpu)),
            what(last.case())
        )
    };
    Some(of_pairs(topic, &text, &pairs))
}

/// Returns the worst library, and the device furthest from its published figures.
pub(super) fn striking(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    let found = [libraries(analysis), published(analysis, record)];
    found.into_iter().flatten().collect()
}

/// Compares libraries of one CPU by the same key and operation.
fn libraries(analysis: &Analysis) -> Option<Statement> {
    let raw = alone(&analysis.rows).filter(|figure| figure.case().stack == StackName::RAW);
    let groups = grouped(raw, |figure| {
        let case = figure.case();
        (&case.device, case.capability(), besides(case))
    });
    let pairs = groups.into_iter().filter_map(|(_, group)| {
        let ends = group
            .into_iter()
            .minmax_by(|a, b| a.value.0.total_cmp(&b.value.0));
        let (fast, slow) = ends.into_option()?;
        (slow.over(&fast).low?.0 > MANY).then_some((fast, slow))
    });
    let pairs = pairs.sorted_by(|a, b| b.1.factor(&b.0).total_cmp(&a.1.factor(&a.0)));
    let pairs: Vec<(RowFigure<'_>, RowFigure<'_>)> = pairs.collect();
    let (fast, slow) = pairs.first()?;
    let (quick, long) = (library(fast.case()), library(slow.case()));
    let same = pairs
        .iter()
        .filter(|(fast, slow)| library(fast.case()) == quick && library(slow.case()) == long);
    let least = same.clone().skip(1).last();
    let others = least.map(|(fast, slow)| {
        let of = counted(same.clone().count() - 1, "other case");
        format!("; {} or more in {of}", slow.times(fast))
    });
    let text = format!(
        "{long} takes {} {quick}'s time for {} on the same CPU ({} against {}){}.",
        slow.times(fast),
        what(slow.case()),
        slow.time(),
        fast.time(),
        others.unwrap_or_default()
    );
    let rows = same.flat_map(|(fast, slow)| [fast.id(), slow.id()]);
    Some(Statement::new(Topic::Striking, text, rows))
}

/// Compares a device with its published figures, by the case that differs most.
fn published(analysis: &Analysis, record: &Record) -> Option<Statement> {
    let is_own = |figure: &RowFigure<'_>| {
        let case = figure.case();
        case.provenance == Provenance::Measured && case.store != StoreKind::SOFTWARE
    };
    let figures: Vec<RowFigure<'_>> = alone(&analysis.rows).filter(is_own).collect();
    // Most runs have no device, and there are many rows.
    figures.first()?;
    let rows = PublishedTable::collection().iter().map(|(_, row)| row);
    let rows: Vec<(&PublishedRow, Case)> = rows
        .filter_map(|row| Some((row, row.case()?.1.case)))
        .collect();
    let compared = figures.iter().filter_map(|figure| {
        let case = figure.case();
        let device = Identified::of(record, case).id;
        let of = |case: &Case| (case.capability(), case.stack, case.parameters.clone());
        let (row, _) = rows.iter().find(|(row, other)| {
            row.device.is_some_and(|known| known.id == device) && of(other) == of(case)
        })?;
        let mean = row.mean()?;
        Some((figure.over(&Estimate::exact(mean)), figure, *row, mean))
    });
    let far = |times: &Estimate<Ratio>| times.value.0.ln().abs();
    let (times, figure, row, mean) = compared.max_by(|a, b| far(&a.0).total_cmp(&far(&b.0)))?;
    let slower = times.low.is_some_and(|low| low.0 > SLOWER);
    let firmware = match row.firmware.as_str() {
        "" => String::new(),
        firmware => format!(" for firmware {firmware}"),
    };
    let verdict = if slower {
        format!(" It takes {} as long.", in_times(&times))
    } else {
        String::new()
    };
    let text = format!(
        "{}: {} takes {}; published{firmware}: {}.{verdict}",
        figure.case().device,
        what(figure.case()),
        figure.time(),
        units::duration(mean)
    );
    let topic = if slower {
        Topic::Striking
    } else {
        Topic::Devices
    };
    Some(Statement::new(topic, text, [figure.id()]))
}

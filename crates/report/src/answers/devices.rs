//! Devices beside one another: which is the fastest with each key, and how they stand beside this CPU. And what nobody
//! would expect: a library that takes many times another's time for the same operation, and a device that is slower than
//! its published figures.

use itertools::Itertools;
use keymark_bench::{Case, Provenance, StackName, StoreKind};

use super::figure::{Figure, alone, besides, between, device, library, listed, to, way, what};
use super::{Statement, Topic};
use crate::analysis::Analysis;
use crate::exchange::Shipped;
use crate::grouped;
use crate::units::counted;
use crate::visible::sentence;

/// What a published table calls the processor.
const PUBLISHED_CPU: &str = "CPU";

/// One key on several devices.
struct Contest<'a> {
    ranked: Vec<Figure<'a>>,
    cpu: Option<Figure<'a>>,
}

/// Which device is the fastest of several, where it is that with every key.
pub(crate) fn title(analysis: &Analysis) -> Option<String> {
    let contests = contests(analysis);
    let winners = contests.iter().map(|contest| {
        let (first, others) = contest.ranked.split_first()?;
        let told = !others.is_empty() && others.iter().all(|other| first.is_below(other));
        told.then(|| first.case())
    });
    let winners: Vec<&Case> = winners.collect::<Option<_>>()?;
    let is_one = winners.iter().map(|case| &case.device).all_equal();
    let case = winners.first().filter(|_| is_one)?;
    let every = (contests.len() > 1).then_some(" with every key");
    let (device, way, keys) = (device(case), way(case), every.unwrap_or_default());
    Some(format!("{device} is the fastest device{keys}, {way}"))
}

/// The keys that are on several devices, through the program with the most of them.
fn contests(analysis: &Analysis) -> Vec<Contest<'_>> {
    let figures =
        alone(&analysis.rows).filter(|figure| figure.case().provenance != Provenance::Predicted);
    let mut groups = grouped(figures, |figure| {
        let case = figure.case();
        (case.operation, case.stack, &case.parameters, case.algorithm)
    });
    groups.retain(|(_, group)| !are_of_one_device(group));
    let ways = grouped(groups, |((operation, stack, parameters, _), _)| {
        (*operation, *stack, *parameters)
    });
    // Of ways with as many keys the first is taken.
    let way = ways.into_iter().min_by_key(|((_, stack, _), keys)| {
        (
            usize::from(*stack == StackName::RAW),
            usize::MAX - keys.len(),
        )
    });
    let keys = way.into_iter().flat_map(|(_, keys)| keys);
    keys.map(|(_, group)| Contest::of(group)).collect()
}

/// The fastest besides the CPU, and what it takes against the CPU.
pub(super) fn devices(analysis: &Analysis) -> Vec<Statement> {
    let contests = contests(analysis);
    let said = if are_of_one_device(contests.iter().flat_map(|contest| &contest.ranked)) {
        beside_cpu(&contests)
    } else {
        fastest(&contests)
    };
    said.into_iter().chain(cpu_alone(&contests)).collect()
}

fn are_of_one_device<'f, 'a: 'f>(figures: impl IntoIterator<Item = &'f Figure<'a>>) -> bool {
    let mut devices = figures.into_iter().map(|figure| &figure.case().device);
    devices.all_equal()
}

impl<'a> Contest<'a> {
    fn of(group: Vec<Figure<'a>>) -> Self {
        let (cpu, mut ranked): (Vec<_>, Vec<_>) = group.into_iter().partition(is_cpu);
        ranked.sort_by(|a, b| a.value.total_cmp(&b.value));
        Self {
            ranked,
            cpu: cpu.into_iter().next(),
        }
    }
}

/// Tokens that are software on this CPU are no devices to choose from.
fn topic(contests: &[Contest<'_>]) -> Topic {
    let mut ranked = contests.iter().flat_map(|contest| &contest.ranked);
    if ranked.all(|figure| figure.case().provenance == Provenance::Virtual) {
        Topic::Tokens
    } else {
        Topic::Devices
    }
}

/// Whether it is this or the article's processor.
fn is_cpu(figure: &Figure<'_>) -> bool {
    let case = figure.case();
    case.store == StoreKind::SOFTWARE
        || case.provenance == Provenance::Published && case.device.as_str() == PUBLISHED_CPU
}

/// Which of several devices is the fastest with each key.
fn fastest(contests: &[Contest<'_>]) -> Option<Statement> {
    let (mut won, mut rows) = (Vec::new(), Vec::new());
    for contest in contests {
        let Some(first) = contest.ranked.first() else {
            continue;
        };
        let ranked = contest.ranked.iter();
        let alike = ranked.filter(|figure| !first.is_below(figure));
        let known = alike.clone().all(|figure| figure.is_known());
        let alike = alike.map(|figure| device(figure.case()));
        rows.extend(contest.ranked.iter().map(Figure::id));
        let besides = match (alike.clone().count(), known) {
            (1, _) => "",
            (_, true) => " (alike)",
            (_, false) => " (too uncertain to tell apart)",
        };
        let who = listed(alike) + besides;
        let key = format!("{} ({})", first.case().algorithm, first.time());
        won.push((who, key));
    }
    let case = contests.first()?.ranked.first()?.case();
    let has_cpu = contests.iter().any(|contest| contest.cpu.is_some());
    let besides = has_cpu.then_some(" besides this CPU");
    let won = grouped(won, |(who, _)| who.clone()).into_iter();
    let mut won =
        won.map(|(who, of)| format!("{who} with {}", listed(of.into_iter().map(|(_, key)| key))));
    let text = format!(
        "fastest device{} {} {}: {}",
        besides.unwrap_or_default(),
        to(case.operation),
        way(case),
        won.join("; ")
    );
    Some(Statement::new(topic(contests), sentence(&text), rows))
}

/// A device, and the CPU beside it.
type Pair<'f, 'a> = (&'f Figure<'a>, &'f Figure<'a>);

/// The fastest device with each key that is on the CPU, too: of those that are told, from the least times its time to the
/// most.
fn pairs<'f, 'a>(
    contests: &'f [Contest<'a>],
    told: impl Fn(&Pair<'f, 'a>) -> bool,
) -> Vec<Pair<'f, 'a>> {
    let contests = contests.iter();
    let pairs = contests.filter_map(|of| Some((of.ranked.first()?, of.cpu.as_ref()?)));
    let mut pairs: Vec<Pair<'_, '_>> = pairs.filter(told).collect();
    let factor = |(own, cpu): &Pair<'_, '_>| own.value / cpu.value;
    pairs.sort_by(|a, b| factor(a).total_cmp(&factor(b)));
    pairs
}

/// One device against the CPU, key by key.
fn beside_cpu(contests: &[Contest<'_>]) -> Option<Statement> {
    let pairs = pairs(contests, |(own, cpu)| {
        own.is_below(cpu) || cpu.is_below(own) || own.is_known() && cpu.is_known()
    });
    let ((own, cpu), (last, _)) = (pairs.first()?, pairs.last()?);
    let name = device(own.case());
    let base = match cpu.case().store == StoreKind::SOFTWARE {
        true => "this CPU",
        false => "the CPU",
    };
    let are_alike = |(own, cpu): &Pair<'_, '_>| !own.is_below(cpu) && !cpu.is_below(own);
    let told = |pair: &Pair<'_, '_>, beside: &str| {
        let (own, cpu) = pair;
        let takes = if are_alike(pair) {
            format!("as long as {base}")
        } else {
            own.times(cpu) + beside
        };
        format!("{takes} with {} ({})", own.case().algorithm, own.time())
    };
    let first = (*own, *cpu);
    let whose = format!(" {base}'s time");
    let mut ends = vec![told(&first, &whose)];
    if own.id() != last.id() {
        let again = if are_alike(&first) { &*whose } else { "" };
        ends.extend(pairs.last().map(|pair| told(pair, again)));
    }
    let text = format!(
        "{} {}, {name} takes {}",
        to(own.case().operation),
        way(own.case()),
        listed(&ends)
    );
    let text = sentence(&text);
    let rows = pairs.iter().flat_map(|(own, cpu)| [own.id(), cpu.id()]);
    Some(Statement::new(topic(contests), text, rows))
}

/// How much faster the CPU is than the fastest of the others.
fn cpu_alone(contests: &[Contest<'_>]) -> Option<Statement> {
    let pairs = pairs(contests, |(own, cpu)| cpu.is_below(own));
    if contests.iter().all(|contest| contest.ranked.len() < 2) {
        return None;
    }
    let ((first, beside_first), (last, beside_last)) = (pairs.first()?, pairs.last()?);
    let (least, key) = (first.times(beside_first), what(first.case()));
    let text = if first.id() == last.id() {
        format!("Even the fastest takes {least} this CPU's time ({key})")
    } else {
        format!(
            "Even the fastest device takes {} this CPU's time: least with {key}, most with {}",
            between(&least, &last.times(beside_last)),
            what(last.case())
        )
    };
    let rows = pairs.iter().flat_map(|(own, cpu)| [own.id(), cpu.id()]);
    Some(Statement::new(topic(contests), format!("{text}."), rows))
}

/// So many times another library's time are more than anybody expects.
const MANY: f64 = 2.0;
/// So many times the published time are more than another computer explains.
const SLOWER: f64 = 1.2;

/// The worst of each.
pub(super) fn striking(analysis: &Analysis) -> Vec<Statement> {
    libraries(analysis)
        .into_iter()
        .chain(published(analysis))
        .collect()
}

/// The same key and operation in several libraries of one CPU.
fn libraries(analysis: &Analysis) -> Option<Statement> {
    let raw = alone(&analysis.rows).filter(|figure| figure.case().stack == StackName::RAW);
    let groups = grouped(raw, |figure| {
        let case = figure.case();
        (&case.device, case.capability(), besides(case))
    });
    let pairs = groups.into_iter().filter_map(|(_, mut group)| {
        group.sort_by(|a, b| a.value.total_cmp(&b.value));
        let (first, last) = (*group.first()?, *group.last()?);
        (last.over(&first).low > MANY).then_some((first, last))
    });
    let mut pairs: Vec<(Figure<'_>, Figure<'_>)> = pairs.collect();
    let factor = |(fast, slow): &(Figure<'_>, Figure<'_>)| slow.value / fast.value;
    pairs.sort_by(|a, b| factor(b).total_cmp(&factor(a)));
    let (fast, slow) = pairs.first()?;
    let (quick, long) = (library(fast.case()), library(slow.case()));
    let same = pairs
        .iter()
        .filter(|(fast, slow)| library(fast.case()) == quick && library(slow.case()) == long);
    let others = same.clone().skip(1).map(|(fast, slow)| slow.times(fast));
    let others = others.last().map(|times| {
        let of = counted(same.clone().count() - 1, "other case");
        format!("; {times} or more in {of}")
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

/// A device that takes longer than the article that has its name.
fn published(analysis: &Analysis) -> Option<Statement> {
    let devices =
        alone(&analysis.rows).filter(|figure| figure.case().provenance == Provenance::Measured);
    let devices = devices.filter(|figure| figure.case().stack != StackName::RAW);
    let plain = |name: &str| name.to_lowercase().replace(['-', ' ', '_'], "");
    let articles = Shipped::of_times().filter_map(|article| article.record().ok());
    let articles: Vec<_> = articles.collect();
    let slower = devices.filter_map(|figure| {
        let case = figure.case();
        let product = plain(case.device.as_str());
        let published = articles.iter().flat_map(|article| &article.cases);
        let of = published.filter(|other| {
            let name = plain(other.case.device.as_str());
            (other.case.capability(), other.case.stack) == (case.capability(), case.stack)
                && name.len() > 3
                && product.contains(&name)
        });
        let means = of.filter_map(|other| Some(other.published.as_ref()?.mean.0));
        let mean = means.max_by(f64::total_cmp)?;
        (figure.low > SLOWER * mean).then_some((figure.value / mean, figure, mean))
    });
    let (times, figure, mean) = slower.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let text = format!(
        "{} takes {} times as long for {} as was published ({} against {}).",
        figure.case().device,
        crate::units::ratio(keymark_stats::Ratio(times)),
        what(figure.case()),
        figure.time(),
        crate::units::duration(keymark_stats::Seconds(mean))
    );
    Some(Statement::new(Topic::Striking, text, [figure.id()]))
}

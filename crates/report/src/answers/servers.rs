//! Servers under load: how many handshakes with each key, what they are made of, how many users are enough, what another
//! key exchange or a second certificate changes.

use itertools::Itertools;
use keymark_bench::{Case, LoadLimit, StoreKind};
use keymark_stats::PerSecond;

use super::figure::{Bounded, Figure, device, listed, place};
use super::{Statement, Topic};
use crate::analysis::{Analysis, Rates, RelativeRate};
use crate::grouped;
use crate::units::{self, counted};
use crate::visible::sentence;

/// Certificates that are named.
const NAMED: usize = 3;

/// The best rate of each key; then what dominates, users, key exchanges, certificates.
pub(super) fn servers(analysis: &Analysis) -> Vec<Statement> {
    let loads = analysis.rows.iter().filter_map(Figure::of_server);
    let loads: Vec<Figure<'_>> = loads.collect();
    let mut said = Vec::new();
    said.extend(keys(&loads));
    said.extend(shares(&loads));
    said.extend(users(&loads));
    said.extend(
        analysis
            .rates
            .iter()
            .filter_map(|rates| relative(analysis, rates)),
    );
    said.extend(certificates(&loads));
    said
}

/// `1577/s`; of a client that could ask no more often, at least that.
fn words(rate: &Figure<'_>) -> String {
    let least = is_least(rate).then_some("at least ");
    let rate = rate.about(|rate| {
        let rate = units::rate(PerSecond(rate));
        rate.trim_end_matches("/s").to_owned()
    });
    format!("{}{rate}", least.unwrap_or_default())
}

/// Whether the client could ask no more often.
fn is_least(rate: &Figure<'_>) -> bool {
    let load = rate.row.under_load.as_ref();
    load.is_some_and(|load| load.limit == LoadLimit::Client)
}

fn named(case: &Case) -> String {
    let strength = case.strength.map(|bits| format!(" ({bits} security)"));
    format!("{}{}", case.algorithm, strength.unwrap_or_default())
}

/// Keys of one server with the same key exchange and users; of several such groups the largest, and the fastest.
fn keys(loads: &[Figure<'_>]) -> Option<Statement> {
    let mut groups = grouped(loads, |rate| (place(rate.case()), rate.case().load));
    for (_, group) in &mut groups {
        group.sort_by(|a, b| b.value.total_cmp(&a.value));
    }
    let (_, group) = groups.into_iter().max_by(|(_, a), (_, b)| {
        let best = |group: &[&Figure<'_>]| group[0].value;
        a.len().cmp(&b.len()).then(best(a).total_cmp(&best(b)))
    })?;
    let first = *group.first()?;
    let case = &first.row.case;
    let bound = is_least(first);
    let others = group.iter().skip(1).take(NAMED).map(|other| {
        let known = [first, other].map(|of| of.is_known()) == [true; 2];
        let beside = match (other.is_below(first), known) {
            (true, _) if bound => String::new(),
            (true, _) => format!(" ({} fewer)", first.times(other)),
            (false, true) => ", about the same".to_owned(),
            (false, false) => ", too uncertain to compare".to_owned(),
        };
        format!("; with {} {}{beside}", named(&other.row.case), words(other))
    });
    let others: String = others.collect();
    let elsewhere = case.store != StoreKind::SOFTWARE;
    let way = case.way();
    let way = way.trim_start_matches(case.stack.word()).trim();
    let way = (!way.is_empty()).then(|| way.to_owned());
    let on = elsewhere.then(|| format!("key on {}", device(case)));
    let besides: Vec<String> = way.into_iter().chain(on).collect();
    let besides = match besides.as_slice() {
        [] => String::new(),
        some => format!(" ({})", some.join(", ")),
    };
    let makes = if first.row.is_service() {
        first.row.makes()
    } else {
        "handshakes"
    };
    let (done, key) = (words(first), named(case));
    let text = match case.load.pacing.rate() {
        // What it did then is what was asked of it, not what it can do.
        Some(asked) => format!(
            "{}{besides} was asked for {} {makes} a second; it did {done} with {key}{others}.",
            case.stack,
            asked.per_second()
        ),
        None => format!(
            "{}{besides} does {done} {makes} a second with {key}{others}.",
            case.stack
        ),
    };
    let rows = group.iter().take(NAMED + 1).map(|rate| rate.row.id);
    Some(Statement::new(Topic::Servers, text, rows))
}

/// Whether the key or the program is what the server's time goes into.
fn shares(loads: &[Figure<'_>]) -> Option<Statement> {
    let shares = loads.iter().filter_map(|rate| {
        let spent = rate.row.under_load?.spent?;
        Some((rate, spent.of_processor?.0))
    });
    let most_first = shares.sorted_by(|a, b| b.1.total_cmp(&a.1));
    let keys = most_first.unique_by(|(rate, _)| rate.row.case.algorithm);
    let keys: Vec<(&Figure<'_>, f64)> = keys.collect();
    let told = keys.iter().map(|(rate, share)| {
        // It was measured at another time than the load.
        let share = match *share {
            ..1.0 => units::percent(*share),
            _ => "nearly all".to_owned(),
        };
        format!("{share} with {}", rate.row.case.algorithm)
    });
    let (most, least) = (keys.first()?.1, keys.last()?.1);
    let so = if least > 0.5 {
        ": a faster key or library would help most"
    } else if most < 0.5 {
        ": the rest of TLS and the server take more than the key"
    } else {
        ""
    };
    let text = format!(
        "Of the server's processor time, the private key takes {}{so}.",
        listed(told)
    );
    Some(Statement::new(
        Topic::Servers,
        text,
        keys.iter().map(|(rate, _)| rate.row.id),
    ))
}

/// At how many users it saturates.
fn users(loads: &[Figure<'_>]) -> Option<Statement> {
    let found = loads
        .iter()
        .filter_map(|rate| Some((rate, rate.row.under_load?.saturated?)));
    let found: Vec<_> = found.collect();
    let told = found.iter().take(NAMED).map(|(rate, found)| {
        let case = &rate.row.case;
        let within = found
            .within_limit
            .map(|rate| format!(" ({} within the limit)", units::rate(rate)));
        let within = within.unwrap_or_default();
        let users = counted(found.knee_users, "user");
        format!("{users} ({}, {}){within}", case.algorithm, exchange(case))
    });
    let text = format!("From {} on, more gain less than 5 %.", listed(told));
    let rows = found.iter().map(|(rate, _)| rate.row.id);
    (!found.is_empty()).then(|| Statement::new(Topic::Servers, text, rows))
}

fn exchange(case: &Case) -> &str {
    case.parameters.get("kex").unwrap_or_default()
}

/// What a key exchange, more servers, or a second certificate change.
fn relative(analysis: &Analysis, rates: &Rates) -> Option<Statement> {
    let rates = rates.relative.iter();
    let rates: Vec<&RelativeRate> = rates.filter(|rate| rate.case != rate.beside).collect();
    let told = rates.iter().take(NAMED).filter_map(|rate| {
        let (case, beside) = (
            &analysis.rows.get(rate.case)?.case,
            &analysis.rows.get(rate.beside)?.case,
        );
        rate.gain.low.and(rate.gain.high)?;
        let (own, other, key) = (besides(case, beside), besides(beside, case), case.algorithm);
        let gain = Bounded::from(rate.gain);
        Some(if gain.low > 1.0 {
            let times = gain.in_times();
            format!("with {key}, {own} does {times} the handshakes of {other}")
        } else if gain.high < 1.0 {
            let cost = gain.inverse().in_times();
            format!("with {key}, a handshake costs {cost} as much with {own} as with {other}")
        } else if gain.is_known() {
            format!("with {key}, {own} and {other} are alike")
        } else {
            return None;
        })
    });
    let told: Vec<String> = told.collect();
    let rows = rates.iter().filter_map(|rate| {
        Some([
            analysis.rows.get(rate.case)?.id,
            analysis.rows.get(rate.beside)?.id,
        ])
    });
    (!told.is_empty())
        .then(|| Statement::new(Topic::Servers, sentence(&told.join("; ")), rows.flatten()))
}

/// What one has that the other has not.
fn besides(case: &Case, other: &Case) -> String {
    let words: Vec<String> = case
        .parameters
        .pairs()
        .filter(|(name, word)| other.parameters.get(name) != Some(*word))
        .map(|(name, word)| match name {
            "second-certificate" => format!("a second certificate ({word})"),
            "servers" => format!("{word} servers"),
            _ => word.to_owned(),
        })
        .collect();
    if !words.is_empty() {
        return words.join(" ");
    }
    let alone = match other.parameters.get("servers") {
        Some(_) => "one server",
        None => "one certificate",
    };
    alone.to_owned()
}

/// What a second certificate would bring where both kinds were measured by themselves.
fn certificates(loads: &[Figure<'_>]) -> Option<Statement> {
    let kind = |rate: &Figure<'_>| rate.row.case.algorithm.length().0 == "rsa";
    let loads = loads.iter().filter(|rate| !rate.row.is_service());
    let pairs = loads.clone().filter(|rate| kind(rate)).filter_map(|rsa| {
        let same = |a: &Case, b: &Case| place(a) == place(b) && a.load == b.load;
        let mut others = loads.clone().filter(|other| !kind(other));
        let other = others.find(|other| same(other.case(), rsa.case()))?;
        let free = !is_least(other) && !is_least(rsa);
        (free && rsa.is_below(other)).then_some((rsa, other))
    });
    let (rsa, other) = pairs.max_by(|a, b| {
        let factor = |(rsa, other): &(&Figure<'_>, &Figure<'_>)| other.value / rsa.value;
        factor(a).total_cmp(&factor(b))
    })?;
    let (short, long) = (other.row.case.algorithm, rsa.row.case.algorithm);
    let text = format!(
        "With a second certificate ({short} beside {long}), clients that know {short} could do {} as many handshakes.",
        other.times(rsa)
    );
    Some(Statement::new(
        Topic::Servers,
        text,
        [rsa.row.id, other.row.id],
    ))
}

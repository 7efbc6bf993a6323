//! Servers under load: handshakes with each key, what they are made of, how many users are enough, and what another key
//! exchange or a second certificate changes.

use itertools::Itertools;
use keymark_bench::{Case, LoadLimit, StoreKind};
use keymark_stats::PerSecond;

use super::figure::{self, about, in_times, listed, place};
use super::{Statement, Topic};
use crate::analysis::{Analysis, Rates, RelativeRate};
use crate::grouped;
use crate::units::{self, counted};
use crate::visible::sentence;

/// Certificates that are named.
const NAMED: usize = 3;

/// A server's rate.
type Rate<'a> = figure::RowFigure<'a, PerSecond>;

/// Says the best rate of each key; then what dominates, users, key exchanges, certificates.
pub(super) fn servers(analysis: &Analysis) -> Vec<Statement> {
    let loads: Vec<Rate<'_>> = analysis.rows.iter().filter_map(Rate::of_server).collect();
    let relative = analysis.rates.iter().map(|rates| relative(analysis, rates));
    [keys(&loads), shares(&loads), users(&loads)]
        .into_iter()
        .chain(relative)
        .chain([certificates(&loads)])
        .flatten()
        .collect()
}

/// Returns `1577`, or `at least 1577` where the client could ask no more often.
fn words(rate: &Rate<'_>) -> String {
    let least = if is_least(rate) { "at least " } else { "" };
    let rate = about(&rate.estimate, |rate| {
        units::rate(rate).trim_end_matches("/s").to_owned()
    });
    format!("{least}{rate}")
}

/// Returns whether the client could ask no more often.
fn is_least(rate: &Rate<'_>) -> bool {
    let load = rate.row.under_load.as_ref();
    load.is_some_and(|load| load.limit == LoadLimit::Client)
}

fn named(case: &Case) -> String {
    let strength = case.strength.map(|bits| format!(" ({bits} security)"));
    format!("{}{}", case.algorithm, strength.unwrap_or_default())
}

/// Compares the keys of one server with the same key exchange and users; of several groups the largest, and the fastest.
fn keys(loads: &[Rate<'_>]) -> Option<Statement> {
    let groups = grouped(loads, |rate| (place(rate.case()), rate.case().load));
    let best = |group: &[&Rate<'_>]| group.iter().map(|rate| rate.value.0).fold(0.0, f64::max);
    let (_, mut group) = groups
        .into_iter()
        .max_by(|(_, a), (_, b)| a.len().cmp(&b.len()).then(best(a).total_cmp(&best(b))))?;
    group.sort_by(|a, b| b.value.0.total_cmp(&a.value.0));
    let first = *group.first()?;
    let case = first.case();
    let others = group.iter().skip(1).take(NAMED).map(|other| {
        let beside = match (other.is_below(first), first.is_known() && other.is_known()) {
            (true, _) if is_least(first) => String::new(),
            (true, _) => format!(" ({} fewer)", first.times(other)),
            (false, true) => ", about the same".to_owned(),
            (false, false) => ", too uncertain to compare".to_owned(),
        };
        format!("; with {} {}{beside}", named(other.case()), words(other))
    });
    let others: String = others.collect();
    let way = case.way();
    let way = way.trim_start_matches(case.stack.word()).trim();
    let on = (case.store != StoreKind::SOFTWARE).then(|| format!("key{}", figure::on(case)));
    let besides = [Some(way.to_owned()).filter(|way| !way.is_empty()), on];
    let besides = besides.into_iter().flatten().join(", ");
    let besides = match besides.as_str() {
        "" => String::new(),
        some => format!(" ({some})"),
    };
    let makes = match first.row.is_service() {
        true => first.row.makes(),
        false => "handshakes",
    };
    let (stack, done, key) = (case.stack, words(first), named(case));
    let text = match case.load.pacing.rate() {
        // It did what was asked of it, not what it can do.
        Some(asked) => format!(
            "{stack}{besides} was asked for {} {makes} a second; it did {done} with {key}{others}.",
            asked.per_second()
        ),
        None => format!("{stack}{besides} does {done} {makes} a second with {key}{others}."),
    };
    let rows = group.iter().take(NAMED + 1).map(|rate| rate.id());
    Some(Statement::new(Topic::Servers, text, rows))
}

/// Says whether the server's time goes into the key.
fn shares(loads: &[Rate<'_>]) -> Option<Statement> {
    let shares = loads.iter().filter_map(|rate| {
        let spent = rate.row.under_load?.spent?;
        Some((rate, spent.of_processor?.0))
    });
    let keys: Vec<(&Rate<'_>, f64)> = shares
        .sorted_by(|a, b| b.1.total_cmp(&a.1))
        .unique_by(|(rate, _)| rate.case().algorithm)
        .collect();
    let told = keys.iter().map(|(rate, share)| {
        // It was measured at another time than the load.
        let share = match *share {
            ..1.0 => units::percent(*share),
            _ => "nearly all".to_owned(),
        };
        format!("{share} with {}", rate.case().algorithm)
    });
    let so = match (keys.first()?.1, keys.last()?.1) {
        (_, 0.5..) => ": a faster key or library would help most",
        (..0.5, _) => ": the rest of TLS and the server take more than the key",
        _ => "",
    };
    let text = format!(
        "Of the server's processor time, the private key takes {}{so}.",
        listed(told)
    );
    let rows = keys.iter().map(|(rate, _)| rate.id());
    Some(Statement::new(Topic::Servers, text, rows))
}

/// Says at how many users servers saturate.
fn users(loads: &[Rate<'_>]) -> Option<Statement> {
    let found = loads
        .iter()
        .filter_map(|rate| Some((rate, rate.row.under_load?.saturated?)));
    let told = found.clone().take(NAMED).map(|(rate, found)| {
        let case = rate.case();
        let within = found.within_limit.map(units::rate);
        let within = within.map(|rate| format!(" ({rate} within the limit)"));
        let exchange = case.parameters.get("kex").unwrap_or_default();
        let (users, within) = (
            counted(found.knee_users, "user"),
            within.unwrap_or_default(),
        );
        format!("{users} ({}, {exchange}){within}", case.algorithm)
    });
    found.clone().next()?;
    let text = format!("From {} on, more gain less than 5 %.", listed(told));
    Some(Statement::new(
        Topic::Servers,
        text,
        found.map(|(rate, _)| rate.id()),
    ))
}

/// Says what a key exchange, more servers, or a second certificate change.
fn relative(analysis: &Analysis, rates: &Rates) -> Option<Statement> {
    let rates: Vec<&RelativeRate> = rates
        .relative
        .iter()
        .filter(|rate| rate.case != rate.beside)
        .collect();
    let told = rates.iter().take(NAMED).filter_map(|rate| {
        let case = |place: usize| Some(&analysis.rows.get(place)?.case);
        let (case, beside) = (case(rate.case)?, case(rate.beside)?);
        let (own, other, key) = (besides(case, beside), besides(beside, case), case.algorithm);
        let (low, high) = (rate.gain.low?.0, rate.gain.high?.0);
        Some(if low > 1.0 {
            let times = in_times(&rate.gain);
            format!("with {key}, {own} does {times} the handshakes of {other}")
        } else if high < 1.0 {
            let cost = in_times(&rate.gain.inverse());
            format!("with {key}, a handshake costs {cost} as much with {own} as with {other}")
        } else if rate.gain.is_within(figure::ALIKE) {
            format!("with {key}, {own} and {other} are alike")
        } else {
            return None;
        })
    });
    let told: Vec<String> = told.collect();
    let places = rates.iter().flat_map(|rate| [rate.case, rate.beside]);
    let rows = places.filter_map(|place| Some(analysis.rows.get(place)?.id));
    (!told.is_empty()).then(|| Statement::new(Topic::Servers, sentence(&told.join("; ")), rows))
}

/// Returns the words that only one of two cases has.
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

/// Says what a second certificate would bring where both kinds were measured by themselves.
fn certificates(loads: &[Rate<'_>]) -> Option<Statement> {
    let is_rsa = |rate: &Rate<'_>| rate.case().algorithm.length().0 == "rsa";
    let loads = loads
        .iter()
        .filter(|rate| !rate.row.is_service() && !is_least(rate));
    let (rsa, others): (Vec<&Rate<'_>>, Vec<&Rate<'_>>) = loads.partition(|rate| is_rsa(rate));
    let pairs = rsa.into_iter().filter_map(|rsa| {
        let case = rsa.case();
        let same = |other: &&&Rate<'_>| {
            place(other.case()) == place(case) && other.case().load == case.load
        };
        let other = others.iter().find(same)?;
        rsa.is_below(other).then_some((rsa, *other))
    });
    let (rsa, other) = pairs.max_by(|a, b| a.1.factor(a.0).total_cmp(&b.1.factor(b.0)))?;
    let (short, long) = (other.case().algorithm, rsa.case().algorithm);
    let text = format!(
        "With a second certificate ({short} beside {long}), clients that know {short} could do {} as many handshakes.",
        other.times(rsa)
    );
    Some(Statement::new(Topic::Servers, text, [rsa.id(), other.id()]))
}

//! Servers under load: how many handshakes with each key, what they are made of, how many users are enough, what another
//! key exchange or a second certificate changes.

use keymark_bench::{Case, LoadLimit, Record, StoreKind};
use keymark_stats::{Estimate, PerSecond};

use super::figure::{about, device, listed, may_be_alike, times};
use super::{Statement, Topic};
use crate::analysis::{Analysis, Rates, RelativeRate, Row, Spent, UnderLoad};
use crate::grouped;
use crate::units::{self, counted};
use crate::visible::sentence;

/// Certificates that are named.
const NAMED: usize = 3;

/// The best rate of each key; then what dominates, users, key exchanges, certificates.
pub(super) fn servers(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    let loads = analysis.rows.iter().filter_map(Rate::of);
    let loads: Vec<Rate<'_>> = loads.collect();
    let mut said = Vec::new();
    said.extend(keys(&loads));
    said.extend(shares(&loads, record));
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

/// A server with its rate.
#[derive(Clone, Copy)]
struct Rate<'a> {
    row: &'a Row,
    load: &'a UnderLoad,
    rate: Estimate<PerSecond>,
    low: f64,
    high: f64,
}

impl<'a> Rate<'a> {
    fn of(row: &'a Row) -> Option<Self> {
        let (load, rate) = (row.under_load.as_ref()?, row.throughput?);
        let (low, high) = (rate.low?.0, rate.high?.0);
        (low > 0.0).then_some(Self {
            row,
            load,
            rate,
            low,
            high,
        })
    }

    fn is_above(&self, other: &Self) -> bool {
        self.low > other.high
    }

    fn times(&self, other: &Self) -> String {
        times(
            self.rate.value.0 / other.rate.value.0,
            self.low / other.high,
            self.high / other.low,
        )
    }

    /// `1577/s`; of a client that could ask no more often, at least that.
    fn words(&self) -> String {
        let least = (self.load.limit == LoadLimit::Client).then_some("at least ");
        let rate = about(self.rate.value.0, self.low, self.high, |rate| {
            units::rate(PerSecond(rate))
                .trim_end_matches("/s")
                .to_owned()
        });
        format!("{}{rate}", least.unwrap_or_default())
    }
}

fn named(case: &Case) -> String {
    let strength = case.strength.map(|bits| format!(" ({bits} security)"));
    format!("{}{}", case.algorithm, strength.unwrap_or_default())
}

/// Keys of one server with the same key exchange and users; of several such groups the largest, and the fastest.
fn keys(loads: &[Rate<'_>]) -> Option<Statement> {
    let mut groups = grouped(loads, |rate| {
        let case = &rate.row.case;
        (&case.device, case.stack, &case.parameters, case.load)
    });
    for (_, group) in &mut groups {
        group.sort_by(|a, b| b.rate.value.0.total_cmp(&a.rate.value.0));
    }
    let (_, group) = groups.into_iter().max_by(|(_, a), (_, b)| {
        let best = |group: &[&Rate<'_>]| group[0].rate.value.0;
        a.len().cmp(&b.len()).then(best(a).total_cmp(&best(b)))
    })?;
    let first = *group.first()?;
    let case = &first.row.case;
    let bound = first.load.limit == LoadLimit::Client;
    let others = group.iter().skip(1).take(NAMED).map(|other| {
        let known = |rate: &Rate<'_>| may_be_alike(rate.rate.value.0, rate.low, rate.high);
        let beside = match (first.is_above(other), known(first) && known(other)) {
            (true, _) if bound => String::new(),
            (true, _) => format!(" ({} fewer)", first.times(other)),
            (false, true) => ", which is alike".to_owned(),
            (false, false) => ", too uncertain to compare".to_owned(),
        };
        format!(
            "; with {} {}{beside}",
            named(&other.row.case),
            other.words()
        )
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
    let text = format!(
        "{}{besides} does {} {} a second with {}{others}.",
        case.stack,
        first.words(),
        if first.row.is_service() {
            first.row.makes()
        } else {
            "handshakes"
        },
        named(case)
    );
    let rows = group.iter().take(NAMED + 1).map(|rate| rate.row.id);
    Some(Statement::new(Topic::Servers, text, rows))
}

/// Whether the key or the program is what the server's time goes into.
fn shares(loads: &[Rate<'_>], record: &Record) -> Option<Statement> {
    let shares = loads.iter().filter_map(|rate| {
        let load = record
            .cases
            .get(rate.row.id.0 as usize)?
            .server_load
            .as_deref()?;
        Some((rate, Spent::of(&rate.row.case, load)?.of_processor?))
    });
    let mut shares: Vec<_> = shares.collect();
    shares.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let mut keys = Vec::new();
    for (rate, share) in &shares {
        if keys.iter().all(|(known, _): &(&Rate<'_>, f64)| {
            known.row.case.algorithm != rate.row.case.algorithm
        }) {
            keys.push((rate, share.0));
        }
    }
    let told = keys.iter().map(|(rate, share)| {
        // It was measured at another time than the load.
        let share = match *share {
            ..1.0 => units::percent(*share),
            _ => "nearly all".to_owned(),
        };
        format!("{share} with {}", rate.row.case.algorithm)
    });
    let told: Vec<String> = told.collect();
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
        listed(&told)
    );
    Some(Statement::new(
        Topic::Servers,
        text,
        keys.iter().map(|(rate, _)| rate.row.id),
    ))
}

/// At how many users it saturates.
fn users(loads: &[Rate<'_>]) -> Option<Statement> {
    let found = loads
        .iter()
        .filter_map(|rate| Some((rate, rate.load.saturated?)));
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
    let told: Vec<String> = told.collect();
    let text = format!("From {} on, more gain less than 5 %.", listed(&told));
    let rows = found.iter().map(|(rate, _)| rate.row.id);
    (!told.is_empty()).then(|| Statement::new(Topic::Servers, text, rows))
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
        let (low, high) = (rate.gain.low?.0, rate.gain.high?.0);
        let (own, other, key) = (besides(case, beside), besides(beside, case), case.algorithm);
        let value = rate.gain.value.0;
        Some(if low > 1.0 {
            format!(
                "with {key}, {own} does {} the handshakes of {other}",
                times(value, low, high)
            )
        } else if high < 1.0 {
            let cost = times(1.0 / value, 1.0 / high, 1.0 / low);
            format!("with {key}, a handshake costs {cost} as much with {own} as with {other}")
        } else if may_be_alike(value, low, high) {
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
    let pairs = case.parameters.pairs();
    let own = pairs.filter(|(name, word)| other.parameters.get(name) != Some(*word));
    let words: Vec<&str> = own.map(|(_, word)| word).collect();
    if words.is_empty() {
        return "one certificate".to_owned();
    }
    let words = words.join(" ");
    match words.strip_prefix("beside ") {
        Some(second) => format!("a second certificate ({second})"),
        None => words,
    }
}

/// What a second certificate would bring where both kinds were measured by themselves.
fn certificates(loads: &[Rate<'_>]) -> Option<Statement> {
    let kind = |rate: &Rate<'_>| rate.row.case.algorithm.length().0 == "rsa";
    let loads = loads.iter().filter(|rate| !rate.row.is_service());
    let pairs = loads.clone().filter(|rate| kind(rate)).filter_map(|rsa| {
        let same = |other: &&Rate<'_>| {
            let (own, other) = (&rsa.row.case, &other.row.case);
            (&own.device, own.stack, &own.parameters, own.load)
                == (&other.device, other.stack, &other.parameters, other.load)
        };
        let other = loads.clone().filter(|other| !kind(other)).find(same)?;
        let free = other.load.limit != LoadLimit::Client && rsa.load.limit != LoadLimit::Client;
        (free && other.is_above(rsa)).then_some((rsa, other))
    });
    let (rsa, other) = pairs.max_by(|a, b| {
        let factor = |(rsa, other): &(&Rate<'_>, &Rate<'_>)| other.rate.value.0 / rsa.rate.value.0;
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

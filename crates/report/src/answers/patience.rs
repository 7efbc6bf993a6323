//! Waiting: intolerable operations with a tolerable key of the same device, a thread of messages, queues, predicted
//! parts, and the cost of a cached passphrase.

use itertools::Itertools;
use keymark_bench::{Case, Operation, Provenance, Record, StackName, StoreKind, USUAL};
use keymark_stats::Seconds;

use super::figure::{RowFigure, alone, between, device, is_virtual_card, listed, place, what};
use super::{Statement, Topic};
use crate::Answer;
use crate::analysis::{Analysis, Row};
use crate::grouped;
use crate::pivot::published_keycards;
use crate::units::{self, counted};
use crate::visible::sentence;

/// Messages of a thread.
const MESSAGES: f64 = 50.0;
/// Slow keys that are named.
const NAMED: usize = 2;
/// GnuPG's parameter and its word for a key with a passphrase.
const PROTECTION: (&str, &str) = ("protection", "cached");
/// Striking cost of a passphrase, as a ratio.
const STRIKING: f64 = 2.0;

/// Says what is too slow, how long a thread takes, and which queues grow.
pub(super) fn patience(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    let rows = waited_for(analysis);
    let said = [too_slow(&rows, record), thread(analysis), queues(&rows)];
    said.into_iter().flatten().collect()
}

fn waited_for(analysis: &Analysis) -> Vec<&Row> {
    let of = |row: &&Row| {
        row.case.provenance != Provenance::Predicted
            && row.case.operation != Operation::Handshake
            && !is_virtual_card(&row.case)
    };
    analysis.rows.iter().filter(of).collect()
}

fn slowness(row: &Row) -> f64 {
    row.mean().map_or(0.0, |mean| mean.0)
}

fn time(row: &Row) -> String {
    row.mean().map(units::duration).unwrap_or_default()
}

/// Says that nothing is too slow.
pub(super) fn nothing_is_slow(analysis: &Analysis, record: &Record) -> Option<Statement> {
    let rows = waited_for(analysis);
    let tolerance = record.plan.settings.tolerance;
    let mut judged = rows.iter().filter_map(|row| row.tolerable(tolerance));
    let slowest = rows
        .iter()
        .max_by(|a, b| slowness(a).total_cmp(&slowness(b)))?;
    slowest.mean()?;
    judged.all(|answer| answer == Answer::Yes).then(|| {
        let text = format!(
            "Nothing takes longer than the {} that users tolerate; the longest is {} with {}.",
            units::chosen(tolerance),
            slowest.case,
            time(slowest),
        );
        Statement::new(Topic::Patience, text, [slowest.id])
    })
}

fn too_slow(rows: &[&Row], record: &Record) -> Option<Statement> {
    let tolerance = record.plan.settings.tolerance;
    let judged = |answer: Answer| {
        rows.iter()
            .filter(move |row| row.tolerable(tolerance) == Some(answer))
    };
    // A slow key is slow through every program.
    let over: Vec<&&Row> = judged(Answer::No)
        .sorted_by(|a, b| slowness(b).total_cmp(&slowness(a)))
        .unique_by(|row| (&row.case.device, row.case.capability()))
        .collect();
    over.first()?;
    let (mut rested, mut named) = (Vec::new(), Vec::new());
    for row in over.iter().take(NAMED) {
        rested.push(row.id);
        let instead = instead(rows, row, record).map(|other| {
            rested.push(other.id);
            format!("; there {} takes {}", other.case.algorithm, time(other))
        });
        let load = match row.case.is_alone() {
            true => String::new(),
            false => format!(" ({})", row.case.way()),
        };
        let (what, device) = (what(&row.case), device(&row.case));
        let instead = instead.unwrap_or_default();
        named.push(format!("{what} on {device}{load} ({}{instead})", time(row)));
    }
    let more = match over.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more key")),
    };
    let unknown = match judged(Answer::Unknown).count() {
        0 => String::new(),
        cases => format!("; too little is known of {} to say", counted(cases, "case")),
    };
    let text = format!(
        "Too slow for the {} that users tolerate: {}{more}{unknown}.",
        units::chosen(tolerance),
        named.join(", ")
    );
    Some(Statement::new(Topic::Patience, text, rested))
}

/// Returns the strongest tolerable key of the same device and way, and of those the fastest.
fn instead<'a>(rows: &[&'a Row], slow: &Row, record: &Record) -> Option<&'a Row> {
    let tolerance = record.plan.settings.tolerance;
    let asked = |row: &'a Row| (place(&row.case), row.case.operation, row.case.load);
    let same = rows.iter().copied().filter(|row| {
        asked(row) == (place(&slow.case), slow.case.operation, slow.case.load)
            && row.tolerable(tolerance) == Some(Answer::Yes)
    });
    same.max_by(|a, b| {
        let strength = a.case.strength().cmp(&b.case.strength());
        strength.then(slowness(b).total_cmp(&slowness(a)))
    })
}

/// Says how long a thread takes to decrypt, with the fastest key and with the slowest.
fn thread(analysis: &Analysis) -> Option<Statement> {
    let stacks: Vec<StackName> = analysis
        .families
        .iter()
        .filter_map(|family| family.opens_messages)
        .collect();
    let opens = |figure: &RowFigure<'_>| {
        let case = figure.case();
        case.operation == Operation::Decrypt
            && stacks.contains(&case.stack)
            && case.provenance != Provenance::Predicted
            && !has_passphrase(case)
            && figure.is_known()
    };
    let mut times: Vec<RowFigure<'_>> = alone(&analysis.rows).filter(opens).collect();
    // A card is compared with other cards, not with the CPU.
    let is_cpu = |figure: &RowFigure<'_>| figure.case().store == StoreKind::SOFTWARE;
    if !times.iter().all(is_cpu) {
        times.retain(|figure| !is_cpu(figure));
    }
    times.sort_by(|a, b| a.value.0.total_cmp(&b.value.0));
    let (first, last) = (times.first()?, times.last()?);
    let took = |figure: &RowFigure<'_>| thread_of(figure.value);
    let several = !analysis.rows.iter().map(|row| &row.case.device).all_equal();
    let same = first.case().device == last.case().device;
    let told = |figure: &RowFigure<'_>| {
        let says = several && (!same || figure.id() == last.id());
        let on = says.then(|| format!(" on {}", device(figure.case())));
        let (key, on) = (figure.case().algorithm, on.unwrap_or_default());
        format!("{} with {key}{on}", took(figure))
    };
    let time = if first.is_below(last) {
        format!("{} and {}", told(first), told(last))
    } else if first.id() == last.id() {
        told(first)
    } else {
        format!("{}, whatever the key", between(&took(first), &took(last)))
    };
    let begin = match analysis.rows.iter().any(|row| has_passphrase(&row.case)) {
        true => "Without a passphrase, decrypting",
        false => "Decrypting",
    };
    let text = format!("{begin} {MESSAGES} messages takes {time}.");
    let rows = [first.id(), last.id()];
    Some(Statement::new(Topic::Patience, text, rows))
}

fn thread_of(each: Seconds) -> String {
    units::duration(Seconds(each.0 * MESSAGES))
}

/// Names the queues that grow.
fn queues(rows: &[&Row]) -> Option<Statement> {
    let growing = rows.iter().filter(|row| row.overload.is_some());
    let first = growing.clone().next()?.overload?;
    let text = format!(
        "More arrives than can be served ({} of capacity), so the queue grows: {}.",
        units::percent(first.utilisation.0),
        listed(growing.clone().map(|row| &row.case))
    );
    Some(Statement::new(
        Topic::Striking,
        text,
        growing.map(|row| row.id),
    ))
}

/// Says of each predicted key which parts users tolerate; first the keys that some part is too slow for.
pub(super) fn predictions(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    let rows = analysis
        .rows
        .iter()
        .filter(|row| row.case.provenance == Provenance::Predicted);
    let mut keys = grouped(rows.filter_map(RowFigure::of), |figure| {
        figure.case().capability()
    });
    let tolerance = record.plan.settings.tolerance;
    let limit = units::chosen(tolerance);
    let is = |figure: &RowFigure<'_>, answer| figure.row.tolerable(tolerance) == Some(answer);
    keys.sort_by_key(|(_, figures)| figures.iter().all(|figure| is(figure, Answer::Yes)));
    let said = keys.into_iter().map(|(_, mut figures)| {
        figures.sort_by(|a, b| a.value.0.total_cmp(&b.value.0));
        let told = |figure: &RowFigure<'_>| {
            let waiting = figure
                .row
                .waiting
                .map(|share| format!(", {} of it waiting for flash", units::percent(share.0)));
            let (device, waiting) = (&figure.case().device, waiting.unwrap_or_default());
            format!("{device} ({}{waiting})", figure.time())
        };
        let classes = [
            (format!("takes no longer than {limit} on"), Answer::Yes),
            ("takes too long on".to_owned(), Answer::No),
            (format!("may take longer than {limit} on"), Answer::Unknown),
        ];
        let mut parts = classes.iter().filter_map(|(takes, answer)| {
            let devices = listed(figures.iter().filter(|one| is(one, *answer)).map(told));
            (!devices.is_empty()).then(|| format!("{takes} {devices}"))
        });
        let (key, parts) = (what(figures[0].case()), parts.join("; it "));
        let text = sentence(&format!("as predicted, {key} {parts}"));
        Statement::new(Topic::Predictions, text, figures.iter().map(RowFigure::id))
    });
    said.collect()
}

fn has_passphrase(case: &Case) -> bool {
    case.parameters.get(PROTECTION.0) == Some(PROTECTION.1)
}

/// Compares keys with a passphrase with the same ones without, through the slowest program.
pub(super) fn passphrase(analysis: &Analysis) -> Option<Statement> {
    let figures: Vec<RowFigure<'_>> = alone(&analysis.rows).collect();
    let cached = figures
        .iter()
        .filter(|figure| has_passphrase(figure.case()));
    let pairs = cached.filter_map(|cached| {
        let case = cached.case();
        let plain = Case {
            parameters: case.parameters.clone().replaced(PROTECTION.0, USUAL),
            ..case.clone()
        };
        let plain = figures.iter().find(|figure| *figure.case() == plain)?;
        plain.is_below(cached).then_some((cached, plain))
    });
    let mut pairs: Vec<(&RowFigure<'_>, &RowFigure<'_>)> = pairs.collect();
    let slowest = pairs
        .iter()
        .max_by(|a, b| a.1.value.0.total_cmp(&b.1.value.0))?;
    let stack = slowest.1.case().stack;
    pairs.retain(|(_, plain)| plain.case().stack == stack);
    let costs = |(cached, plain): &(&RowFigure<'_>, &RowFigure<'_>)| cached.over(plain).low;
    let is_striking = pairs
        .iter()
        .all(|pair| costs(pair).is_some_and(|low| low.0 > STRIKING));
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let ends = values.minmax_by(f64::total_cmp).into_option()?;
        Some(<[f64; 2]>::from(ends).map(Seconds))
    };
    let cached = range(&mut pairs.iter().map(|(cached, _)| cached.value.0))?;
    let plain = range(&mut pairs.iter().map(|(_, plain)| plain.value.0))?;
    let told = |ends: [Seconds; 2]| {
        let [least, most] = ends.map(units::duration);
        between(&least, &most)
    };
    let mut decrypted = pairs
        .iter()
        .filter(|(cached, _)| cached.case().operation == Operation::Decrypt);
    let thread = decrypted.next().map(|(cached, _)| {
        let (time, key) = (thread_of(cached.value), cached.case().algorithm);
        format!(" Decrypting {MESSAGES} messages then takes {time} with {key}.")
    });
    let text = format!(
        "With a cached passphrase an operation through {stack} takes {}, without one {}: gpg-agent derives a key \
         from the passphrase every time.{}{}",
        told(cached),
        told(plain),
        thread.unwrap_or_default(),
        faster_card(cached[0]).unwrap_or_default()
    );
    let topic = match is_striking {
        true => Topic::Striking,
        false => Topic::Layers,
    };
    let rows = pairs
        .iter()
        .flat_map(|(cached, plain)| [cached.id(), plain.id()]);
    Some(Statement::new(topic, text, rows))
}

/// Mentions published keycards, if one of them decrypts through gpg within that time.
fn faster_card(limit: Seconds) -> Option<String> {
    let article = published_keycards()?;
    let decrypts = article.cases.iter().filter(|record| {
        record.case.operation == Operation::Decrypt && record.case.stack == StackName::GNUPG
    });
    let means = decrypts.filter_map(|record| Some(record.published.as_ref()?.mean.0));
    let least = means
        .min_by(f64::total_cmp)
        .filter(|least| *least < limit.0)?;
    let time = units::duration(Seconds(least));
    Some(format!(
        " A keycard can be faster: those of 2017 decrypt in {time} or more (published)."
    ))
}

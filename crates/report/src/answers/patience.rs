//! What users wait for: operations that they do not tolerate, with a key of the same device that they do, what opening
//! a thread of messages means; and of firmware on microcontrollers, which part keeps them waiting and what flash has to
//! do with it.

use itertools::Itertools;
use keymark_bench::{Operation, Provenance, Record, StoreKind};
use keymark_stats::Seconds;

use super::figure::{Figure, alone, between, device, is_virtual_card, listed, place, what};
use super::passphrase::has_passphrase;
use super::{Statement, Topic};
use crate::Answer;
use crate::analysis::{Analysis, Row};
use crate::grouped;
use crate::units::{self, counted};
use crate::visible::sentence;

/// Messages of a thread.
pub(super) const MESSAGES: u32 = 50;
/// So many that are too slow are named with what would do.
const NAMED: usize = 2;

/// What is too slow, the thread where that is long, and queues.
pub(super) fn patience(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    let rows = waited_for(analysis);
    let said = too_slow(&rows, record).into_iter();
    said.chain(thread(analysis)).chain(queues(&rows)).collect()
}

fn waited_for(analysis: &Analysis) -> Vec<&Row> {
    let of = |row: &&Row| {
        row.case.provenance != Provenance::Predicted
            && row.case.operation != Operation::Handshake
            && !is_virtual_card(&row.case)
    };
    analysis.rows.iter().filter(of).collect()
}

/// That nothing is too slow: no news, where there is any.
pub(super) fn nothing_is_slow(analysis: &Analysis, record: &Record) -> Option<Statement> {
    let rows = waited_for(analysis);
    let tolerance = record.plan.settings.tolerance;
    let judged = rows
        .iter()
        .filter_map(|row| Some((row, row.tolerable(tolerance)?, row.mean()?)));
    let (row, _, mean) = judged.clone().max_by(|a, b| a.2.0.total_cmp(&b.2.0))?;
    if { judged }.any(|(_, answer, _)| answer != Answer::Yes) {
        return None;
    }
    let text = format!(
        "Nothing takes longer than the {} that users tolerate; the longest is {} with {}.",
        units::chosen(tolerance),
        row.case,
        units::duration(mean),
    );
    Some(Statement::new(Topic::Patience, text, [row.id]))
}

fn too_slow(rows: &[&Row], record: &Record) -> Option<Statement> {
    let tolerance = record.plan.settings.tolerance;
    let limit = units::chosen(tolerance);
    let judged = |answer: Answer| {
        rows.iter()
            .filter(move |row| row.tolerable(tolerance) == Some(answer))
    };
    // Through which program a key is too slow matters to nobody, if it is so by itself.
    let over = judged(Answer::No).sorted_by(|a, b| slowness(b).total_cmp(&slowness(a)));
    let over = over.unique_by(|row| (&row.case.device, row.case.capability()));
    let over: Vec<&&Row> = over.collect();
    let unknown = match judged(Answer::Unknown).count() {
        0 => String::new(),
        cases => format!("; too little is known of {} to say", counted(cases, "case")),
    };
    if over.is_empty() {
        return None;
    }
    let mut rested = Vec::new();
    let mut named = Vec::new();
    for row in over.iter().take(NAMED) {
        rested.push(row.id);
        let time = row.mean().map(units::duration).unwrap_or_default();
        let instead = instead(rows, row, record).map(|other| {
            rested.push(other.id);
            let mean = other.mean().map(units::duration).unwrap_or_default();
            format!("; there {} takes {mean}", other.case.algorithm)
        });
        let load = if row.case.is_alone() {
            String::new()
        } else {
            format!(" ({})", row.case.way())
        };
        named.push(format!(
            "{} on {}{load} ({time}{})",
            what(&row.case),
            device(&row.case),
            instead.unwrap_or_default()
        ));
    }
    let more = match over.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more key")),
    };
    let text = format!(
        "Too slow for the {limit} that users tolerate: {}{more}{unknown}.",
        named.join(", ")
    );
    Some(Statement::new(Topic::Patience, text, rested))
}

fn slowness(row: &Row) -> f64 {
    row.mean().map_or(0.0, |mean| mean.0)
}

/// The strongest key that is tolerated on the same device the same way, and of those the fastest.
fn instead<'a>(rows: &[&'a Row], slow: &Row, record: &Record) -> Option<&'a Row> {
    let tolerance = record.plan.settings.tolerance;
    let asked = (place(&slow.case), slow.case.operation, slow.case.load);
    let same = |row: &&&Row| {
        (place(&row.case), row.case.operation, row.case.load) == asked
            && row.tolerable(tolerance) == Some(Answer::Yes)
    };
    let strength = |row: &Row| Figure::of(row).and_then(|figure| figure.strength());
    let best = rows.iter().filter(same).max_by(|a, b| {
        let faster = slowness(b).total_cmp(&slowness(a));
        strength(a).cmp(&strength(b)).then(faster)
    });
    best.copied()
}

/// What opening a thread means, with the fastest key and with the slowest.
fn thread(analysis: &Analysis) -> Option<Statement> {
    let opens = |figure: &Figure<'_>| {
        let mut stacks = analysis
            .families
            .iter()
            .filter_map(|family| family.opens_messages);
        figure.case().operation == Operation::Decrypt
            && stacks.any(|stack| stack == figure.case().stack)
    };
    let mut times: Vec<Figure<'_>> = alone(&analysis.rows).filter(opens).collect();
    times.retain(|figure| figure.case().provenance != Provenance::Predicted && figure.is_known());
    times.retain(|figure| !has_passphrase(figure.case()));
    // Nobody asks what a card costs because of the CPU beside it.
    let is_cpu = |figure: &Figure<'_>| figure.case().store == StoreKind::SOFTWARE;
    if !times.iter().all(is_cpu) {
        times.retain(|figure| !is_cpu(figure));
    }
    times.sort_by(|a, b| a.value.total_cmp(&b.value));
    let (first, last) = (times.first()?, times.last()?);
    let took = |figure: &Figure<'_>| units::duration(Seconds(figure.value * f64::from(MESSAGES)));
    let several = !analysis.rows.iter().map(|row| &row.case.device).all_equal();
    let same = first.case().device == last.case().device;
    let on = |figure: &Figure<'_>| {
        let says = several && (!same || figure.id() == last.id());
        let on = says.then(|| format!(" on {}", device(figure.case())));
        format!("with {}{}", figure.case().algorithm, on.unwrap_or_default())
    };
    let told = |figure| format!("{} {}", took(figure), on(figure));
    let time = if first.is_below(last) {
        format!("{} and {}", told(first), told(last))
    } else if first.id() == last.id() {
        told(first)
    } else {
        let time = between(&took(first), &took(last));
        format!("{time}, whatever the key")
    };
    let begin = if analysis.rows.iter().any(|row| has_passphrase(&row.case)) {
        "Without a passphrase, decrypting"
    } else {
        "Decrypting"
    };
    let text = format!("{begin} {MESSAGES} messages takes {time}.");
    Some(Statement::new(
        Topic::Patience,
        text,
        [first.id(), last.id()],
    ))
}

/// Queues that grow for ever.
fn queues(rows: &[&Row]) -> Option<Statement> {
    let growing = rows.iter().filter(|row| row.overload.is_some());
    let growing: Vec<&&Row> = growing.collect();
    let first = growing.first()?.overload?;
    let text = format!(
        "More arrives than can be served ({} of capacity), so the queue grows: {}.",
        units::percent(first.utilisation.0),
        listed(growing.iter().map(|row| &row.case))
    );
    Some(Statement::new(
        Topic::Striking,
        text,
        growing.iter().map(|row| row.id),
    ))
}

/// How the clause of a prediction's note ends that says what share of its cycles the core waits for flash.
pub const WAITING: &str = " of it waiting for flash";

/// A sentence for each kind of key, those first that not every part is fast enough for.
pub(super) fn predictions(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    let rows = analysis.rows.iter();
    let rows = rows.filter(|row| row.case.provenance == Provenance::Predicted);
    let figures = rows.filter_map(Figure::of);
    let mut keys = grouped(figures, |figure| figure.case().capability());
    let tolerance = record.plan.settings.tolerance;
    let limit = units::chosen(tolerance);
    let fits = |figure: &Figure<'_>| figure.high <= tolerance.as_secs_f64();
    let never = |figure: &Figure<'_>| figure.low > tolerance.as_secs_f64();
    keys.sort_by_key(|(_, figures)| usize::from(figures.iter().all(fits)));
    let said = keys.into_iter().map(|(_, mut figures)| {
        figures.sort_by(|a, b| a.value.total_cmp(&b.value));
        let told = |figure: &Figure<'_>| {
            let waiting = waiting(record, figure).map(|share| format!(", {share}"));
            format!(
                "{} ({}{})",
                figure.case().device,
                figure.time(),
                waiting.unwrap_or_default()
            )
        };
        let open = |figure: &Figure<'_>| !fits(figure) && !never(figure);
        let class = |takes: &str, is_so: &dyn Fn(&Figure<'_>) -> bool| {
            let devices = listed(figures.iter().filter(|figure| is_so(figure)).map(told));
            (!devices.is_empty()).then(|| format!("{takes} {devices}"))
        };
        let classes = [
            class(&format!("takes no longer than {limit} on"), &fits),
            class("takes too long on", &never),
            class(&format!("may take longer than {limit} on"), &open),
        ];
        let mut parts = classes.into_iter().flatten();
        let text = format!(
            "as predicted, {} {}",
            what(figures[0].case()),
            parts.join("; it ")
        );
        Statement::new(
            Topic::Predictions,
            sentence(&text),
            figures.iter().map(Figure::id),
        )
    });
    said.collect()
}

/// As the prediction's note has it.
fn waiting<'r>(record: &'r Record, figure: &Figure<'_>) -> Option<&'r str> {
    let predicted = record.cases.get(figure.id().0 as usize)?;
    let note = &predicted.published.as_ref()?.note;
    note.split("; ").find(|clause| clause.ends_with(WAITING))
}

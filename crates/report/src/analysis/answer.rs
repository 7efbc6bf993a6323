//! The answer in three sentences: which device is the fastest, how much slower the others are and what takes
//! too long, and how far to trust it.

use std::collections::{BTreeMap, HashMap};

use keymark_bench::case::{Case, DeviceName, Provenance, StoreKind};
use keymark_bench::plan::Plan;
use keymark_bench::record::{Record, RunState};
use keymark_stats::Seconds;

use super::{Analysis, Row};
use crate::document::Answer;
use crate::units::{self, counted};

/// More than so many things are counted, not named.
const NAMED: usize = 4;
/// What a published table calls the processor.
const PUBLISHED_CPU: &str = "CPU";

/// Rows of one algorithm, operation and way, on different devices.
struct Group<'a> {
    rows: Vec<&'a Row>,
}

impl<'a> Group<'a> {
    fn case(&self) -> &'a Case {
        &self.rows[0].case
    }

    fn has(&self, device: &DeviceName) -> bool {
        self.rows.iter().any(|row| row.case.device == *device)
    }

    /// From the fastest to the slowest.
    fn ranked(&self) -> Vec<(&'a Row, Seconds)> {
        let means = self.rows.iter();
        let mut ranked: Vec<_> = means.filter_map(|row| Some((*row, row.mean()?))).collect();
        ranked.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
        ranked
    }
}

/// Operations that were alone and have a mean, by what can be compared.
fn groups(rows: &[Row]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<_, usize> = HashMap::new();
    let alone = rows.iter().filter(|row| row.case.is_alone());
    for row in alone.filter(|row| row.mean().is_some()) {
        let case = &row.case;
        let way = (
            case.algorithm,
            case.operation,
            case.stack,
            case.parameters.clone(),
        );
        let place = *places.entry(way).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) if group.has(&case.device) => {}
            Some(group) => group.rows.push(row),
            None => groups.push(Group { rows: vec![row] }),
        }
    }
    groups
}

impl Analysis {
    /// What most readers come for, and no more. `warnings` is how many stand at the end of the report.
    pub fn answer(&self, record: &Record, warnings: usize) -> Vec<String> {
        let groups = groups(&self.rows);
        if groups.is_empty() && self.rows.iter().all(|row| row.mean().is_none()) {
            return vec![nothing(&self.rows)];
        }
        vec![
            fastest(&groups, &self.rows),
            format!(
                "{}; {}.",
                against_the_cpu(&groups),
                too_long(&self.rows, &record.plan)
            ),
            self.trust(record, warnings),
        ]
    }

    fn trust(&self, record: &Record, warnings: usize) -> String {
        let mut parts = vec![kinds(&self.rows)];
        parts.extend(precision(&self.rows));
        let failed = self.rows.iter().filter(|row| row.failure.is_some());
        match failed.count() {
            0 => {}
            failed => parts.push(format!("{failed} of {} cases failed", self.rows.len())),
        }
        match record.state {
            RunState::Interrupted | RunState::Unfinished => {
                parts.push("the run ended early".to_owned());
            }
            RunState::Finished | RunState::Published => {}
        }
        if warnings > 0 {
            let them = counted(warnings, "warning");
            parts.push(format!("{them} at the end"));
        }
        // What a model or an article says is the same each time.
        let ran = self.rows.iter().any(|row| match row.case.provenance {
            Provenance::Measured | Provenance::Virtual | Provenance::Twin => true,
            Provenance::Predicted | Provenance::Published => false,
        });
        if ran && record.series.is_none() {
            parts.push("one run; a repeat may differ by more than these intervals".to_owned());
        }
        format!("How certain: {}.", parts.join("; "))
    }
}

fn nothing(rows: &[Row]) -> String {
    let failed = rows.iter().filter(|row| row.failure.is_some()).count();
    match (rows.len(), failed) {
        (0, _) => "This run has no case, and so no answer.".to_owned(),
        (all, failed) if failed > 0 => format!(
            "This run has no figure: {failed} of {} failed.",
            counted(all, "case")
        ),
        (all, _) => format!(
            "This run has no figure: nothing measured in {}.",
            counted(all, "case")
        ),
    }
}

/// The fastest device of each algorithm, or of one device the fastest and the slowest operation.
fn fastest(groups: &[Group<'_>], rows: &[Row]) -> String {
    let mut contested: Vec<&Group<'_>> = Vec::new();
    for group in groups.iter().filter(|group| group.rows.len() > 1) {
        let of = |group: &Group<'_>| (group.case().algorithm, group.case().operation);
        match contested.iter_mut().find(|other| of(other) == of(group)) {
            Some(other) if other.rows.len() < group.rows.len() => *other = group,
            Some(_) => {}
            None => contested.push(group),
        }
    }
    if contested.is_empty() {
        return of_one_device(groups, rows);
    }
    let mut won: Vec<(String, Vec<String>)> = Vec::new();
    let mut open = Vec::new();
    for group in &contested {
        let ranked = group.ranked();
        let what = what(group.case());
        match ranked.as_slice() {
            [first, second, ..] if !told_apart(first.0, second.0) => open.push(what),
            [(first, _), ..] => push(&mut won, named(&first.case), what),
            [] => {}
        }
    }
    let mut parts: Vec<String> = Vec::new();
    if let ([(device, cases)], true) = (won.as_slice(), open.is_empty()) {
        parts.push(format!(
            "{device} is the fastest device for {}",
            match cases.len() {
                1 => cases[0].clone(),
                n => format!("each of the {n} operations that several devices performed"),
            }
        ));
    } else {
        let winner =
            |(device, cases): &(String, Vec<String>)| format!("{device} for {}", listed(cases));
        if !won.is_empty() {
            let won: Vec<String> = won.iter().map(winner).collect();
            parts.push(format!("the fastest device is {}", won.join(", ")));
        }
        if !open.is_empty() {
            parts.push(format!(
                "for {} the two fastest are not distinguishable",
                listed(&open)
            ));
        }
    }
    sentence(&parts.join("; "))
}

/// By the intervals of the means, where both have one; an article's figures are taken as they are.
fn told_apart(first: &Row, second: &Row) -> bool {
    let mean = |row: &Row| row.summary.as_ref().map(|summary| summary.mean);
    match (mean(first), mean(second)) {
        (Some(a), Some(b)) => matches!((a.high, b.low), (Some(high), Some(low)) if high.0 < low.0),
        (None, _) | (_, None) => true,
    }
}

fn of_one_device(groups: &[Group<'_>], rows: &[Row]) -> String {
    let alone = || groups.iter().flat_map(|group| group.ranked());
    let ends = (
        alone().min_by(|a, b| a.1.0.total_cmp(&b.1.0)),
        alone().max_by(|a, b| a.1.0.total_cmp(&b.1.0)),
    );
    let said = |(row, mean): (&Row, Seconds)| format!("{} at {}", row.case, units::duration(mean));
    match ends {
        (Some(first), Some(last)) if first.0.id != last.0.id => format!(
            "No operation was measured on two devices; the fastest is {}, the slowest {}.",
            said(first),
            said(last)
        ),
        (Some(only), _) => format!("One operation was measured without load: {}.", said(only)),
        (None, _) => {
            let figures = rows.iter().filter(|row| row.mean().is_some()).count();
            format!(
                "No operation was measured without load; there are {figures} figures under load."
            )
        }
    }
}

/// How many times as long the other devices take.
fn against_the_cpu(groups: &[Group<'_>]) -> String {
    let mut factors: Vec<(String, f64, f64)> = Vec::new();
    let mut seen = false;
    for group in groups {
        let Some(cpu) = group.rows.iter().find(|row| is_cpu(&row.case)) else {
            continue;
        };
        seen = true;
        for row in group.rows.iter().filter(|row| !is_cpu(&row.case)) {
            let (Some(own), Some(base)) = (row.mean(), cpu.mean()) else {
                continue;
            };
            let (name, factor) = (named(&row.case), own.0 / base.0);
            match factors.iter_mut().find(|(other, ..)| *other == name) {
                Some((_, low, high)) => (*low, *high) = (low.min(factor), high.max(factor)),
                None => factors.push((name, factor, factor)),
            }
        }
    }
    if !seen {
        return "The CPU itself was not measured".to_owned();
    }
    if factors.is_empty() {
        return "Only the CPU was measured".to_owned();
    }
    let number = |factor: f64| units::ratio(keymark_stats::Ratio(factor));
    let said = factors.iter().map(|(name, low, high)| {
        let (low, high) = (number(*low), number(*high));
        if low == high {
            format!("{name} takes {low} times as long")
        } else {
            format!("{name} takes {low} to {high} times as long")
        }
    });
    let said: Vec<String> = said.collect();
    format!("Against the CPU, {}", listed(&said))
}

/// Whether the row's device is this or the article's processor.
fn is_cpu(case: &Case) -> bool {
    case.store == StoreKind::SOFTWARE
        || case.provenance == Provenance::Published && case.device.as_str() == PUBLISHED_CPU
}

fn too_long(rows: &[Row], plan: &Plan) -> String {
    let tolerance = plan.settings.tolerance;
    let of = |answer: Answer| {
        let rows = rows.iter();
        rows.filter(move |row| row.tolerable(tolerance) == Some(answer))
    };
    let over: Vec<String> = of(Answer::No)
        .filter_map(|row| Some(format!("{} ({})", row.case, units::duration(row.mean()?))))
        .collect();
    let limit = units::chosen(tolerance);
    let mut said = if over.is_empty() {
        format!("no operation takes longer than the {limit} that users tolerate")
    } else {
        format!("over the {limit} that users tolerate: {}", listed(&over))
    };
    let unknown = of(Answer::Unknown).count();
    if unknown > 0 {
        let cases = counted(unknown, "case");
        said = format!("{said}; too little is known of {cases} to say");
    }
    let grows = rows.iter().filter(|row| row.overload.is_some()).count();
    if grows > 0 {
        said = format!(
            "{said}, and {} with a queue that keeps growing",
            counted(grows, "case")
        );
    }
    said
}

/// How many figures there are of each kind.
fn kinds(rows: &[Row]) -> String {
    let mut kinds: BTreeMap<Provenance, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.mean().is_some()) {
        *kinds.entry(row.case.provenance).or_default() += 1;
    }
    let said: Vec<String> = kinds
        .iter()
        .map(|(kind, number)| format!("{number} {kind}"))
        .collect();
    let all: usize = kinds.values().sum();
    match said.as_slice() {
        [_] => {
            let kind = kinds.keys().next().map(ToString::to_string);
            let kind = kind.unwrap_or_default();
            match all {
                1 => format!("one mean, {kind}"),
                all => format!("all {all} means are {kind}"),
            }
        }
        _ => format!("of {all} means {}", said.join(", ")),
    }
}

/// The narrowest and the widest interval, and what has none.
fn precision(rows: &[Row]) -> Option<String> {
    let mut known = Vec::new();
    let mut open = 0;
    for row in rows {
        let Some(summary) = &row.summary else {
            continue;
        };
        let mean = summary.mean;
        match (mean.low, mean.high) {
            (Some(low), Some(high)) if mean.value.0 > 0.0 => {
                known.push((high.0 - low.0) / 2.0 / mean.value.0);
            }
            _ => open += 1,
        }
    }
    known.sort_by(f64::total_cmp);
    let bounds = known.first().zip(known.last()).map(|(least, most)| {
        let (least, most) = (units::percent(*least), units::percent(*most));
        if least == most {
            format!("their 95 % intervals are ±{least}")
        } else {
            format!("their 95 % intervals range from ±{least} to ±{most}")
        }
    });
    match (bounds, open) {
        (None, 0) => None,
        (None, _) => Some("no mean is bounded on both sides".to_owned()),
        (Some(bounds), 0) => Some(bounds),
        (Some(bounds), open) => Some(format!("{bounds}; {} not bounded", counted(open, "mean"))),
    }
}

fn what(case: &Case) -> String {
    format!("{} {}", case.algorithm, case.operation)
}

/// A device, and what its figures are where they were not measured.
fn named(case: &Case) -> String {
    let (device, provenance) = (&case.device, case.provenance);
    let itself = device.as_str().starts_with(&provenance.to_string());
    match provenance {
        Provenance::Measured => device.to_string(),
        Provenance::Virtual | Provenance::Twin if itself => device.to_string(),
        Provenance::Virtual | Provenance::Twin | Provenance::Predicted | Provenance::Published => {
            format!("{device} ({provenance})")
        }
    }
}

fn push(lists: &mut Vec<(String, Vec<String>)>, name: String, item: String) {
    match lists.iter_mut().find(|(other, _)| *other == name) {
        Some((_, items)) => items.push(item),
        None => lists.push((name, vec![item])),
    }
}

fn listed(items: &[String]) -> String {
    let (shown, more) = items.split_at(items.len().min(NAMED));
    match more.len() {
        0 => shown.join(", "),
        // Who is left out could as well be named.
        1 => items.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Names of devices are left as they are written.
fn sentence(text: &str) -> String {
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}."),
        None => match text.strip_prefix("for ") {
            Some(rest) => format!("For {rest}."),
            None => format!("{text}."),
        },
    }
}

#[cfg(test)]
mod tests;

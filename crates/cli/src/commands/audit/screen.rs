//! An audit on the terminal: the answer, what is wrong with which key, and what that means.

use itertools::Itertools;
use keymark_advice::audit::{Audit, Finding, FoundKey, Question, Standing};
use keymark_advice::policy::Status;
use keymark_bench::outside::visible::shortened;
use keymark_report::render::Width;
use keymark_report::units::counted;
use keymark_report::{Column, TableOf, grouped};

use crate::output;

/// Findings on one screen, at most.
const ROWS: usize = 20;
/// Characters of a place or of a name in a sentence, and where there is room for more.
const NAME: usize = 34;
/// What the other columns take, with the space between.
const COLUMNS: usize = 42;
/// Of a name that stands before a detail.
const LEAST: usize = 8;
/// Room for the names of kinds.
const KIND: usize = 16;

pub(super) fn print(audit: &Audit, question: &Question, long: bool) {
    answer(audit, question);
    let all = audit.keys.iter();
    let all = all.flat_map(|key| key.findings.iter().map(move |finding| (finding, key)));
    let findings: Vec<(&Finding, &FoundKey)> = all
        .filter(|(finding, _)| long || finding.is_weakness())
        .sorted_by_key(|(finding, _)| (finding.level, finding.kind))
        .collect();
    let rows = if long { findings.len() } else { ROWS };
    table(&findings[..rows.min(findings.len())]);
    legend(&findings);
    if long {
        every_key(audit, question);
    }
    let rest = findings.len().saturating_sub(rows);
    if rest > 0 {
        output::note(&format!(
            "{} and every key: --long",
            counted(rest, "more finding")
        ));
    }
    let missing = audit.missing_lists.join("; ");
    if !missing.is_empty() {
        output::note(&format!("Not looked up, as no list is here: {missing}"));
    }
}

/// How many, how many are weak, and the worst.
fn answer(audit: &Audit, question: &Question) {
    let weak: Vec<&FoundKey> = audit.weak().collect();
    let policies = question.policies.iter().map(|policy| &policy.id);
    let by = format!("by {}", policies.format(", "));
    let until = question
        .until
        .map_or_else(String::new, |date| format!(" or not allowed until {date}"));
    let keys = counted(audit.keys.len(), "key");
    let worst = weak
        .iter()
        .filter_map(|key| Some((key.findings.first()?, key)))
        .min_by_key(|(finding, _)| (finding.level, finding.kind));
    let Some((finding, key)) = worst else {
        output::paragraph(&format!("{keys}; none is weak{until}, {by}."));
        return;
    };
    let verb = if weak.len() == 1 { "is" } else { "are" };
    output::paragraph(&format!("{keys}; {} {verb} weak{until}, {by}.", weak.len()));
    let owner = shortened(&key.owner, NAME);
    let of = if owner.is_empty() { "" } else { " of " };
    output::paragraph(&format!(
        "The worst: {}{of}{owner} in {}: {}.",
        key.key.name(),
        key.place,
        finding.text
    ));
}

fn table(findings: &[(&Finding, &FoundKey)]) {
    if findings.is_empty() {
        return;
    }
    output::line("");
    let (place, name) = names(COLUMNS);
    let table = TableOf::plain(findings)
        .name("level", |(finding, _)| finding.level.word())
        .name("finding", |(finding, _)| finding.kind.word())
        .name("key", |(_, key)| key.key.name())
        .name("where", |(_, key)| end_of(&key.place.to_string(), place))
        .name("whose", |(finding, key)| {
            let detail = match finding.detail.as_str() {
                "" => String::new(),
                detail => shortened(&format!(" ({detail})"), name),
            };
            let left = name.saturating_sub(detail.chars().count()).max(LEAST);
            format!("{}{detail}", shortened(&key.owner, left))
                .trim_start()
                .to_owned()
        });
    output::table(table);
}

/// Each statement once: of which kind, what it says, where it is read and what to do.
fn legend(findings: &[(&Finding, &FoundKey)]) {
    let findings = findings.iter().map(|(finding, _)| *finding);
    for ((_, kind), statements) in grouped(findings, |one| (one.level, one.kind)) {
        let statements: Vec<_> = statements.iter().unique_by(|one| &one.text).collect();
        output::line("");
        let count = statements.len();
        let mut name = kind.word();
        for finding in statements.into_iter().take(ROWS) {
            let Finding { text, source, .. } = finding;
            output::entry(0, name, KIND, &format!("{text} ({source})"));
            name = "";
        }
        if count > ROWS {
            let more = counted(count - ROWS, "more statement");
            output::entry(0, "", KIND, &format!("{more} of this kind: --json"));
        }
        output::entry(
            0,
            "",
            KIND,
            &format!("What to do: {}", Finding::of(kind).advice),
        );
    }
}

/// A table of all keys.
fn every_key(audit: &Audit, question: &Question) {
    output::line("");
    output::heading("Every key");
    let (place, name) = names(COLUMNS + 8);
    let status = |key: &FoundKey, of: fn(&Standing) -> Option<Status>| {
        let words = key.status.iter().filter_map(of).map(Status::word);
        words.dedup().join(" ")
    };
    let until = question.until.map(|until| Column::name(until.to_string()));
    let table = TableOf::plain(&audit.keys)
        .name("key", |key| key.key.name())
        .name("bits", |key| key.key.strength().map(|bits| bits.0))
        .name("today", |key| status(key, |one| Some(one.today)))
        .maybe(until, |key| status(key, |one| one.until))
        .name("ends", |key| key.expires.map(|end| end.to_string()))
        .name("where", |key| end_of(&key.place.to_string(), place))
        .name("whose", |key| shortened(&key.owner, name));
    output::table(table);
}

/// Room for a place and for a name, besides columns that take so much.
fn names(others: usize) -> (usize, usize) {
    let room = match output::room() {
        Width::Unlimited => return (NAME, 3 * NAME),
        Width::Columns(columns) => usize::from(columns).saturating_sub(others),
    };
    (2 * room / 5, room - 2 * room / 5)
}

/// The end of a path tells more than its beginning.
fn end_of(path: &str, most: usize) -> String {
    let length = path.chars().count();
    if length <= most {
        return path.to_owned();
    }
    let end: String = path.chars().skip(length + 1 - most).collect();
    format!("…{end}")
}

//! An audit on the terminal: the answer, what is wrong with which key, and what that means.

use itertools::Itertools;
use keymark_advice::policy::Status;
use keymark_audit::{Audit, AuditQuestion, Finding, FindingKind, FoundKey, Standing};
use keymark_bench::outside::visible::{shortened, visible};
use keymark_report::units::counted;
use keymark_report::{Column, TableOf, grouped};

use crate::output;

/// Findings on one screen, at most.
const ROWS: usize = 20;
/// Characters of a name in a sentence; a table has twice as many.
const NAME: usize = 34;
/// Items in a sentence that lists what was not read.
const NAMED: usize = 5;
/// Room for the number of a key.
const NUMBER: usize = 5;
/// Room for the names of kinds.
const KIND: usize = 16;

pub(super) fn print(audit: &Audit, question: &AuditQuestion, long: bool) {
    if !audit.keys.is_empty() {
        answer(audit, question);
    }
    named(audit, long);
    let all = audit
        .keys
        .iter()
        .flat_map(|key| key.findings.iter().map(move |finding| (finding, key)));
    let findings: Vec<(&Finding, &FoundKey)> = all
        .filter(|(finding, key)| long || finding.is_weakness() && !is_repeated(finding, key))
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
        output::note(&format!("Not checked (list not installed): {missing}"));
    }
}

/// Whether a finding says of a policy what another one says of every policy: the key is too short.
fn is_repeated(finding: &Finding, key: &FoundKey) -> bool {
    finding.kind == FindingKind::Policy
        && key
            .findings
            .iter()
            .any(|one| one.kind == FindingKind::Short)
}

/// What has no key in the result, and why: some of it in a sentence, or all of it in lines.
fn named(audit: &Audit, long: bool) {
    let not_read = audit.not_read.iter().map(ToString::to_string).collect();
    let without_key = audit.without_key.iter().map(ToString::to_string).collect();
    for (what, items) in [
        ("not read", not_read),
        ("without a public key", without_key),
    ] {
        let items: Vec<String> = items;
        if items.is_empty() {
            continue;
        }
        output::paragraph(&if long {
            format!("{} {what}:\n  {}", items.len(), items.join("\n  "))
        } else {
            let rest = items.len().saturating_sub(NAMED);
            let more = if rest > 0 {
                format!(", and {rest} more: --long")
            } else {
                ".".to_owned()
            };
            format!(
                "{} {what}: {}{more}",
                items.len(),
                items.iter().take(NAMED).join(", ")
            )
        });
    }
}

/// How many, how many are weak, and the worst.
fn answer(audit: &Audit, question: &AuditQuestion) {
    let weak: Vec<&FoundKey> = audit.weak().collect();
    let policies = question.policies.iter().map(|policy| &policy.id);
    let by = format!("by {}", policies.format(", "));
    let until = question
        .until
        .map_or_else(String::new, |date| format!(" or not allowed until {date}"));
    let (keys, of_them) = audit.counts();
    let keys = counted(keys, "key");
    let worst = weak
        .iter()
        .filter_map(|key| Some((key.findings.first()?, key)))
        .min_by_key(|(finding, _)| (finding.level, finding.kind));
    let Some((finding, key)) = worst else {
        output::paragraph(&format!("{keys}; none is weak{until}, {by}."));
        return;
    };
    let verb = if of_them == 1 { "is" } else { "are" };
    output::paragraph(&format!("{keys}; {of_them} {verb} weak{until}, {by}."));
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
    let table = TableOf::new(findings)
        .name("level", |(finding, _)| finding.level.word())
        .name("finding", |(finding, _)| finding.kind.word())
        .name("key", |(_, key)| key.key.name())
        .name("where", |(_, key)| key.place.to_string())
        .name("whose", |(finding, key)| whose(finding, key));
    output::table(table);
}

/// The owner of a key, and what is particular to the finding.
fn whose(finding: &Finding, key: &FoundKey) -> String {
    let owner = shortened(&key.owner, 2 * NAME);
    let detail = shortened(&finding.detail, 2 * NAME);
    match (owner.is_empty(), detail.is_empty()) {
        (_, true) => owner,
        (true, false) => format!("({detail})"),
        (false, false) => format!("{owner} ({detail})"),
    }
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
            output::entry(0, "", KIND, &format!("{more} of this kind: --format json"));
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
fn every_key(audit: &Audit, question: &AuditQuestion) {
    output::line("");
    output::heading("Every key");
    let status = |key: &FoundKey, of: fn(&Standing) -> Option<Status>| {
        let words = key.status.iter().filter_map(of).map(Status::word);
        words.dedup().join(" ")
    };
    let until = question.until.map(|until| Column::name(until.to_string()));
    let numbered: Vec<(usize, &FoundKey)> = (1..).zip(&audit.keys).collect();
    let table = TableOf::new(&numbered)
        .name("", |(number, _)| number.to_string())
        .name("key", |(_, key)| key.key.name())
        .name("bits", |(_, key)| key.key.strength().map(|bits| bits.0))
        .name("today", |(_, key)| status(key, |one| Some(one.today)))
        .maybe(until, |(_, key)| status(key, |one| one.until))
        .name("ends", |(_, key)| key.expires.map(|end| end.to_string()))
        .name("fingerprint", |(_, key)| key.fingerprint.clone());
    output::table(table);
    output::line("");
    for (number, key) in (1_usize..).zip(&audit.keys) {
        let also = key.also.iter().map(|also| format!("; {also}"));
        let owner = visible(&key.owner);
        let place = format!("{owner} in {}{}", key.place, also.format(""));
        output::entry(0, &number.to_string(), NUMBER, place.trim_start());
    }
}

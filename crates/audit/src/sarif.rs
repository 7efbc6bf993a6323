//! Findings for programs that show them next to code: SARIF 2.1.0 (OASIS).

use keymark_bench::outside::visible::visible;
use serde_json::{Value, json};

use super::finding::{Finding, Level};
use super::{Audit, FindingKind, FoundKey, Location};

/// Address of the schema.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A finding and the key that has it, in one sentence.
pub fn in_words(key: &FoundKey, finding: &Finding) -> String {
    let unless_empty = |text: &str, whole: String| {
        if text.is_empty() {
            String::new()
        } else {
            whole
        }
    };
    let owner = unless_empty(&key.owner, format!(" of {}", visible(&key.owner)));
    let detail = unless_empty(&finding.detail, format!(" ({})", finding.detail));
    let Finding {
        text,
        source,
        advice,
        ..
    } = finding;
    let algorithm = key.key.name();
    format!("{algorithm}{owner}: {text}{detail}. {source}. What to do: {advice}")
}

/// Every finding of an audit in a log with one run, by that version of the program, which is found there.
pub fn log(audit: &Audit, version: &str, home: &str) -> Value {
    let rules = FindingKind::ALL.iter().map(|kind| {
        json!({
            "id": kind,
            "shortDescription": { "text": kind },
            "help": { "text": Finding::of(*kind).advice },
        })
    });
    let results = audit
        .keys
        .iter()
        .flat_map(|key| key.findings.iter().map(move |finding| result(key, finding)));
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "keymark",
                "version": version,
                "informationUri": home,
                "rules": rules.collect::<Vec<_>>(),
            } },
            "invocations": [{
                "executionSuccessful": audit.not_read.is_empty(),
                "toolExecutionNotifications": notifications(audit),
            }],
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

/// Returns notifications for unreadable files and files without a key.
fn notifications(audit: &Audit) -> Vec<Value> {
    let one = |level: Level, place: &Location, text: String| {
        json!({
            "level": level,
            "message": { "text": text },
            "locations": [{ "physicalLocation": physical(place) }],
        })
    };
    let not_read = audit.not_read.iter().map(|item| {
        one(
            Level::Warning,
            &item.place,
            format!("not read: {}", item.reason),
        )
    });
    let without = audit.without_key.iter().map(|item| {
        one(
            Level::Note,
            &item.place,
            format!("no public key: {}", item.what),
        )
    });
    not_read.chain(without).collect()
}

fn physical(place: &Location) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(&place.within) } });
    if let Some(line) = place.line {
        physical["region"] = json!({ "startLine": line });
    }
    physical
}

/// A name as a relative reference (RFC 3986 §4.2): whatever means something in one is encoded.
fn uri(name: &str) -> String {
    let octet = |octet: u8| match octet {
        b'/' | b'-' | b'.' | b'_' | b'~' => char::from(octet).to_string(),
        octet if octet.is_ascii_alphanumeric() => char::from(octet).to_string(),
        octet => format!("%{octet:02X}"),
    };
    name.bytes().map(octet).collect()
}

fn result(key: &FoundKey, finding: &Finding) -> Value {
    json!({
        "ruleId": finding.kind,
        "level": finding.level,
        "message": { "text": in_words(key, finding) },
        "locations": [{ "physicalLocation": physical(&key.place) }],
    })
}

//! `keymark strength`: keys by every table of strengths, and by every policy at a date.

mod document;

use jiff::civil::Date;
use keymark_bench::Algorithm;
use serde::Serialize;

use crate::key_spec::KeySpec;
use crate::policy::{Act, KeyKind, Policy, Status, Use};
use crate::{Strength, Table, Verified};

/// Keys of every kind, where none is named.
const USUAL: [&str; 10] = [
    "rsa2048",
    "rsa3072",
    "rsa4096",
    "nistp256",
    "nistp384",
    "ed25519",
    "cv25519",
    "mlkem768",
    "mldsa65",
    "slhdsa128s",
];

/// Keys and policies of a question.
#[derive(Debug, Clone)]
pub struct StrengthQuestion {
    pub keys: Vec<KeySpec>,
    /// The strength that is wanted.
    pub level: Option<Strength>,
    pub date: Date,
    pub policies: Vec<Policy>,
}

/// A key with all statements about it, as JSON has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyRow {
    /// The key.
    pub key: String,
    pub strengths: Vec<StrengthBy>,
    /// The date of the statuses.
    pub date: Date,
    pub statuses: Vec<StatusRow>,
    /// Policies that do not.
    pub unlisted_by: Vec<String>,
}

/// A strength by a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StrengthBy {
    /// The table's id.
    pub table: String,
    /// Bits of security.
    pub bits: u32,
    pub verified: Verified,
}

/// A policy's statement about a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusRow {
    /// The policy's id.
    pub policy: String,
    pub draft: bool,
    pub uses: Vec<Use>,
    /// Status for new data.
    pub applying: Status,
    /// Status for existing data.
    pub processing: Status,
    /// The last day of the status for applying.
    pub until: Option<Date>,
    /// The status after it.
    pub then: Option<Status>,
    /// The rule; none: the policy refuses what it does not list.
    pub rule: Option<String>,
    pub verified: Option<Verified>,
    pub source: Option<String>,
    /// The document.
    pub url: String,
}

impl StatusRow {
    pub(super) fn uses(&self) -> &'static str {
        match self.uses.as_slice() {
            [Use::Signature] => "sign",
            [Use::Encryption] => "encrypt",
            _ => "both",
        }
    }
}

/// The weakest keys of each kind that have at least such a strength by SP 800-57.
pub fn keys_of_level(level: Strength) -> Vec<KeySpec> {
    let mut keys: Vec<KeySpec> = Vec::new();
    if let Some((modulus, _)) = Table::nist().takes(level) {
        keys.push(KeySpec::rsa(modulus));
    }
    let mut kinds = std::collections::BTreeSet::from(["rsa", "dsa", "elg", "secp256k1"]);
    for algorithm in Algorithm::all() {
        let key = KeySpec::from(algorithm);
        let strong = key
            .strength(Table::nist())
            .is_some_and(|bits| bits >= level);
        if strong && kinds.insert(algorithm.length().0) {
            keys.push(key);
        }
    }
    keys
}

/// Returns keys of every kind.
pub fn usual_keys() -> Vec<KeySpec> {
    USUAL.iter().filter_map(|word| word.parse().ok()).collect()
}

/// Returns whether every policy in force that speaks of a key permits one of its uses at the date, and one speaks.
pub fn is_permitted(key: KeySpec, policies: &[Policy], date: Date) -> bool {
    let in_force = policies.iter().filter(|policy| policy.is_in_force());
    let statuses = in_force.map(|policy| said_of(policy, key, date));
    let spoken: Vec<Vec<StatusRow>> = statuses.filter(|rows| !rows.is_empty()).collect();
    let permits = |rows: &Vec<StatusRow>| rows.iter().any(|row| row.applying.permits());
    !spoken.is_empty() && spoken.iter().all(permits)
}

fn uses(key: KeySpec) -> impl Iterator<Item = Use> {
    let all = Use::ALL.iter().copied();
    all.filter(move |usage| KeyKind::of(key, *usage).is_some())
}

impl StrengthQuestion {
    /// A row for each key.
    pub fn rows(&self) -> Vec<KeyRow> {
        self.keys.iter().map(|key| self.row(*key)).collect()
    }

    fn row(&self, key: KeySpec) -> KeyRow {
        let strengths = Table::all().iter().filter_map(|table| {
            Some(StrengthBy {
                table: table.id.clone(),
                bits: key.strength(table)?.0,
                verified: table.verified,
            })
        });
        let mut statuses = Vec::new();
        let mut unlisted_by = Vec::new();
        for policy in &self.policies {
            let of_policy = said_of(policy, key, self.date);
            if of_policy.is_empty() {
                unlisted_by.push(policy.id.clone());
            }
            statuses.extend(of_policy);
        }
        KeyRow {
            key: key.to_string(),
            strengths: strengths.collect(),
            date: self.date,
            statuses,
            unlisted_by,
        }
    }
}

/// Returns a row for each use, or one where they are alike; none where the policy does not list the key.
fn said_of(policy: &Policy, key: KeySpec, date: Date) -> Vec<StatusRow> {
    let mut rows: Vec<StatusRow> = Vec::new();
    for usage in uses(key) {
        let verdict = |act| policy.verdict(key, usage, act, date);
        let (applying, processing) = (verdict(Act::Applying), verdict(Act::Processing));
        if applying.rule.is_none() && policy.unlisted == Status::NotListed {
            continue;
        }
        let row = StatusRow {
            policy: policy.id.clone(),
            draft: policy.draft,
            uses: vec![usage],
            applying: applying.status,
            processing: processing.status,
            until: applying.until.map(|(last, _)| last),
            then: applying.until.map(|(_, then)| then),
            rule: applying.rule.map(|rule| rule.id.clone()),
            verified: applying.rule.map(|rule| rule.verified),
            source: applying.rule.map(|rule| rule.source.clone()),
            url: policy.url.clone(),
        };
        let alike = |other: &&mut StatusRow| {
            let facts = |row: &StatusRow| (row.applying, row.processing, row.until, row.then);
            facts(other) == facts(&row)
        };
        match rows.iter_mut().find(alike) {
            Some(other) => other.uses.push(usage),
            None => rows.push(row),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(keys: &[&str], date: &str) -> StrengthQuestion {
        StrengthQuestion {
            keys: keys.iter().map(|key| key.parse().unwrap()).collect(),
            level: None,
            date: date.parse().unwrap(),
            policies: Policy::all().to_vec(),
        }
    }

    #[test]
    fn the_tables_that_disagree_about_p384_are_said() {
        let document = ask(&["nistp384", "rsa3072"], "2026-01-01").document();
        let said = document.answers;
        assert_eq!(
            said[2],
            "Tables disagree about nistp384: 192 by bsi, 192 by nist, 128 by nsa-2015."
        );
        assert!(
            !said
                .iter()
                .any(|text| text.contains("disagree about rsa3072"))
        );
    }

    #[test]
    fn a_day_decides() {
        let standing = |day: &str| {
            let mut question = ask(&["rsa2048"], day);
            question.policies.retain(|policy| policy.body == "nist");
            question.document().answers[1].clone()
        };
        assert!(standing("2030-12-31").contains("permitted on 2030-12-31 by every policy"));
        assert!(
            standing("2031-01-01").contains("by none"),
            "{}",
            standing("2031-01-01")
        );
        let mut bsi = ask(&["rsa3072"], "2035-12-31");
        bsi.policies
            .retain(|policy| policy.id == "bsi-tr-02102-1-2026-01");
        let text = bsi.document().answers[1].clone();
        assert!(text.contains("1-2026-01 (to sign), and not by"), "{text}");
    }

    #[test]
    fn uses_that_differ_stand_apart() {
        let row = &ask(&["rsa3072"], "2033-01-01").rows()[0];
        let bsi = row
            .statuses
            .iter()
            .filter(|one| one.policy == "bsi-tr-02102-1-2026-01");
        let both: Vec<_> = bsi.map(|one| (one.uses(), one.applying.word())).collect();
        assert_eq!(both, [("sign", "allowed"), ("encrypt", "hybrid-only")]);
    }

    #[test]
    fn a_level_takes_the_shortest_key_of_each_kind() {
        let keys = keys_of_level(Strength(128));
        let names: Vec<_> = keys.iter().map(ToString::to_string).collect();
        for expected in ["rsa3072", "nistp256", "ed25519", "mlkem512", "mldsa44"] {
            assert!(
                names.iter().any(|name| name == expected),
                "{expected}: {names:?}"
            );
        }
        assert!(!names.iter().any(|name| name == "nistp384"), "{names:?}");
        let long = keys_of_level(Strength(192));
        assert_eq!(long[0].to_string(), "rsa7680");
    }

    #[test]
    fn what_lasts_is_what_all_permit() {
        let date = "2035-12-31".parse().unwrap();
        let permitted = |word: &str, by: &str| {
            let policies: Vec<_> = by
                .split(',')
                .flat_map(|word| Policy::find(word).unwrap())
                .collect();
            is_permitted(word.parse().unwrap(), &policies, date)
        };
        assert!(!permitted("rsa2048", "nist"));
        assert!(permitted("rsa3072", "nist,bsi,anssi"));
        assert!(permitted("ed448", "nist,bsi"), "BSI does not speak of it");
        // CNSA ends RSA in 2031, and has nothing but what it lists.
        assert!(!permitted("rsa3072", "nist,cnsa") && !permitted("ed448", "cnsa"));
        assert!(!permitted("nistp224", "anssi") && !permitted("mldsa65", "bsi"));
    }
}

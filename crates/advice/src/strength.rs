//! `keymark strength`: keys by every table of strengths, and by every policy at a date.

use jiff::civil::Date;
use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{DeviceName, Provenance};
use keymark_report::answers::{Statement, Topic};
use keymark_report::document::{Block, Column, Document, Narrow, RemarkKind, Section, TableOf};
use serde::Serialize;

use crate::key_spec::KeySpec;
use crate::policy::{Act, Kind, Policy, Status, Use};
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

/// So many keys get a table each.
const FEW: usize = 3;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// In the order in which they were named.
    pub keys: Vec<KeySpec>,
    /// The strength that is wanted.
    pub level: Option<Strength>,
    /// At which date.
    pub date: Date,
    /// By whom.
    pub policies: Vec<Policy>,
}

/// A key with all that is said of it, as JSON has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyRow {
    /// The key.
    pub key: String,
    /// By each table that has it.
    pub strengths: Vec<StrengthBy>,
    /// The date of the statuses.
    pub date: Date,
    /// By each policy that speaks of it.
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
    /// Who read it.
    pub verified: Verified,
}

/// What a policy says of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusRow {
    /// The policy's id.
    pub policy: String,
    /// Whether that is a draft.
    pub draft: bool,
    /// In which uses.
    pub uses: Vec<Use>,
    /// For what is protected anew.
    pub applying: Status,
    /// For what is protected already.
    pub processing: Status,
    /// The last day of the status for applying.
    pub until: Option<Date>,
    /// The status after it.
    pub then: Option<Status>,
    /// The rule; none: the policy refuses what it does not list.
    pub rule: Option<String>,
    /// Who read it.
    pub verified: Option<Verified>,
    /// Where.
    pub source: Option<String>,
    /// The document.
    pub url: String,
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

/// Of every kind some.
pub fn usual_keys() -> Vec<KeySpec> {
    USUAL.iter().filter_map(|word| word.parse().ok()).collect()
}

/// Whether every policy in force that speaks of a key permits one of its uses at the date, and one speaks.
pub fn is_permitted(key: KeySpec, policies: &[Policy], date: Date) -> bool {
    let mut spoken = false;
    for policy in policies.iter().filter(|policy| policy.is_in_force()) {
        let verdicts = uses(key).map(|usage| policy.verdict(key, usage, Act::Applying, date));
        let verdicts: Vec<_> = verdicts.collect();
        if verdicts
            .iter()
            .all(|verdict| verdict.status == Status::NotListed && verdict.rule.is_none())
        {
            continue;
        }
        spoken = true;
        if !verdicts.iter().any(|verdict| verdict.status.permits()) {
            return false;
        }
    }
    spoken
}

fn uses(key: KeySpec) -> impl Iterator<Item = Use> {
    let all = Use::ALL.iter().copied();
    all.filter(move |usage| Kind::of(key, *usage).is_some())
}

impl Question {
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
            let of_policy = self.statuses(policy, key);
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

    /// One of each use, or one where they are alike; none where the policy says nothing of it.
    fn statuses(&self, policy: &Policy, key: KeySpec) -> Vec<StatusRow> {
        let mut rows: Vec<StatusRow> = Vec::new();
        for usage in uses(key) {
            let verdict = |act| policy.verdict(key, usage, act, self.date);
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

    /// For people.
    pub fn document(&self) -> Document {
        let rows = self.rows();
        let mut sections = vec![Section::bare(vec![strengths(&rows)]).first()];
        let many = rows.len() > FEW;
        if many {
            sections.push(self.overview(&rows));
        } else {
            sections.extend(rows.iter().map(|row| self.of_key(row)));
        }
        let legend = "* read in what somebody else says of the document. Processing is to verify and decrypt what exists \
                      already (SP 800-57 part 1, 5.6.3).";
        let legend = Block::remark(RemarkKind::Basis, legend);
        sections.push(Section::bare(vec![legend]).first());
        sections.push(self.sources(&rows));
        let mut answers: Vec<Statement> = self.level.and_then(level).into_iter().collect();
        answers.extend(rows.iter().filter_map(disagreement).take(FEW));
        if !many {
            answers.extend(rows.iter().filter_map(|row| self.standing(row)));
        }
        Document {
            answers,
            ..Document::of(sections)
        }
    }

    /// Which policies in force permit a key, and which do not.
    fn standing(&self, row: &KeyRow) -> Option<Statement> {
        let in_force = row.statuses.iter().filter(|status| !status.draft);
        let (permit, refuse): (Vec<&StatusRow>, Vec<&StatusRow>) =
            in_force.partition(|status| status.applying.permits());
        let names = |rows: &[&StatusRow]| {
            let mut names: Vec<_> = rows.iter().map(|row| row.policy.as_str()).collect();
            names.dedup();
            names.join(", ")
        };
        let (key, date) = (&row.key, self.date);
        let text = match (permit.is_empty(), refuse.is_empty()) {
            (true, true) => return None,
            (false, true) => format!(
                "{key} is permitted at {date} by every policy in force that speaks of it ({}).",
                names(&permit)
            ),
            (true, false) => format!(
                "{key} is permitted at {date} by none of the policies in force that speak of it ({}).",
                names(&refuse)
            ),
            (false, false) => format!(
                "{key} is permitted at {date} by {}, and not by {}.",
                names(&permit),
                names(&refuse)
            ),
        };
        Some(Statement::new(Topic::Choice, text, []))
    }

    /// One status of each policy in force for each key.
    fn overview(&self, rows: &[KeyRow]) -> Section {
        let mut table = TableOf::new(rows, |_| published())
            .column(Column::name("key").narrow(Narrow::Keep), |row| {
                row.key.clone()
            });
        let in_force = self.policies.iter().filter(|policy| policy.is_in_force());
        for (rank, policy) in in_force.enumerate() {
            let rank = u8::MAX - u8::try_from(rank).unwrap_or(u8::MAX);
            table = table.column(Column::name(&policy.body).leave(rank), |row| {
                let mut statuses = row.statuses.iter();
                let found = statuses.find(|status| status.policy == policy.id);
                found.map(|status| format!("{}{}", status.applying, mark(status.verified)))
            });
        }
        let what = "to sign, with keys that only encrypt to do that; name three keys or fewer to see until when";
        let what = Block::remark(RemarkKind::Basis, what);
        let heading = format!("status at {}", self.date);
        Section::headed(heading, vec![Block::Table(table.table()), what]).first()
    }

    fn of_key(&self, row: &KeyRow) -> Section {
        let table = TableOf::new(&row.statuses, |_| published())
            .column(Column::name("policy").narrow(Narrow::Keep), |row| {
                let draft = if row.draft { " (draft)" } else { "" };
                format!("{}{draft}", row.policy)
            })
            .column(Column::name("to").narrow(Narrow::Keep), |row| {
                match row.uses.as_slice() {
                    [Use::Signature] => "sign",
                    [Use::Encryption] => "encrypt",
                    _ => "both",
                }
            })
            .column(Column::name("status").narrow(Narrow::Keep), |row| {
                let processing = if row.applying == row.processing {
                    String::new()
                } else {
                    format!(", processing {}", row.processing)
                };
                format!("{}{processing}{}", row.applying, mark(row.verified))
            })
            .column(Column::name("until").narrow(Narrow::Keep), |row| {
                row.until.map(|day| day.to_string())
            })
            .column(Column::name("then").narrow(Narrow::Keep), |row| {
                row.then.map(Status::word)
            });
        let mut blocks = vec![Block::Table(table.table())];
        if row.statuses.is_empty() {
            blocks.clear();
        }
        if !row.unlisted_by.is_empty() {
            let text = format!("nothing is said of it by {}", row.unlisted_by.join(", "));
            blocks.push(Block::remark(RemarkKind::Basis, text));
        }
        Section::headed(format!("{} at {}", row.key, self.date), blocks).first()
    }

    /// The documents of what is shown, and what to know about them.
    fn sources(&self, rows: &[KeyRow]) -> Section {
        let mut lines = Vec::new();
        for table in Table::all() {
            lines.push(format!("{}: {}; {}", table.id, table.title, table.url));
        }
        for policy in &self.policies {
            let shown = |status: &StatusRow| status.policy == policy.id;
            if rows.iter().any(|row| row.statuses.iter().any(shown)) {
                let note = if policy.note.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", policy.note)
                };
                lines.push(format!(
                    "{}: {}, {}; {}{note}",
                    policy.id, policy.title, policy.version, policy.url
                ));
            }
        }
        let remarks = lines
            .into_iter()
            .map(|line| Block::remark(RemarkKind::Basis, line));
        Section::headed("sources", remarks.collect())
    }
}

/// Rows of documents are of no device.
fn published() -> (DeviceName, Provenance) {
    (DeviceName::new("document"), Provenance::Published)
}

/// What tells that somebody else's words were read.
const fn mark(verified: Option<Verified>) -> &'static str {
    match verified {
        Some(Verified::Secondary) => "*",
        Some(Verified::Primary) | None => "",
    }
}

fn strengths(rows: &[KeyRow]) -> Block {
    let mut table = TableOf::new(rows, |_| published()).column(
        Column::name("bits of security").narrow(Narrow::Keep),
        |row| row.key.clone(),
    );
    for by in Table::all() {
        table = table.column(Column::value(&by.id), |row| {
            let mut strengths = row.strengths.iter();
            strengths.find(|one| one.table == by.id).map(|one| one.bits)
        });
    }
    Block::Table(table.table())
}

/// What a strength takes by each table.
fn level(level: Strength) -> Option<Statement> {
    let takes = Table::all().iter().filter_map(|table| {
        let (modulus, order) = table.takes(level)?;
        Some(format!(
            "RSA of {modulus} bits or a curve of {order} ({})",
            table.id
        ))
    });
    let takes: Vec<String> = takes.collect();
    let text = format!("{level} of security take {}.", takes.join("; "));
    (!takes.is_empty()).then(|| Statement::new(Topic::Choice, text, []))
}

/// Tables that have a key in rows more than 16 bits apart.
fn disagreement(row: &KeyRow) -> Option<Statement> {
    let bits = row.strengths.iter().map(|one| one.bits);
    let (least, most) = (bits.clone().min()?, bits.max()?);
    if most - least <= 16 {
        return None;
    }
    let said = row.strengths.iter();
    let said: Vec<_> = said
        .map(|one| format!("{} by {}", one.bits, one.table))
        .collect();
    let text = format!("Tables disagree about {}: {}.", row.key, said.join(", "));
    Some(Statement::new(Topic::Choice, text, []))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(keys: &[&str], date: &str) -> Question {
        Question {
            keys: keys.iter().map(|key| key.parse().unwrap()).collect(),
            level: None,
            date: date.parse().unwrap(),
            policies: Policy::all().to_vec(),
        }
    }

    #[test]
    fn the_tables_that_disagree_about_p384_are_said() {
        let document = ask(&["nistp384", "rsa3072"], "2026-01-01").document();
        let said: Vec<_> = document
            .answers
            .iter()
            .map(|answer| &*answer.text)
            .collect();
        assert_eq!(
            said[0],
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
            question.document().answers[0].text.clone()
        };
        assert!(standing("2030-12-31").contains("permitted at 2030-12-31 by every policy"));
        assert!(
            standing("2031-01-01").contains("by none"),
            "{}",
            standing("2031-01-01")
        );
        let row = &ask(&["rsa2048"], "2030-12-31").rows()[0];
        let nist = row
            .statuses
            .iter()
            .find(|one| one.policy == "nist-sp800-57pt1r5");
        let nist = nist.unwrap();
        assert_eq!(nist.then, Some(Status::Disallowed));
        assert_eq!(nist.until.unwrap().to_string(), "2030-12-31");
    }

    #[test]
    fn uses_that_differ_stand_apart() {
        let row = &ask(&["rsa3072"], "2033-01-01").rows()[0];
        let mut bsi = row
            .statuses
            .iter()
            .filter(|one| one.policy == "bsi-tr-02102-1-2026-01");
        let both: Vec<_> = bsi
            .by_ref()
            .map(|one| (one.uses.clone(), one.applying))
            .collect();
        assert_eq!(
            both,
            [
                (vec![Use::Signature], Status::Allowed),
                (vec![Use::Encryption], Status::HybridOnly)
            ]
        );
        assert!(
            serde_json::to_string(row)
                .unwrap()
                .contains("\"hybrid-only\"")
        );
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

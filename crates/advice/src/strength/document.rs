//! The answer as a document: strengths, statuses key by key or at a glance, and sources.

use itertools::Itertools;
use keymark_report::verdict::LEAST;
use keymark_report::{Block, Column, Document, Section, TableOf};

use super::{KeyRow, StatusRow, StrengthQuestion};
use crate::policy::Status;
use crate::{Strength, Table, Verified, answered, basis};

/// Most keys with a table each.
const FEW: usize = 3;

impl StrengthQuestion {
    pub fn document(&self) -> Document {
        let rows = self.rows();
        let mut sections = vec![Section::bare(vec![strengths(&rows)]).first()];
        let many = rows.len() > FEW;
        if many {
            sections.push(self.overview(&rows));
        } else {
            sections.extend(rows.iter().map(|row| self.of_key(row)));
        }
        let legend = "* from a secondary source. Processing: to verify and decrypt existing data \
                      (SP 800-57 part 1, 5.6.3).";
        sections.push(Section::bare(vec![basis(legend)]).first());
        sections.push(self.sources(&rows));
        let mut said = verdict(&rows, many);
        said.extend(self.level.and_then(level));
        said.extend(rows.iter().filter_map(disagreement).take(FEW));
        if !many {
            said.extend(rows.iter().filter_map(|row| self.standing(row)));
        }
        answered(said, sections)
    }

    /// Names the policies in force that permit a key, and those that do not.
    fn standing(&self, row: &KeyRow) -> Option<String> {
        let in_force = row.statuses.iter().filter(|status| !status.draft);
        let (permit, refuse): (Vec<&StatusRow>, Vec<&StatusRow>) =
            in_force.partition(|status| status.applying.permits());
        // A policy may permit one use and not the other.
        let name = |row: &&StatusRow| match row.uses() {
            usage if usage != "both" && !permit.is_empty() && !refuse.is_empty() => {
                format!("{} (to {usage})", row.policy)
            }
            _ => row.policy.clone(),
        };
        let names = |rows: &[&StatusRow]| rows.iter().map(name).dedup().join(", ");
        let (key, date) = (&row.key, self.date);
        Some(match (permit.is_empty(), refuse.is_empty()) {
            (true, true) => return None,
            (false, true) => format!(
                "{key} is permitted on {date} by every policy in force that speaks of it ({}).",
                names(&permit)
            ),
            (true, false) => format!(
                "{key} is permitted on {date} by none of the policies in force that speak of it ({}).",
                names(&refuse)
            ),
            (false, false) => format!(
                "{key} is permitted on {date} by {}, and not by {}.",
                names(&permit),
                names(&refuse)
            ),
        })
    }

    /// A table with the status of each policy in force for each key.
    fn overview(&self, rows: &[KeyRow]) -> Section {
        let mut table = TableOf::new(rows).label("key", |row| row.key.clone());
        let in_force = self.policies.iter().filter(|policy| policy.is_in_force());
        for (rank, policy) in in_force.enumerate() {
            let rank = u8::MAX - u8::try_from(rank).unwrap_or(u8::MAX);
            table = table.column(Column::name(&policy.body).leave(rank), |row| {
                let found = row
                    .statuses
                    .iter()
                    .find(|status| status.policy == policy.id);
                found.map(|status| format!("{}{}", status.applying, mark(status.verified)))
            });
        }
        let what = "Signing (encryption-only keys: encrypting). Name up to 3 keys for end dates";
        let heading = format!("status at {}", self.date);
        Section::headed(heading, vec![Block::Table(table.table()), basis(what)]).first()
    }

    fn of_key(&self, row: &KeyRow) -> Section {
        let table = TableOf::new(&row.statuses)
            .label("policy", |row| {
                let draft = if row.draft { " (draft)" } else { "" };
                format!("{}{draft}", row.policy)
            })
            .label("to", |row| row.uses())
            .label("status", |row| {
                let processing = if row.applying == row.processing {
                    String::new()
                } else {
                    format!(", processing {}", row.processing)
                };
                format!("{}{processing}{}", row.applying, mark(row.verified))
            })
            .label("until", |row| row.until.map(|day| day.to_string()))
            .label("then", |row| row.then.map(Status::word));
        let mut blocks = vec![Block::Table(table.table())];
        if row.statuses.is_empty() {
            blocks.clear();
        }
        if !row.unlisted_by.is_empty() {
            let text = format!("not listed by {}", row.unlisted_by.join(", "));
            blocks.push(basis(text));
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
        Section::headed("sources", lines.into_iter().map(basis).collect())
    }
}

/// Says which keys are strong and which are not, of a few keys also until when.
fn verdict(rows: &[KeyRow], many: bool) -> Vec<String> {
    let bits = |row: &KeyRow| {
        let bits = row.strengths.iter().map(|by| by.bits);
        bits.minmax().into_option()
    };
    if !many {
        let said = rows.iter().filter_map(|row| {
            let bits = match bits(row)? {
                (least, most) if least == most => format!("{least} bits"),
                (least, most) => format!("{least} to {most} bits"),
            };
            let permit = row
                .statuses
                .iter()
                .filter(|status| !status.draft && status.applying.permits());
            let ends = permit.filter_map(|status| status.until).minmax();
            let until = match ends.into_option() {
                None => String::new(),
                Some((first, last)) if first == last => {
                    format!("; the first policy ends it on {first}")
                }
                Some((first, last)) => {
                    format!("; policies end it from {first} to {last}")
                }
            };
            let strong = match bits_are_enough(row) {
                true => "strong",
                false => "below 128 bits by some table",
            };
            Some(format!("{} is {strong} ({bits}){until}.", row.key))
        });
        return said.collect();
    }
    let known: Vec<&KeyRow> = rows.iter().filter(|row| bits(row).is_some()).collect();
    let (strong, weak): (Vec<&KeyRow>, Vec<&KeyRow>) =
        known.into_iter().partition(|row| bits_are_enough(row));
    let strong = strong.iter().map(|row| row.key.as_str()).join(", ");
    let weak = weak.iter().filter_map(|row| {
        let (least, _) = bits(row)?;
        Some(format!("{} ({least})", row.key))
    });
    let weak: Vec<String> = weak.collect();
    let parts = [
        (!strong.is_empty()).then(|| format!("128 bits or more by every table: {strong}.")),
        (!weak.is_empty()).then(|| format!("Less by some table: {}.", weak.join(", "))),
    ];
    let text = parts.into_iter().flatten().join(" ");
    Vec::from_iter((!text.is_empty()).then_some(text))
}

fn bits_are_enough(row: &KeyRow) -> bool {
    row.strengths.iter().all(|by| by.bits >= LEAST.0)
}

/// Mark of a secondary source.
const fn mark(verified: Option<Verified>) -> &'static str {
    match verified {
        Some(Verified::Secondary) => "*",
        Some(Verified::Primary) | None => "",
    }
}

fn strengths(rows: &[KeyRow]) -> Block {
    let mut table = TableOf::new(rows).label("bits of security", |row| row.key.clone());
    for by in Table::all() {
        table = table.value(&by.id, |row| {
            row.strengths
                .iter()
                .find(|one| one.table == by.id)
                .map(|one| one.bits)
        });
    }
    Block::Table(table.table())
}

/// Returns the keys of a strength by each table.
fn level(level: Strength) -> Option<String> {
    let takes = Table::all().iter().filter_map(|table| {
        let (modulus, order) = table.takes(level)?;
        Some(format!(
            "RSA of {modulus} bits or a curve of {order} ({})",
            table.id
        ))
    });
    let takes: Vec<String> = takes.collect();
    (!takes.is_empty()).then(|| format!("{level} security takes {}.", takes.join("; ")))
}

/// Tables that have a key in rows more than 16 bits apart.
fn disagreement(row: &KeyRow) -> Option<String> {
    let bits = row.strengths.iter().map(|one| one.bits);
    let (least, most) = (bits.clone().min()?, bits.max()?);
    if most - least <= 16 {
        return None;
    }
    let said = row
        .strengths
        .iter()
        .map(|one| format!("{} by {}", one.bits, one.table));
    Some(format!(
        "Tables disagree about {}: {}.",
        row.key,
        said.format(", ")
    ))
}

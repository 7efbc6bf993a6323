//! What a run recommends or finds, as data: fields by one rule for each kind of run, put into words in one place.
//!
//! Security comes first, then time: of the keys with at least [`LEAST`] bits of strength the fastest is recommended.
//! Among keys whose difference the intervals do not show, the strongest is. A weaker key is never recommended.

mod devices;
mod keys;
#[cfg(test)]
mod tests;
mod words;

use keymark_bench::{
    Algorithm, CaseId, DeviceName, Operation, Provenance, Record, RunState, Strength,
};
use keymark_stats::{Estimate, Ratio, Seconds};
use serde::Serialize;

use crate::analysis::{Analysis, Row};

/// Strength in bits that a recommended key has at least (NIST SP 800-57 part 1 rev. 5, table 4: acceptable beyond 2030).
pub const LEAST: Strength = Strength(128);
/// Sentences of reasons, at most.
pub(crate) const REASONS: usize = 2;

/// A run's verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The finding, one for each use of a key or one for the run.
    pub finding: Finding,
    /// How far the figures can be trusted.
    pub certainty: Certainty,
    /// Commands that lead on.
    pub next: Vec<String>,
}

/// What was found, by kind of run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// Several keys were measured through the same program: which to use.
    Keys {
        /// A choice for each use, in the order in which readers care for them.
        choices: Vec<KeyChoice>,
    },
    /// One key was measured on several devices: which is the fastest.
    Devices {
        /// A ranking for each operation with a key.
        rankings: Vec<DeviceRanking>,
    },
    /// One operation was measured.
    Single {
        /// Its time.
        evidence: Evidence,
        /// Its program, as people call it.
        program: String,
        /// Its device.
        device: DeviceName,
    },
}

/// Use of a key, in the order in which readers care for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyUsage {
    /// Signing and decrypting with gpg, the key in the clear.
    Gnupg,
    /// Signing and decrypting with gpg, the passphrase in gpg-agent's cache.
    GnupgCached,
    /// Signing a login by an SSH agent.
    SshLogin,
    /// Signing the handshakes of a TLS server.
    TlsServer,
    /// Signing and decapsulating by algorithms that a quantum computer does not break.
    PostQuantum,
}

/// The key to use for one operation of a [`KeyUsage`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyChoice {
    /// The use.
    pub usage: KeyUsage,
    /// The operation.
    pub operation: Operation,
    /// The recommended key; none where all are weaker than [`LEAST`] or too uncertain.
    pub chosen: Option<Evidence>,
    /// Other strong keys whose time does not differ from it by their intervals.
    pub alike: Vec<Evidence>,
    /// Slower keys, with the quotient of their mean and the recommended key's.
    pub slower: Vec<SlowerKey>,
    /// Keys weaker than [`LEAST`], whatever their time.
    pub weak: Vec<Evidence>,
}

/// A key that costs more than the recommended one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowerKey {
    /// Its figure.
    pub evidence: Evidence,
    /// Its mean over the recommended key's, between the quotients of the intervals' ends.
    pub times: Estimate<Ratio>,
}

/// A mean time and the row that has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// The key.
    pub algorithm: Algorithm,
    /// The operation.
    pub operation: Operation,
    /// Mean time of an operation in seconds, with its 95 % interval.
    pub mean: Estimate<Seconds>,
    /// The case.
    pub row: CaseId,
}

/// Devices for one key, from the fastest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceRanking {
    /// The key.
    pub algorithm: Algorithm,
    /// The operation.
    pub operation: Operation,
    /// Each device with its mean.
    pub devices: Vec<RankedDevice>,
}

/// A device of a ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedDevice {
    /// Its name.
    pub device: DeviceName,
    /// Provenance of its figure.
    pub provenance: Provenance,
    /// Its figure.
    pub evidence: Evidence,
}

/// How far figures can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Certainty {
    /// Figures that were measured on their device.
    pub measured: usize,
    /// Figures of virtual cards, twins and models.
    pub simulated: usize,
    /// Cases that failed.
    pub failed: usize,
    /// Figures without an interval.
    pub without_interval: usize,
    /// Half width of the median figure's interval, in tenths of a per cent of its mean.
    pub typical_permille: Option<u32>,
    /// Half width of the widest interval, in tenths of a per cent of its mean.
    pub worst_permille: Option<u32>,
}

impl Verdict {
    /// Finds a run's verdict; none for an article's figures and for a kind of run without a rule.
    pub fn of(analysis: &Analysis, record: &Record) -> Option<Self> {
        if record.state == RunState::Published {
            return None;
        }
        let finding = devices::rankings(analysis)
            .or_else(|| keys::choices(analysis))
            .or_else(|| single(analysis))?;
        Some(Self {
            finding,
            certainty: Certainty::of(&analysis.rows),
            next: next(record),
        })
    }

    /// Returns the fields for programs: those of the verdict, and the key of the first use by operation (`sign`,
    /// `decrypt`).
    pub fn fields(&self) -> serde_json::Value {
        let mut fields = serde_json::to_value(self).unwrap_or_default();
        if let (Finding::Keys { choices }, Some(object)) = (&self.finding, fields.as_object_mut()) {
            let chosen = || choices.iter().filter(|choice| choice.chosen.is_some());
            let first = chosen().next().map(|choice| choice.usage);
            for choice in chosen().filter(|choice| Some(choice.usage) == first) {
                let key = choice.chosen.iter().map(|key| key.algorithm.to_string());
                object.insert(choice.operation.to_string(), key.collect::<String>().into());
            }
        }
        fields
    }
}

/// The only operation of a run.
fn single(analysis: &Analysis) -> Option<Finding> {
    let [row] = analysis.rows.as_slice() else {
        return None;
    };
    Some(Finding::Single {
        evidence: Evidence::of(row)?,
        program: words::program(&row.case),
        device: row.case.device.clone(),
    })
}

fn next(record: &Record) -> Vec<String> {
    let id = &record.id;
    vec![
        format!("keymark show {id} --long"),
        format!("keymark export {id} -o run.html"),
    ]
}

impl Evidence {
    /// The figure of a case that one worker measured, if it has one and did not fail.
    fn of(row: &Row) -> Option<Self> {
        let mean = row.bounds().filter(|_| row.failure.is_none())?;
        Some(Self {
            algorithm: row.case.algorithm,
            operation: row.case.operation,
            mean,
            row: row.id,
        })
    }

    fn strength(&self) -> Option<Strength> {
        keymark_bench::strength::of_key(self.algorithm)
    }
}

impl Certainty {
    fn of(rows: &[Row]) -> Self {
        let mut widths: Vec<Option<f64>> = rows.iter().filter_map(Row::doubt).collect();
        let without_interval = widths.iter().filter(|width| width.is_none()).count();
        widths.retain(Option::is_some);
        let permille = |width: f64| (width * 1000.0).ceil().min(f64::from(u32::MAX)) as u32;
        let mut known: Vec<u32> = widths.into_iter().flatten().map(permille).collect();
        known.sort_unstable();
        let of_a_figure = |row: &&Row| row.mean().is_some() && row.failure.is_none();
        let figures = || rows.iter().filter(of_a_figure);
        let is_measured = |row: &&Row| row.case.provenance == Provenance::Measured;
        let measured = figures().filter(is_measured).count();
        Self {
            measured,
            simulated: figures().count() - measured,
            failed: rows.iter().filter(|row| row.failure.is_some()).count(),
            without_interval,
            typical_permille: known.get(known.len() / 2).copied(),
            worst_permille: known.last().copied(),
        }
    }
}

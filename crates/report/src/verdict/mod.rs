//! Findings of a run as data: one rule for each kind of run in a file of its own, put into words in one place (`words`).
//!
//! Security comes first, then time: of the keys with at least [`LEAST`] bits of strength the fastest is recommended.
//! Among keys whose difference the intervals do not show, the strongest is. A weaker key is never recommended.

mod changes;
mod commits;
mod devices;
mod evidence;
mod keys;
mod layers;
mod servers;
#[cfg(test)]
mod tests;
mod waiting;
mod words;
mod workers;

use itertools::Itertools;
use keymark_bench::{CaseId, Provenance, Record, RunState, Strength};
use serde::Serialize;

use crate::analysis::{Analysis, Row};
use crate::compare::{Caution, Comparison};

pub use changes::{CaseChange, SideChanges, SlowestMachine};
pub use devices::{BaselineRatio, DeviceRanking, ProgramRanking, PublishedComparison};
pub(crate) use evidence::is_commit;
pub use evidence::{Evidence, RateEvidence};
pub use keys::{KeyChoice, KeyUsage, SlowerKey};
pub use layers::KeyShare;
pub use servers::{Knee, RelativeGain, ResumptionLimit};
pub use waiting::{PredictedKey, PredictedPart, SlowCase};
pub use words::UsageLine;
pub(crate) use words::{listed, program};
pub use workers::WorkerGain;

/// Strength in bits that a recommended key has at least (NIST SP 800-57 part 1 rev. 5, table 4: acceptable beyond 2030).
pub const LEAST: Strength = Strength(128);
/// Sentences of reasons on a screen, at most.
pub(crate) const REASONS: usize = 2;

/// A verdict on a run or on a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The main finding: what to do, or what is so.
    pub finding: Finding,
    /// Further findings, the most important first.
    pub because: Vec<Finding>,
    /// How far the figures can be trusted; none of a comparison, whose findings say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
    /// Commands that lead on.
    pub next: Vec<String>,
}

/// A finding by one rule, with its figures and their rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// Several keys through the same program: which to use.
    Keys {
        /// A choice for each use, in the order in which readers care for them.
        choices: Vec<KeyChoice>,
    },
    /// One key on several devices: which is the fastest.
    Devices {
        /// A ranking for each operation with a key.
        rankings: Vec<DeviceRanking>,
    },
    /// Commits signed with several keys or programs: the cost of a rebase.
    Commits {
        /// Number of commits that are replayed.
        rebase: u32,
        /// The recommended key of this computer with at least [`LEAST`] bits of strength; none without any or if all are too
        /// uncertain.
        chosen: Option<Evidence>,
        /// Time of a commit without a signature.
        unsigned: Option<Evidence>,
        /// Times of a commit, the fastest first.
        signed: Vec<Evidence>,
    },
    /// One operation was measured.
    Single {
        /// Its time.
        evidence: Evidence,
    },
    /// One key for each operation through several programs.
    Programs {
        /// A ranking for each operation.
        rankings: Vec<ProgramRanking>,
    },
    /// Several operations that no other rule compares.
    Cases {
        /// Number of cases with a figure.
        cases: usize,
        /// The fastest.
        fastest: Evidence,
        /// The slowest.
        slowest: Evidence,
    },
    /// No case has a figure.
    Nothing {
        /// Number of cases.
        cases: usize,
        /// Cases that failed.
        failed: Vec<CaseId>,
    },
    /// Share of the private key in the time of a whole program.
    KeyShares {
        /// The program, as people call it.
        program: &'static str,
        /// Keys that take less than a tenth of the time for certain.
        hidden: Vec<KeyShare>,
        /// Keys that take more than half for certain.
        dominant: Vec<KeyShare>,
        /// Keys between; only where there is no other.
        between: Vec<KeyShare>,
    },
    /// Gain by several workers, and what is full.
    Workers {
        /// A gain for each key and program.
        gains: Vec<WorkerGain>,
    },
    /// Rates of a server or a service that signs, by key.
    Rates {
        /// The server or service.
        program: String,
        /// Its settings, in words.
        settings: String,
        /// Noun of its transactions: `handshakes`.
        makes: &'static str,
        /// Rate per second that was asked of it; none if clients asked as often as they could.
        asked: Option<f64>,
        /// Best rate first.
        rates: Vec<RateEvidence>,
    },
    /// Change of a server's rate by a key exchange, more servers or another certificate.
    Relative {
        /// A gain for each pair of cases.
        gains: Vec<RelativeGain>,
    },
    /// Shares of resumed sessions from which on keys no longer matter to a server.
    Resumption {
        /// Limits of each key, the highest share first.
        limits: Vec<ResumptionLimit>,
    },
    /// Number of users at which servers are full.
    Saturation {
        /// One for each server with a key.
        knees: Vec<Knee>,
    },
    /// Share of the private key in a server's processor time.
    ProcessorShares {
        /// Key, share and row, the largest share first.
        shares: Vec<(keymark_bench::Algorithm, keymark_stats::Ratio, CaseId)>,
    },
    /// Predicted times on microcontrollers.
    Predictions {
        /// Time in seconds that users tolerate.
        tolerated: keymark_stats::Seconds,
        /// A prediction for each key.
        keys: Vec<PredictedKey>,
    },
    /// Operations slower than users tolerate.
    TooSlow {
        /// Time in seconds that users tolerate.
        tolerated: keymark_stats::Seconds,
        /// Cases, the slowest first, one for each key of a device.
        cases: Vec<SlowCase>,
    },
    /// More operations arrive than are served.
    Overloaded {
        /// Arrivals over capacity, of the first case.
        utilization: keymark_stats::Ratio,
        /// Cases whose queue grows.
        cases: Vec<(String, CaseId)>,
    },
    /// Cost of a cached passphrase.
    Passphrase {
        /// Keys with a passphrase, and the same without.
        pairs: Vec<[Evidence; 2]>,
        /// Fastest published decryption by a keycard of 2017 in seconds, if it is faster.
        keycard: Option<keymark_stats::Seconds>,
    },
    /// Two libraries of which one is many times slower.
    Libraries {
        /// The slower one.
        slow: Evidence,
        /// The faster one.
        fast: Evidence,
    },
    /// Programs or libraries compared with the baseline that the user named.
    AgainstBaseline {
        /// The baseline's program, as people call it.
        baseline: String,
        /// A ratio for each key, the most different first.
        ratios: Vec<BaselineRatio>,
    },
    /// A device compared with its published figure.
    Published {
        /// Both times.
        comparison: PublishedComparison,
    },
    /// Changes between runs; rows are places of pairs.
    Changes {
        /// The changes of each side.
        sides: Vec<SideChanges>,
    },
    /// The slowest machine for each operation; rows are places of pairs.
    SlowestMachines {
        /// One for each operation.
        machines: Vec<SlowestMachine>,
    },
}

/// How far figures can be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Certainty {
    /// Conditions of the machine that make its figures mislead.
    pub cautions: Vec<Caution>,
    /// Figures that were measured on their device.
    pub measured: usize,
    /// Figures of virtual cards, twins and models.
    pub simulated: usize,
    /// Figures of articles.
    pub published: usize,
    /// Cases that failed.
    pub failed: usize,
    /// Figures without an interval.
    pub without_interval: usize,
    /// Half width of the median figure's interval, in tenths of a per cent of its mean.
    pub typical_permille: Option<u32>,
    /// Half width of the widest interval, in tenths of a per cent of its mean.
    pub worst_permille: Option<u32>,
    /// True if the run ended early.
    pub early: bool,
}

impl Verdict {
    /// Finds a run's verdict.
    pub fn of(analysis: &Analysis, record: &Record) -> Self {
        let mut findings = findings(analysis, record).into_iter();
        let finding = findings
            .next()
            .or_else(|| devices::programs(analysis))
            .or_else(|| cases(analysis))
            .unwrap_or_else(|| nothing(&analysis.rows));
        Self {
            finding,
            because: findings.collect(),
            certainty: Some(Certainty::of(&analysis.rows, record)),
            next: next(record),
        }
    }

    /// Finds a comparison's verdict.
    pub fn of_comparison(comparison: &Comparison) -> Option<Self> {
        Some(Self {
            finding: changes::finding(comparison)?,
            because: Vec::new(),
            certainty: None,
            next: Vec::new(),
        })
    }

    /// Returns all findings, the main one first.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&self.finding).chain(&self.because)
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

/// Returns what the rules find, the most important first.
fn findings(analysis: &Analysis, record: &Record) -> Vec<Finding> {
    let main = [
        waiting::overloaded(analysis),
        servers::rates(analysis),
        commits::commits(analysis),
        devices::against_baseline(analysis, record),
        devices::rankings(analysis),
        keys::choices(analysis),
        waiting::predictions(analysis, record),
    ];
    let mut main = main.into_iter().flatten();
    let only = (analysis.rows.len() == 1).then(|| single(analysis));
    let first = main.next().or_else(|| only.flatten());
    let others = [
        devices::published(analysis, record),
        waiting::too_slow(analysis, record),
        layers::key_shares(analysis),
        workers::workers(analysis),
        servers::resumption(analysis),
        servers::relative(analysis),
        servers::processor_shares(analysis),
        servers::saturation(analysis),
        waiting::passphrase(analysis),
        devices::libraries(analysis),
    ];
    // A ranking of devices has the keys, and who compares programs does not choose among keys.
    let ranked = matches!(
        first,
        Some(Finding::Devices { .. } | Finding::AgainstBaseline { .. })
    );
    first
        .into_iter()
        .chain(others.into_iter().flatten())
        .chain(main.filter(|finding| !(ranked && matches!(finding, Finding::Keys { .. }))))
        .collect()
}

/// The only operation of a run.
fn single(analysis: &Analysis) -> Option<Finding> {
    let [row] = analysis.rows.as_slice() else {
        return None;
    };
    let evidence = Evidence::of(row)?;
    Some(Finding::Single { evidence })
}

fn cases(analysis: &Analysis) -> Option<Finding> {
    let mut all: Vec<Evidence> = analysis.rows.iter().filter_map(Evidence::of).collect();
    all.sort_by(Evidence::by_mean);
    Some(Finding::Cases {
        cases: all.len(),
        fastest: all.first()?.clone(),
        slowest: all.last()?.clone(),
    })
}

fn nothing(rows: &[Row]) -> Finding {
    let failed = rows.iter().filter(|row| row.failure.is_some());
    Finding::Nothing {
        cases: rows.len(),
        failed: failed.map(|row| row.id).collect(),
    }
}

fn next(record: &Record) -> Vec<String> {
    let id = &record.id;
    vec![
        format!("keymark show {id} --long"),
        format!("keymark export {id} -o run.html"),
    ]
}

impl Certainty {
    fn of(rows: &[Row], record: &Record) -> Self {
        let widths: Vec<Option<f64>> = rows.iter().filter_map(Row::doubt).collect();
        let permille = |width: &f64| (width * 1000.0).ceil().min(f64::from(u32::MAX)) as u32;
        let known: Vec<u32> = { widths.iter().flatten().map(permille) }.sorted().collect();
        let has_figure = |row: &&Row| {
            row.failure.is_none() && (row.mean().is_some() || row.throughput.is_some())
        };
        let figures = || rows.iter().filter(has_figure);
        let of = |kind| figures().filter(|row| row.case.provenance == kind).count();
        let simulated = [Provenance::Virtual, Provenance::Twin, Provenance::Predicted];
        Self {
            cautions: Caution::of(&record.environment),
            measured: of(Provenance::Measured),
            simulated: simulated.into_iter().map(of).sum(),
            published: of(Provenance::Published),
            failed: rows.iter().filter(|row| row.failure.is_some()).count(),
            without_interval: widths.len() - known.len(),
            typical_permille: known.get(known.len() / 2).copied(),
            worst_permille: known.last().copied(),
            early: matches!(record.state, RunState::Interrupted | RunState::Unfinished),
        }
    }
}

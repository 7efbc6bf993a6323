//! Servers and services under load: rates by key, and what another key exchange or a second certificate changes.

use itertools::Itertools;
use keymark_bench::{Algorithm, Case, CaseId, USUAL};
use keymark_stats::{Estimate, PerSecond, Ratio, Seconds};
use serde::Serialize;

use super::evidence::{ALIKE, place};
use super::layers::HIDDEN;
use super::{Finding, RateEvidence};
use crate::analysis::{Analysis, Row};
use crate::{grouped, non_empty};

/// Number of users at which a server is full.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knee {
    /// The key.
    pub algorithm: Algorithm,
    /// The fewest users that reach nearly the best rate.
    pub users: u32,
    /// Highest rate per second of arrivals within the limit of response time.
    pub within_limit: Option<PerSecond>,
    /// The case.
    pub row: CaseId,
}

/// Rate of a case over that of the one that differs in one thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RelativeGain {
    /// The key.
    pub algorithm: Algorithm,
    /// Words that only the case has: `dhe-2048`.
    pub own: String,
    /// Words that only the other one has.
    pub other: String,
    /// The quotient of their rates.
    pub gain: Estimate<Ratio>,
    /// The case and the other one.
    pub rows: [CaseId; 2],
}

/// Dimension of the share of resumed sessions.
const RESUMED: &str = "resumed-percent";
/// Least distance of two shares by which processor times of full and resumed handshakes are told.
const APART: f64 = 0.1;

/// Share of resumed sessions from which on a key no longer matters to a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ResumptionLimit {
    /// The key.
    pub algorithm: Algorithm,
    /// Time of the key's operation alone in seconds.
    pub key: Seconds,
    /// Processor time of the server in seconds for a transaction with a full handshake.
    pub full: Seconds,
    /// Processor time of the server in seconds for a transaction with a resumed session.
    pub resumed: Seconds,
    /// Least share of resumed sessions at which the key takes less than a tenth of the processor time.
    pub from: Ratio,
    /// Cases with the lowest and the highest share.
    pub rows: [CaseId; 2],
}

fn rated(analysis: &Analysis) -> impl Iterator<Item = (&Row, RateEvidence)> {
    analysis
        .rows
        .iter()
        .filter_map(|row| Some((row, RateEvidence::of(row)?)))
}

/// Rates of one server with the same settings and load, by key; of several groups the largest, and the fastest.
pub(super) fn rates(analysis: &Analysis) -> Option<Finding> {
    let groups = grouped(rated(analysis), |(row, _)| {
        (place(&row.case), row.case.load)
    });
    let best = |group: &[(&Row, RateEvidence)]| {
        let rates = group.iter().map(|(_, rate)| rate.rate.value.0);
        rates.fold(0.0, f64::max)
    };
    let (_, mut group) = groups
        .into_iter()
        .max_by(|(_, a), (_, b)| a.len().cmp(&b.len()).then(best(a).total_cmp(&best(b))))?;
    group.sort_by(|(_, a), (_, b)| b.rate.value.0.total_cmp(&a.rate.value.0));
    let row = group.first()?.0;
    let case = &row.case;
    let way = case.way();
    Some(Finding::Rates {
        program: case.stack.to_string(),
        settings: way.trim_start_matches(case.stack.word()).trim().to_owned(),
        makes: match row.is_service() {
            true => row.makes(),
            false => "handshakes",
        },
        asked: case.load.pacing.rate().map(|rate| rate.per_second()),
        rates: group.into_iter().map(|(_, rate)| rate).collect(),
    })
}

/// Gains by a key exchange, more servers or another certificate that the intervals decide.
pub(super) fn relative(analysis: &Analysis) -> Option<Finding> {
    let all = analysis.rates.iter().flat_map(|rates| &rates.relative);
    let gains = all.filter(|rate| rate.case != rate.beside);
    let gains = gains.filter_map(|rate| {
        let row = analysis.rows.get(rate.case)?;
        let other = analysis.rows.get(rate.beside)?;
        let (low, high) = (rate.gain.low?.0, rate.gain.high?.0);
        let is_decided = low > 1.0 || high < 1.0 || rate.gain.is_within(ALIKE);
        is_decided.then(|| RelativeGain {
            algorithm: row.case.algorithm,
            own: besides(&row.case, &other.case),
            other: besides(&other.case, &row.case),
            gain: rate.gain,
            rows: [row.id, other.id],
        })
    });
    Some(Finding::Relative {
        gains: non_empty(gains)?,
    })
}

/// Returns the words that only one of two cases has.
fn besides(case: &Case, other: &Case) -> String {
    let mut words = case
        .parameters
        .pairs()
        .filter(|(name, word)| other.parameters.get(name) != Some(*word))
        .map(|(name, word)| match name {
            "second-certificate" => format!("a second certificate ({word})"),
            RESUMED => format!("resuming {word} % of the sessions"),
            "servers" => format!("{word} servers"),
            _ => word.to_owned(),
        })
        .peekable();
    if words.peek().is_some() {
        return words.join(" ");
    }
    let has = |name| other.parameters.get(name).is_some();
    let alone = match (has("servers"), has(RESUMED)) {
        (true, _) => "one server",
        (false, true) => "full handshakes alone",
        (false, false) => "one certificate",
    };
    alone.to_owned()
}

/// Largest share of each key in the processor time of a server.
pub(super) fn processor_shares(analysis: &Analysis) -> Option<Finding> {
    let shares = rated(analysis).filter_map(|(row, _)| {
        let share = row.under_load?.spent?.of_processor?;
        Some((row.case.algorithm, share, row.id))
    });
    let largest = shares
        .sorted_by(|a, b| b.1.0.total_cmp(&a.1.0))
        .unique_by(|(algorithm, ..)| *algorithm);
    Some(Finding::ProcessorShares {
        shares: non_empty(largest)?,
    })
}

/// A load of a key in a file: its row, the share of resumed sessions, the processor time of a transaction, and the time of the
/// key's operation.
type LoadCost<'a> = (&'a Row, Ratio, Seconds, Seconds);

/// Shares of resumed sessions from which on the keys of servers no longer matter, the highest first.
pub(super) fn resumption(analysis: &Analysis) -> Option<Finding> {
    let costs = rated(analysis).filter_map(|(row, _)| {
        let load = row.under_load.as_ref()?;
        let spent = load.spent.filter(|spent| spent.of_processor.is_some())?;
        Some((row, load.resumed, load.server_cpu_each()?, spent.alone?))
    });
    let groups = grouped(costs, |(row, ..)| {
        let case = &row.case;
        let others = case.parameters.clone().replaced(RESUMED, USUAL);
        (case.algorithm, &case.device, case.stack, others, case.load)
    });
    let limits = groups
        .iter()
        .filter_map(|(_, costs)| limit(costs))
        .sorted_by(|a, b| b.from.0.total_cmp(&a.from.0))
        .unique_by(|limit| limit.algorithm);
    Some(Finding::Resumption {
        limits: non_empty(limits)?,
    })
}

/// Separates full handshakes from resumed ones by the loads with the fewest and the most resumed sessions: the mean cost is linear
/// in the share.
fn limit(costs: &[LoadCost<'_>]) -> Option<ResumptionLimit> {
    let ends = costs.iter().minmax_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let ((first, fewest, dear, key), (last, most, cheap, _)) = ends.into_option()?;
    let saved = (dear.0 - cheap.0) / (most.0 - fewest.0);
    let full = dear.0 + saved * fewest.0;
    let resumed = full - saved;
    let excess = (key.0 - HIDDEN * full).max(0.0);
    (most.0 - fewest.0 >= APART && full > 0.0 && resumed > 0.0).then(|| ResumptionLimit {
        algorithm: first.case.algorithm,
        key: *key,
        full: Seconds(full),
        resumed: Seconds(resumed),
        from: Ratio(excess / (excess + HIDDEN * resumed)),
        rows: [first.id, last.id],
    })
}

/// Number of users at which servers are full.
pub(super) fn saturation(analysis: &Analysis) -> Option<Finding> {
    // The search has found them, however wide the interval of the rate is.
    let knees = analysis.rows.iter().filter_map(|row| {
        let found = row.under_load.as_ref()?.saturated?;
        Some(Knee {
            algorithm: row.case.algorithm,
            users: found.knee_users,
            within_limit: found.within_limit,
            row: row.id,
        })
    });
    Some(Finding::Saturation {
        knees: non_empty(knees)?,
    })
}

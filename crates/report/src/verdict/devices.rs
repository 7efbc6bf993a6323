//! One key on several devices or in several libraries.

use itertools::Itertools;
use keymark_bench::{
    Algorithm, Baseline, Case, Operation, Provenance, Record, StackName, StoreKind, USUAL,
};
use keymark_records::published::{PublishedRow, PublishedTable};
use keymark_stats::{Estimate, Ratio, Seconds};
use serde::Serialize;

use super::evidence::{alone, is_commit};
use super::{Evidence, Finding};
use crate::analysis::{Analysis, Row};
use crate::site::Identified;
use crate::{grouped, non_empty};

/// Surprising ratio of two libraries' times.
const MANY: f64 = 2.0;
/// Ratio to a published time that another computer does not explain.
const SLOWER: f64 = 1.2;

/// Devices for one key, from the fastest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceRanking {
    /// The key.
    pub algorithm: Algorithm,
    /// The operation.
    pub operation: Operation,
    /// Mean on each device.
    pub devices: Vec<Evidence>,
}

/// A ranking for each operation with a key that several devices did through the same program, if any device is not this
/// CPU.
pub(super) fn rankings(analysis: &Analysis) -> Option<Finding> {
    let rows = analysis.rows.iter().filter(|row| is_of_device(row));
    let groups = grouped(rows, |row| (row.case.capability(), row.case.stack));
    let rankings = groups.into_iter().filter_map(|((capability, _), rows)| {
        let known = rows.into_iter().filter_map(Evidence::of);
        let devices = known.sorted_by(Evidence::by_mean);
        let devices: Vec<_> = devices.unique_by(|ranked| ranked.device.clone()).collect();
        (devices.len() > 1).then_some(DeviceRanking {
            algorithm: capability.algorithm,
            operation: capability.operation,
            devices,
        })
    });
    let rankings = non_empty(rankings)?;
    let elsewhere = |row: &Row| is_of_device(row) && row.case.store != StoreKind::SOFTWARE;
    analysis
        .rows
        .iter()
        .any(elsewhere)
        .then_some(Finding::Devices { rankings })
}

/// Returns whether a row has a device's own time. A virtual card or soft token is this CPU under another name, and
/// predictions have a rule of their own.
fn is_of_device(row: &Row) -> bool {
    row.case.is_alone()
        && row.under_load.is_none()
        && !is_commit(&row.case)
        && row.case.parameters.get("protection") != Some("cached")
        && !matches!(
            row.case.provenance,
            Provenance::Virtual | Provenance::Predicted
        )
}

/// Programs for one key, from the fastest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProgramRanking {
    /// The key.
    pub algorithm: Algorithm,
    /// The operation.
    pub operation: Operation,
    /// Mean through each program.
    pub programs: Vec<Evidence>,
}

/// A ranking for each operation that several programs did, in a run with one key on one device for each operation; the one
/// with the most programs first.
pub(super) fn programs(analysis: &Analysis) -> Option<Finding> {
    let key = |row: &&Row| (row.case.algorithm, row.case.device.clone());
    let by_operation = |rows: Vec<&Row>| rows.iter().map(key).all_equal();
    let mut all = grouped(&analysis.rows, |row| row.case.operation).into_iter();
    if !all.all(|(_, rows)| by_operation(rows)) {
        return None;
    }
    let alone = alone(&analysis.rows).filter_map(Evidence::of);
    let groups = grouped(alone, |of| (of.operation, of.algorithm)).into_iter();
    let rankings = groups.map(|((operation, algorithm), of)| ProgramRanking {
        algorithm,
        operation,
        programs: { of.into_iter().sorted_by(Evidence::by_mean) }
            .unique_by(|of| of.program.clone())
            .collect(),
    });
    let several = rankings.filter(|of| of.programs.len() > 1);
    let rankings = several.sorted_by_key(|of| std::cmp::Reverse(of.programs.len()));
    Some(Finding::Programs {
        rankings: non_empty(rankings)?,
    })
}

/// The two libraries of one CPU that differ most in the time of one operation, if one is many times slower.
pub(super) fn libraries(analysis: &Analysis) -> Option<Finding> {
    let raw = alone(&analysis.rows)
        .filter(|row| row.case.stack == StackName::RAW && row.case.store == StoreKind::SOFTWARE);
    let groups = grouped(raw, |row| {
        let schemes = row.case.parameters.clone().replaced("library", USUAL);
        (row.case.capability(), schemes)
    });
    let pairs = groups.into_iter().filter_map(|(_, rows)| {
        let all = rows.into_iter().filter_map(Evidence::of);
        let (fast, slow) = all.minmax_by(Evidence::by_mean).into_option()?;
        let times = slow.mean.over(&fast.mean);
        (times.low?.0 > MANY).then_some((times.value.0, fast, slow))
    });
    let (_, fast, slow) = pairs.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Finding::Libraries { slow, fast })
}

/// A program or library and the one that the user named as the baseline, with one key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineRatio {
    /// The other one.
    pub evidence: Evidence,
    /// Its mean over the baseline's.
    pub ratio: Estimate<Ratio>,
}

/// Programs and libraries compared with the baseline that the user named, the most different first; the baseline that most
/// are compared with.
pub(super) fn against_baseline(analysis: &Analysis, record: &Record) -> Option<Finding> {
    if record.plan.settings.baseline == Baseline::default() {
        return None;
    }
    let pairs = alone(&analysis.rows).filter_map(|row| {
        let baseline = analysis.rows.get(row.baseline?.0 as usize)?;
        let (one, other) = (&row.case, &baseline.case);
        let same_key = one.capability() == other.capability() && one.device == other.device;
        let ratio = row.ratio.filter(|ratio| same_key && ratio.low.is_some())?;
        let evidence = Evidence::of(row)?;
        Some((
            Evidence::of(baseline)?.program,
            BaselineRatio { evidence, ratio },
        ))
    });
    let groups = grouped(pairs, |(baseline, _)| baseline.clone()).into_iter();
    let (baseline, pairs) = groups.rev().max_by_key(|(_, pairs)| pairs.len())?;
    let pairs = pairs.into_iter().map(|(_, ratio)| ratio);
    let far = |of: &BaselineRatio| of.ratio.value.0.ln().abs();
    let ratios = pairs.sorted_by(|a, b| far(b).total_cmp(&far(a))).collect();
    Some(Finding::AgainstBaseline { baseline, ratios })
}

/// A device of the run compared with its published figures, by the case that differs most.
pub(super) fn published(analysis: &Analysis, record: &Record) -> Option<Finding> {
    let is_own = |row: &&Row| {
        row.case.provenance == Provenance::Measured && row.case.store != StoreKind::SOFTWARE
    };
    let own: Vec<&Row> = alone(&analysis.rows).filter(is_own).collect();
    // Most runs have no device, and there are many published rows.
    own.first()?;
    let rows = PublishedTable::collection().iter();
    let rows: Vec<(&PublishedRow, Case)> = rows
        .filter_map(|(_, row)| Some((row, row.case()?.1.case)))
        .collect();
    let compared = own.into_iter().filter_map(|row| {
        let device = Identified::of(record, &row.case).id;
        let asked = |case: &Case| (case.capability(), case.stack, case.parameters.clone());
        let (figure, _) = rows.iter().find(|(figure, other)| {
            figure.device.is_some_and(|known| known.id == device)
                && asked(other) == asked(&row.case)
        })?;
        let (evidence, published) = (Evidence::of(row)?, figure.mean()?);
        Some(PublishedComparison {
            times: evidence.mean.over(&Estimate::exact(published)),
            evidence,
            published,
            firmware: figure.firmware.clone(),
        })
    });
    let far = |of: &PublishedComparison| of.times.value.0.ln().abs();
    let comparison = compared.max_by(|a, b| far(a).total_cmp(&far(b)))?;
    Some(Finding::Published { comparison })
}

/// A device's time compared with its published one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedComparison {
    /// Measured mean in seconds.
    pub evidence: Evidence,
    /// Published mean in seconds.
    pub published: Seconds,
    /// Firmware of the published figure; empty where the source has none.
    pub firmware: String,
    /// Measured over published.
    pub times: Estimate<Ratio>,
}

impl PublishedComparison {
    /// Returns whether it is slower than another computer explains.
    pub(super) fn is_slower(&self) -> bool {
        self.times.low.is_some_and(|low| low.0 > SLOWER)
    }
}

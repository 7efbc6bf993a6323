//! Limits of the figures: one line a kind of remark.

use std::collections::BTreeMap;

use itertools::Itertools;
use keymark_bench::{Case, DeviceName, Plan, Record, Shortage, StopRule, Stopped};
use keymark_stats::{Dependence, Drift, MIN_BLOCKS, Ratio, Warning};

use super::{Analysis, Basis, FamilyBreakdown, Refused, Row, figure_of};
use crate::{Remark, RemarkKind};
use crate::{grouped, units};

/// More cases than this are counted, not named.
const NAMED: usize = 3;
/// Means with a relative error above this share say little.
const HARDLY: f64 = 0.1;

/// A warning with its row, kind, gravity and text.
type RowWarning<'a> = (&'a Row, Warning, (RemarkKind, f64, String));

fn overloaded(row: &Row) -> Option<Remark> {
    let overload = row.overload?;
    let by = overload
        .growth
        .map(|growth| format!(" by {}", units::rate(growth)));
    let text = format!(
        "{}: operations arrive faster than they are served ({} of what the workers can do): the queue grows{}, \
         and so do latencies",
        row.case,
        units::percent(overload.utilisation.0),
        by.unwrap_or_default()
    );
    Some(Remark::new(RemarkKind::Overload, text))
}

/// A line a reason: a device that fails for one reason, such as a wrong PIN, is told once for all its cases.
pub fn failures<'c>(failed: impl Iterator<Item = (&'c Case, &'c str)>) -> Vec<String> {
    let reasons = grouped(failed, |(case, reason)| (*reason, &case.device));
    let line = |((reason, _), cases): ((&str, _), Vec<(&Case, &str)>)| {
        let mut names = cases.iter().map(|(case, _)| case.to_string());
        let first = names.next().unwrap_or_default();
        let others: Vec<_> = names.collect();
        format!("{first}: failed: {reason}{}", and(&others))
    };
    reasons.into_iter().map(line).collect()
}

/// A precision in the end: the half width of an interval, relative to the mean.
fn reached(width: f64) -> String {
    if width.is_finite() {
        format!("±{}", units::percent(width))
    } else {
        "no interval yet".to_owned()
    }
}

impl Analysis {
    /// Failures, each with its reason, then remarks by kind with the cases they concern.
    pub fn warnings(&self, record: &Record) -> Vec<Remark> {
        let failed = self
            .rows
            .iter()
            .filter_map(|row| Some((&row.case, row.failure.as_deref()?)));
        let failed = failures(failed).into_iter();
        let failed = failed.map(|text| Remark::new(RemarkKind::Failure, text));
        let mut remarks: Vec<Remark> = failed.collect();
        remarks.extend(self.rows.iter().filter_map(overloaded));
        remarks.extend(self.coarse(record.environment.cpu_quota));
        remarks.extend(self.imprecise(&record.plan));
        let of_samples = self.rows.iter().flat_map(|row| {
            let warnings = row.warnings().into_iter();
            warnings.map(move |warning| {
                let remark = told(&warning);
                (row, warning, remark)
            })
        });
        let kinds = grouped(of_samples, |(.., (kind, ..))| *kind).into_iter();
        let kinds = kinds.sorted_by_key(|(kind, _)| *kind);
        remarks.extend(kinds.filter_map(|(_, found)| self.worst(found)));
        remarks
    }

    /// Figures whose device time nobody measured, a remark a device and what it is taken from.
    pub(crate) fn assumptions(&self) -> impl Iterator<Item = Remark> {
        let mut by_device: BTreeMap<(&DeviceName, String), Vec<String>> = BTreeMap::new();
        for row in &self.rows {
            let Some(assumed) = row.assumed else { continue };
            let of_device = by_device.entry((&row.case.device, assumed.to_string()));
            let what = format!("{} {}", row.case.algorithm, row.case.operation);
            of_device.or_default().push(what);
        }
        by_device.into_iter().map(|((device, assumed), what)| {
            let text = format!(
                "{device}: the device's time of {} is assumed ({assumed}); nobody measured it",
                what.iter().unique().join(", ")
            );
            Remark::new(RemarkKind::Basis, text)
        })
    }

    /// Remarks of one kind: the worst in full, the others by name.
    fn worst(&self, mut found: Vec<RowWarning<'_>>) -> Option<Remark> {
        found.sort_by(|(.., a), (.., b)| b.1.total_cmp(&a.1));
        let (worst, warning, (kind, _, said)) = found.first()?;
        if let (Warning::Drift(drift), [_, _, ..]) = (warning, &*found) {
            let text = format!(
                "{} of {} cases changed during the run, most of all {} (by {:+.1} %). Their means are \
                 unreliable. Warm up longer, or check for throttling and other load",
                found.len(),
                self.rows.len(),
                worst.case,
                drift.relative_change.0 * 100.0
            );
            return Some(Remark::new(*kind, text));
        }
        let others = found.iter().skip(1).map(|(row, ..)| row.case.to_string());
        let text = format!("{}: {said}{}", worst.case, and(&others.collect_vec()));
        Some(Remark::new(*kind, text))
    }

    /// Remarks that most figures are uncertain, and how to improve them.
    fn coarse(&self, cpu_quota: Option<f64>) -> Option<Remark> {
        let doubts = self.rows.iter().filter_map(Row::doubt);
        let mut widths: Vec<f64> = doubts.map(|width| width.unwrap_or(f64::INFINITY)).collect();
        widths.sort_by(f64::total_cmp);
        let hardly = widths.iter().filter(|width| **width > HARDLY).count();
        let widest = *widths.last()?;
        (hardly * 2 > widths.len()).then(|| {
            let worst = if widest.is_finite() {
                format!("the worst ±{:.0} %", widest * 100.0)
            } else {
                "no interval yet".to_owned()
            };
            let noun = figure_of(&self.rows);
            let what = match widths.len() {
                1 => format!("the {noun} is uncertain ({worst})"),
                all => format!("{hardly} of {all} {noun}s are ±10 % or worse ({worst})"),
            };
            let text = match cpu_quota {
                Some(quota) => format!(
                    "{what}. The container is limited to {quota} CPU and was stopped whenever it had used that up. Raise \
                     the limit"
                ),
                None => format!(
                    "The machine was busy or the run too short: {what}. Repeat it when idle, or longer"
                ),
            };
            Remark::new(RemarkKind::Coarse, text)
        })
    }

    /// Cases whose mean is not known as well as was wanted: those that ran out of time, and those that the stop rule
    /// would have ended, whose interval is wider for blocks that came after it, or by samples than by block means. One
    /// whose few blocks are that alike, as a twin's are, has what was wanted.
    fn imprecise(&self, plan: &Plan) -> Vec<Remark> {
        let StopRule::Precision { target, .. } = plan.settings.stop else {
            return Vec::new();
        };
        let wanted = units::percent(target.fraction());
        let ended = [
            (
                Stopped::OutOfTime,
                format!("did not reach ±{wanted} in the available time"),
            ),
            (Stopped::RuleMet, format!("met ±{wanted} and then lost it")),
        ];
        let remark = |(stopped, what): (Stopped, String)| {
            let missed = self.missed(stopped, target.fraction());
            let (&(best, _), &(worst, row)) = (missed.first()?, missed.last()?);
            let case = &row.case;
            let text = if missed.len() == 1 {
                format!("{case}: {what}; in the end: {}", reached(worst))
            } else {
                format!(
                    "{} of {} cases {what}; in the end: {} to {} ({case})",
                    missed.len(),
                    self.rows.len(),
                    reached(best),
                    reached(worst),
                )
            };
            Some(Remark::new(RemarkKind::Imprecision, text))
        };
        ended.into_iter().filter_map(remark).collect()
    }

    /// Returns rows whose mean is less certain than wanted, the narrowest interval first.
    fn missed(&self, stopped: Stopped, target: f64) -> Vec<(f64, &Row)> {
        let of_rule = self
            .rows
            .iter()
            .filter(|row| row.ending.as_ref().map(|ending| ending.stopped) == Some(stopped));
        // An overload has no mean, and a remark of its own.
        let of_rule = of_rule.filter(|row| row.overload.is_none());
        let widths = of_rule.map(|row| {
            let mean = row.summary.as_ref().map(|summary| &summary.mean);
            let width = mean.and_then(|mean| mean.relative_half_width());
            (width.unwrap_or(f64::INFINITY), row)
        });
        let mut missed: Vec<_> = widths.filter(|(width, _)| *width > target).collect();
        missed.sort_by(|a, b| a.0.total_cmp(&b.0));
        missed
    }

    /// Returns the limits of more workers, a line for each kind.
    pub(crate) fn limits(&self) -> Vec<Remark> {
        let said = self.scaling.iter().flat_map(|group| {
            let found = group.finding.iter().map(|finding| {
                let reason = finding.why.map(|why| format!("{why:?}"));
                let kind = reason.unwrap_or_else(|| finding.limit.to_string());
                (kind, finding.said.clone())
            });
            let refused = group
                .refused
                .iter()
                .map(|too_many| (too_many.limit().to_string(), refused_text(*too_many)));
            found.chain(refused).map(move |said| (said, group.name()))
        });
        let kinds = grouped(said, |((kind, _), _)| kind.clone()).into_iter();
        let lines = kinds.map(|(_, groups)| {
            let mut names = groups.iter().map(|(_, name)| name.clone());
            let first = names.next().unwrap_or_default();
            let others = and(&names.collect::<Vec<_>>());
            let ((_, text), _) = &groups[0];
            Remark::new(RemarkKind::Limit, format!("{first}: {text}{others}"))
        });
        lines.collect()
    }
}

impl FamilyBreakdown {
    /// Explains the library of the bare operation, where several could do it.
    pub fn libraries(&self) -> Vec<Remark> {
        let Some(own) = &self.layers.own_library else {
            return Vec::new();
        };
        let standing_in = self
            .breakdowns
            .iter()
            .filter(|breakdown| breakdown.basis == Basis::StandIn);
        let standing_in = standing_in.count();
        let explained = self.has_beside().then(|| own.explanation.to_owned());
        let stand_in = match (standing_in, self.has_beside()) {
            (0, _) => None,
            (_, false) => Some(own.stand_in.to_owned()),
            (some, true) => {
                let all = self.breakdowns.len();
                Some(format!("in {some} of {all} cases {}", own.stand_in))
            }
        };
        let said = explained.into_iter().chain(stand_in);
        said.map(|text| Remark::new(RemarkKind::Basis, text))
            .collect()
    }

    pub fn has_beside(&self) -> bool {
        self.breakdowns
            .iter()
            .any(|breakdown| breakdown.beside.is_some())
    }
}

fn refused_text(refused: Refused) -> String {
    let limit = match refused.shortage {
        Shortage::Sessions => "the device's sessions are the limit",
        Shortage::Memory => "gpg-agent's secure memory is the limit",
    };
    let most = refused.had.map(|had| format!(", {had} could"));
    format!(
        "{limit}: {} workers were refused{}",
        refused.workers,
        most.unwrap_or_default()
    )
}

/// Returns a warning's kind, its gravity, and its text.
fn told(warning: &Warning) -> (RemarkKind, f64, String) {
    match warning {
        Warning::Drift(Drift {
            relative_change: Ratio(change),
            ..
        }) => {
            let text = format!(
                "durations drifted by {:+.1} % over the run; warm up longer, or check for throttling and other load",
                change * 100.0
            );
            (RemarkKind::Drift, change.abs(), text)
        }
        Warning::TooFewForDrift => {
            let text = format!("fewer than {MIN_BLOCKS} blocks are too few to detect drift");
            (RemarkKind::TooFewForDrift, 0.0, text)
        }
        Warning::SevereOutliers { samples, time } => {
            let text = format!(
                "severe outliers: {:.1} % of the samples, the slow ones taking {:.1} % of the time; measure on a \
                 quieter system, and prefer the median",
                samples.0 * 100.0,
                time.0.max(0.0) * 100.0
            );
            (RemarkKind::Outliers, samples.0, text)
        }
        Warning::Dependent(Dependence { lag1, widening }) => {
            let text = format!(
                "successive blocks are correlated (lag-1 correlation {lag1:.2}), so intervals are {widening:.1} times as \
                 wide as for independent blocks; measure for longer"
            );
            (RemarkKind::Dependence, *widening, text)
        }
        Warning::Groups(groups) => {
            let share = groups.slower.0;
            let text = format!(
                "several groups of durations: {} take more than {}. No single figure describes them; see the distribution",
                units::percent(share),
                units::duration(groups.parted_at)
            );
            (RemarkKind::Steps, share.min(1.0 - share), text)
        }
    }
}

/// ` (also …)`, a few by name.
pub(crate) fn and(others: &[String]) -> String {
    match others {
        [] => String::new(),
        few if few.len() <= NAMED => format!(" (also {})", few.join("; ")),
        many => format!(" (also {} more cases)", many.len()),
    }
}

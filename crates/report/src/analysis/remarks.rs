//! What the reader should know before trusting the figures: one line a kind of remark, because a
//! hundred lines are not read.

use keymark_bench::plan::Plan;
use keymark_bench::stop::{StopRule, Stopped};
use keymark_stats::Warning;

use super::{Analysis, Breakdown, Row};
use crate::units;

/// More cases than this are counted, not named.
const NAMED: usize = 3;

impl Analysis {
    /// Failures, each with its reason, then remarks by kind with the cases they concern.
    #[must_use]
    pub fn warnings(&self, plan: &Plan) -> Vec<String> {
        let failures = self
            .rows
            .iter()
            .filter_map(|row| Some(format!("{}: failed: {}", row.case, row.failure.as_ref()?)));
        let mut lines: Vec<String> = failures.collect();
        lines.extend(self.imprecise(plan));
        let kinds: [fn(&Warning) -> Option<f64>; 4] = [
            |warning| match warning {
                Warning::Drift(drift) => Some(drift.relative_change.0.abs()),
                _ => None,
            },
            |warning| match warning {
                Warning::SevereOutliers { samples, .. } => Some(samples.0),
                _ => None,
            },
            |warning| match warning {
                Warning::TwoModes(modes) => Some(modes.upper.0 / modes.lower.0),
                _ => None,
            },
            |warning| match warning {
                Warning::TooFewForP99 { n } => Some(-(*n as f64)),
                _ => None,
            },
        ];
        lines.extend(
            kinds
                .into_iter()
                .filter_map(|severity| self.worst(severity)),
        );
        lines
    }

    /// Remarks of one kind: the worst in full, the others by name.
    fn worst(&self, severity: fn(&Warning) -> Option<f64>) -> Option<String> {
        let mut found: Vec<(f64, &Row, Warning)> = self
            .rows
            .iter()
            .flat_map(|row| {
                row.summary
                    .iter()
                    .flat_map(|s| s.warnings())
                    .map(move |warning| (row, warning))
            })
            .filter_map(|(row, warning)| Some((severity(&warning)?, row, warning)))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (_, worst, warning) = found.first()?;
        let others: Vec<String> = found
            .iter()
            .skip(1)
            .map(|(_, row, _)| row.case.to_string())
            .collect();
        Some(format!("{}: {warning}{}", worst.case, and(&others)))
    }

    /// Cases that ran out of time, with the precision reached.
    fn imprecise(&self, plan: &Plan) -> Option<String> {
        let StopRule::Precision { target, .. } = plan.settings.stop else {
            return None;
        };
        let mut late: Vec<(f64, &Row)> = self
            .rows
            .iter()
            .filter(|row| row.stopped == Some(Stopped::OutOfTime))
            .filter_map(|row| {
                Some((
                    row.summary
                        .as_ref()?
                        .mean
                        .relative_half_width()
                        .unwrap_or(f64::INFINITY),
                    row,
                ))
            })
            .collect();
        late.sort_by(|a, b| a.0.total_cmp(&b.0));
        let reached = |width: f64| {
            if width.is_finite() {
                format!("±{}", units::percent(width))
            } else {
                "no interval yet".to_owned()
            }
        };
        let (&(best, _), &(worst, row)) = (late.first()?, late.last()?);
        let wanted = units::percent(target.fraction());
        Some(if late.len() == 1 {
            format!(
                "{}: ±{wanted} could not be reached in the time given; reached: {}",
                row.case,
                reached(worst)
            )
        } else {
            format!(
                "±{wanted} could not be reached in the time given by {} of {} cases; reached: {} to {} ({})",
                late.len(),
                self.rows.len(),
                reached(best),
                reached(worst),
                row.case
            )
        })
    }

    /// Says plainly where a figure of gpg tells next to nothing about the key.
    #[must_use]
    pub fn lost_in_overhead(&self) -> Option<String> {
        let lost: Vec<&Breakdown> = self
            .breakdowns
            .iter()
            .filter(|breakdown| breakdown.is_lost_in_overhead())
            .collect();
        let share = |breakdown: &&Breakdown| breakdown.arithmetic_share().unwrap_or(0.0);
        let least = lost.iter().min_by(|a, b| share(a).total_cmp(&share(b)))?;
        Some(format!(
            "the operation itself is lost in the overhead (below a tenth of gpg's time) in {} of {} cases; least: {} {}, {}",
            lost.len(),
            self.breakdowns
                .iter()
                .filter(|breakdown| breakdown.arithmetic_share().is_some())
                .count(),
            least.algorithm,
            least.operation,
            units::percent(share(least))
        ))
    }
}

fn and(others: &[String]) -> String {
    match others {
        [] => String::new(),
        few if few.len() <= NAMED => format!(" (also {})", few.join("; ")),
        many => format!(" (also {} more cases)", many.len()),
    }
}

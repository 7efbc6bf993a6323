//! What concurrency gains, and what limits it.

use keymark_bench::case::{Case, Load, Pacing, StackName};
use keymark_bench::record::Record;
use keymark_stats::{Estimate, Level, PerSecond, Seconds, Usl, UslError, fit_usl};

use super::{Row, windows};
use crate::units;

/// One case at several concurrencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The case at its lowest concurrency.
    pub case: Case,
    /// Concurrency and observed throughput, ascending.
    pub levels: Vec<(u32, Estimate<PerSecond>)>,
    /// The Universal Scalability Law fitted to them, or why not.
    pub law: Result<Usl, UslError>,
    /// What bounds the gain, by the operational laws; only for stacks whose parts were measured.
    pub bounds: Option<Bounds>,
}

/// Upper bounds of the throughput relative to one worker (Denning & Buzen, "The Operational
/// Analysis of Queueing Network Models", ACM Computing Surveys 10 (1978), §6: no resource is busy
/// for more than the whole time).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Time of one operation alone.
    pub alone: Seconds,
    /// Time the single-threaded agent needs for its part.
    pub agent: Seconds,
    /// Processor time of an operation: the gpg process and the agent.
    pub processor: Seconds,
    /// Processors there are.
    pub cores: u32,
}

impl Bounds {
    /// Gain at which the agent would be busy all the time.
    #[must_use]
    pub fn by_agent(&self) -> f64 {
        self.alone.0 / self.agent.0
    }

    /// Gain at which all processors would be busy all the time.
    #[must_use]
    pub fn by_cores(&self) -> f64 {
        f64::from(self.cores) * self.alone.0 / self.processor.0
    }
}

impl Scaling {
    /// Throughput at each concurrency over that at the lowest.
    #[must_use]
    pub fn speed_ups(&self) -> Vec<(u32, f64)> {
        let Some((_, first)) = self.levels.first() else { return Vec::new() };
        self.levels.iter().map(|(c, rate)| (*c, rate.value.0 / first.value.0)).collect()
    }

    /// In words, a line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let gains: Vec<String> =
            self.speed_ups().iter().skip(1).map(|(c, gain)| format!("c={c} ×{gain:.2}")).collect();
        let mut lines = vec![format!("{}: {}", self.case, gains.join(", "))];
        if let Some(bounds) = self.bounds {
            let (agent, cores) = (bounds.by_agent(), bounds.by_cores());
            lines.push(format!(
                "  of {} alone, gpg-agent (one thread, every secret key) takes {}, all processes {} of processor time",
                units::duration(bounds.alone),
                units::duration(bounds.agent),
                units::duration(bounds.processor),
            ));
            lines.push(format!(
                "  so the agent allows at most ×{agent:.1} and {} cores at most ×{cores:.1}: {} limit{}",
                bounds.cores,
                if agent < cores { "the agent is the" } else { "the cores are the" },
                if agent < cores { "" } else { ", the agent is not" },
            ));
        }
        match &self.law {
            Ok(law) => lines.extend(law_lines(law)),
            Err(UslError::TooFewLevels(_)) => {}
            Err(error) => lines.push(format!("  {error}")),
        }
        lines
    }
}

fn law_lines(law: &Usl) -> Vec<String> {
    let share = |estimate: &Estimate<f64>| {
        let bound = |bound: Option<f64>| bound.map_or_else(|| "?".to_owned(), |b| format!("{:.1}", b * 100.0));
        format!("{:.1} % ({}–{})", estimate.value * 100.0, bound(estimate.low), bound(estimate.high))
    };
    if law.rejected() {
        return vec![
            "  the scalability law does not describe these throughputs (χ² rejects the fit), so it says no serial share".to_owned(),
        ];
    }
    let mut lines = vec![format!(
        "  scalability law: serial share σ {}, coherency κ {}; σ counts waiting for processors too",
        share(&law.sigma),
        share(&law.kappa)
    )];
    if let Some(best) = law.best_concurrency() {
        lines.push(format!("  throughput is highest at c = {best:.0}, and falls beyond"));
    }
    lines
}

/// Groups of closed-loop cases that differ in nothing but concurrency.
pub(super) fn scaling(record: &Record, rows: &[Row]) -> Vec<Scaling> {
    let mut found: Vec<Scaling> = Vec::new();
    for row in rows.iter().filter(|row| row.case.load.pacing == Pacing::Closed && row.case.replica == 0) {
        let alike = |other: &Case| Case { load: row.case.load, ..other.clone() } == row.case;
        if found.iter().any(|scaling| alike(&scaling.case)) {
            continue;
        }
        let mut group: Vec<&Row> =
            rows.iter().filter(|other| alike(&other.case) && other.throughput.is_some()).collect();
        if group.len() < 2 {
            continue;
        }
        group.sort_by_key(|other| other.case.concurrency());
        let levels: Vec<Level> = group
            .iter()
            .map(|other| Level {
                concurrency: other.case.concurrency(),
                windows: windows(&record.cases[other.id.0 as usize]),
            })
            .collect();
        found.push(Scaling {
            case: group[0].case.clone(),
            levels: group.iter().filter_map(|r| Some((r.case.concurrency(), r.throughput?))).collect(),
            law: fit_usl(&levels, record.plan.settings.seed),
            bounds: bounds(record, rows, group[0]),
        });
    }
    found
}

/// For gpg processes whose agent was measured alone as well.
fn bounds(record: &Record, rows: &[Row], alone: &Row) -> Option<Bounds> {
    if alone.case.stack != StackName::Gnupg || alone.case.concurrency() != 1 {
        return None;
    }
    let agent_case = Case { stack: StackName::Agent, load: Load::single(), ..alone.case.clone() };
    let agent = rows.iter().find(|row| row.case.same_but_replica(&agent_case))?.summary.as_ref()?.mean.value;
    let (user, system) = alone.child_cpu?;
    Some(Bounds {
        alone: alone.summary.as_ref()?.mean.value,
        agent,
        processor: Seconds(user.0 + system.0 + agent.0),
        cores: record.environment.cores,
    })
}

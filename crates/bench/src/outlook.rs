//! Progress of a run and its remaining time: the expected time at first, later the measured one.

use std::time::Duration;

use crate::{Block, Case, CaseId, Plan, StopRule, Timestamp};

/// Over a plan from its first preparation to its last block. Time passes evenly between two reports.
#[derive(Debug, Clone)]
pub struct Outlook {
    stop: StopRule,
    limit: Option<Duration>,
    preparing: Duration,
    measuring: Duration,
    cases: Vec<Share>,
    began: Timestamp,
    measured_from: Option<Timestamp>,
    /// The case of the last block.
    last: Option<CaseId>,
    /// When something was last reported, and what was left then.
    reported: Timestamp,
    left: Duration,
}

/// Progress of a case.
#[derive(Debug, Clone)]
struct Share {
    /// Expected time, as a weight.
    weight: f64,
    operations: u64,
    /// Sum of the latencies of its operations.
    total: Duration,
    busy: Duration,
    is_over: bool,
}

/// Progress of a run at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Since its beginning.
    pub elapsed: Duration,
    /// Remaining time, at most or about; `None` where the run takes longer than expected.
    pub left: Option<Duration>,
}

impl View {
    /// The part that is done, from 0 to 1, which nothing reaches that goes on.
    pub fn share(&self) -> f64 {
        const NEARLY: f64 = 0.99;
        let elapsed = self.elapsed.as_secs_f64();
        let all = elapsed + self.left.unwrap_or_default().as_secs_f64();
        (elapsed / all.max(1e-9)).min(NEARLY)
    }
}

impl Outlook {
    /// Starts the outlook of a plan, given the cost of one operation of a case.
    pub fn new(plan: &Plan, cost: &dyn Fn(&Case) -> Duration, now: Timestamp) -> Self {
        let (preparing, measuring) = (
            plan.expected_preparation(cost),
            plan.expected_duration(cost),
        );
        let share = |case: &Case| Share {
            weight: plan.expected_of(case, cost).as_secs_f64().max(1e-9),
            operations: 0,
            total: Duration::ZERO,
            busy: Duration::ZERO,
            is_over: false,
        };
        Self {
            stop: plan.settings.stop,
            limit: plan.settings.time_limit,
            preparing,
            measuring,
            cases: plan.cases.iter().map(share).collect(),
            began: now,
            measured_from: None,
            last: None,
            reported: now,
            left: preparing.saturating_add(measuring),
        }
    }

    /// Returns true if what is left is an upper bound: a rule may end cases earlier.
    pub const fn is_bound(&self) -> bool {
        self.limit.is_some() || matches!(self.stop, StopRule::Precision { .. })
    }

    /// The case is being made ready.
    pub fn prepare(&mut self, id: CaseId, now: Timestamp) {
        let done = f64::from(id.0) / self.cases.len().max(1) as f64;
        let left = left(self.preparing, done, now.since(self.began));
        self.report(left.saturating_add(self.measuring), now);
    }

    /// Measuring begins.
    pub fn measure(&mut self, now: Timestamp) {
        self.measured_from = Some(now);
        self.report(self.measuring, now);
    }

    /// A block of the case was measured.
    pub fn add(&mut self, id: CaseId, block: &Block, now: Timestamp) {
        if let Some(case) = self.cases.get_mut(id.0 as usize) {
            for sample in block.done() {
                case.operations += 1;
                case.total += sample.latency();
            }
            let busy = block.span().map(|(first, last)| last.since(first));
            case.busy += busy.unwrap_or_default();
            self.last = Some(id);
        }
        self.measured(now);
    }

    /// The case is over.
    pub fn finish(&mut self, id: CaseId, now: Timestamp) {
        if let Some(case) = self.cases.get_mut(id.0 as usize) {
            case.is_over = true;
        }
        // One that could not be made ready ends before measuring begins.
        if self.measured_from.is_some() {
            self.measured(now);
        }
    }

    /// Cases that are over, of all.
    pub fn finished(&self) -> (usize, usize) {
        let over = self.cases.iter().filter(|case| case.is_over);
        (over.count(), self.cases.len())
    }

    /// Returns the case of the last block and the mean latency of its operations so far.
    pub fn estimate(&self) -> Option<(CaseId, Duration)> {
        let id = self.last?;
        let case = self.cases.get(id.0 as usize)?;
        let operations = u32::try_from(case.operations).ok()?;
        Some((id, case.total.checked_div(operations)?))
    }

    /// Returns the progress at a moment.
    pub fn at(&self, now: Timestamp) -> View {
        let (elapsed, since) = (now.since(self.began), now.since(self.reported));
        // A tenth more is what was expected: checks and the last visits.
        let is_overdue = since.saturating_sub(self.left) > elapsed / 10;
        View {
            elapsed,
            left: (!is_overdue).then(|| self.left.saturating_sub(since)),
        }
    }

    fn measured(&mut self, now: Timestamp) {
        let elapsed = self
            .measured_from
            .map_or(Duration::ZERO, |from| now.since(from));
        let weights: f64 = self.cases.iter().map(|case| case.weight).sum();
        let done: f64 = self
            .cases
            .iter()
            .map(|case| case.weight * self.done(case))
            .sum();
        // The limit is one of measuring: checks and pauses between blocks come on top, as they did so far.
        let busy: Duration = self.cases.iter().map(|case| case.busy).sum();
        let by_time = self
            .limit
            .map(|limit| busy.as_secs_f64() / limit.as_secs_f64().max(1e-9));
        let done = by_time.unwrap_or(0.0).max(done / weights.max(1e-9));
        self.report(left(self.measuring, done, elapsed), now);
    }

    /// The part of a case that is done, as far as its stop rule tells.
    fn done(&self, case: &Share) -> f64 {
        let done = match self.stop {
            _ if case.is_over => 1.0,
            StopRule::Runs(runs) => case.operations as f64 / f64::from(runs.get()),
            StopRule::Precision { max_time: None, .. } => 0.0,
            StopRule::For(time)
            | StopRule::Precision {
                max_time: Some(time),
                ..
            } => case.busy.as_secs_f64() / time.as_secs_f64().max(1e-9),
        };
        done.min(1.0)
    }

    fn report(&mut self, left: Duration, now: Timestamp) {
        (self.left, self.reported) = (left, now);
    }
}

/// Returns the remaining time of something with an expected time: it follows the time of the finished part, and the
/// smaller that is, the more the expectation.
fn left(expected: Duration, done: f64, elapsed: Duration) -> Duration {
    let rest = (1.0 - done).max(0.0);
    let all = rest * expected.as_secs_f64() + elapsed.as_secs_f64();
    Duration::try_from_secs_f64(rest * all).unwrap_or(Duration::MAX)
}

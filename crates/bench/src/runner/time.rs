//! The time that a plan has, and what a single call may take of it.

use std::time::Duration;

use super::RunningPlan;
use crate::Timestamp;

/// How long a single call of a library may take before its process is ended: what is left of the time that was given, but
/// at most what is fair to the other cases where it is the plan's, and at least what the case's own visits suggest.
pub(super) fn longest_call(
    left: Option<Duration>,
    part: Option<Duration>,
    visit: Duration,
) -> Option<Duration> {
    const PATIENCE: Duration = Duration::from_secs(10);
    const AT_LEAST: Duration = Duration::from_secs(1);
    let left = left?;
    let fair = part.map_or(left, |part| part.max(PATIENCE));
    Some(left.min(fair).max(visit * 3).max(AT_LEAST))
}

/// The plan's own time.
pub(super) struct PlanTime {
    pub(super) deadline: Option<Timestamp>,
    /// Time of checks before it began.
    pub(super) checked_before: Duration,
    /// Share of one case.
    pub(super) part: Option<Duration>,
}

impl PlanTime {
    pub(super) fn left(&self, run: &RunningPlan<'_>) -> Option<Duration> {
        let checking = run.checking.saturating_sub(self.checked_before);
        let deadline = self.deadline?.after(checking);
        Some(deadline.since(run.runner.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_may_take_what_its_case_was_given() {
        let seconds = |seconds: u64| Some(Duration::from_secs(seconds));
        let none = Duration::ZERO;
        // --case-time 40s: it is nobody else's.
        assert_eq!(longest_call(seconds(40), None, none), seconds(40));
        // Of the plan's minute one of six cases does not take all.
        assert_eq!(longest_call(seconds(60), seconds(10), none), seconds(10));
        assert_eq!(longest_call(seconds(60), seconds(30), none), seconds(30));
        assert_eq!(longest_call(seconds(60), seconds(3), none), seconds(10));
        // A card that takes eight seconds is not ended for it.
        let visit = Duration::from_secs(8);
        assert_eq!(longest_call(seconds(2), None, visit), seconds(24));
        assert_eq!(longest_call(None, None, visit), None);
    }
}

//! The time that a plan has, and what a single call may take of it.

use std::time::Duration;

use super::Run;
use crate::clock::Timestamp;

/// How long a single call of a library may take before its process is ended: what is left of the time that was given, but
/// no more of it than is fair to the other cases, and no less than the case's own visits suggest.
pub(super) fn longest_call(
    left: Option<Duration>,
    part: Option<Duration>,
    visit: Duration,
) -> Option<Duration> {
    const PATIENCE: Duration = Duration::from_secs(10);
    const AT_LEAST: Duration = Duration::from_secs(1);
    let fair = part.unwrap_or_default().max(PATIENCE);
    Some(left?.min(fair).max(visit * 3).max(AT_LEAST))
}

/// The plan's own time.
pub(super) struct PlanTime {
    pub(super) deadline: Option<Timestamp>,
    /// What checks had taken when it began.
    pub(super) checked_before: Duration,
    /// One case's part of it.
    pub(super) part: Option<Duration>,
}

impl PlanTime {
    pub(super) fn left(&self, run: &Run<'_>) -> Option<Duration> {
        let checking = run.checking.saturating_sub(self.checked_before);
        let deadline = self.deadline?.after(checking);
        Some(deadline.since(run.runner.clock.now()))
    }
}

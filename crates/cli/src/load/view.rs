//! A line on the terminal while servers are under load: rate, failures, p99, time left.

use indicatif::ProgressBar;
use keymark_bench::Case;
use keymark_load::LoadProgress;
use keymark_report::{units, visible};
use keymark_stacks::loads::Watch;
use keymark_stores::user::terminal;

use crate::view::message_bar;

/// The line.
pub(super) struct View {
    bar: ProgressBar,
    cases: usize,
    last: Option<String>,
    number: usize,
}

impl View {
    pub(super) fn new(cases: usize) -> Self {
        Self {
            bar: message_bar(),
            cases,
            last: None,
            number: 0,
        }
    }

    pub(super) fn finish(self) {
        terminal::end();
        self.bar.finish_and_clear();
    }
}

impl Watch for View {
    fn progress(&mut self, case: &Case, progress: &LoadProgress) {
        let name = case.to_string();
        if self.last.as_ref() != Some(&name) {
            self.number += 1;
        }
        let p99 = progress.p99.unwrap_or_default();
        self.bar.set_message(format!(
            "{} of {}: {}: {}, {} failed, p99 {}, {:.0} s left",
            self.number,
            self.cases,
            visible::visible(&name),
            units::rate(progress.rate),
            progress.failed,
            units::time(p99),
            progress.left.as_secs_f64()
        ));
        self.last = Some(name);
    }
}

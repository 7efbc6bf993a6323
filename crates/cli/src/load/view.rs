//! A line on the terminal while servers are under load: rate, failures, time left.

use indicatif::ProgressBar;
use keymark_bench::Case;
use keymark_load::{LoadProgress, Observer};
use keymark_report::{units, visible};
use keymark_stacks::loads::Watch;
use keymark_stores::user::terminal;

use crate::view::message_bar;

/// The line.
pub(super) struct View {
    bar: ProgressBar,
    cases: usize,
    case: String,
    number: usize,
}

impl View {
    pub(super) fn new(cases: usize) -> Self {
        Self {
            bar: message_bar(),
            cases,
            case: String::new(),
            number: 0,
        }
    }

    pub(super) fn finish(self) {
        terminal::end();
        self.bar.finish_and_clear();
    }
}

impl Watch for View {
    fn begin(&mut self, case: &Case) {
        let name = case.to_string();
        self.number += usize::from(name != self.case);
        self.case = name;
    }
}

impl Observer for View {
    fn progress(&mut self, progress: &LoadProgress) {
        self.bar.set_message(format!(
            "{} of {}: {}: {}, {} failed, {:.0} s left",
            self.number,
            self.cases,
            visible::visible(&self.case),
            units::rate(progress.rate),
            progress.failed,
            progress.left.as_secs_f64()
        ));
    }
}

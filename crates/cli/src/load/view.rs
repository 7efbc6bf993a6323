//! A line on the terminal while servers are under load: rate, failures, time left.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keymark_bench::Case;
use keymark_load::{LoadProgress, Observer};
use keymark_report::{units, visible};
use keymark_stacks::loads::Watch;
use keymark_stores::user::terminal;

use crate::view::{REDRAWS, stop_for_messages};

/// The line.
pub(super) struct View {
    bar: ProgressBar,
    cases: usize,
    case: String,
    number: usize,
}

impl View {
    pub(super) fn new(cases: usize) -> Self {
        // indicatif draws nothing where stderr is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(REDRAWS));
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        stop_for_messages(&bar);
        Self {
            bar,
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

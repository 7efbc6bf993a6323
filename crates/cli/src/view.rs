//! Progress of a run on a terminal: one bar over its whole time, with the time left.
//!
//! It is drawn by a thread of its own, four times a second; who measures only adds to sums between blocks. `make overhead` compares runs with and without it.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keymark_bench::outlook::{self, Outlook};
use keymark_bench::runner::Observer;
use keymark_bench::{
    Block, Case, CaseId, CaseRecord, Clock, Harness, MonotonicClock, Plan, Timestamp, View,
};
use keymark_report::{units, visible};
use keymark_stores::user::terminal;

use crate::output;

/// Columns of a bar.
const COLUMNS: usize = 30;
/// Between two drawings.
const REDRAW: Duration = Duration::from_millis(250);
/// Drawings per second.
const REDRAWS: u8 = 4;

/// Returns whether this process shows a progress bar.
pub fn view() -> View {
    if stderr().is_terminal() && !output::is_quiet() {
        View::Terminal
    } else {
        View::None
    }
}

#[derive(Debug)]
struct RunProgress {
    outlook: Outlook,
    /// Names of the cases of the plan.
    names: Vec<String>,
    /// Name of the case that is being made ready.
    preparing: Option<String>,
}

/// A bar on stderr, if that is a terminal.
#[derive(Debug)]
pub struct RunView {
    clock: Arc<MonotonicClock>,
    state: Arc<Mutex<RunProgress>>,
    /// Drawing thread, which ends when the channel is dropped.
    drawing: Option<(JoinHandle<()>, Sender<()>)>,
}

impl RunView {
    /// Begins the view of a plan, given the time of one operation of a case.
    pub fn of(plan: &Plan, cost: &dyn Fn(&Case) -> Duration) -> Self {
        let clock = Arc::new(MonotonicClock::new());
        let state = Arc::new(Mutex::new(RunProgress {
            outlook: Outlook::new(plan, cost, clock.now()),
            names: plan.cases.iter().map(Case::to_string).collect(),
            preparing: None,
        }));
        let drawing = match view() {
            View::None => None,
            View::Terminal => Some(draw(Arc::clone(&state), Arc::clone(&clock))),
        };
        Self {
            clock,
            state,
            drawing,
        }
    }

    fn note(&self, change: impl FnOnce(&mut RunProgress, Timestamp)) {
        change(&mut lock(&self.state), self.clock.now());
    }
}

fn lock(state: &Mutex<RunProgress>) -> MutexGuard<'_, RunProgress> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for RunView {
    fn drop(&mut self) {
        if let Some((thread, end)) = self.drawing.take() {
            drop(end);
            // One that panicked has drawn its last.
            let _ = thread.join();
        }
    }
}

impl Observer for RunView {
    fn preparing(&mut self, id: CaseId, case: &Case) {
        let case = case.to_string();
        self.note(|state, now| {
            state.preparing = Some(case);
            state.outlook.prepare(id, now);
        });
    }

    fn measuring(&mut self, _: &Harness, _: usize) {
        self.note(|state, now| {
            state.preparing = None;
            state.outlook.measure(now);
        });
    }

    fn block(&mut self, id: CaseId, block: &Block) {
        self.note(|state, now| state.outlook.add(id, block, now));
    }

    fn finished(&mut self, id: CaseId, _: &CaseRecord) {
        self.note(|state, now| state.outlook.finish(id, now));
    }
}

/// A bar on stderr, drawn on a terminal only.
pub(crate) fn bar(template: &str) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(REDRAWS);
    let bar = ProgressBar::with_draw_target(None, target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A line of text in place of a bar; messages and prompts stop it, until [`terminal::end`].
pub(crate) fn message_bar() -> ProgressBar {
    let bar = bar("{wide_msg}");
    let stopped = bar.clone();
    terminal::begin(move |write| stopped.suspend(write));
    bar
}

fn draw(
    state: Arc<Mutex<RunProgress>>,
    clock: Arc<MonotonicClock>,
) -> (JoinHandle<()>, Sender<()>) {
    let (end, ended) = channel::<()>();
    let thread = std::thread::spawn(move || {
        // A bar of indicatif's own would be drawn once for its position and once for the words.
        let bar = message_bar();
        let mut shown = 0.0;
        while ended.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
            let message = {
                let state = lock(&state);
                line(&state, state.outlook.at(clock.now()), &mut shown)
            };
            bar.set_message(message);
        }
        terminal::end();
        bar.finish_and_clear();
    });
    (thread, end)
}

/// The bar, which never goes back, and what it means.
fn line(state: &RunProgress, seen: outlook::View, shown: &mut f64) -> String {
    *shown = seen.share().max(*shown);
    let words = |time: Duration| {
        let seconds = time.as_secs_f64().round();
        if seconds < 1.0 {
            "1 s".to_owned()
        } else {
            units::chosen(Duration::from_secs_f64(seconds))
        }
    };
    let left = match seen.left {
        Some(left) if state.outlook.is_bound() => format!("at most {} left", words(left)),
        Some(left) => format!("about {} left", words(left)),
        None => format!("{} so far", words(seen.elapsed)),
    };
    let (finished, cases) = state.outlook.finished();
    let doing = match &state.preparing {
        Some(case) => format!("preparing {}", visible::visible(case)),
        None if finished == 0 => format!("measuring {}", units::counted(cases, "case")),
        None => format!("{finished} of {cases} cases done"),
    };
    let estimate = state
        .outlook
        .estimate()
        .filter(|_| state.preparing.is_none());
    let estimate = estimate.and_then(|(id, mean)| {
        let name = visible::visible(state.names.get(id.0 as usize)?);
        Some(format!(" · {name} {}", units::time(mean)))
    });
    let estimate = estimate.unwrap_or_default();
    format!("{} {left}: {doing}{estimate}", columns(*shown))
}

/// A share as a bar, and in per cent.
fn columns(share: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    let full = (share * COLUMNS as f64) as usize;
    let (done, left) = ("█".repeat(full), "░".repeat(COLUMNS - full));
    format!("{done}{left} {:>3.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use keymark_bench::plan::Settings;

    use super::*;

    #[test]
    fn what_is_done_and_what_is_left_is_told() {
        let plan = Plan {
            cases: Vec::new(),
            settings: Settings::default(),
        };
        let mut state = RunProgress {
            outlook: Outlook::new(&plan, &|_| Duration::ZERO, Timestamp(0)),
            names: Vec::new(),
            preparing: Some("a\u{1b}[2Jcase".to_owned()),
        };
        let seen = |elapsed, left: Option<u64>| outlook::View {
            elapsed: Duration::from_secs(elapsed),
            left: left.map(Duration::from_secs),
        };
        let mut shown = 0.0;
        let words = line(&state, seen(30, Some(90)), &mut shown);
        assert!(
            words.contains(" 25 % at most 90 s left: preparing a"),
            "{words}"
        );
        assert!(!words.contains('\u{1b}'), "{words:?}");
        state.preparing = None;
        // It takes longer than it was to take, and the bar stays where it is.
        let words = line(&state, seen(31, Some(900)), &mut shown);
        assert!(
            words.contains(" 25 % at most 900 s left: measuring 0 cases"),
            "{words}"
        );
        let words = line(&state, seen(600, None), &mut shown);
        assert!(words.contains(" 99 % 600 s so far: "), "{words}");
        assert!(!words.contains(" · "), "{words}");
    }
}

//! What is seen of a run on a terminal: a bar with what is done, what remains and the time left.
//!
//! It is drawn from sums by a thread of its own, four times a second; who measures only adds to the sums between
//! blocks. `make overhead` compares runs with and without it.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keymark_bench::case::{Case, CaseId};
use keymark_bench::clock::{Clock, Harness, MonotonicClock};
use keymark_bench::environment::View;
use keymark_bench::plan::Plan;
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::Observer;
use keymark_bench::sample::Block;
use keymark_report::{units, visible};

/// Columns of a bar.
const COLUMNS: usize = 30;
/// Between two drawings.
const REDRAW: Duration = Duration::from_millis(250);
/// Drawings a second.
pub(crate) const REDRAWS: u8 = 4;

/// Whether a run of this process is seen.
pub fn view() -> View {
    if stderr().is_terminal() {
        View::Terminal
    } else {
        View::None
    }
}

/// What a run has come to.
#[derive(Debug, Clone)]
enum Stage {
    Preparing { number: u32, case: String },
    Measuring,
}

#[derive(Debug)]
struct Sums {
    stage: Stage,
    finished: usize,
}

/// A bar on stderr, if that is a terminal.
#[derive(Debug)]
pub struct RunView {
    sums: Arc<Mutex<Sums>>,
    drawing: Option<Drawing>,
}

#[derive(Debug)]
struct Drawing {
    thread: JoinHandle<()>,
    /// Dropped, it ends the thread.
    end: Sender<()>,
}

impl RunView {
    /// Of a plan that is about to be run.
    pub fn of(plan: &Plan) -> Self {
        let sums = Arc::new(Mutex::new(Sums {
            stage: Stage::Preparing {
                number: 0,
                case: String::new(),
            },
            finished: 0,
        }));
        let drawing = match view() {
            View::None => None,
            View::Terminal => Some(draw(Arc::clone(&sums), plan)),
        };
        Self { sums, drawing }
    }

    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunView {
    fn drop(&mut self) {
        if let Some(Drawing { thread, end }) = self.drawing.take() {
            drop(end);
            // One that panicked has drawn its last.
            let _ = thread.join();
        }
    }
}

impl Observer for RunView {
    fn preparing(&mut self, id: CaseId, case: &Case) {
        self.sums().stage = Stage::Preparing {
            number: id.0,
            case: case.to_string(),
        };
    }

    fn measuring(&mut self, _: &Harness, _: usize) {
        self.sums().stage = Stage::Measuring;
    }

    fn block(&mut self, _: CaseId, _: &Block) {}

    fn finished(&mut self, _: CaseId, _: &CaseRecord) {
        self.sums().finished += 1;
    }
}

fn draw(sums: Arc<Mutex<Sums>>, plan: &Plan) -> Drawing {
    let (end, ended) = channel::<()>();
    let (cases, limit) = (plan.cases.len(), plan.settings.time_limit);
    let thread = std::thread::spawn(move || {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS);
        let bar = ProgressBar::with_draw_target(None, target);
        // A bar of indicatif's own would be drawn once for its position and once for the words.
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        let clock = MonotonicClock::new();
        let mut began = None;
        while ended.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
            let sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            let (stage, finished) = (sums.stage.clone(), sums.finished);
            drop(sums);
            let (done, message) = match stage {
                Stage::Preparing { number, case } => preparing(number, &case, cases),
                Stage::Measuring => {
                    let now = clock.now();
                    let elapsed = now.since(*began.get_or_insert(now));
                    measuring(elapsed, limit, finished, cases)
                }
            };
            bar.set_message(format!("{} {message}", columns(done)));
        }
        bar.finish_and_clear();
    });
    Drawing { thread, end }
}

/// A share as a bar, and in per cent.
fn columns(share: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    let full = (share * COLUMNS as f64) as usize;
    let (done, left) = ("█".repeat(full), "░".repeat(COLUMNS - full));
    format!("{done}{left} {:>3.0} %", share * 100.0)
}

/// The share that is done, and in words.
fn preparing(number: u32, case: &str, cases: usize) -> (f64, String) {
    let case = visible::visible(case);
    let words = format!("preparing {} of {cases}: {case}", number + 1);
    (f64::from(number) / cases.max(1) as f64, words)
}

/// The share that is done, and in words. Time left is at most what the limit leaves; without one, what the cases that are
/// done have taken tells.
fn measuring(
    elapsed: Duration,
    limit: Option<Duration>,
    finished: usize,
    cases: usize,
) -> (f64, String) {
    let by_cases = finished as f64 / cases.max(1) as f64;
    let by_time = limit.map_or(0.0, |limit| elapsed.as_secs_f64() / limit.as_secs_f64());
    let left = match limit {
        Some(limit) => format!(
            ", at most {} left",
            units::time(limit.saturating_sub(elapsed))
        ),
        None if finished > 0 => {
            let left = elapsed.mul_f64((1.0 - by_cases) / by_cases);
            format!(", about {} left", units::time(left))
        }
        None => String::new(),
    };
    let words = format!(
        "measuring for {}, {finished} of {cases} cases done{left}",
        units::time(elapsed)
    );
    (by_cases.max(by_time), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_and_what_is_left_is_told() {
        let seconds = Duration::from_secs;
        let (done, words) = measuring(seconds(30), Some(seconds(120)), 1, 8);
        assert!((done - 0.25).abs() < 1e-9, "{done}");
        assert_eq!(
            words,
            "measuring for 30.0 s, 1 of 8 cases done, at most 90.0 s left"
        );
        let (done, words) = measuring(seconds(30), None, 2, 8);
        assert!((done - 0.25).abs() < 1e-9, "{done}");
        assert!(words.ends_with("about 90.0 s left"), "{words}");
        assert!(!measuring(seconds(1), None, 0, 8).1.contains("left"));
        assert_eq!(
            columns(2.0 / 3.0),
            format!("{}{}  67 %", "█".repeat(20), "░".repeat(10))
        );
        assert_eq!(columns(7.0).chars().filter(|c| *c == '█').count(), COLUMNS);
        let (done, words) = preparing(3, "a\u{1b}[2Jcase", 4);
        assert!((done - 0.75).abs() < 1e-9 && words.starts_with("preparing 4 of 4: a"));
        assert!(!words.contains('\u{1b}'), "{words:?}");
    }
}

//! Result of a load.

use std::collections::BTreeMap;
use std::time::Duration;

use keymark_bench::{
    Durations, LoadLimit, Second, ServerLoad, Steady, Tried, TriedDemand, nanoseconds,
};
use keymark_stats::Ratio;

use crate::failure::Failure;
use crate::recorder::{ClientSecond, add_counts};
use crate::settings::LoadSettings;
use crate::steady::{Completions, NoSteadyState, Span};
use crate::worker::ThreadReport;

/// A load that is over, or was stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The requested load, with its seed.
    pub settings: LoadSettings,
    /// The load as it is kept, before [`Measurement::record`] adds the steady state.
    pub load: ServerLoad,
    /// Part of each second in which the busiest of the client's threads did not wait.
    pub busiest: Vec<Duration>,
    /// Failures by class.
    pub failures: BTreeMap<Failure, u64>,
    /// Time from the load's start until it was settled; `None` if it never was.
    pub settled: Option<Duration>,
    pub(crate) completions: Completions,
}

impl Measurement {
    pub(crate) fn of(settings: &LoadSettings, reports: Vec<ThreadReport>) -> Self {
        let mut all = Self {
            settings: settings.clone(),
            load: ServerLoad {
                client: client(),
                seed: settings.seed,
                ..ServerLoad::default()
            },
            busiest: Vec::new(),
            failures: BTreeMap::new(),
            settled: Some(Duration::ZERO),
            completions: Completions::default(),
        };
        let mut reservoir = None;
        for report in reports {
            all.load.elapsed_ns = all.load.elapsed_ns.max(nanoseconds(report.ended));
            all.load.cut_off += report.cut_off;
            all.load.waiting += report.waiting;
            all.settled = all
                .settled
                .zip(report.settled)
                .map(|(one, other)| one.max(other));
            let recorder = report.recorder;
            all.take_in(Duration::ZERO, &recorder.seconds);
            all.load.totals.add(&recorder.totals);
            add_counts(&mut all.failures, recorder.failures);
            match &mut reservoir {
                None => reservoir = Some(recorder.reservoir),
                Some(sum) => sum.add(recorder.reservoir),
            }
        }
        all.load.sample = reservoir.map_or_else(Vec::new, |kept| kept.transactions());
        let least = settings.warm_up;
        all.settled = all.settled.map(|settled| settled.max(least));
        all
    }

    /// Adds the seconds of a thread, or of a client that began so much later.
    pub(crate) fn take_in(&mut self, offset: Duration, seconds: &[ClientSecond]) {
        // Seconds of different clients begin at different times: histograms are put together within half a second.
        let from = offset.as_secs_f64().round() as usize;
        let length = self.load.seconds.len().max(from + seconds.len());
        self.load.seconds.resize_with(length, Second::default);
        self.busiest.resize(length, Duration::ZERO);
        for (at, told) in (from..).zip(seconds) {
            self.load.seconds[at].add(&told.second);
            self.busiest[at] = self.busiest[at].max(Duration::from_nanos(told.busiest_ns));
            let processor_ns = &mut self.load.client_cpu_ns;
            *processor_ns = processor_ns.saturating_add(told.processor_ns);
            for (millisecond, count) in &told.ends {
                let end = Duration::from_millis(told.number * 1000 + u64::from(*millisecond));
                self.completions.push(offset + end, *count);
            }
        }
    }

    /// The window in which the load is steady.
    ///
    /// # Errors
    ///
    /// If there is none.
    fn window(&self) -> Result<Span, NoSteadyState> {
        let settled = self.settled.ok_or(NoSteadyState::NeverSettled)?;
        Span::between(settled, Duration::from_nanos(self.load.elapsed_ns))
    }

    /// The steady state.
    ///
    /// # Errors
    /// If there was none, or nothing was done in it.
    pub fn steady(&self) -> Result<Steady, NoSteadyState> {
        self.completions.steady(self.window()?, self.settings.round)
    }

    /// Returns the result as a step of the search for a server's limits.
    ///
    /// # Errors
    /// If there was no steady state.
    pub fn tried(&self, demand: TriedDemand) -> Result<Tried, NoSteadyState> {
        let steady = self.steady()?;
        let (mut whole, mut failed) = (Durations::default(), 0);
        let seconds = (0..).zip(&self.load.seconds);
        for (_, second) in seconds.filter(|(number, _)| steady.has(*number)) {
            whole.add(&second.whole);
            failed += second.failed();
        }
        let p99 = whole.quantile(0.99).ok_or(NoSteadyState::NothingDone)?;
        Ok(Tried {
            demand,
            rate: steady.rate().0,
            p99_ns: (p99.0 * 1e9).round() as u64,
            failed: failed as f64 / (failed + whole.count()).max(1) as f64,
            unfinished: self.unfinished().0,
        })
    }

    /// Transactions that were due and had not ended at the cut-off, as a share of all that were due: many if arrivals pile
    /// up.
    fn unfinished(&self) -> Ratio {
        let (totals, left) = (&self.load.totals, self.load.cut_off + self.load.waiting);
        let all = totals.transactions + totals.failed + left;
        Ratio(left as f64 / all.max(1) as f64)
    }

    /// Handshakes that reached the server, as far as the client can tell.
    pub fn handshakes(&self) -> u64 {
        let reached = self
            .failures
            .iter()
            .filter(|(failure, _)| failure.has_reached_the_server());
        let reached: u64 = reached.map(|(_, count)| count).sum();
        self.load.totals.transactions + reached + self.load.cut_off
    }

    /// Limit of the steady state.
    pub fn limit(&self) -> LoadLimit {
        let Ok(window) = self.window() else {
            return LoadLimit::Unknown;
        };
        let (from, to) = window.whole_seconds().unwrap_or_default();
        let counted = self.busiest.get(from as usize..to as usize);
        let busy: Duration = counted.unwrap_or_default().iter().sum();
        if busy.as_secs_f64() > BUSY.0 * (to - from) as f64 {
            LoadLimit::Client
        } else {
            LoadLimit::Elsewhere
        }
    }

    /// Returns the load for the record, with the description of the server.
    pub fn record(self, server: BTreeMap<String, String>) -> ServerLoad {
        let (steady, limit) = (self.steady(), self.limit());
        ServerLoad {
            server,
            unsteady: steady.as_ref().err().map(ToString::to_string),
            steady: steady.ok(),
            limit,
            ..self.load
        }
    }
}

/// Library that speaks TLS: `openssl 3.5.4`.
fn client() -> String {
    let version = openssl::version::version();
    let mut words = version.split(' ');
    let number = words.nth(1).unwrap_or_default();
    format!("openssl {number}")
}

/// A thread that works for more than this share of the time is what limits the rate: it answers late.
const BUSY: Ratio = Ratio(0.9);

#[cfg(test)]
mod tests {
    use keymark_bench::Load;

    use super::*;

    #[test]
    fn only_the_steady_state_says_whether_the_client_was_the_limit() {
        let settings = LoadSettings::new(Load::single(), Duration::from_secs(4));
        let limit = |settled, elapsed| {
            let mut measured = Measurement::of(&settings, Vec::new());
            measured.busiest = [1000, 950, 930, 100].map(Duration::from_millis).into();
            measured.settled = settled;
            measured.load.elapsed_ns = nanoseconds(Duration::from_secs(elapsed));
            measured.limit()
        };
        let settled = Some(Duration::from_secs(1));
        assert_eq!(limit(settled, 3), LoadLimit::Client);
        assert_eq!(limit(settled, 4), LoadLimit::Elsewhere);
        assert_eq!(limit(None, 4), LoadLimit::Unknown);
    }
}

//! What a load has shown.

use std::collections::BTreeMap;
use std::time::Duration;

use keymark_bench::server_load::{Durations, Totals};
use keymark_stats::Ratio;

use crate::bottleneck::Bottleneck;
use crate::demand::{Demand, FirstThink, Think};
use crate::failure::{Failure, Phase};
use crate::recorder::Second;
use crate::run::add_counts;
use crate::sample::Transaction;
use crate::settings::{Settings, WarmUp};
use crate::steady::{Completions, NoSteadyState, Span, Steady, steady};
use crate::tls::{Engine, Negotiated};
use crate::worker::Report;

/// A load that is over, or was stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// As it was asked for, with its seed.
    pub settings: Settings,
    /// The library that spoke TLS.
    pub engine: Engine,
    /// From the start to the cut-off.
    pub elapsed: Duration,
    /// Second by second: durations by phase, failures, the client's own time.
    pub seconds: Vec<Second>,
    /// What was agreed on, and in how many handshakes that were as expected.
    pub negotiated: BTreeMap<Negotiated, u64>,
    /// Some whole transactions, each as likely to be here as any other, by their end.
    pub sample: Vec<Transaction>,
    /// Transactions that were under way at the cut-off: neither successes nor failures.
    pub cut_off: u64,
    /// Arrivals that were due and had not begun at the cut-off.
    pub waiting: u64,
    /// When the load was settled, since its start; `None` if it never was.
    pub settled: Option<Duration>,
    completions: Completions,
    totals: Totals,
}

impl Measurement {
    pub(crate) fn of(settings: &Settings, engine: Engine, reports: Vec<Report>) -> Self {
        let mut reports = reports.into_iter();
        let mut all = Self {
            settings: settings.clone(),
            engine,
            elapsed: Duration::ZERO,
            seconds: Vec::new(),
            negotiated: BTreeMap::new(),
            sample: Vec::new(),
            cut_off: 0,
            waiting: 0,
            settled: Some(Duration::ZERO),
            completions: Completions::default(),
            totals: Totals::default(),
        };
        let mut reservoir = None;
        for report in reports.by_ref() {
            all.elapsed = all.elapsed.max(report.ended);
            all.cut_off += report.cut_off;
            all.waiting += report.waiting;
            all.settled = all
                .settled
                .zip(report.settled)
                .map(|(one, other)| one.max(other));
            add_counts(&mut all.negotiated, report.negotiated);
            let recorder = report.recorder;
            all.completions.add(&recorder.completions);
            all.totals.add(&recorder.totals);
            let seconds = recorder.seconds.len().max(all.seconds.len());
            all.seconds.resize_with(seconds, Second::default);
            for (second, its) in all.seconds.iter_mut().zip(&recorder.seconds) {
                second.add(its);
            }
            match &mut reservoir {
                None => reservoir = Some(recorder.reservoir),
                Some(sum) => sum.add(recorder.reservoir),
            }
        }
        all.sample = reservoir.map_or_else(Vec::new, |kept| kept.transactions());
        all.settled = all.settled.map(|settled| settled.max(warm_up(settings)));
        all
    }

    /// Sums over the whole load, of which siege's figures are made.
    #[must_use]
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    /// The window in which the load is steady.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn window(&self) -> Result<Span, NoSteadyState> {
        let settled = match (self.settled, self.settings.warm_up) {
            (Some(settled), WarmUp::Automatic) => settled,
            (None, WarmUp::Automatic) => return Err(NoSteadyState::NeverSettled),
            (_, WarmUp::For(_)) => warm_up(&self.settings),
        };
        Span::of_whole_seconds(settled, self.elapsed)
    }

    /// A window cut into twenty equal parts: their length, and the transactions that succeeded and ended in each.
    ///
    /// # Errors
    ///
    /// If there were none.
    pub fn completed_in_parts(&self, window: Span) -> Result<(Duration, Vec<u64>), NoSteadyState> {
        self.completions.in_parts(window)
    }

    /// Rate and response time of the steady state.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn steady(&self) -> Result<Steady, NoSteadyState> {
        steady(&self.completions, self.window()?, self.settings.seed)
    }

    /// Durations of a phase in the steady state, of transactions that succeeded.
    ///
    /// # Errors
    ///
    /// If there is no steady state.
    pub fn steady_phase(&self, phase: Phase) -> Result<Durations, NoSteadyState> {
        let mut sum = Durations::default();
        self.steady_seconds()?
            .for_each(|second| sum.add(second.phase(phase)));
        Ok(sum)
    }

    /// What failed in the steady state, as a share of all transactions that ended in it.
    ///
    /// # Errors
    ///
    /// If there is no steady state.
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
    pub fn steady_failed(&self) -> Result<Ratio, NoSteadyState> {
        let (mut failed, mut done) = (0, 0);
        for second in self.steady_seconds()? {
            failed += second.failed();
            done += second.transactions();
        }
        Ok(Ratio(failed as f64 / (failed + done).max(1) as f64))
    }

    /// Transactions that were due and had not ended at the cut-off, as a share of all that were due: many if arrivals pile
    /// up.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
    pub fn unfinished(&self) -> Ratio {
        let left = self.cut_off + self.waiting;
        let all = self.totals.transactions + self.totals.failed + left;
        Ratio(left as f64 / all.max(1) as f64)
    }

    fn steady_seconds(&self) -> Result<impl Iterator<Item = &Second>, NoSteadyState> {
        let window = self.window()?;
        let until = self.seconds.iter().take(whole_seconds(window.end));
        Ok(until.skip(whole_seconds(window.begin)))
    }

    /// Durations of a phase over the whole load, of transactions that succeeded.
    #[must_use]
    pub fn phase(&self, phase: Phase) -> Durations {
        let mut sum = Durations::default();
        self.seconds
            .iter()
            .for_each(|second| sum.add(second.phase(phase)));
        sum
    }

    /// What failed, by class, over the whole load.
    #[must_use]
    pub fn failures(&self) -> BTreeMap<Failure, u64> {
        let mut sum = BTreeMap::new();
        for second in &self.seconds {
            add_counts(&mut sum, second.failures.clone());
        }
        sum
    }

    /// Transactions that succeeded, over the whole load.
    #[must_use]
    pub const fn transactions(&self) -> u64 {
        self.totals.transactions
    }

    /// Processor time of the client's threads, over the whole load: `client_cpu_s` in seconds.
    #[must_use]
    pub fn processor(&self) -> Duration {
        self.seconds.iter().map(|second| second.processor).sum()
    }

    /// Whether the client was what limited the steady state.
    ///
    /// # Errors
    ///
    /// If there is no steady state.
    pub fn bottleneck(&self) -> Result<Bottleneck, NoSteadyState> {
        Ok(Bottleneck::within(&self.seconds, self.window()?))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "seconds of a load")]
const fn whole_seconds(time: Duration) -> usize {
    time.as_secs() as usize
}

/// The time before which a load is not settled, whatever its transactions.
fn warm_up(settings: &Settings) -> Duration {
    // At the least a second, in which servers make their first connections and allocations.
    const LEAST: Duration = Duration::from_secs(1);
    let (ramp, swing) = match settings.demand {
        Demand::Users(users) => match users.think {
            Think::None => (users.ramp, Duration::ZERO),
            Think::Uniform {
                most,
                first: FirstThink::Fresh,
            }
            | Think::Siege { most } => (users.ramp, 2 * most),
            Think::Uniform {
                most: _,
                first: FirstThink::Residual,
            } => (users.ramp, Duration::ZERO),
        },
        Demand::Arrivals(_) => (Duration::ZERO, Duration::ZERO),
    };
    match settings.warm_up {
        WarmUp::Automatic => (ramp + swing).max(LEAST),
        WarmUp::For(time) => time.max(ramp),
    }
}

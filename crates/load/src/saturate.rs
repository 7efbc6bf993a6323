//! Looking for a server's limits: which load to try next, decided from what earlier ones have shown.
//!
//! Both searches are pure: [`UsersSearch::next`] and [`RateSearch::next`] say what to try, `tell` takes what it showed.
//! [`search_users`] and [`search_rate`] run them over anything that measures, in earnest [`crate::run`].

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_stats::{PerSecond, Ratio};

use crate::failure::Phase;
use crate::measurement::Measurement;
use crate::steady::NoSteadyState;

/// What a load has shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Transactions a second in the steady state.
    pub rate: PerSecond,
    /// What 99 % of its transactions did not exceed.
    pub p99: Duration,
    /// Transactions that failed, as a share of all.
    pub failed: Ratio,
    /// Transactions that were due and had not ended when the load did, as a share of all that were due.
    pub unfinished: Ratio,
}

impl Observed {
    /// What a measurement has shown in its steady state.
    ///
    /// # Errors
    ///
    /// If it has none in which anything was done.
    pub fn of(measured: &Measurement) -> Result<Self, NoSteadyState> {
        let steady = measured.steady()?;
        let whole = measured.steady_phase(Phase::Whole)?;
        let p99 = whole.quantile(0.99).ok_or(NoSteadyState::NothingDone)?;
        Ok(Self {
            rate: steady.rate.value,
            p99: Duration::from_secs_f64(p99.0),
            failed: measured.steady_failed()?,
            unfinished: measured.unfinished(),
        })
    }
}

/// A gain of less than this is none: rates of one load differ as much by chance.
const GAIN: f64 = 1.03;
/// After so many steps without a gain there will be none.
const PATIENCE: u32 = 2;
/// Neighbours closer than this are the same load.
const NEAR: f64 = 1.25;
/// The knee is where this share of the best throughput is reached.
pub const KNEE: Ratio = Ratio(0.95);

/// Limits of a closed loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Users with the best throughput.
    pub best_users: NonZeroU32,
    /// What they showed.
    pub best: Observed,
    /// The fewest users that reach [`KNEE`] of it: with more, they wait for each other.
    pub knee_users: NonZeroU32,
    /// What those showed.
    pub knee: Observed,
}

/// Looks for the best throughput over the number of users: doubling until it no longer rises, then halving the distance
/// around the best and the knee. A load in which more than one in a hundred fails is none.
#[derive(Debug, Clone, PartialEq)]
pub struct UsersSearch {
    most: u32,
    seen: Vec<(u32, Observed)>,
}

impl UsersSearch {
    /// From one user to `most`.
    #[must_use]
    pub const fn new(most: NonZeroU32) -> Self {
        Self {
            most: most.get(),
            seen: Vec::new(),
        }
    }

    /// Users to try next; `None` when there is no more to learn.
    #[must_use]
    pub fn next(&self) -> Option<NonZeroU32> {
        let users = self.step().or_else(|| self.refinement())?;
        NonZeroU32::new(users)
    }

    /// Takes what a number of users has shown.
    pub fn tell(&mut self, users: NonZeroU32, observed: Observed) {
        let at = self.seen.partition_point(|(seen, _)| *seen < users.get());
        self.seen.insert(at, (users.get(), observed));
    }

    fn step(&self) -> Option<u32> {
        let Some((last, _)) = self.seen.last() else {
            return Some(1);
        };
        let (mut best, mut idle) = (0.0, 0);
        for (_, observed) in &self.seen {
            let rate = counted(observed);
            idle = if rate > best * GAIN { 0 } else { idle + 1 };
            best = f64::max(best, rate);
        }
        let next = last.saturating_mul(2).min(self.most);
        (idle < PATIENCE && next > *last).then_some(next)
    }

    /// The middle of the widest gap beside the best or the knee.
    fn refinement(&self) -> Option<u32> {
        let found = self.found()?;
        let beside = |users: NonZeroU32| {
            let at = self.seen.iter().position(|(seen, _)| *seen == users.get());
            let at = at.unwrap_or_default();
            let pair = |left: usize| Some((self.seen.get(left)?.0, self.seen.get(left + 1)?.0));
            [at.checked_sub(1).and_then(pair), pair(at)]
        };
        let gaps = beside(found.best_users)
            .into_iter()
            .chain([beside(found.knee_users)[0]]);
        let width = |(low, high): &(u32, u32)| f64::from(*high) / f64::from(*low);
        let wide = gaps
            .flatten()
            .filter(|gap| gap.1 - gap.0 > 1 && width(gap) > NEAR);
        let widest = wide.max_by(|one, other| width(one).total_cmp(&width(other)));
        widest.map(|(low, high)| low.midpoint(high))
    }

    /// The limits as far as they are known; `None` if every load failed.
    #[must_use]
    pub fn found(&self) -> Option<Saturation> {
        let by_rate = |one: &&(u32, Observed), other: &&(u32, Observed)| {
            counted(&one.1).total_cmp(&counted(&other.1))
        };
        // Of equals, the fewer users.
        let (best_users, best) = self.seen.iter().rev().max_by(by_rate)?;
        if counted(best) <= 0.0 {
            return None;
        }
        let enough = KNEE.0 * counted(best);
        let knee = self.seen.iter().find(|(_, seen)| counted(seen) >= enough);
        let (knee_users, knee) = knee?;
        Some(Saturation {
            best_users: NonZeroU32::new(*best_users)?,
            best: *best,
            knee_users: NonZeroU32::new(*knee_users)?,
            knee: *knee,
        })
    }
}

/// More failures than this and a load does not count.
pub const MOST_FAILED: Ratio = Ratio(0.01);

fn counted(observed: &Observed) -> f64 {
    if observed.failed.0 > MOST_FAILED.0 {
        0.0
    } else {
        observed.rate.0
    }
}

/// Arrivals of which more than this share is left at the end pile up. (Their rate says less: that of Poisson arrivals
/// varies by as much within seconds.)
pub const MOST_UNFINISHED: Ratio = Ratio(0.03);
/// A search for a rate is over when its bounds are this close.
const CLOSE: f64 = 1.05;
/// Below this share of the expected rate nobody looks.
const LEAST: f64 = 1.0 / 64.0;

/// Looks for the highest rate of an open loop at which 99 % of the transactions stay under a limit, almost none fails
/// and nothing piles up: up by halves until it does not hold, then halving the distance. A rate that does not hold is tried
/// a second time, since one disturbance spoils a p99.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSearch {
    start: f64,
    limit: Duration,
    holds: Option<(f64, Observed)>,
    fails: Option<f64>,
    /// It has failed once, which something else on the machine may have done.
    doubted: Option<f64>,
}

impl RateSearch {
    /// Around a rate that may be too much, such as the best of a closed loop.
    #[must_use]
    pub const fn new(expected: PerSecond, limit: Duration) -> Self {
        Self {
            start: expected.0,
            limit,
            holds: None,
            fails: None,
            doubted: None,
        }
    }

    /// The rate to try next; `None` when the bounds are close, or nothing holds.
    #[must_use]
    pub fn next(&self) -> Option<PerSecond> {
        if let Some(again) = self.doubted {
            return Some(PerSecond(again));
        }
        let next = match (self.holds, self.fails) {
            (None, None) => self.start * 0.5,
            (Some((holds, _)), None) => holds * 1.5,
            (None, Some(fails)) => fails * 0.5,
            (Some((holds, _)), Some(fails)) if fails / holds > CLOSE => (holds * fails).sqrt(),
            (Some(_), Some(_)) => return None,
        };
        (next > self.start * LEAST).then_some(PerSecond(next))
    }

    /// Takes what a rate has shown.
    pub fn tell(&mut self, rate: PerSecond, observed: Observed) {
        let holds = observed.p99 <= self.limit
            && observed.failed.0 <= MOST_FAILED.0
            && observed.unfinished.0 <= MOST_UNFINISHED.0;
        let doubted = self.doubted.take();
        if holds {
            self.holds = Some((rate.0, observed));
        } else if doubted.is_some() {
            self.fails = Some(rate.0);
        } else {
            self.doubted = Some(rate.0);
        }
    }

    /// The highest rate that held, with what it showed.
    #[must_use]
    pub fn found(&self) -> Option<(PerSecond, Observed)> {
        let (rate, observed) = self.holds?;
        Some((PerSecond(rate), observed))
    }
}

/// Runs a search over users to its end.
///
/// # Errors
///
/// That of the first measurement that fails.
pub fn search_users<E>(
    most: NonZeroU32,
    mut measure: impl FnMut(NonZeroU32) -> Result<Observed, E>,
) -> Result<Option<Saturation>, E> {
    let mut search = UsersSearch::new(most);
    while let Some(users) = search.next() {
        search.tell(users, measure(users)?);
    }
    Ok(search.found())
}

/// Runs a search over rates to its end.
///
/// # Errors
///
/// That of the first measurement that fails.
pub fn search_rate<E>(
    expected: PerSecond,
    limit: Duration,
    mut measure: impl FnMut(PerSecond) -> Result<Observed, E>,
) -> Result<Option<(PerSecond, Observed)>, E> {
    let mut search = RateSearch::new(expected, limit);
    while let Some(rate) = search.next() {
        search.tell(rate, measure(rate)?);
    }
    Ok(search.found())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    const SERVICE: f64 = 0.002;

    /// A closed loop of users without pauses: so much time passes outside the server, whose lanes take 2 ms each.
    fn server(lanes: f64, outside: f64, decay: f64) -> impl Fn(NonZeroU32) -> Observed {
        move |users| {
            let users = f64::from(users.get());
            let most = lanes / SERVICE;
            let rate = (users / (SERVICE + outside)).min(most) / (1.0 + decay * users);
            Observed {
                rate: PerSecond(rate),
                p99: Duration::from_secs_f64(users / rate),
                failed: Ratio(0.0),
                unfinished: Ratio(0.0),
            }
        }
    }

    fn saturation(most: u32, server: impl Fn(NonZeroU32) -> Observed) -> (Saturation, usize) {
        let mut tries = 0;
        let measure = |users| {
            tries += 1;
            Ok::<_, Infallible>(server(users))
        };
        let most = NonZeroU32::new(most).unwrap();
        let Ok(found) = search_users(most, measure);
        (found.unwrap(), tries)
    }

    #[test]
    fn the_best_and_the_knee_are_found_in_few_steps() {
        // Four lanes, half the time outside: eight users fill them.
        let (found, tries) = saturation(1024, server(4.0, 0.002, 0.0));
        assert!((found.best.rate.0 - 2000.0).abs() < 1.0, "{found:?}");
        assert_eq!((found.best_users.get(), found.knee_users.get()), (8, 8));
        assert!(tries <= 10, "{tries}");
        // A server that suffers from many users: the best lies between two powers of two.
        let (found, _) = saturation(1024, server(12.0, 0.002, 0.005));
        assert!((20..=28).contains(&found.best_users.get()), "{found:?}");
        assert!(found.knee_users <= found.best_users);
    }

    #[test]
    fn the_search_ends_at_the_most_users() {
        let (found, tries) = saturation(6, server(1000.0, 0.1, 0.0));
        assert_eq!(found.best_users.get(), 6);
        assert!(tries <= 6, "{tries}");
        let (found, tries) = saturation(1, server(1.0, 0.0, 0.0));
        assert_eq!((found.best_users.get(), tries), (1, 1));
    }

    #[test]
    fn loads_that_fail_do_not_count() {
        let server = server(1000.0, 0.01, 0.0);
        let refusing = |users: NonZeroU32| Observed {
            failed: Ratio(if users.get() > 20 { 0.5 } else { 0.0 }),
            ..server(users)
        };
        let (found, _) = saturation(1024, refusing);
        assert!((16..=20).contains(&found.best_users.get()), "{found:?}");
        let nothing = |_| {
            Ok::<_, Infallible>(Observed {
                rate: PerSecond(0.0),
                p99: Duration::ZERO,
                failed: Ratio(1.0),
                unfinished: Ratio(0.0),
            })
        };
        let Ok(found) = search_users(NonZeroU32::new(64).unwrap(), nothing);
        assert_eq!(found, None);
    }

    /// An open loop with exponential service: P(response > t) = e^(-(µ-λ)t) (Kleinrock 1975, §5.7).
    fn queue(capacity: f64, rate: PerSecond) -> Observed {
        let spare = (capacity - rate.0).max(1e-3);
        Observed {
            rate: PerSecond(rate.0.min(capacity)),
            p99: Duration::from_secs_f64(100.0_f64.ln() / spare),
            failed: Ratio(0.0),
            unfinished: Ratio((1.0 - capacity / rate.0).max(0.0)),
        }
    }

    #[test]
    fn the_highest_rate_under_a_limit_is_found() {
        // Under 50 ms at the 99th percentile: ln(100) / (500 - λ) = 0.05.
        let exact = 500.0 - 100.0_f64.ln() / 0.05;
        for expected in [450.0, 500.0, 2000.0] {
            let limit = Duration::from_millis(50);
            let mut tries = 0;
            let measure = |rate| {
                tries += 1;
                Ok::<_, Infallible>(queue(500.0, rate))
            };
            let Ok(found) = search_rate(PerSecond(expected), limit, measure);
            let rate = found.unwrap().0.0;
            assert!(rate <= exact && rate > exact / 1.06, "{rate} {exact}");
            assert!(tries <= 14, "{tries}");
        }
    }

    #[test]
    fn one_disturbance_bounds_nothing() {
        let mut tries = 0;
        let disturbed = |rate| {
            tries += 1;
            let observed = queue(500.0, rate);
            Ok::<_, Infallible>(Observed {
                p99: observed.p99.max(Duration::from_secs(u64::from(tries == 1))),
                ..observed
            })
        };
        let limit = Duration::from_millis(50);
        let Ok(found) = search_rate(PerSecond(450.0), limit, disturbed);
        assert!(found.unwrap().0.0 > 385.0);
    }

    #[test]
    fn arrivals_that_pile_up_do_not_hold_however_patient_the_limit() {
        let patient = |rate| {
            Ok::<_, Infallible>(Observed {
                p99: Duration::ZERO,
                ..queue(500.0, rate)
            })
        };
        let Ok(found) = search_rate(PerSecond(900.0), Duration::from_secs(60), patient);
        let rate = found.unwrap().0.0;
        assert!(rate < 500.0 * 1.04 && rate > 480.0, "{rate}");
    }

    #[test]
    fn a_server_that_never_holds_the_limit_has_no_such_rate() {
        let slow = |rate| Ok::<_, Infallible>(queue(1.0, rate));
        let Ok(found) = search_rate(PerSecond(1.0), Duration::from_millis(1), slow);
        assert_eq!(found, None);
    }
}

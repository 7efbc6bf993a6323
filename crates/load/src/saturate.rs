//! Looking for a server's limits: which load to try next, decided from what earlier ones have shown. Pure: [`search`] runs
//! over anything that measures, in earnest [`crate::run`].

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::{Saturation, Tried, TriedDemand};

/// A gain of less than this is none: rates of one load differ as much by chance.
const GAIN: f64 = 1.03;
/// Steps without a gain that end the search.
const PATIENCE: u32 = 2;
/// Neighbors closer than this are the same load.
const NEAR: f64 = 1.25;
/// The knee is where this share of the best throughput is reached.
const KNEE: f64 = 0.95;

/// Looks for the best throughput over the number of users: doubling until it no longer rises, then halving the distance
/// around the best and the knee. A load in which more than one in a hundred fails is none.
#[derive(Debug)]
struct UsersSearch {
    most: u32,
    /// Tried loads by users.
    seen: BTreeMap<u32, Tried>,
}

/// Users with the best throughput, with its rate, and the fewest that reach [`KNEE`] of it: with more, they wait for each
/// other.
#[derive(Debug, Clone, Copy)]
struct Best {
    users: u32,
    rate: f64,
    knee: u32,
}

impl UsersSearch {
    /// Users to try next; `None` when there is no more to learn.
    fn next(&self) -> Option<u32> {
        self.step().or_else(|| self.refinement())
    }

    fn step(&self) -> Option<u32> {
        let Some((last, _)) = self.seen.last_key_value() else {
            return Some(1);
        };
        let (mut best, mut idle) = (0.0, 0);
        for observed in self.seen.values() {
            let rate = counted(observed);
            idle = if rate > best * GAIN { 0 } else { idle + 1 };
            best = f64::max(best, rate);
        }
        let next = last.saturating_mul(2).min(self.most);
        (idle < PATIENCE && next > *last).then_some(next)
    }

    /// The middle of the widest gap next to the best or the knee.
    fn refinement(&self) -> Option<u32> {
        let found = self.found()?;
        let pair = |low: u32| Some((low, *self.seen.range(low..).nth(1)?.0));
        let before = |users: u32| pair(*self.seen.range(..users).next_back()?.0);
        let gaps = [before(found.users), pair(found.users), before(found.knee)];
        let width = |(low, high): &(u32, u32)| f64::from(*high) / f64::from(*low);
        let wide = gaps
            .into_iter()
            .flatten()
            .filter(|gap| gap.1 - gap.0 > 1 && width(gap) > NEAR);
        let widest = wide.max_by(|one, other| width(one).total_cmp(&width(other)));
        widest.map(|(low, high)| low.midpoint(high))
    }

    /// The limits as far as they are known; `None` if every load failed.
    fn found(&self) -> Option<Best> {
        let rate = self.seen.values().map(counted).fold(0.0, f64::max);
        let reaching = |rate: f64| {
            let mut seen = self.seen.iter();
            seen.find(|(_, seen)| counted(seen) >= rate)
                .map(|(users, _)| *users)
        };
        (rate > 0.0).then_some(Best {
            users: reaching(rate)?,
            rate,
            knee: reaching(KNEE * rate)?,
        })
    }
}

/// More failures than this share and a load does not count.
const MOST_FAILED: f64 = 0.01;

fn counted(tried: &Tried) -> f64 {
    if tried.failed > MOST_FAILED {
        0.0
    } else {
        tried.rate
    }
}

/// Arrivals of which more than this share is left at the end pile up. (Their rate says less: that of Poisson arrivals
/// varies by as much within seconds.)
const MOST_UNFINISHED: f64 = 0.03;
/// A search for a rate is over when its bounds are this close.
const CLOSE: f64 = 1.05;
/// Below this share of the expected rate nobody looks.
const LEAST: f64 = 1.0 / 64.0;

/// Looks for the highest rate of an open loop at which 99 % of the transactions stay under a limit, almost none fails
/// and nothing piles up: up by halves until it does not hold, then halving the distance. A rate that does not hold is tried
/// a second time, since one disturbance spoils a p99.
#[derive(Debug)]
struct RateSearch {
    /// A rate that may be too much, such as the best of a closed loop.
    start: f64,
    limit: Duration,
    holds: Option<f64>,
    fails: Option<f64>,
    /// The rate failed once, which something else on the machine may have caused.
    doubted: Option<f64>,
}

impl RateSearch {
    /// The rate to try next; `None` when the bounds are close, or nothing holds.
    fn next(&self) -> Option<f64> {
        if self.doubted.is_some() {
            return self.doubted;
        }
        let next = match (self.holds, self.fails) {
            (None, None) => self.start * 0.5,
            (Some(holds), None) => holds * 1.5,
            (None, Some(fails)) => fails * 0.5,
            (Some(holds), Some(fails)) if fails / holds > CLOSE => (holds * fails).sqrt(),
            (Some(_), Some(_)) => return None,
        };
        (next > self.start * LEAST).then_some(next)
    }

    /// Takes what a rate has shown.
    fn tell(&mut self, rate: f64, tried: Tried) {
        let holds = Duration::from_nanos(tried.p99_ns) <= self.limit
            && tried.failed <= MOST_FAILED
            && tried.unfinished <= MOST_UNFINISHED;
        let doubted = self.doubted.take();
        if holds {
            self.holds = Some(rate);
        } else if doubted.is_some() {
            self.fails = Some(rate);
        } else {
            self.doubted = Some(rate);
        }
    }
}

/// Looks for the number of users with the best throughput, up to `most`, and for the highest rate of arrivals whose 99th
/// percentile stays within `p99`; `None` if every load fails.
///
/// # Errors
/// That of the first measurement that fails.
pub fn search<E>(
    most: NonZeroU32,
    p99: Option<Duration>,
    mut measure: impl FnMut(TriedDemand) -> Result<Tried, E>,
) -> Result<Option<Saturation>, E> {
    let mut tried = Vec::new();
    let mut look = |demand| -> Result<Tried, E> {
        let one = measure(demand)?;
        tried.push(one);
        Ok(one)
    };
    let mut users = UsersSearch {
        most: most.get(),
        seen: BTreeMap::new(),
    };
    while let Some(next) = users.next() {
        users.seen.insert(next, look(TriedDemand::Users(next))?);
    }
    let Some(best) = users.found() else {
        return Ok(None);
    };
    let mut rate_within_limit = None;
    if let Some(limit) = p99 {
        let mut rates = RateSearch {
            start: best.rate,
            limit,
            holds: None,
            fails: None,
            doubted: None,
        };
        while let Some(next) = rates.next() {
            rates.tell(next, look(TriedDemand::Rate(next))?);
        }
        rate_within_limit = rates.holds;
    }
    Ok(Some(Saturation {
        tried,
        best_users: best.users,
        knee_users: best.knee,
        rate_within_limit,
    }))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    const SERVICE: f64 = 0.002;

    fn tried(demand: TriedDemand, rate: f64, p99: f64) -> Tried {
        Tried {
            demand,
            rate,
            p99_ns: (p99 * 1e9) as u64,
            failed: 0.0,
            unfinished: 0.0,
        }
    }

    /// A closed loop of users without pauses: so much time passes outside the server, whose lanes take 2 ms each.
    fn server(lanes: f64, outside: f64, decay: f64) -> impl Fn(u32) -> Tried {
        move |users| {
            let demand = TriedDemand::Users(users);
            let users = f64::from(users);
            let most = lanes / SERVICE;
            let rate = (users / (SERVICE + outside)).min(most) / (1.0 + decay * users);
            tried(demand, rate, users / rate)
        }
    }

    fn saturation(most: u32, server: impl Fn(u32) -> Tried) -> Option<Saturation> {
        let measure = |demand| match demand {
            TriedDemand::Users(users) => Ok::<_, Infallible>(server(users)),
            TriedDemand::Rate(_) => unreachable!("no limit was given"),
        };
        let Ok(found) = search(NonZeroU32::new(most).unwrap(), None, measure);
        found
    }

    #[test]
    fn the_best_and_the_knee_are_found_in_few_steps() {
        // Four lanes, half the time outside: eight users fill them.
        let found = saturation(1024, server(4.0, 0.002, 0.0)).unwrap();
        assert_eq!((found.best_users, found.knee_users), (8, 8));
        assert!(found.tried.len() <= 10, "{found:?}");
        // A server that suffers from many users: the best lies between two powers of two.
        let found = saturation(1024, server(12.0, 0.002, 0.005)).unwrap();
        assert!((20..=28).contains(&found.best_users), "{found:?}");
        assert!(found.knee_users <= found.best_users);
    }

    #[test]
    fn the_search_ends_at_the_most_users() {
        let found = saturation(6, server(1000.0, 0.1, 0.0)).unwrap();
        assert_eq!(found.best_users, 6);
        assert!(found.tried.len() <= 6, "{found:?}");
        let found = saturation(1, server(1.0, 0.0, 0.0)).unwrap();
        assert_eq!((found.best_users, found.tried.len()), (1, 1));
    }

    #[test]
    fn loads_that_fail_do_not_count() {
        let server = server(1000.0, 0.01, 0.0);
        let refusing = |users| Tried {
            failed: if users > 20 { 0.5 } else { 0.0 },
            ..server(users)
        };
        let found = saturation(1024, refusing).unwrap();
        assert!((16..=20).contains(&found.best_users), "{found:?}");
        let nothing = |users| Tried {
            failed: 1.0,
            ..tried(TriedDemand::Users(users), 0.0, 0.0)
        };
        assert_eq!(saturation(64, nothing), None);
    }

    /// The highest rate within a limit, of a server that closed loops see answer at `expected` a second, and how many
    /// rates were tried.
    fn highest(
        expected: f64,
        limit: Duration,
        mut open: impl FnMut(f64) -> Tried,
    ) -> (Option<f64>, usize) {
        let mut tries = 0;
        let measure = |demand| {
            Ok::<_, Infallible>(match demand {
                TriedDemand::Users(_) => tried(demand, expected, 0.0),
                TriedDemand::Rate(rate) => {
                    tries += 1;
                    open(rate)
                }
            })
        };
        let Ok(found) = search(NonZeroU32::new(8).unwrap(), Some(limit), measure);
        (found.unwrap().rate_within_limit, tries)
    }

    /// An open loop with exponential service: P(response > t) = e^(-(µ-λ)t) (Kleinrock 1975, §5.7).
    fn queue(capacity: f64, rate: f64) -> Tried {
        let spare = (capacity - rate).max(1e-3);
        Tried {
            unfinished: (1.0 - capacity / rate).max(0.0),
            ..tried(
                TriedDemand::Rate(rate),
                rate.min(capacity),
                100.0_f64.ln() / spare,
            )
        }
    }

    #[test]
    fn the_highest_rate_under_a_limit_is_found() {
        // Under 50 ms at the 99th percentile: ln(100) / (500 - λ) = 0.05.
        let exact = 500.0 - 100.0_f64.ln() / 0.05;
        for expected in [450.0, 500.0, 2000.0] {
            let limit = Duration::from_millis(50);
            let (rate, tries) = highest(expected, limit, |rate| queue(500.0, rate));
            let rate = rate.unwrap();
            assert!(rate <= exact && rate > exact / 1.06, "{rate} {exact}");
            assert!(tries <= 14, "{tries}");
        }
    }

    #[test]
    fn one_disturbance_bounds_nothing() {
        let mut first = true;
        let (rate, _) = highest(450.0, Duration::from_millis(50), |rate| {
            let undisturbed = queue(500.0, rate);
            let disturbed = u64::from(std::mem::take(&mut first)) * 1_000_000_000;
            Tried {
                p99_ns: undisturbed.p99_ns.max(disturbed),
                ..undisturbed
            }
        });
        assert!(rate.unwrap() > 385.0);
    }

    #[test]
    fn arrivals_that_pile_up_do_not_hold_however_patient_the_limit() {
        let (rate, _) = highest(900.0, Duration::from_secs(60), |rate| Tried {
            p99_ns: 0,
            ..queue(500.0, rate)
        });
        let rate = rate.unwrap();
        assert!(rate < 500.0 * 1.04 && rate > 480.0, "{rate}");
    }

    #[test]
    fn a_server_that_never_holds_the_limit_has_no_such_rate() {
        let (rate, _) = highest(1.0, Duration::from_millis(1), |rate| queue(1.0, rate));
        assert_eq!(rate, None);
    }
}

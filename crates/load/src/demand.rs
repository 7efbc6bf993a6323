//! What is asked of a server: users who think, or arrivals at a rate. Pure: all randomness comes from a seed.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_stats::PerSecond;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NANOSECONDS: f64 = 1e9;

/// Who asks, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Demand {
    /// A closed loop: a user asks again after an answer.
    Users(Users),
    /// An open loop: arrivals do not wait for answers.
    Arrivals(Arrivals),
}

/// Users who each have one transaction at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Users {
    /// How many.
    pub count: NonZeroU32,
    /// The longest pause before a transaction; pauses are uniform between zero and this. None of siege's benchmark mode.
    pub pause: Duration,
}

/// Transactions that begin when they are due, however long earlier ones take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrivals {
    /// How many are due a second.
    pub rate: PerSecond,
    /// The time between two.
    pub spacing: Spacing,
    /// So many connections at most are open at once; what is due then waits, and its wait counts.
    pub most_in_flight: NonZeroU32,
}

/// The time between two arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Exponential: a Poisson process.
    Poisson,
    /// Always the same.
    Constant,
}

/// One user's pauses. A user has the same in each run with one seed, whichever thread it is on.
#[derive(Debug)]
pub(crate) struct Thoughts {
    longest: Duration,
    rng: ChaCha8Rng,
}

impl Thoughts {
    pub(crate) fn new(longest: Duration, seed: u64, user: u32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::from(user));
        Self { longest, rng }
    }

    /// The pause before the first transaction: what is left of one at a moment taken at random, the equilibrium renewal
    /// process (Cox 1962, "Renewal Theory", §2.2 and §5.2), so that users begin as if they had always been there. It has the
    /// distribution 1 − (1 − x)².
    pub(crate) fn first(&mut self) -> Duration {
        let share: f64 = self.rng.random();
        self.longest.mul_f64(1.0 - (1.0 - share).sqrt())
    }

    /// The pause before a later one.
    pub(crate) fn pause(&mut self) -> Duration {
        self.longest.mul_f64(self.rng.random())
    }
}

/// The arrivals that one of several threads serves: every so manieth of a constant stream, or a Poisson process of its
/// own, which together are one of the whole rate (Cox & Lewis 1966, §8.2).
#[derive(Debug)]
pub(crate) struct Schedule {
    spacing: Spacing,
    /// Mean time between two arrivals of this thread, in nanoseconds.
    mean: f64,
    /// The next one, in nanoseconds since the start.
    next: f64,
    rng: ChaCha8Rng,
}

impl Schedule {
    pub(crate) fn new(arrivals: &Arrivals, seed: u64, thread: u32, threads: u32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::from(thread));
        let between = NANOSECONDS / arrivals.rate.0;
        let mut schedule = Self {
            spacing: arrivals.spacing,
            mean: between * f64::from(threads),
            next: between * f64::from(thread),
            rng,
        };
        match schedule.spacing {
            Spacing::Constant => {}
            Spacing::Poisson => schedule.next = schedule.exponential(),
        }
        schedule
    }

    fn exponential(&mut self) -> f64 {
        // 1 − u is never zero.
        -self.mean * (1.0 - self.rng.random::<f64>()).ln()
    }

    /// When the next arrival is due, since the start.
    pub(crate) fn next(&self) -> Duration {
        Duration::from_nanos(self.next as u64)
    }

    /// How many are due before `end`, from the next one on. More than can be counted in a moment are as many as expected: of
    /// a Poisson process that is their number to one in a thousand.
    pub(crate) fn due_before(mut self, end: Duration) -> u64 {
        const COUNTED: f64 = 1e6;
        let expected = (end.as_secs_f64() * NANOSECONDS - self.next) / self.mean;
        if expected > COUNTED {
            return expected as u64;
        }
        let mut due = 0;
        while self.next() < end {
            self.advance();
            due += 1;
        }
        due
    }

    /// That one has begun.
    pub(crate) fn advance(&mut self) {
        self.next += match self.spacing {
            Spacing::Constant => self.mean,
            Spacing::Poisson => self.exponential(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(5);

    fn pauses(seed: u64, user: u32) -> Vec<Duration> {
        let mut thoughts = Thoughts::new(MOST, seed, user);
        let first = thoughts.first();
        std::iter::once(first)
            .chain(std::iter::repeat_with(|| thoughts.pause()).take(999))
            .collect()
    }

    #[test]
    fn pauses_stay_within_bounds_and_repeat_with_the_seed() {
        let all = pauses(7, 3);
        assert!(all.iter().all(|pause| *pause < MOST));
        let mean = all.iter().sum::<Duration>().as_secs_f64() / 1000.0;
        assert!((mean - 2.5).abs() < 0.15, "{mean}");
        assert_eq!(all, pauses(7, 3));
        assert_ne!(all, pauses(8, 3));
        assert_ne!(all, pauses(7, 4));
        let mut none = Thoughts::new(Duration::ZERO, 1, 1);
        assert_eq!(
            (none.first(), none.pause()),
            (Duration::ZERO, Duration::ZERO)
        );
    }

    #[test]
    fn a_residual_pause_is_a_third_of_the_longest_on_average() {
        let first = |user| Thoughts::new(MOST, 1, user).first().as_secs_f64();
        let mean = (0..4000).map(first).sum::<f64>() / 4000.0;
        assert!((mean - 5.0 / 3.0).abs() < 0.06, "{mean}");
    }

    fn arrivals(spacing: Spacing) -> Arrivals {
        Arrivals {
            rate: PerSecond(1000.0),
            spacing,
            most_in_flight: NonZeroU32::MIN,
        }
    }

    fn times(spacing: Spacing, thread: u32, threads: u32) -> Vec<Duration> {
        let mut schedule = Schedule::new(&arrivals(spacing), 9, thread, threads);
        let next = || {
            let next = schedule.next();
            schedule.advance();
            next
        };
        let within = |time: &Duration| *time < Duration::from_secs(10);
        std::iter::repeat_with(next).take_while(within).collect()
    }

    #[test]
    fn threads_share_a_constant_stream() {
        let mut all = times(Spacing::Constant, 0, 2);
        all.extend(times(Spacing::Constant, 1, 2));
        all.sort_unstable();
        assert_eq!(all.len(), 10_000);
        let steps = all.windows(2).map(|pair| pair[1] - pair[0]);
        let even = Duration::from_micros(999)..Duration::from_micros(1001);
        assert!(steps.into_iter().all(|step| even.contains(&step)));
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_its_spread() {
        let mut all = times(Spacing::Poisson, 0, 3);
        all.extend(times(Spacing::Poisson, 1, 3));
        all.extend(times(Spacing::Poisson, 2, 3));
        assert!(all.len().abs_diff(10_000) < 400, "{}", all.len());
        let mut counts = [0_u32; 100];
        for time in &all {
            counts[time.as_millis() as usize / 100] += 1;
        }
        let spread = counts
            .iter()
            .map(|count| (f64::from(*count) - 100.0).powi(2));
        let index = spread.sum::<f64>() / 100.0 / 100.0;
        assert!((0.6..1.5).contains(&index), "{index}");
        assert_eq!(times(Spacing::Poisson, 0, 3), times(Spacing::Poisson, 0, 3));
    }
}

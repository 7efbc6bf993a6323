//! Arrivals in an open loop, and thinking times of users. Pure: all randomness comes from a seed.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Rate, Stretch, nanoseconds};

/// More arrivals than this are not counted one by one: their number is known to one in a thousand without (the standard
/// deviation of a Poisson distribution is the root of its mean), and nobody serves as many at once.
const UNCOUNTED: f64 = 1e6;

/// Arrivals of a Poisson process since its start, one after the other, for ever.
#[derive(Debug, Clone)]
pub struct Poisson {
    rng: ChaCha8Rng,
    per_second: f64,
    next_s: f64,
}

impl Poisson {
    /// Returns arrivals at this rate. Different streams of a seed are independent, and together one process of the
    /// rates' sum (Cox & Lewis 1966, §8.2).
    pub fn new(per_second: f64, seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        let mut arrivals = Self {
            rng,
            per_second,
            next_s: 0.0,
        };
        arrivals.advance();
        arrivals
    }

    /// Returns the time of the next arrival.
    pub fn due(&self) -> Duration {
        Duration::from_secs_f64(self.next_s.min(1e9))
    }

    fn advance(&mut self) {
        // Inverse transform: gaps are exponential with mean 1/rate; 1 - u avoids ln 0.
        self.next_s += -(1.0 - self.rng.random::<f64>()).ln() / self.per_second;
    }

    /// Counts the arrivals until that moment and continues behind them.
    pub fn due_by(&mut self, moment: Duration) -> u64 {
        let expected = (moment.as_secs_f64() - self.next_s) * self.per_second;
        let mut come = 0;
        if expected > UNCOUNTED {
            come = expected as u64;
            // What comes after does not hang on what came before.
            self.next_s = moment.as_secs_f64();
        }
        while self.due() <= moment {
            come += 1;
            self.advance();
        }
        come
    }
}

impl Iterator for Poisson {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let due = self.due();
        self.advance();
        Some(due)
    }
}

/// The queue of an open loop, on a clock of its own that stops between blocks and while keymark is
/// busy with itself: who waits at the end of a block has waited that long when the next one begins, and no
/// longer.
#[derive(Debug, Clone)]
pub(crate) struct ArrivalQueue {
    /// Arrivals from the first unclaimed one.
    arrivals: Poisson,
    claimed: u64,
    /// Arrivals from the first one in the future.
    later: Poisson,
    /// Number of arrivals so far.
    come: u64,
    /// Beginning of the next block.
    now: Duration,
    /// Time when each worker has finished what it began.
    free: Vec<Duration>,
}

impl ArrivalQueue {
    /// An empty one.
    pub(crate) fn new(rate: Rate, workers: usize, seed: u64) -> Self {
        let arrivals = Poisson::new(rate.per_second(), seed, 0);
        Self {
            later: arrivals.clone(),
            arrivals,
            come: 0,
            claimed: 0,
            now: Duration::ZERO,
            free: vec![Duration::ZERO; workers],
        }
    }

    /// Returns the beginning of the block under way.
    pub(crate) const fn now(&self) -> Duration {
        self.now
    }

    /// Returns the time when a worker is first free in the block.
    pub(crate) fn free(&self, worker: u32) -> Duration {
        let free = self.free.get(worker as usize).copied();
        free.unwrap_or(self.now).max(self.now)
    }

    /// The next arrival, for a worker that is free from `free` on; `None` when it would begin with it at
    /// `until` or later: it stays in the queue.
    pub(crate) fn claim(&mut self, free: Duration, until: Duration) -> Option<Duration> {
        if free.max(self.arrivals.due()) >= until {
            return None;
        }
        self.claimed += 1;
        self.arrivals.next()
    }

    /// Ends a block in which each worker was free, with nothing begun, at the moment named; nothing named is
    /// a worker that did nothing. The queue goes on from where the first of them stopped.
    pub(crate) fn end_block(&mut self, stopped: Vec<Duration>) -> Stretch {
        let begun = self.now;
        self.now = stopped.iter().copied().min().unwrap_or(begun).max(begun);
        self.free = stopped;
        self.come += self.later.due_by(self.now);
        Stretch {
            length_ns: nanoseconds(self.now - begun),
            waiting: self.come.saturating_sub(self.claimed),
        }
    }
}

/// The pauses of one user, who has the same in each run with one seed.
#[derive(Debug)]
pub struct Thoughts(ChaCha8Rng);

impl Thoughts {
    /// Returns the thinking times of a user.
    pub fn new(seed: u64, user: u32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(user.into());
        Self(rng)
    }

    /// What is left of one at a moment taken at random, the equilibrium renewal process (Cox 1962, "Renewal Theory", §2.2
    /// and §5.2), for users who are to begin as if they had always been there. It has the distribution 1 − (1 − x)².
    pub fn first(&mut self, longest: Duration) -> Duration {
        longest.mul_f64(1.0 - (1.0 - self.0.random::<f64>()).sqrt())
    }

    /// The next one: uniform between zero and `longest`.
    pub fn next(&mut self, longest: Duration) -> Duration {
        longest.mul_f64(self.0.random::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_think_for_half_the_longest_time_on_average_and_not_in_step() {
        let longest = Duration::from_secs(1);
        let mut users = [0, 1].map(|worker| Thoughts::new(7, worker));
        let [one, other] = &mut users;
        let pauses: Vec<_> = (0..10_000).map(|_| one.next(longest)).collect();
        assert!(pauses.iter().all(|pause| *pause < longest));
        // Standard deviation of the mean: 1/√12/100 s = 2.9 ms.
        let mean = pauses.iter().sum::<Duration>() / 10_000;
        assert!(
            mean.abs_diff(longest / 2) < Duration::from_millis(12),
            "{mean:?}"
        );
        assert_ne!(other.next(longest), pauses[0]);
        assert_eq!(Thoughts::new(7, 0).next(longest), pauses[0]);
        assert_ne!(Thoughts::new(8, 0).next(longest), pauses[0]);
        let nothing = [Thoughts::first, Thoughts::next].map(|of| of(one, Duration::ZERO));
        assert_eq!(nothing, [Duration::ZERO; 2]);
    }

    #[test]
    fn what_is_due_is_counted_from_the_next_on() {
        let mut arrivals = Poisson::new(1000.0, 3, 0);
        let times: Vec<Duration> = arrivals.clone().take(10_000).collect();
        assert!(times.is_sorted());
        // Ten seconds, with a standard deviation of a hundredth.
        assert!((9.5..10.5).contains(&times[9_999].as_secs_f64()));
        assert_eq!(arrivals.due_by(times[99]), 100);
        assert_eq!(arrivals.due(), times[100]);
        assert_eq!(
            (arrivals.next(), arrivals.due_by(times[0])),
            (Some(times[100]), 0)
        );
        assert_eq!(arrivals.due_by(times[499]), 399);
    }

    #[test]
    fn more_arrivals_than_can_be_counted_are_as_many_as_expected() {
        let mut queue = ArrivalQueue::new("1000000000/s".parse().unwrap(), 1, 1);
        for _ in 0..3 {
            let stretch = queue.end_block(vec![queue.now() + Duration::from_secs(3_600)]);
            let expected = queue.now().as_secs_f64() * 1e9;
            let share = stretch.waiting as f64 / expected;
            assert!((0.999..1.001).contains(&share), "{share}");
        }
    }

    #[test]
    fn blocks_cut_a_queue_without_changing_it() {
        // One worker, service of 0.8 ms, arrivals every millisecond on average: Lindley's recursion in one
        // piece, and through blocks of 5 ms.
        let service = Duration::from_micros(800);
        let rate = "1000/s".parse().unwrap();
        let mut free = Duration::ZERO;
        let whole: Vec<Duration> = ArrivalQueue::new(rate, 1, 3)
            .arrivals
            .take(500)
            .map(|due| {
                free = free.max(due) + service;
                free - due
            })
            .collect();
        let mut queue = ArrivalQueue::new(rate, 1, 3);
        let (mut cut, mut length, mut waited) = (Vec::new(), 0, false);
        while cut.len() < whole.len() {
            let until = queue.now() + Duration::from_millis(5);
            let mut free = queue.free(0);
            while let Some(due) = queue.claim(free, until) {
                free = free.max(due) + service;
                cut.push(free - due);
            }
            let stretch = queue.end_block(vec![free.max(until)]);
            length += stretch.length_ns;
            waited |= stretch.waiting > 0;
        }
        assert_eq!(cut[..whole.len()], whole);
        assert_eq!(u128::from(length), queue.now().as_nanos());
        assert!(waited, "some blocks end with a queue");
    }
}

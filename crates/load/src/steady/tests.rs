//! The estimator against queues whose answers are known, and against a simulation made another way.

use keymark_bench::runner::arrivals::Thoughts;
use keymark_bench::server_load::Durations;
use keymark_stats::{Estimate, RunDependence, throughput};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// N users who think for up to `think`, and one server that takes them in the order of their coming.
#[derive(Clone, Copy)]
struct Repair {
    users: u32,
    think: Duration,
    first: fn(&mut Thoughts, Duration) -> Duration,
    service: fn(&mut ChaCha8Rng) -> Duration,
}

const SERVICE: Duration = Duration::from_millis(50);

fn constant(_: &mut ChaCha8Rng) -> Duration {
    SERVICE
}

fn exponential(rng: &mut ChaCha8Rng) -> Duration {
    SERVICE.mul_f64(-(1.0 - rng.random::<f64>()).ln())
}

impl Repair {
    const fn new(users: u32, service: fn(&mut ChaCha8Rng) -> Duration) -> Self {
        Self {
            users,
            think: Duration::from_secs(1),
            // All begin together.
            first: Thoughts::next,
            service,
        }
    }

    /// Transactions that were asked for before `until`, as (start, end).
    fn simulate(&self, until: Duration, seed: u64) -> Vec<(Duration, Duration)> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
        let mut users: Vec<Thoughts> = (0..self.users)
            .map(|user| Thoughts::new(seed, user))
            .collect();
        let first = |user| (self.first)(user, self.think);
        let mut next: Vec<Duration> = users.iter_mut().map(first).collect();
        let mut free = Duration::ZERO;
        let mut done = Vec::new();
        loop {
            // First come, first served: the earliest request is also served first.
            let (user, start) = (0..).zip(&next).min_by_key(|(_, at)| **at).unwrap();
            let (user, start): (usize, Duration) = (user, *start);
            if start >= until {
                return done;
            }
            free = free.max(start) + (self.service)(&mut rng);
            done.push((start, free));
            next[user] = free + users[user].next(self.think);
        }
    }

    /// What a run with a cut-off sees: only what has ended.
    fn ended(&self, seconds: u64, seed: u64) -> Vec<(Duration, Duration)> {
        let end = Duration::from_secs(seconds);
        let mut all = self.simulate(end, seed);
        all.retain(|(_, ended)| *ended <= end);
        all
    }
}

fn completions(transactions: &[(Duration, Duration)]) -> Completions {
    let mut all = Completions::default();
    transactions.iter().for_each(|(_, end)| all.push(*end, 1));
    all
}

/// Throughput and response time of N users by exact mean-value analysis (Reiser & Lavenberg 1980): one queue with exponential
/// service, and thinking, of which only the mean matters.
fn mean_value(users: u32, think: f64, service: f64) -> (f64, f64) {
    let (mut queue, mut rate, mut response) = (0.0, 0.0, 0.0);
    for n in 1..=users {
        response = service * (1.0 + queue);
        rate = f64::from(n) / (think + response);
        queue = rate * response;
    }
    (rate, response)
}

const fn span(begin: u64, end: u64) -> Span {
    Span {
        begin: Duration::from_secs(begin),
        end: Duration::from_secs(end),
    }
}

/// Means over runs of the rate and the response time in a window.
fn averages(queue: Repair, window: Span, runs: u64) -> (f64, f64) {
    let (mut rate, mut response) = (0.0, 0.0);
    for seed in 0..runs {
        let done = queue.ended(window.end.as_secs(), seed);
        let steady = completions(&done).steady(window, 0).unwrap();
        rate += steady.rate().0 / runs as f64;
        // As it is shown: the mean of the durations in the window's seconds.
        let within = |(_, end): &&(Duration, Duration)| (window.begin..window.end).contains(end);
        let nanoseconds = done
            .iter()
            .filter(within)
            .map(|(start, end)| nanoseconds(*end - *start));
        let durations = Durations(nanoseconds.map(|one| (one, 1)).collect());
        response += durations.mean().unwrap().0 / runs as f64;
    }
    (rate, response)
}

fn near(seen: f64, exact: f64, tolerance: f64) {
    assert!((seen / exact - 1.0).abs() < tolerance, "{seen} {exact}");
}

#[test]
fn rate_and_response_are_those_of_mean_value_analysis() {
    for users in [1, 5, 10, 20, 40] {
        let (rate, response) = mean_value(users, 0.5, 0.05);
        let seen = averages(Repair::new(users, exponential), span(2, 42), 100);
        near(seen.0, rate, 0.01);
        near(seen.1, response, 0.02);
    }
}

#[test]
fn a_single_user_and_a_saturated_server_are_known_for_constant_service() {
    let (rate, response) = averages(Repair::new(1, constant), span(2, 12), 300);
    near(rate, 1.0 / 0.55, 0.01);
    near(response, 0.05, 1e-6);
    // Enough users that the server never rests: each waits for all others but those who think.
    let (rate, response) = averages(Repair::new(60, constant), span(5, 15), 20);
    near(rate, 20.0, 0.002);
    near(response, 60.0 * 0.05 - 0.5, 0.02);
}

/// The same queue by steps of a tenth of a millisecond: a due user joins a line, whose first is served.
fn step_by_step(queue: Repair, seconds: u64, seed: u64) -> (f64, f64) {
    const STEP: f64 = 1e-4;
    let mut users: Vec<Thoughts> = (0..queue.users)
        .map(|user| Thoughts::new(seed, user))
        .collect();
    let mut due: Vec<Option<f64>> = users
        .iter_mut()
        .map(|user| Some((queue.first)(user, queue.think).as_secs_f64()))
        .collect();
    let mut line = std::collections::VecDeque::new();
    let (mut left, mut count, mut waited) = (0.0, 0.0, 0.0);
    let warm_up = 100.0;
    for step in 0..seconds * 10_000 {
        let now = step as f64 * STEP;
        for (user, at) in due.iter_mut().enumerate() {
            if at.is_some_and(|at| at <= now) {
                line.push_back((user, now));
                *at = None;
            }
        }
        if let Some((user, since)) = line.front().copied() {
            left += STEP;
            if left >= SERVICE.as_secs_f64() {
                left = 0.0;
                line.pop_front();
                due[user] = Some(now + users[user].next(queue.think).as_secs_f64());
                if now > warm_up {
                    count += 1.0;
                    waited += now - since;
                }
            }
        }
    }
    (count / (seconds as f64 - warm_up), waited / count)
}

#[test]
fn rate_and_response_are_those_of_another_simulation_for_constant_service() {
    for users in [5, 10, 20] {
        let queue = Repair::new(users, constant);
        let (rate, response) = step_by_step(queue, 1100, 77);
        let seen = averages(queue, span(2, 22), 100);
        near(seen.0, rate, 0.015);
        near(seen.1, response, 0.03);
    }
}

#[test]
fn all_over_all_is_biased_where_the_window_is_not() {
    // A cycle of some two seconds in a run of ten.
    let queue = Repair {
        think: Duration::from_secs(4),
        ..Repair::new(10, exponential)
    };
    let (exact, _) = mean_value(10, 2.0, 0.05);
    let naive = |seed| queue.ended(10, seed).len() as f64 / 10.0;
    let naive = (0..400).map(naive).sum::<f64>() / 400.0;
    assert!(naive < 0.97 * exact, "{naive} {exact}");
    // From ten transactions a rate is not known better than that; from a hundred it is.
    near(averages(queue, span(8, 10), 400).0, exact, 0.06);
    near(averages(queue, span(8, 28), 400).0, exact, 0.01);
    // Users who begin in equilibrium need no time to settle.
    let settled = Repair {
        first: Thoughts::first,
        ..queue
    };
    let (rate, _) = averages(settled, span(1, 10), 400);
    near(rate, exact, 0.01);
}

/// Nine of ten requests take half of the mean, the others 5.5× the mean.
fn mixed(rng: &mut ChaCha8Rng) -> Duration {
    SERVICE.mul_f64(if rng.random_bool(0.9) { 0.5 } else { 5.5 })
}

fn interval(steady: &Steady, seed: u64) -> (f64, f64) {
    let windows = steady.windows();
    let Estimate { low, high, .. } = throughput(&windows, &RunDependence::default(), seed).unwrap();
    (low.unwrap().0, high.unwrap().0)
}

#[test]
fn intervals_hold_the_truth() {
    for (name, service) in [
        ("constant", constant as fn(&mut ChaCha8Rng) -> Duration),
        ("exponential", exponential),
        ("mixed", mixed),
    ] {
        for users in [1, 5, 20, 60] {
            let queue = Repair::new(users, service);
            let (truth, _) = averages(queue, span(10, 400), 40);
            let held = (0..400).filter(|seed| {
                let steady = completions(&queue.ended(24, 1000 + seed)).steady(span(4, 24), 0);
                let (low, high) = interval(&steady.unwrap(), *seed);
                // Ends are known to the millisecond.
                (low * 0.9999..=high * 1.0001).contains(&truth)
            });
            let held = held.count() as f64 / 4.0;
            // Of constant service the rate is exact, and few users share what they wait: neighbors make up for each other.
            let most = if name == "constant" || users == 5 {
                100.0
            } else {
                98.5
            };
            assert!((92.0..=most).contains(&held), "{name} {users}: {held}");
        }
    }
}

#[test]
fn a_server_that_takes_its_time_is_known_exactly() {
    let mut all = Completions::default();
    for number in 1..40_u32 {
        all.push(Duration::from_millis(740) * number, 1);
    }
    let steady = all.steady(span(1, 20), 0).unwrap();
    let (low, high) = interval(&steady, 1);
    near(steady.rate().0, 1.351, 1e-3);
    assert!(low > 1.331 && high < 1.371, "{low} {high}");
}

#[test]
fn what_ends_at_once_is_not_cut_apart() {
    // Ten workers in lockstep.
    let mut all = Completions::default();
    for number in 1..10_u32 {
        (0..10).for_each(|_| all.push(Duration::from_secs(1) * number, 1));
    }
    let steady = all.steady(span(1, 9), 3).unwrap();
    assert!(
        steady
            .batches
            .iter()
            .all(|batch| batch.length_ns > 0 && batch.round == 3)
    );
    // All of the first ten represent what came before.
    let done: u64 = steady.batches.iter().map(|batch| batch.completed).sum();
    assert_eq!(done, 70);
    near(steady.rate().0, 10.0, 1e-9);
}

#[test]
fn a_window_needs_a_whole_second_and_something_in_it() {
    let ms = Duration::from_millis;
    let seconds = |begin, end| Span::between(ms(begin), ms(end)).map(|span| span.whole_seconds());
    assert_eq!(seconds(1200, 3700), Ok(Some((2, 3))));
    assert_eq!(seconds(1000, 3000), Ok(Some((1, 3))));
    let short = seconds(1200, 2700);
    assert!(short.unwrap_err().to_string().contains("1.2s"));
    let none = Completions::default().steady(span(1, 3), 0);
    assert_eq!(none, Err(NoSteadyState::NothingDone));
    let before = completions(&[(ms(0), ms(900))]);
    assert_eq!(
        before.steady(span(1, 3), 0),
        Err(NoSteadyState::NothingDone)
    );
    assert_eq!(before.steady(span(0, 2), 0), Err(NoSteadyState::TooFew));
}

#[test]
fn counts_of_threads_add_up() {
    let queue = Repair::new(8, constant);
    let all = queue.simulate(Duration::from_secs(5), 1);
    let part = |odd: usize| {
        let some = all.iter().enumerate().filter(|(i, _)| i % 2 == odd);
        completions(&some.map(|(_, pair)| *pair).collect::<Vec<_>>())
    };
    let mut sum = part(0);
    let others = part(1);
    for second in 0..=5 {
        for (millisecond, count) in others.of_second(second) {
            let end = 1000 * second + u64::from(millisecond);
            sum.push(Duration::from_millis(end), count);
        }
    }
    assert_eq!(sum, completions(&all));
}

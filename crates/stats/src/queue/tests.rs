use super::*;
use crate::blocks::Blocks;

fn constant(seconds: f64) -> ServiceTimes {
    ServiceTimes::of([Seconds(seconds)]).unwrap()
}

/// Exponential with that rate, by its quantiles.
fn exponential(rate: f64) -> ServiceTimes {
    let levels = (0..200_000).map(|number| (f64::from(number) + 0.5) / 200_000.0);
    ServiceTimes::of(levels.map(|level| Seconds(-(1.0 - level).ln() / rate))).unwrap()
}

fn mixture() -> ServiceTimes {
    ServiceTimes::mixture([(Seconds(0.3), 5.0), (Seconds(0.15), 95.0)]).unwrap()
}

/// A millisecond, and so rarely a time that is long.
fn rarely(share: f64, long: f64) -> ServiceTimes {
    ServiceTimes::mixture([(Seconds(1e-3), 1.0 - share), (Seconds(long), share)]).unwrap()
}

fn queue(times: &ServiceTimes, rate: f64, tokens: u32, distribution: Distribution) -> Queue<'_> {
    Queue {
        times,
        demand: Demand::Arrivals(PerSecond(rate)),
        tokens,
        distribution,
        seed: 1,
    }
}

fn answer(of: Queue<'_>) -> Response {
    of.response(None).unwrap()
}

#[track_caller]
fn near(found: f64, expected: f64, within: f64) {
    let off = found / expected - 1.0;
    assert!(
        off.abs() < within,
        "{found} for {expected}: {:.2} %",
        off * 100.0
    );
}

/// The time that a rising probability reaches 99 % at.
fn percentile_99(probability: impl Fn(f64) -> f64) -> f64 {
    // Beyond this, Crommelin's terms are larger than their sum is precise.
    let (mut low, mut high) = (0.0, 25.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if probability(middle) < 0.99 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Waiting time of M/D/1 with a service of 1: Crommelin, "Delay Probability Formulae When the Holding Times Are Constant",
/// 1932; Gross et al. 2008, §5.1.5.
fn crommelin(rate: f64, time: f64) -> f64 {
    let mut sum = 0.0;
    for served in 0..=time.floor() as u32 {
        let left = rate * (f64::from(served) - time);
        let power = (1..=served).fold(1.0, |product, factor| product * left / f64::from(factor));
        sum += power * (-left).exp();
    }
    (1.0 - rate) * sum
}

/// Probability of waiting (Erlang's C).
fn erlang_c(tokens: u32, offered: f64) -> f64 {
    let blocked = (1..=tokens).fold(1.0, |blocked, number| {
        offered * blocked / (f64::from(number) + offered * blocked)
    });
    let load = offered / f64::from(tokens);
    blocked / (1.0 - load * (1.0 - blocked))
}

#[test]
fn constant_times_at_one_token_are_crommelins() {
    for rate in [0.3, 0.5, 0.8, 0.9] {
        let times = constant(1.0);
        let found = answer(queue(&times, rate, 1, Distribution::Shared));
        let expected = 1.0 + percentile_99(|time| crommelin(rate, time));
        near(found.p99.value.0, expected, 0.03);
        near(found.mean.0, 1.0 + rate / (2.0 * (1.0 - rate)), 0.02);
    }
}

#[test]
fn exponential_times_at_several_tokens_are_erlangs() {
    for (tokens, offered) in [(1, 0.7), (3, 2.4), (10, 8.0)] {
        let times = exponential(1.0);
        let found = queue(&times, offered, tokens, Distribution::Shared)
            .response(Some(Seconds(3.0)))
            .unwrap();
        let waits = erlang_c(tokens, offered);
        let rest = f64::from(tokens) - offered;
        near(found.mean.0, 1.0 + waits / rest, 0.02);
        // Gross et al. 2008, §2.3.2.
        let within = |time: f64| {
            let slower = waits / (rest - 1.0) * (1.0 - (-time * (rest - 1.0)).exp());
            1.0 - (-time).exp() * (1.0 + slower)
        };
        near(found.p99.value.0, percentile_99(within), 0.04);
        near(found.late.unwrap(), 1.0 - within(3.0), 0.06);
    }
}

#[test]
fn any_times_at_one_token_wait_as_long_as_pollaczek_and_khinchine_say() {
    let times = mixture();
    let square = 0.95 * 0.15_f64.powi(2) + 0.05 * 0.3_f64.powi(2);
    for (rate, tokens, distribution) in [
        (4.0, 1, Distribution::LeastConn),
        (5.0, 1, Distribution::Shared),
        // What arrives at random and is sent at random arrives at random at each.
        (12.0, 3, Distribution::Random),
    ] {
        let each = rate / f64::from(tokens);
        let (mean, load) = (times.mean().0, each * times.mean().0);
        let found = answer(queue(&times, rate, tokens, distribution));
        near(
            found.mean.0,
            mean + each * square / (2.0 * (1.0 - load)),
            0.02,
        );
        near(found.rate.0, rate, 0.02);
    }
}

/// All arrivals of the time that one long operation takes wait for it, and those after it until they are worked off: of a
/// thousand operations per second that a token can do.
#[test]
fn what_is_rare_and_long_decides_how_long_operations_wait() {
    for (share, long, rate) in [
        (1e-5, 100.0, 100.0),
        (1e-4, 10.0, 100.0),
        (1e-3, 1.0, 200.0),
    ] {
        let times = rarely(share, long);
        let found = queue(&times, rate, 1, Distribution::Shared);
        let found = found.response(Some(Seconds(long / 10.0))).unwrap();
        // Pollaczek and Khinchine.
        let (mean, square) = (times.mean().0, share * long * long + 1e-6);
        near(times.mean().0, 1e-3 + share * long, 1e-3);
        near(
            found.mean.0,
            mean + rate * square / (2.0 * (1.0 - rate * mean)),
            0.4,
        );
        near(found.rate.0, rate, 0.05);
        let p99 = found.p99;
        assert!(p99.value.0 > long / 2.0, "{p99:?}");
        assert!(
            p99.low.unwrap() <= p99.value && p99.low.unwrap().0 >= 1e-3,
            "{p99:?}"
        );
        assert!(found.late.unwrap() > rate * share * long / 2.0, "{found:?}");
    }
    assert!(rarely(1e-9, 1_000.0).are_too_rare());
    assert!(!rarely(1e-9, 2e-3).are_too_rare() && !mixture().are_too_rare());
}

#[test]
fn a_mixture_is_drawn_as_often_as_its_weights_say() {
    let times = ServiceTimes::mixture([
        (Seconds(1.0), 0.0),
        (Seconds(3.0), 1.0),
        (Seconds(2.0), 3.0),
    ]);
    let times = times.unwrap();
    assert_eq!(times.mean(), Seconds(2.25));
    assert_eq!(
        (times.level(0.75), times.level(0.76)),
        (Seconds(2.0), Seconds(3.0))
    );
    let mut random = rng(1, Stream::Services);
    let drawn: Vec<f64> = (0..40_000).map(|_| times.draw(&mut random)).collect();
    let slow = drawn.iter().filter(|time| **time == 3.0).count();
    assert!(
        (9_700..10_300).contains(&slow) && !drawn.contains(&1.0),
        "{slow}"
    );
    for unsound in [
        vec![],
        vec![(1.0, 0.0)],
        vec![(1.0, f64::NAN)],
        vec![(1.0, -1.0)],
        vec![(0.0, 1.0)],
    ] {
        let parts = unsound
            .into_iter()
            .map(|(time, weight)| (Seconds(time), weight));
        assert_eq!(ServiceTimes::mixture(parts), None);
    }
}

#[test]
fn turns_make_the_arrivals_at_a_token_more_even() {
    // Each of two tokens has Erlang's arrivals of two phases: E2/M/1, whose response time is exponential with 1 − σ, where
    // σ is the root of (2 a / (2 a + 1 − σ))² (Gross et al. 2008, §6.1).
    let each = 0.8;
    let sigma = (0..200).fold(0.5, |sigma: f64, _| {
        (2.0 * each / (2.0 * each + 1.0 - sigma)).powi(2)
    });
    let times = exponential(1.0);
    let found = answer(queue(&times, 2.0 * each, 2, Distribution::RoundRobin));
    near(found.mean.0, 1.0 / (1.0 - sigma), 0.02);
    near(found.p99.value.0, 100.0_f64.ln() / (1.0 - sigma), 0.04);
}

#[test]
fn users_who_pause_are_machines_under_repair() {
    // M/M/c//N, for any distribution of pauses with that mean (Gross et al. 2008, §2.7).
    for (users, tokens, pause) in [(5_u32, 1_u32, 5.0), (20, 2, 16.0), (60, 4, 5.0)] {
        let ratio = 2.0 / pause;
        let weights = (1..=users).scan(1.0, |weight, number| {
            let before = f64::from(users - number + 1);
            *weight *= before * ratio / f64::from(number.min(tokens));
            Some(*weight)
        });
        let weights: Vec<f64> = std::iter::once(1.0).chain(weights).collect();
        let sum: f64 = weights.iter().sum();
        let busy = (0..)
            .zip(&weights)
            .map(|(number, weight): (u32, _)| f64::from(number.min(tokens)) * weight / sum);
        let rate: f64 = busy.sum();
        let times = exponential(1.0);
        let found = answer(Queue {
            demand: Demand::Users {
                count: users,
                pause: Seconds(pause),
            },
            ..queue(&times, 1.0, tokens, Distribution::Shared)
        });
        near(found.rate.0, rate, 0.02);
        near(found.mean.0, f64::from(users) / rate - pause / 2.0, 0.02);
    }
}

#[test]
fn users_who_do_not_pause_share_what_the_tokens_do() {
    let times = constant(0.74);
    for (tokens, distribution) in [
        (1, Distribution::Shared),
        (2, Distribution::LeastConn),
        (4, Distribution::RoundRobin),
    ] {
        let demand = Demand::Users {
            count: 16,
            pause: Seconds(0.0),
        };
        let found = answer(Queue {
            demand,
            ..queue(&times, 1.0, tokens, distribution)
        });
        let each = 0.74 / f64::from(tokens);
        near(found.rate.0, 1.0 / each, 1e-3);
        near(found.mean.0, 16.0 * each, 1e-3);
        near(found.p99.value.0, 16.0 * each, 1e-6);
        assert_eq!(demand.knee(&times, tokens), Some(f64::from(tokens)));
    }
}

#[test]
fn a_queue_that_grows_for_ever_has_no_response_time() {
    let times = constant(0.74);
    let overloaded = queue(&times, 2.0, 1, Distribution::Shared);
    assert_eq!(overloaded.response(None), None);
    near(overloaded.load().unwrap(), 1.48, 1e-12);
    assert!(
        queue(&times, 2.0, 2, Distribution::Random)
            .response(None)
            .is_some()
    );
}

#[test]
fn better_ways_of_distribution_wait_less_and_the_same_seed_gives_the_same() {
    let times = mixture();
    let each = Distribution::ALL.map(|way| answer(queue(&times, 20.0, 4, way)));
    let p99 = each.map(|one| one.p99.value.0);
    assert!(p99.is_sorted() && p99[3] > 1.5 * p99[0], "{p99:?}");
    assert_eq!(
        answer(queue(&times, 20.0, 4, Distribution::ALL[1])),
        each[1]
    );
    let other = Queue {
        seed: 2,
        ..queue(&times, 20.0, 4, Distribution::ALL[1])
    };
    assert_ne!(answer(other), each[1]);
}

#[test]
fn what_a_measurement_leaves_open_widens_the_interval() {
    let block = |nanos: u64| vec![nanos - 1_000_000, nanos, nanos + 1_000_000];
    let blocks = |spread: u64| {
        let means = (0..10).map(move |number| 150_000_000 + number % 2 * spread);
        Blocks::from_blocks((0..).zip(means.map(block)))
    };
    let times = |spread| ServiceTimes::measured(blocks(spread)).unwrap();
    let p99 = |spread, rate| answer(queue(&times(spread), rate, 1, Distribution::Shared)).p99;
    let width = |spread| {
        let found = p99(spread, 5.0);
        assert_eq!(found.method, Method::ClusterBootstrap);
        found.relative_half_width().unwrap()
    };
    let (narrow, wide) = (width(100_000), width(30_000_000));
    assert!(narrow < 0.06 && wide > 2.0 * narrow, "{narrow} {wide}");
    // Some resamples are too slow to keep up.
    assert_eq!(p99(50_000_000, 5.5).high, None);
    assert_eq!(
        answer(queue(&constant(0.15), 5.0, 1, Distribution::Shared))
            .p99
            .method,
        Method::StudentT
    );
}

#[test]
fn delays_are_added_to_each_time() {
    let near = |times: ServiceTimes, mean: f64| (times.mean().0 - mean).abs() < 1e-12;
    assert!(near(mixture().plus(&[Seconds(1.0)]), 1.1575));
    assert!(near(constant(2.0).plus(&[]), 2.0));
    let varied = constant(2.0).plus(&[Seconds(0.1), Seconds(0.3)]);
    assert!(near(varied.clone(), 2.2));
    assert_eq!(varied.level(1.0), Seconds(2.3));
    let both = ServiceTimes::of([Seconds(1.0), Seconds(2.0)]).unwrap();
    assert!(near(both.plus(&[Seconds(0.5)]), 2.0));
}

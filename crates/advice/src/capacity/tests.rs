use std::time::Duration;

use keymark_bench::Network;
use keymark_bench::case::StackName;
use keymark_bench::operation::Operation;
use keymark_report::render::Width;
use keymark_report::render::text;
use keymark_stats::{PerSecond, ServiceTimes};
use keymark_testkit::{assert_says, record};

use super::*;

fn wanted(device: &str, algorithm: &str) -> Wanted {
    Wanted {
        device: device.to_owned(),
        algorithm: algorithm.parse().unwrap(),
        operation: Operation::Sign,
        stack: StackName::RAW,
        network: DIRECT,
    }
}

const DIRECT: NetworkQuestion = NetworkQuestion {
    round_trip: None,
    calls: 1,
    quota: None,
};

fn asked(rate: f64, p99: Option<f64>) -> CapacityQuestion {
    CapacityQuestion {
        service: Service::find(&wanted("twin:nitrokey-hsm", "rsa2048"), &[]).unwrap(),
        demand: Demand::Arrivals(PerSecond(rate)),
        p99: p99.map(Seconds),
        spare: 0,
        seed: 1,
    }
}

fn said(question: &CapacityQuestion) -> String {
    let text = text::render(&question.document(&question.plan()), Width::Unlimited);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn three_tokens_of_740_ms_sign_twice_a_second_within_3_s() {
    let question = asked(2.0, Some(3.0));
    let plan = question.plan();
    assert_eq!(plan.fewest(Distribution::LeastConn), Some(3));
    assert!(plan.fewest(Distribution::Random) > Some(3));
    let one = plan.row(Distribution::Shared, 1).unwrap();
    assert_eq!((one.response, one.utilisation), (None, 1.48));
    let text = said(&question);
    assert_says(
        &text,
        [
            "3 tokens behind least-connections serve 2.00/s with 99 % within 3 s",
            "740 ms, constant (profile nitrokey-hsm, taken from decrypt, twin)",
        ],
    );
    let spare = CapacityQuestion {
        spare: 1,
        ..question
    };
    assert_says(&said(&spare), ["With 1 of them broken: 4."]);
}

#[test]
fn what_tokens_cannot_do_is_said() {
    for (rate, p99, expected) in [
        (
            3.0,
            None,
            "3.00/s is 11.0 % more than 2 tokens can do (2.70/s).",
        ),
        (
            301.0,
            None,
            "more than 100 tokens; 223 keep up with the rate",
        ),
        // No number of tokens makes an operation faster.
        (2.0, Some(0.5), "an operation alone takes 740 ms"),
    ] {
        assert_says(&said(&asked(rate, p99)), [expected]);
    }
    assert!(asked(2.0, Some(0.5)).plan().0.iter().all(|row| !row.enough));
}

#[test]
fn users_have_a_knee() {
    let question = CapacityQuestion {
        demand: Demand::Users {
            count: 60,
            pause: Seconds(5.0),
        },
        ..asked(1.0, None)
    };
    let plan = question.plan();
    // Eleven are busy all the time: an answer takes 60 / 11 times 0.74 s less the pause of 2.5 s, more than twice 0.74 s.
    assert_eq!(plan.fewest(Distribution::LeastConn), Some(12));
    assert!(plan.fewest(Distribution::Random) > Some(12));
    // 12 tokens, and (2.5 s + 0.74 s) over 0.74 s users at each.
    assert_says(
        &said(&question),
        ["over users, 12 tokens", "the knee is at 52.5 users"],
    );
}

#[test]
fn the_picture_has_a_curve_for_each_number_of_tokens() {
    let curves = asked(4.0, None).curves(Some(PerSecond(0.5)));
    let labels: Vec<_> = curves.iter().map(|curve| &*curve.label).collect();
    assert_eq!(labels, ["1 token", "2 tokens", "3 tokens", "4 tokens"]);
    let highest = |curve: usize| curves[curve].points.last().unwrap().load;
    assert!(highest(0) < 1.36 && highest(2) > 3.9);
    let many = asked(1e9, None).curves(Some(PerSecond(1e5)));
    assert!(many.len() <= 6, "{}", many.len());
}

#[test]
fn what_nobody_measured_says_what_measures_it() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("bad.toml");
    std::fs::write(&file, "schema = 1\nname 5\n").unwrap();
    let bad = format!("twin:{}", file.display());
    for (device, algorithm, expected) in [
        (
            "0a1b2c3d",
            "rsa2048",
            "'keymark bench --device 0a1b2c3d --algorithm rsa2048 --operation sign --stack raw",
        ),
        (
            "twin:nitrokey-hsm",
            "nistp256",
            "no figure of nistp256 sign",
        ),
        (
            "twin:nobody",
            "rsa2048",
            "no figure of rsa2048 sign on twin:nobody",
        ),
        (&bad, "rsa2048", "cannot be read: line 2"),
    ] {
        let found = Service::find(&wanted(device, algorithm), &[]);
        assert_says(&found.unwrap_err(), [expected]);
    }
}

#[test]
fn a_measured_histogram_comes_before_a_profile() {
    let wanted = wanted("twin:nitrokey-hsm", "rsa2048");
    let case = keymark_testkit::case("rsa2048").operation(Operation::Sign);
    let case = case.device(&wanted.device).build();
    let run = record::of(vec![record::measured(case, 150_000.0)]);
    let service = Service::find(&wanted, std::slice::from_ref(&run)).unwrap();
    assert_says(&service.source, [&*run.id.0]);
    let measured = ServiceTimes::measured(run.cases[0].latencies());
    assert_eq!(Some(&service.times), measured.as_ref());
}

/// 5 ms of the token behind a network.
fn behind(network: &NetworkQuestion, rate: f64, p99: Option<f64>) -> CapacityQuestion {
    let question = asked(rate, p99);
    let times = ServiceTimes::of([Seconds(0.005)]).unwrap();
    let token = Service {
        times,
        ..question.service
    };
    CapacityQuestion {
        service: token.behind(&Network::default(), network),
        ..question
    }
}

#[test]
fn round_trips_are_the_tokens_time_in_one_session_and_overlap_in_several() {
    let remote = NetworkQuestion {
        round_trip: Some(Duration::from_millis(5)),
        calls: 3,
        ..DIRECT
    };
    let question = behind(&remote, 150.0, None);
    // 150/s of 20 ms each: the work of three, so that a fourth is needed. Of 5 ms it is that of one.
    assert_eq!(question.service.times.mean().0, 0.02);
    assert_eq!(question.plan().fewest(Distribution::LeastConn), Some(4));
    assert_says(
        &said(&question),
        [
            "With one session each, the time of 3.0 of 4 tokens is waiting for the network.",
            "With 4 sessions each: 1 token.",
            "20.0 ms, constant",
            "15.0 ms of it network",
        ],
    );
    // The answer is never faster than the network.
    let fast = behind(&remote, 150.0, Some(0.018));
    assert!(!fast.plan().0.iter().any(|row| row.enough));
    let slow = behind(&remote, 10.0, None);
    assert!(!said(&slow).contains("sessions each"));
}

#[test]
fn a_quota_is_met_by_no_number_of_tokens() {
    let limited = NetworkQuestion {
        quota: Some(PerSecond(100.0)),
        ..DIRECT
    };
    let over = behind(&limited, 125.0, None);
    assert_eq!(over.plan().fewest(Distribution::LeastConn), None);
    assert_says(
        &said(&over),
        ["the quota is 100/s, so 20.0 % of the operations are refused"],
    );
    let within = behind(&limited, 99.0, None);
    assert_eq!(within.plan().fewest(Distribution::LeastConn), Some(1));
    assert_says(&said(&within), ["quota 100/s"]);
    let users = CapacityQuestion {
        demand: Demand::Users {
            count: 300,
            pause: Seconds(4.0),
        },
        ..over
    };
    assert_says(&said(&users), ["the quota is 100/s"]);
}

#[test]
fn a_twin_behind_a_network_brings_its_round_trip_and_quota() {
    let run = record::of(vec![record::measured(
        keymark_testkit::case("rsa2048")
            .operation(Operation::Sign)
            .device("twin:aws-kms")
            .build(),
        150_000.0,
    )]);
    let found = |network| {
        let wanted = Wanted {
            network,
            ..wanted("twin:aws-kms", "rsa2048")
        };
        Service::find(&wanted, std::slice::from_ref(&run)).unwrap()
    };
    let own = found(DIRECT);
    // 10 to 30 ms of the network and half of one of the service.
    assert!((own.times.mean().0 - 0.0205).abs() < 2e-4);
    let network = own.network.unwrap();
    assert_eq!(network.quota.map(|quota| quota.0.round()), Some(1000.0));
    let given = found(NetworkQuestion {
        round_trip: Some(Duration::from_millis(2)),
        calls: 2,
        quota: Some(PerSecond(5.0)),
    });
    assert!((given.times.mean().0 - 0.0045).abs() < 1e-9);
    assert_eq!(given.network.unwrap().quota, Some(PerSecond(5.0)));
}

//! Answers on workers.

use super::*;
use crate::answers::workers;

fn scaled(rates: &[(u32, f64)], agent: f64) -> Vec<Statement> {
    let run = run(vec![took(here("rsa4096", GNUPG), 10_000)]);
    let mut analysis = Analysis::of(&run, &layers());
    let [gnupg] = layers();
    let bottleneck = gnupg
        .bottleneck
        .map(|bottleneck| (bottleneck, Seconds(agent)));
    let first = rates[0].1;
    analysis.scaling = vec![Scaling {
        case: here("rsa4096", GNUPG),
        levels: rates
            .iter()
            .map(|(workers, rate)| (*workers, near(*rate, PerSecond)))
            .collect(),
        gains: rates
            .iter()
            .map(|(workers, rate)| (*workers, near(rate / first, Ratio)))
            .collect(),
        refused: None,
        finding: None,
        law: Err(UslError::TooFewLevels(3)),
        bounds: Some(Bounds {
            alone: Seconds(0.010),
            server: bottleneck,
            processor: Seconds(0.009),
            cores: 2,
        }),
    }];
    workers::workers(&analysis, 2)
}

#[test]
fn workers_are_useless_from_the_limit_on() {
    let said = |rates: &[(u32, f64)], agent| match scaled(rates, agent).as_slice() {
        [only] => (only.topic, only.text.clone()),
        other => panic!("{other:?}"),
    };
    let (topic, cores) = said(&[(1, 100.0), (2, 180.0), (4, 183.0)], 0.001);
    assert_eq!(topic, Topic::Workers);
    assert_says(
        &cores,
        ["more than 2 workers", "1.83 times", "2 cores are busy"],
    );
    let (topic, agent) = said(&[(1, 100.0), (2, 108.0), (10, 109.0)], 0.009);
    assert_eq!(topic, Topic::Striking);
    assert_says(&agent, ["10 workers", "1.09 times", "a second agent"]);
    let (_, near_the_bound) = said(&[(1, 100.0), (10, 160.0)], 0.006);
    assert_says(&near_the_bound, ["1.60 times", "a second agent"]);
    let (topic, open) = said(&[(1, 100.0), (2, 150.0), (4, 190.0)], 0.001);
    assert_eq!(topic, Topic::Workers);
    assert_says(&open, ["1.90 times", "more may do still more"]);
    // It may be a gain, but for certain a small one.
    let (topic, loss) = said(&[(1, 100.0), (4, 99.0)], 0.001);
    assert_eq!(topic, Topic::Striking);
    assert_says(&loss, ["gain nothing"]);
}

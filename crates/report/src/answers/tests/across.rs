//! What is said of the documentation's comparisons and histories.

use keymark_bench::record::RunId;
use keymark_stats::BetweenRuns;

use super::*;
use crate::compare::{Comparison, Criteria, Side};

/// Runs of a series, of cases of which each took a bit more or less than so many microseconds in each.
fn series(name: &str, against: Option<&str>, cases: &[(Case, u64)]) -> Side {
    let one = |number: u32| {
        let cases = cases.iter().map(|(case, time)| {
            let disorder = (u64::from(number) * 7 + time) % 5;
            took(case.clone(), time * (1_000 + disorder) / 1_000)
        });
        let mut record = run(cases.collect());
        record.id = RunId(format!("{name}-{number}"));
        record.series = Some(InSeries {
            id: SeriesId(name.to_owned()),
            number,
            runs: 4,
            pause: std::time::Duration::ZERO,
            against: against.map(|other| SeriesId(other.to_owned())),
        });
        record
    };
    Side {
        name: name.to_owned(),
        runs: (0..4).map(one).collect(),
    }
}

fn signing(stack: StackName) -> Case {
    Case {
        operation: Operation::Sign,
        ..here("ed25519", stack)
    }
}

fn compared(sides: &[Side]) -> String {
    let comparison = Comparison::of(sides, BetweenRuns::ASSUMED, Criteria::default());
    let said = of_comparison(&comparison).into_iter();
    said.map(|said| said.text + "\n").collect()
}

#[test]
fn series_at_different_times() {
    let cases = |agent| [(signing(RAW), 33), (signing(StackName::AGENT), agent)];
    let first = series("first", None, &cases(330));
    insta::assert_snapshot!(compared(&[first, series("second", None, &cases(300))]));
}

#[test]
fn programs_that_take_turns() {
    let cases = |agent| [(signing(RAW), 3_300), (signing(GNUPG), agent)];
    let first = series("first", Some("second"), &cases(4_500));
    let second = series("second", Some("first"), &cases(5_000));
    insta::assert_snapshot!(compared(&[first, second]));
}

#[test]
fn an_article_beside_a_run() {
    let published = [("rsa4096", 8.22), ("cv25519", 0.135)].map(|(algorithm, seconds)| {
        let case = on("FST-01", Provenance::Published, algorithm, GNUPG);
        keymark_testkit::record::published(case, seconds)
    });
    let twins = [("rsa4096", 8_200_000), ("cv25519", 123_000)]
        .map(|(algorithm, time)| took(twin("twin:fst-01", algorithm), time));
    let side = |name: &str, cases: Vec<CaseRecord>| Side {
        name: name.to_owned(),
        runs: vec![run(cases)],
    };
    let sides = [
        side("article", published.into()),
        side("last", twins.into()),
    ];
    insta::assert_snapshot!(compared(&sides));
}

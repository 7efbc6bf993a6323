use keymark_bench::case::StackName;
use keymark_bench::series::SeriesId;

use super::*;
use crate::document::Document;
use crate::render::{Width, text};
use crate::testing::{block, case, record};

/// Runs with one block of one operation of so many microseconds for each of the cases, run by run.
fn runs(series: Option<(&str, &str)>, microseconds: &[&[u64]]) -> Vec<Record> {
    let algorithms = ["rsa2048", "ed25519", "nistp256"];
    let one = |(number, means): (u32, &&[u64])| {
        let cases = algorithms
            .iter()
            .zip(means.iter())
            .map(|(name, mean)| CaseRecord {
                blocks: vec![block(0, &[*mean * 1000])],
                ..CaseRecord::new(case(name, StackName::RAW))
            });
        let id = |name: &str| SeriesId(name.to_owned());
        Record {
            cases: cases.collect(),
            series: series.map(|(name, against)| InSeries {
                id: id(name),
                number,
                runs: microseconds.len() as u32,
                pause: std::time::Duration::ZERO,
                against: Some(id(against)),
            }),
            ..record(&format!("run-{number}"))
        }
    };
    (0..).zip(microseconds).map(one).collect()
}

fn compared(old: &[Record], new: &[Record]) -> Comparison {
    Comparison::of(old, new, BetweenRuns::ASSUMED, Noise::default())
}

fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    comparison.pairs.iter().map(|pair| pair.verdict).collect()
}

fn said(document: &Document) -> String {
    anstream::adapter::strip_str(&text::render(document, Width::Columns(100))).to_string()
}

#[test]
fn single_runs_are_not_told_apart_unless_far_apart() {
    let comparison = compared(&runs(None, &[&[1000, 1000]]), &runs(None, &[&[1300, 3000]]));
    let expected = [Verdict::Indistinguishable, Verdict::Slower];
    assert_eq!(verdicts(&comparison), expected);
    assert_eq!(comparison.slower_than(0.05), Judgement::TooFewRuns);
    let said = said(&document(&comparison));
    assert_eq!(said.matches("between single runs").count(), 1, "{said}");
    assert!(
        said.contains("1.00 ms") && said.contains("1.30 ms"),
        "{said}"
    );
}

#[test]
fn two_runs_a_side_are_too_few_however_alike_they_are() {
    let comparison = compared(
        &runs(None, &[&[1000], &[1001]]),
        &runs(None, &[&[1200], &[1201]]),
    );
    assert_eq!(verdicts(&comparison), [Verdict::Indistinguishable]);
    assert_eq!(comparison.slower_than(0.0), Judgement::TooFewRuns);
}

#[test]
fn noise_is_no_difference_however_alike_the_runs_are() {
    let old: &[&[u64]] = &[&[1000], &[1001], &[1002]];
    let new: &[&[u64]] = &[&[1080], &[1081], &[1082]];
    let apart = compared(&runs(None, old), &runs(None, new));
    assert_eq!(verdicts(&apart), [Verdict::NoDifference]);
    assert_eq!(apart.slower_than(0.0), Judgement::Slower(Vec::new()));
    let strict = Comparison::of(
        &runs(None, old),
        &runs(None, new),
        BetweenRuns::ASSUMED,
        Noise::of(0.0),
    );
    assert_eq!(verdicts(&strict), [Verdict::Slower]);
    // Series that alternate share their noise.
    let (old, new) = (runs(Some(("a", "b")), old), runs(Some(("b", "a")), new));
    assert_eq!(verdicts(&compared(&old, &new)), [Verdict::Slower]);
}

#[test]
fn series_that_alternate_are_compared_pair_by_pair() {
    // The machine goes from one speed to another and back; the second program takes a tenth more.
    let old: &[&[u64]] = &[&[1000], &[1500], &[1010], &[1490]];
    let new: &[&[u64]] = &[&[1102], &[1649], &[1110], &[1640]];
    let apart = compared(&runs(None, old), &runs(None, new));
    assert_eq!(verdicts(&apart), [Verdict::NoDifference]);
    let (old, new) = (runs(Some(("a", "b")), old), runs(Some(("b", "a")), new));
    let paired = compared(&old, &new);
    assert_eq!(paired.pairs[0].grounds, Grounds::Alternating);
    assert_eq!(verdicts(&paired), [Verdict::Slower]);
    let Judgement::Slower(alarms) = paired.slower_than(0.05) else {
        panic!("pairs can be judged");
    };
    assert_eq!(alarms.len(), 1);
    assert_eq!(paired.slower_than(0.2), Judgement::Slower(Vec::new()));
    // A pair that has lost one of its runs is none.
    assert_eq!(compared(&old[..2], &new).pairs[0].grounds, Grounds::FewRuns);
    assert_eq!(
        compared(&old, &new[1..]).pairs[0].grounds,
        Grounds::Alternating
    );
}

#[test]
fn what_is_slower_must_be_so_among_all_cases() {
    let old: &[&[u64]] = &[&[1000, 1000, 1000], &[1050, 1100, 900], &[950, 900, 1100]];
    let new: &[&[u64]] = &[&[1500, 1000, 1000], &[1550, 900, 1100], &[1450, 1100, 900]];
    let comparison = compared(&runs(None, old), &runs(None, new));
    let expected = [
        Verdict::Slower,
        Verdict::NoDifference,
        Verdict::NoDifference,
    ];
    assert_eq!(verdicts(&comparison), expected);
    assert_eq!(
        comparison.pairs[0].runs,
        [3, 3],
        "each case has all of its runs"
    );
    let said = said(&document(&comparison));
    assert!(said.contains("verdicts allow for 3 cases"), "{said}");
}

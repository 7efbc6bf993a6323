mod error_rates;
mod machines;

use keymark_bench::case::{Parameters, StackName};
use keymark_bench::operation::Operation;
use keymark_bench::record::Ending;
use keymark_bench::series::SeriesId;
use keymark_testkit::assert_says;

use super::*;
use crate::verdict::Finding;
use keymark_testkit::record::{block, case, mixed as record};

/// Runs with one block of one operation of that number of microseconds for each of the cases, run by run.
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

fn sides(runs: &[&[Record]]) -> Vec<Side> {
    let side = |(number, runs): (u32, &&[Record])| Side {
        name: format!("side {number}"),
        runs: runs.to_vec(),
    };
    (0..).zip(runs).map(side).collect()
}

fn compared(old: &[Record], new: &[Record]) -> Comparison {
    Comparison::of(
        &sides(&[old, new]),
        BetweenRuns::ASSUMED,
        Criteria::default(),
    )
}

/// How many pairs are above the limit, and how many undecided.
fn counts(comparison: &Comparison, limit: f64) -> (usize, usize) {
    let judged = comparison.slower_than(limit);
    (judged.slower.len(), judged.undecided.len())
}

/// Means of the cases in each run of a side, in microseconds.
type Means = &'static [&'static [u64]];

const ALIKE: Means = &[&[1000], &[1001], &[1002]];
/// 8 % slower.
const SLOWER: Means = &[&[1080], &[1081], &[1082]];
/// The machine goes from one speed to another and back; the second program takes a tenth more.
const WANDERING: [Means; 2] = [
    &[&[1000], &[1500], &[1010], &[1490]],
    &[&[1102], &[1649], &[1110], &[1640]],
];
const UNEVEN: Means = &[&[1000], &[1500], &[1010], &[1490], &[1200]];

/// Verdicts of series at different times, or that alternate, and how many pairs are above a limit and undecided.
#[test]
fn verdicts_follow_from_the_runs() {
    use PairVerdict::{Indistinguishable as Open, Same, Slower, WithinNoise};
    let usual = Criteria::default();
    let strict = Criteria {
        noise: Noise::of(0.0),
        ..usual
    };
    let [narrow, wide] = [0.0005, 0.15].map(|equivalence| Criteria {
        equivalence,
        ..usual
    });
    let (apart, in_turn) = ([None; 2], [Some(("a", "b")), Some(("b", "a"))]);
    let near: Means = &[&[1001], &[1501], &[1012], &[1488], &[1201]];
    let varying: Means = &[&[1050], &[1450], &[1070], &[1430], &[1230]];
    let several: [Means; 2] = [
        &[&[1000, 1000, 1000], &[1050, 1100, 900], &[950, 900, 1100]],
        &[&[1500, 1000, 1000], &[1550, 900, 1100], &[1450, 1100, 900]],
    ];
    // As a newcomer had it: a ratio of 1.48 with an interval of 0.79 to 2.76.
    let unshown: [Means; 2] = [&[&[1000], &[1500], &[800]], &[&[1400], &[2300], &[1200]]];
    let single: [Means; 2] = [&[&[1000, 1000]], &[&[1300, 3000]]];
    let two: [Means; 2] = [&[&[1000], &[1001]], &[&[1200], &[1201]]];
    let rows: [(_, _, _, &[PairVerdict], f64, (usize, usize)); 15] = [
        (single, apart, usual, &[Open, Slower], 0.05, (0, 2)),
        (two, apart, usual, &[Open], 0.0, (0, 1)),
        // 8 % is within the noise of 10 %; series that alternate share their noise.
        ([ALIKE, SLOWER], apart, usual, &[WithinNoise], 0.0, (0, 0)),
        ([ALIKE, SLOWER], apart, strict, &[Slower], 0.0, (1, 0)),
        ([ALIKE, SLOWER], in_turn, usual, &[Slower], 0.0, (1, 0)),
        (WANDERING, apart, usual, &[Open], 0.05, (0, 1)),
        (WANDERING, in_turn, usual, &[Slower], 0.05, (1, 0)),
        (WANDERING, in_turn, usual, &[Slower], 0.2, (0, 0)),
        // What is slower must be so among all cases.
        (several, apart, usual, &[Slower, Open, Open], 0.05, (1, 2)),
        (unshown, apart, usual, &[Open], 0.05, (0, 1)),
        // The same is what lies within the margin with its whole interval.
        ([UNEVEN, near], in_turn, usual, &[Same], 0.05, (0, 0)),
        ([UNEVEN, near], in_turn, narrow, &[Open], 0.05, (0, 0)),
        ([UNEVEN, varying], in_turn, usual, &[Open], 0.05, (0, 1)),
        // Series at different times are the same only beyond what such series differ by.
        ([ALIKE, ALIKE], apart, usual, &[Open], 0.05, (0, 0)),
        ([ALIKE, ALIKE], apart, wide, &[Same], 0.05, (0, 0)),
    ];
    for (place, row) in rows.into_iter().enumerate() {
        let ([old, new], [first, second], criteria, expected, limit, limited) = row;
        let sides = sides(&[&runs(first, old), &runs(second, new)]);
        let comparison = Comparison::of(&sides, BetweenRuns::ASSUMED, criteria);
        let verdicts = comparison.pairs.iter().map(|pair| pair.verdict);
        assert_eq!(Vec::from_iter(verdicts), expected, "{place}");
        assert_eq!(counts(&comparison, limit), limited, "{place}");
    }
}

#[test]
fn series_that_alternate_are_compared_pair_by_pair() {
    let [old, new] = WANDERING;
    let (old, new) = (runs(Some(("a", "b")), old), runs(Some(("b", "a")), new));
    let grounds = |old: &[Record], new: &[Record]| compared(old, new).pairs[0].grounds;
    assert_eq!(grounds(&old, &new), Grounds::Alternating);
    // A pair that has lost one of its runs is none.
    assert_eq!(grounds(&old[..2], &new), Grounds::FewRuns);
    assert_eq!(grounds(&old, &new[1..]), Grounds::Alternating);
}

#[test]
fn any_number_of_sides_is_compared_with_the_first() {
    let old: &[&[u64]] = &[&[1000, 500], &[1010, 505], &[1005, 500]];
    let slow: &[&[u64]] = &[&[1500, 500], &[1510, 505], &[1505, 500]];
    let all = [runs(None, old), runs(None, slow), runs(None, old)];
    let all = sides(&all.each_ref().map(Vec::as_slice));
    let comparison = Comparison::of(&all, BetweenRuns::ASSUMED, Criteria::default());
    let found: Vec<(&str, &str, PairVerdict)> = comparison
        .pairs
        .iter()
        .map(|pair| {
            let algorithm = pair.old.algorithm.name();
            (algorithm, comparison.side(pair), pair.verdict)
        })
        .collect();
    let unclear = PairVerdict::Indistinguishable;
    let expected = [
        ("rsa2048", "side 1", PairVerdict::Slower),
        ("rsa2048", "side 2", unclear),
        ("ed25519", "side 1", unclear),
        ("ed25519", "side 2", unclear),
    ];
    assert_eq!(found, expected);
}

#[test]
fn cases_are_compared_with_one_of_their_own_runs() {
    // What the machine does to a run, it does to all of its cases.
    let means: &[&[u64]] = &[&[1000, 500], &[3000, 1500], &[1500, 750]];
    let side = sides(&[&runs(None, means)]);
    let against = |side: &[Side], pattern: &str| {
        let pattern = pattern.parse().unwrap();
        Comparison::against(&pattern, side, BetweenRuns::ASSUMED, Criteria::default())
    };
    let comparison = against(&side, "rsa2048");
    // rsa2048 decrypts in these records, and ed25519 signs.
    assert!(comparison.pairs.is_empty());
    let mut side = side;
    for run in &mut side[0].runs {
        let operation = run.cases[0].case.operation;
        run.cases[1].case.operation = operation;
    }
    let comparison = against(&side, "rsa2048");
    let [pair] = comparison.pairs.as_slice() else {
        panic!("{:?}", comparison.pairs);
    };
    assert_eq!(
        (pair.grounds, pair.verdict),
        (Grounds::SameRuns, PairVerdict::Faster)
    );
    assert!((pair.ratio.value.0 - 0.5).abs() < 1e-9);
    // One run alone: by the rounds in which both were measured.
    let mut run = side[0].runs[0].clone();
    for (case, mean) in run.cases.iter_mut().zip([1000_u64, 500]) {
        let blocks = (0..30).map(|round| block(round, &[(mean + u64::from(round % 3)) * 1000]));
        case.blocks = blocks.collect();
    }
    let comparison = against(&sides(&[&[run]]), "rsa2048");
    let pair = &comparison.pairs[0];
    assert_eq!(
        (pair.grounds, pair.verdict),
        (Grounds::SameRun, PairVerdict::Faster)
    );
    // With the 2 % of noise.
    assert!(pair.ratio.high.unwrap().0 < 0.52);
}

#[test]
fn an_articles_devices_are_compared_with_what_a_run_has_of_them() {
    let of = |devices: [&str; 3]| {
        let mut runs = runs(None, &[&[1000, 1000, 1000]]);
        for (record, device) in runs[0].cases.iter_mut().zip(devices) {
            record.case = Case {
                device: DeviceName::new(device),
                ..case("rsa2048", StackName::RAW)
            };
        }
        runs
    };
    let paired = |before: [&str; 3], after: [&str; 3]| -> Vec<String> {
        let comparison = compared(&of(before), &of(after));
        let pairs = comparison.pairs.iter();
        let devices = pairs.map(|pair| format!("{} {}", pair.old.device, pair.new.device));
        devices.collect()
    };
    let article = ["CPU", "FST-01", "YubiKey-NEO"];
    assert_eq!(
        paired(article, ["twin:fst-01", "software", "twin:yubikey-4"]),
        ["CPU software", "FST-01 twin:fst-01"]
    );
    // Nothing is known of them.
    assert!(paired(["one"; 3], ["another"; 3]).contains(&"one another".to_owned()));
}

#[test]
fn the_geometric_mean_takes_runs_for_units() {
    let old: &[&[u64]] = &[&[1000, 400, 90], &[1300, 520, 117], &[900, 360, 81]];
    // Twice, half and as long: 1, and whatever a run does to all of its cases cancels in pairs.
    let new: &[&[u64]] = &[&[2000, 200, 90], &[2600, 260, 117], &[1800, 180, 81]];
    let in_turn = compared(&runs(Some(("a", "b")), old), &runs(Some(("b", "a")), new));
    let means = in_turn.geometric_means();
    let [mean] = means.as_slice() else {
        panic!("{means:?}");
    };
    assert_eq!((mean.cases, mean.side), (3, 1));
    assert!((mean.ratio.value.0 - 1.0).abs() < 1e-9);
    assert!(mean.ratio.high.unwrap().0 < 1.0 + 1e-9);
    let apart = compared(&runs(None, old), &runs(None, new)).geometric_means();
    assert!(apart[0].ratio.high.unwrap().0 > 1.3, "{apart:?}");
}

#[test]
fn kinds_of_figures_are_not_averaged_together() {
    let mut old = runs(None, &[&[1000, 400]]);
    let mut new = runs(None, &[&[1000, 400]]);
    for side in [&mut old, &mut new] {
        side[0].cases[1].case.provenance = keymark_bench::case::Provenance::Twin;
    }
    let comparison = compared(&old, &new);
    assert_eq!(comparison.geometric_means().len(), 2);
}

#[test]
fn what_differs_besides_is_said_first() {
    let old = runs(None, &[&[1000]]);
    let mut new = runs(None, &[&[1000]]);
    new[0].environment.kernel = Some("6.18\u{1b}[2J".to_owned());
    assert!(
        compared(&old, &new).differences.is_empty(),
        "who does not say, does not differ"
    );
    let mut older = old.clone();
    older[0].environment.kernel = Some("6.1".to_owned());
    new[0]
        .environment
        .versions
        .insert("gnupg".to_owned(), "2.4".to_owned());
    let comparison = compared(&older, &new);
    let differences: Vec<String> = comparison
        .differences
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        differences,
        ["kernel: 6.1 (side 0); 6.18\u{1b}[2J (side 1)"]
    );
    assert!(compared(&older, &older).differences.is_empty());
}

#[test]
fn loads_on_servers_are_compared_by_their_steady_state() {
    let loaded = |factor: u64| {
        let mut run = runs(None, &[&[1]]);
        let mut load = keymark_testkit::record::server_load();
        for second in &mut load.seconds {
            second
                .whole
                .0
                .iter_mut()
                .for_each(|(time, _)| *time *= factor);
        }
        run[0].cases[0].blocks.clear();
        run[0].cases[0].server_load = Some(Box::new(load));
        run
    };
    let comparison = compared(&loaded(1), &loaded(4));
    let [pair] = comparison.pairs.as_slice() else {
        panic!("{:?}", comparison.pairs);
    };
    // Of the steady state alone: (6 × 1.1 + 1.2 + 1.3) / 8 ms.
    assert!((pair.old_mean.0 - 0.001_137_5).abs() < 1e-9, "{pair:?}");
    assert!((pair.ratio.value.0 - 4.0).abs() < 1e-9);
    assert_eq!(pair.verdict, PairVerdict::Slower);
}

fn failing(mut runs: Vec<Record>, case: usize) -> Vec<Record> {
    for run in &mut runs {
        run.cases[case].ending = Some(Ending::failed("the key was lost"));
    }
    runs
}

fn missing(comparison: &Comparison) -> Vec<(usize, String)> {
    let missing = comparison.missing.iter();
    let named = missing.map(|one| (one.side, one.case.algorithm.to_string()));
    named.collect()
}

/// A case that has gone, or failed, is neither within a limit nor above it.
#[test]
fn a_case_without_a_figure_is_named() {
    let old = runs(None, &[&[1000, 1000, 1000], &[1001, 1001, 1001]]);
    let new = failing(runs(None, &[&[1000, 1000], &[1001, 1001]]), 1);
    let expected = ["ed25519", "nistp256"].map(|key| (1, key.to_owned()));
    assert_eq!(missing(&compared(&old, &new)), expected);
    // New cases have nothing to be compared with.
    assert!(compared(&new, &old).missing.is_empty());
}

#[test]
fn a_failed_case_is_named_beside_a_baseline_and_among_copies() {
    let mut runs = runs(None, &[&[1000, 1000, 1000]]);
    for record in &mut runs[0].cases {
        record.case.operation = Operation::Sign;
    }
    let against = |failed| {
        let side = sides(&[&failing(runs.clone(), failed)]);
        let pattern = "rsa2048".parse().unwrap();
        Comparison::against(&pattern, &side, BetweenRuns::ASSUMED, Criteria::default())
    };
    assert_eq!(missing(&against(1)), [(0, "ed25519".to_owned())]);
    assert_eq!(
        missing(&against(0)),
        [(0, "rsa2048".to_owned())],
        "the baseline, once"
    );
    let mut copies = runs.clone();
    copies[0].cases.truncate(2);
    copies[0].cases[1].case = Case {
        replica: 1,
        ..copies[0].cases[0].case.clone()
    };
    let of = |runs: Vec<Record>| Comparison::of_copies(&sides(&[&runs])[0], Criteria::default());
    assert!(of(copies.clone()).missing.is_empty());
    assert_eq!(
        missing(&of(failing(copies, 1))),
        [(0, "rsa2048".to_owned())]
    );
}

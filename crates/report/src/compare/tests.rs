use keymark_bench::case::{Parameters, StackName};
use keymark_bench::operation::Operation;
use keymark_bench::record::Ending;
use keymark_bench::series::SeriesId;
use keymark_testkit::assert_says;

use super::*;
use crate::document::Document;
use crate::render::{Width, text};
use keymark_testkit::record::{block, case, mixed as record};

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

fn sides(runs: &[&[Record]]) -> Vec<Side> {
    let side = |(number, runs): (u32, &&[Record])| Side {
        name: format!("side {number}"),
        runs: runs.to_vec(),
    };
    (0..).zip(runs).map(side).collect()
}

fn by(noise: Noise, old: &[Record], new: &[Record]) -> Comparison {
    let criteria = Criteria {
        noise,
        ..Criteria::default()
    };
    Comparison::of(&sides(&[old, new]), BetweenRuns::ASSUMED, criteria)
}

fn compared(old: &[Record], new: &[Record]) -> Comparison {
    by(Noise::default(), old, new)
}

fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    comparison.pairs.iter().map(|pair| pair.verdict).collect()
}

/// How many pairs are above the limit, and how many undecided.
fn counts(comparison: &Comparison, limit: f64) -> (usize, usize) {
    let judged = comparison.slower_than(limit);
    (judged.slower.len(), judged.undecided.len())
}

fn said(document: &Document) -> String {
    anstream::adapter::strip_str(&text::render(document, Width::Columns(100))).to_string()
}

#[test]
fn single_runs_are_not_told_apart_unless_far_apart() {
    let comparison = compared(&runs(None, &[&[1000, 1000]]), &runs(None, &[&[1300, 3000]]));
    let expected = [Verdict::Indistinguishable, Verdict::Slower];
    assert_eq!(verdicts(&comparison), expected);
    assert_eq!(counts(&comparison, 0.05), (0, 2));
    let said = said(&comparison.document(&[]));
    assert_eq!(said.matches("between single runs").count(), 1, "{said}");
    assert_says(&said, ["1.00 ms", "1.30 ms"]);
}

#[test]
fn two_runs_a_side_are_too_few_however_alike_they_are() {
    let comparison = compared(
        &runs(None, &[&[1000], &[1001]]),
        &runs(None, &[&[1200], &[1201]]),
    );
    assert_eq!(verdicts(&comparison), [Verdict::Indistinguishable]);
    assert_eq!(counts(&comparison, 0.0), (0, 1));
}

#[test]
fn noise_is_no_difference_however_alike_the_runs_are() {
    let old: &[&[u64]] = &[&[1000], &[1001], &[1002]];
    let new: &[&[u64]] = &[&[1080], &[1081], &[1082]];
    let apart = compared(&runs(None, old), &runs(None, new));
    assert_eq!(verdicts(&apart), [Verdict::WithinNoise]);
    assert_eq!(
        counts(&apart, 0.0),
        (0, 0),
        "8 % is within the noise of 10 %"
    );
    let said = said(&apart.document(&[]));
    assert_says(&said, ["within noise (10 %)"]);
    assert!(
        !said.contains("itself") && !said.contains("against provenance"),
        "{said}"
    );
    let strict = by(Noise::of(0.0), &runs(None, old), &runs(None, new));
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
    assert_eq!(verdicts(&apart), [Verdict::Indistinguishable]);
    let (old, new) = (runs(Some(("a", "b")), old), runs(Some(("b", "a")), new));
    let paired = compared(&old, &new);
    assert_eq!(paired.pairs[0].grounds, Grounds::Alternating);
    assert_eq!(verdicts(&paired), [Verdict::Slower]);
    assert_eq!(counts(&paired, 0.05), (1, 0));
    assert_eq!(counts(&paired, 0.2), (0, 0));
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
        Verdict::Indistinguishable,
        Verdict::Indistinguishable,
    ];
    assert_eq!(verdicts(&comparison), expected);
    assert_eq!(
        comparison.pairs[0].runs,
        [3, 3],
        "each case has all of its runs"
    );
    let said = said(&comparison.document(&[]));
    assert_says(&said, ["intervals and their verdicts allow for 3 cases"]);
}

#[test]
fn any_number_of_sides_is_compared_with_the_first() {
    let old: &[&[u64]] = &[&[1000, 500], &[1010, 505], &[1005, 500]];
    let slow: &[&[u64]] = &[&[1500, 500], &[1510, 505], &[1505, 500]];
    let all = [runs(None, old), runs(None, slow), runs(None, old)];
    let all = sides(&all.each_ref().map(Vec::as_slice));
    let comparison = Comparison::of(&all, BetweenRuns::ASSUMED, Criteria::default());
    let found: Vec<(&str, &str, Verdict)> = comparison
        .pairs
        .iter()
        .map(|pair| {
            let algorithm = pair.old.algorithm.name();
            (algorithm, comparison.side(pair), pair.verdict)
        })
        .collect();
    let unclear = Verdict::Indistinguishable;
    let expected = [
        ("rsa2048", "side 1", Verdict::Slower),
        ("rsa2048", "side 2", unclear),
        ("ed25519", "side 1", unclear),
        ("ed25519", "side 2", unclear),
    ];
    assert_eq!(found, expected);
    let said = said(&comparison.document(&[]));
    assert_says(&said, ["side 1: 3 runs against 3", "allow for 4 cases"]);
}

#[test]
fn the_same_is_what_lies_within_the_margin_with_its_whole_interval() {
    let old: &[&[u64]] = &[&[1000], &[1500], &[1010], &[1490], &[1200]];
    let near: &[&[u64]] = &[&[1001], &[1501], &[1012], &[1488], &[1201]];
    let in_turn = (runs(Some(("a", "b")), old), runs(Some(("b", "a")), near));
    assert_eq!(verdicts(&compared(&in_turn.0, &in_turn.1)), [Verdict::Same]);
    let narrow = Criteria {
        equivalence: 0.0005,
        ..Criteria::default()
    };
    let narrow = Comparison::of(
        &sides(&[&in_turn.0, &in_turn.1]),
        BetweenRuns::ASSUMED,
        narrow,
    );
    assert_eq!(verdicts(&narrow), [Verdict::Indistinguishable]);
    // Not seen to differ, and yet not the same: the pairs vary too much.
    let wide: &[&[u64]] = &[&[1050], &[1450], &[1070], &[1430], &[1230]];
    let wide = runs(Some(("b", "a")), wide);
    assert_eq!(
        verdicts(&compared(&in_turn.0, &wide)),
        [Verdict::Indistinguishable]
    );
}

#[test]
fn series_at_different_times_are_the_same_only_beyond_what_such_series_differ_by() {
    let old: &[&[u64]] = &[&[1000], &[1001], &[1002]];
    let (old, new) = (runs(None, old), runs(None, old));
    let comparison = compared(&old, &new);
    assert_eq!(verdicts(&comparison), [Verdict::Indistinguishable]);
    let said = said(&comparison.document(&[]));
    assert_says(&said, ["no verdict 'same'"]);
    assert_eq!(verdicts(&by(Noise::of(0.0), &old, &new)), [Verdict::Same]);
    let wider = Criteria {
        equivalence: 0.15,
        ..Criteria::default()
    };
    let wider = Comparison::of(&sides(&[&old, &new]), BetweenRuns::ASSUMED, wider);
    assert_eq!(verdicts(&wider), [Verdict::Same]);
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
        (Grounds::SameRuns, Verdict::Faster)
    );
    assert!((pair.ratio.value.0 - 0.5).abs() < 1e-9);
    let shown = said(&comparison.document(&[]));
    assert_says(&shown, ["in each of 3 runs", "ed25519"]);
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
        (Grounds::SameRun, Verdict::Faster)
    );
    // With the 2 % of noise.
    assert!(pair.ratio.high.unwrap().0 < 0.52);
}

#[test]
fn an_articles_devices_are_compared_with_what_a_run_has_of_them() {
    let of = |devices: &[&str]| {
        let mut runs = runs(None, &[&[1000, 1000, 1000]]);
        for (record, device) in runs[0].cases.iter_mut().zip(devices) {
            record.case = Case {
                device: DeviceName::new(*device),
                ..case("rsa2048", StackName::RAW)
            };
        }
        runs
    };
    let paired = |before: &[&str], after: &[&str]| -> Vec<(String, String)> {
        let comparison = compared(&of(before), &of(after));
        let pairs = comparison.pairs.iter();
        let devices = pairs.map(|pair| (pair.old.device.to_string(), pair.new.device.to_string()));
        devices.collect()
    };
    let with = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    };
    assert_eq!(
        paired(
            &["CPU", "FST-01", "YubiKey-NEO"],
            &["twin:fst-01", "software", "twin:yubikey-4"]
        ),
        with(&[("CPU", "software"), ("FST-01", "twin:fst-01")])
    );
    // Nothing is known of them.
    let others = paired(&["one", "one", "one"], &["another", "another", "another"]);
    assert!(others.contains(&("one".to_owned(), "another".to_owned())));
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
    let shown = said(&in_turn.document(&means));
    assert_says(&shown, ["over all cases", "Fleming"]);
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
    let said = said(&comparison.document(&[]));
    assert_says(&said, ["mixes figures of different kinds: measured, twin"]);
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
    let shown = said(&comparison.document(&[]));
    let (heading, kernel, table) = (
        shown.find("other differences"),
        shown.find("6.18\\u{1b}[2J"),
        shown.find("verdict"),
    );
    assert!(
        heading < kernel && kernel < table && heading.is_some(),
        "{shown}"
    );
    let same = said(&compared(&older, &older).document(&[]));
    assert!(same.contains("\n\nsame machine, programs"), "{same}");
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
    assert_eq!(pair.verdict, Verdict::Slower);
}

mod agreement {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_verdict_contradicts_the_interval_beside_it(
            logs in proptest::collection::vec(proptest::collection::vec((-40_i32..40, -40_i32..40), 3), 3..6),
            effects in proptest::collection::vec(-60_i32..60, 3),
            noise in 0.0..0.1_f64,
            equivalence in 0.01..0.3_f64,
        ) {
            // Means of three cases in each run of both sides, in units of 0.5 %.
            let micro = |log: i32| ((f64::from(log) * 0.005).exp() * 100_000.0) as u64;
            let side = |new: bool| -> Vec<Vec<u64>> {
                let run = |run: &Vec<(i32, i32)>| {
                    let cases = run.iter().zip(&effects);
                    cases.map(|((a, b), effect)| micro(if new { *b + effect } else { *a })).collect()
                };
                logs.iter().map(run).collect()
            };
            let of = |means: &[Vec<u64>]| runs(None, &means.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let criteria = Criteria { noise: Noise::of(noise), equivalence };
            let comparison = Comparison::of(&sides(&[&of(&side(false)), &of(&side(true))]), BetweenRuns::ASSUMED, criteria);
            prop_assert_eq!(comparison.pairs.len(), 3);
            for pair in &comparison.pairs {
                let (low, high) = (pair.ratio.low.unwrap().0, pair.ratio.high.unwrap().0);
                prop_assert!(low <= pair.ratio.value.0 && pair.ratio.value.0 <= high);
                let most = 1.0 + equivalence;
                let told = match pair.verdict {
                    Verdict::Slower => low > 1.0,
                    Verdict::Faster => high < 1.0,
                    Verdict::Same => low > 1.0 / most && high < most,
                    Verdict::WithinNoise => noise > 0.0 && low <= 1.0 && 1.0 <= high,
                    Verdict::Indistinguishable => low <= 1.0 && 1.0 <= high,
                    Verdict::Unknown => false,
                };
                prop_assert!(told, "{} beside {low} to {high}", pair.verdict);
            }
        }
    }
}

#[test]
fn the_answer_is_what_changed_and_whether_that_is_more_than_noise() {
    let old = runs(
        Some(("a", "x")),
        &[&[500, 90, 70], &[502, 91, 71], &[501, 90, 70]],
    );
    let new = runs(
        Some(("b", "y")),
        &[&[1000, 90, 70], &[1003, 91, 71], &[1002, 90, 70]],
    );
    let answers = |comparison: &Comparison| comparison.document(&[]).answers;
    let changed = answers(&compared(&old, &new));
    let [only] = changed.as_slice() else {
        panic!("{changed:?}");
    };
    let text = &only.text;
    assert!(
        text.starts_with(
            "side 1 against side 0: 1 of 3 cases slower: rsa2048 decrypt software raw takes 2.00 ("
        ),
        "{text}"
    );
    assert!(
        text.ends_with(
            "more than is explained by this machine's own noise (up to 10.0 %); 2 cases undecided."
        ),
        "{text}"
    );
    assert_eq!(only.rows.len(), 1);
    let same = answers(&compared(&old, &old));
    assert!(
        same[0].text.contains("cannot tell: 3 cases differ by"),
        "{same:?}"
    );
    let single = answers(&compared(&old[..1], &new[..1]));
    assert!(
        single[0].text.contains("(its runs may differ by 15.0 %)"),
        "{single:?}"
    );
}

/// Runs of a machine that is called so, with one case by the OpenSSL that is built in and one by libgcrypt.
fn of_machine(name: &str, libgcrypt: &str, microseconds: [u64; 2]) -> Vec<Record> {
    let raw = || {
        keymark_testkit::case("rsa2048")
            .operation(Operation::Sign)
            .stack(StackName::RAW)
    };
    let library = Parameters::NONE.replaced("library", "libgcrypt");
    let cases = [raw().build(), raw().parameters(library).build()];
    let run = |number: u64| {
        let cases = cases
            .iter()
            .zip(microseconds)
            .map(|(case, mean)| CaseRecord {
                blocks: vec![block(0, &[mean * 1000 + number])],
                ..CaseRecord::new(case.clone())
            });
        let mut run = Record {
            cases: cases.collect(),
            ..record(&format!("{name}-{number}"))
        };
        let versions = &mut run.environment.versions;
        versions.insert("libgcrypt".to_owned(), libgcrypt.to_owned());
        run.environment.machine = Some(name.to_owned());
        run
    };
    (0..3).map(run).collect()
}

fn fleet(machines: &[(&str, &str, [u64; 2])]) -> Comparison {
    let runs = machines.iter();
    let runs = runs.flat_map(|(name, version, means)| of_machine(name, version, *means));
    let sides = Side::of_machines(runs.collect());
    Comparison::of_machines(sides, BetweenRuns::ASSUMED, Criteria::default())
}

#[test]
fn machines_are_compared_with_the_fastest_and_a_library_is_told_from_a_machine() {
    let compared = fleet(&[
        ("a", "1.11.0", [1000, 9000]),
        ("b", "1.11.0", [900, 8000]),
        ("c", "1.10.1", [1010, 16_000]),
    ]);
    let names: Vec<&str> = compared.sides.iter().map(|side| &*side.name).collect();
    assert_eq!(names, ["b", "a", "c"]);
    let sides: Vec<&str> = compared
        .pairs
        .iter()
        .map(|pair| compared.side(pair))
        .collect();
    assert_eq!(
        sides,
        ["c", "a", "c", "a"],
        "of each case the slowest first"
    );
    let said = said(&compared.document(&[]));
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(
        &said,
        [
            "c takes longest to sign: rsa2048 sign software raw libgcrypt takes 2.00 (1.82–2.20) times as long",
            "as on b; the library makes the difference (libgcrypt: 1.11.0 (b, a); 1.10.1 (c))",
            "keymark's own OpenSSL takes 1.12 (1.02–1.23) times as long there",
        ],
    );
    assert!(
        !said.contains("machine: "),
        "labels are no difference: {said}"
    );
}

#[test]
fn a_machine_that_is_slow_with_every_library_is_slow_itself() {
    let compared = fleet(&[
        ("a", "1.11.0", [1000, 8000]),
        ("b", "1.10.1", [2000, 16_000]),
    ]);
    let said = said(&compared.document(&[]));
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(
        &said,
        [
            "b takes longest to sign",
            "keymark's own OpenSSL takes 2.00 (1.82–2.20) times",
            "there, too",
        ],
    );
    assert!(!said.contains("makes the difference"), "{said}");
}

#[test]
fn a_library_that_cannot_be_told_from_its_machine_is_not_blamed() {
    let compared = fleet(&[("a", "1.11.0", [1000, 8000]), ("b", "1.10.1", [1090, 9200])]);
    let said = said(&compared.document(&[]));
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(
        &said,
        [
            "b takes longest to sign",
            "whether its library is the cause is open: keymark's own OpenSSL",
        ],
    );
}

/// As a newcomer had it: three runs a side, a ratio of 1.48 with an interval of 0.79 to 2.76.
#[test]
fn a_slow_down_that_runs_do_not_show_is_no_pass() {
    let old: &[&[u64]] = &[&[1000], &[1500], &[800]];
    let new: &[&[u64]] = &[&[1400], &[2300], &[1200]];
    let comparison = compared(&runs(None, old), &runs(None, new));
    assert_eq!(verdicts(&comparison), [Verdict::Indistinguishable]);
    assert_eq!(counts(&comparison, 0.05), (0, 1));
    let said = said(&comparison.document(&[]));
    assert_says(
        &said,
        [
            "annot tell: 1 case differs by +48 %",
            "'bench --repeat 10', or 'bench",
        ],
    );
    assert!(!said.contains("no change"), "{said}");
}

/// Five pairs of runs, each a normal ratio with a deviation that gives intervals of ±3 %, against a limit of 5 %: how often
/// does an unchanged program pass, and one that is 10 % slower?
#[test]
fn an_unchanged_program_mostly_passes_and_a_slow_one_never() {
    use rand::{RngExt, SeedableRng};
    const TIMES: usize = 200;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(44);
    // The sum of twelve uniform numbers has a variance of 1.
    let mut normal = || (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0;
    let mut outcomes = |factor: f64| {
        let (mut passed, mut failed) = (0, 0);
        for _ in 0..TIMES {
            let means: Vec<[u64; 1]> = (0..5)
                .map(|_| [(100_000.0 * factor * (0.024 * normal()).exp()) as u64])
                .collect();
            let new: Vec<&[u64]> = means.iter().map(|mean| &mean[..]).collect();
            let old: Vec<&[u64]> = vec![&[100_000]; 5];
            let (old, new) = (runs(Some(("a", "b")), &old), runs(Some(("b", "a")), &new));
            match counts(&compared(&old, &new), 0.05) {
                (0, 0) => passed += 1,
                (1, _) => failed += 1,
                _ => {}
            }
        }
        (passed, failed)
    };
    let (passed, failed) = outcomes(1.0);
    assert!(passed > TIMES * 9 / 10 && failed == 0, "{passed} {failed}");
    let (passed, failed) = outcomes(1.10);
    assert!(passed == 0 && failed > TIMES / 2, "{passed} {failed}");
}

#[test]
fn a_stray_case_of_one_machine_hides_no_other() {
    let mut stray = of_machine("stray", "1.11.0", [10, 1]);
    stray.truncate(1);
    stray[0].cases.truncate(1);
    let mut all = stray;
    all.extend(of_machine("a", "1.11.0", [1000, 8000]));
    all.extend(of_machine("b", "1.11.0", [2000, 16_000]));
    let sides = Side::of_machines(all);
    let compared = Comparison::of_machines(sides, BetweenRuns::ASSUMED, Criteria::default());
    let pairs = compared.pairs.iter();
    let pairs = pairs.map(|pair| {
        (
            compared.side(pair),
            pair.old.parameters.get("library").is_some(),
        )
    });
    let pairs: HashSet<_> = pairs.collect();
    assert!(
        pairs.contains(&("a", true)) || pairs.contains(&("b", true)),
        "{pairs:?}"
    );
    assert!(
        pairs.contains(&("a", false)) && pairs.contains(&("b", false)),
        "{pairs:?}"
    );
}

/// A case that has gone, or failed, is neither within a limit nor above it.
#[test]
fn a_case_that_only_the_first_side_has_is_undecided() {
    let old = runs(None, &[&[1000, 1000, 1000], &[1001, 1001, 1001]]);
    let mut new = runs(None, &[&[1000, 1000], &[1001, 1001]]);
    for run in &mut new {
        run.cases[1].ending = Some(Ending::failed("the key was lost"));
    }
    let comparison = compared(&old, &new);
    let missing = comparison.missing.iter();
    let missing: Vec<String> = missing.map(|one| one.case.algorithm.to_string()).collect();
    assert_eq!(missing, ["ed25519", "nistp256"]);
    let said = said(&comparison.document(&[]));
    assert_says(
        &said,
        [
            "not compared, because side 1 has no figure: ed25519",
            "and 1 more",
        ],
    );
    // What is new has nothing to be compared with.
    assert!(compared(&new, &old).missing.is_empty());
}

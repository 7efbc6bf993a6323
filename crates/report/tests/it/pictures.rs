//! Pictures of records: which there are, what they say, and that nothing in a record spoils them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a test looks for one kind of several"
)]

use std::path::Path;

use keymark_bench::case::{Case, DeviceName, Pacing, Provenance, StackName};
use keymark_bench::record::Record;
use keymark_records::exchange;
use keymark_report::analysis::Analysis;
use keymark_report::charts::terminal::{self, Signs};
use keymark_report::charts::{Chart, Fill, Mark, Theme, svg};
use keymark_report::document::Block;
use keymark_report::pictures::{self, AnalyzedRun, PictureKind};
use keymark_report::render::html::{self, ReadIn};
use keymark_report::verdict::Verdict;
use keymark_testkit::assert_says;
use keymark_testkit::layers::layers;
use keymark_testkit::record::{failed, measured, of as record, published, signing as case};

use crate::charts::check;
use crate::golden_reports::RECORDS;
use crate::imported;

/// The pictures of a kind, with all runs in each.
fn charts(records: &[Record], kind: PictureKind) -> Vec<Chart> {
    let analyses: Vec<Analysis> = records
        .iter()
        .map(|run| Analysis::of(run, &layers()))
        .collect();
    let runs = records.iter().zip(&analyses);
    let runs: Vec<AnalyzedRun<'_>> = runs
        .map(|(record, analysis)| AnalyzedRun { record, analysis })
        .collect();
    pictures::charts(&runs, kind)
}

fn every(record: &Record) -> Vec<Chart> {
    let records = std::slice::from_ref(record);
    PictureKind::ALL
        .iter()
        .flat_map(|kind| charts(records, *kind))
        .collect()
}

/// The kind that is drawn if you ask for none.
fn chosen(record: &Record) -> Option<PictureKind> {
    let analysis = &Analysis::of(record, &layers());
    pictures::default_kind(
        &[&Verdict::of(analysis, record)],
        &[AnalyzedRun { record, analysis }],
    )
}

/// Names of the cases of a picture's dots, each with its place.
fn dots(chart: &Chart) -> Vec<(&str, f64)> {
    let marks = chart.panels.iter().flat_map(|panel| &panel.marks);
    let dots = marks.filter_map(Mark::try_as_dot_ref);
    dots.map(|dot| (dot.about.case.as_deref().unwrap(), dot.x))
        .collect()
}

/// Every picture of a record, in every form; each is sound.
fn drawn(record: &Record) -> Vec<Chart> {
    let charts = every(record);
    for chart in &charts {
        for theme in [Theme::Light, Theme::Dark] {
            let text = svg::draw(chart, theme);
            check(&text);
            assert!(!chart.summary.is_empty());
            assert!(!text.contains(['\u{1b}', '\u{202e}']));
        }
        assert!(terminal::draw(chart, Signs::Ascii, 80).is_ascii());
    }
    charts
}

/// Through raw, by one worker.
fn on(device: &str, algorithm: &str, provenance: Provenance) -> Case {
    of(algorithm, device, provenance, StackName::RAW, 1)
}

fn of(
    algorithm: &str,
    device: &str,
    provenance: Provenance,
    stack: StackName,
    workers: u32,
) -> Case {
    Case {
        device: DeviceName::new(device),
        provenance,
        ..case(algorithm, stack, workers)
    }
}

/// Several of everything.
fn plenty() -> Record {
    let mut cases = Vec::new();
    for (device, provenance, slower) in [
        ("software", Provenance::Measured, 1.0),
        ("twin:slow", Provenance::Twin, 40.0),
    ] {
        for (algorithm, microseconds) in [("rsa2048", 900.0), ("rsa4096", 5_000.0)] {
            let of = |stack, workers| of(algorithm, device, provenance, stack, workers);
            for (stack, more) in [
                (StackName::RAW, 1.0),
                (StackName::AGENT, 2.0),
                (StackName::GPG, 9.0),
            ] {
                cases.push(measured(of(stack, 1), microseconds * slower * more));
            }
            for workers in [2, 4] {
                let time = microseconds * slower * f64::from(workers) * 0.7;
                cases.push(measured(of(StackName::RAW, workers), time));
            }
            for rate in ["10/s", "20/s"] {
                let mut open = of(StackName::RAW, 1);
                open.load.pacing = Pacing::Open(rate.parse().unwrap());
                cases.push(measured(open, microseconds * slower));
            }
        }
    }
    record(cases)
}

#[test]
fn a_run_has_the_pictures_of_what_it_measured() {
    let mut kinds: Vec<&str> = drawn(&plenty()).iter().map(|chart| chart.kind).collect();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "means",
            "layers",
            "distributions",
            "throughput",
            "load",
            "samples"
        ]
    );
    // The twin's bars would hide those of the others.
    assert_eq!(chosen(&plenty()), Some(PictureKind::Means));
    let mut here = plenty();
    here.cases
        .retain(|case| case.case.provenance == Provenance::Measured);
    here.plan.cases = here.cases.iter().map(|case| case.case.clone()).collect();
    assert_eq!(chosen(&here), Some(PictureKind::Layers));
}

#[test]
fn a_load_at_one_rate_is_no_curve_and_does_not_fit() {
    let mut open = case("rsa2048", StackName::RAW, 1);
    open.load.pacing = Pacing::Open("10/s".parse().unwrap());
    let record = record(vec![
        measured(open, 900.0),
        measured(case("rsa4096", StackName::RAW, 1), 5000.0),
    ]);
    assert_eq!(chosen(&record), Some(PictureKind::Means));
}

#[test]
fn pictures_are_what_they_were() {
    let record = plenty();
    let charts = drawn(&record);
    for kind in ["means", "layers", "throughput"] {
        let chart = charts.iter().find(|chart| chart.kind == kind).unwrap();
        insta::assert_snapshot!(format!("{kind}_svg"), svg::draw(chart, Theme::Light));
        insta::assert_snapshot!(
            format!("{kind}_text"),
            terminal::draw(chart, Signs::Unicode, 100)
        );
    }
}

#[test]
fn every_golden_record_is_drawn() {
    for name in RECORDS {
        let charts = drawn(&imported(&format!("golden/{name}")));
        assert!(!charts.is_empty(), "{name}");
        let words: Vec<&str> = charts.iter().map(|chart| chart.summary.as_str()).collect();
        insta::assert_snapshot!(format!("golden_{name}"), words.join("\n"));
    }
}

/// The table of LWN's article, drawn as its graph was.
#[test]
fn published_figures_are_hollow() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/published/lwn-2017-keycards.csv");
    let record = exchange::import(&file).unwrap();
    let charts = drawn(&record);
    let means = charts.iter().find(|chart| chart.kind == "means").unwrap();
    let dots = means.panels[0]
        .marks
        .iter()
        .filter_map(Mark::try_as_dot_ref);
    let dots: Vec<_> = dots.map(|dot| (dot.fill, dot.interval)).collect();
    assert_eq!(dots, vec![(Fill::Hollow, None); 11]);
    assert_says(
        &means.summary,
        ["rsa4096 decrypt FST-01 gpg: 8.22 s, published"],
    );
    assert_eq!(chosen(&record), Some(PictureKind::Means));
}

#[test]
fn too_little_is_no_picture() {
    let nothing = record(Vec::new());
    assert!(drawn(&nothing).is_empty());
    let failed = |device: &str| failed(on(device, "rsa2048", Provenance::Measured), "pulled out");
    let failures = record(vec![failed("a"), failed("b")]);
    assert!(drawn(&failures).is_empty());
    assert_eq!(chosen(&failures), None);
    // One sample has a place, but no distribution to be compared.
    let mut one = measured(case("rsa2048", StackName::RAW, 1), 900.0);
    one.blocks.truncate(1);
    one.blocks[0].samples.truncate(1);
    let record = record(vec![one]);
    assert_eq!(
        charts(std::slice::from_ref(&record), PictureKind::Means).len(),
        1
    );
    assert_eq!(charts(&[record], PictureKind::Distributions).len(), 0);
}

#[test]
fn absurd_figures_and_hostile_names_spoil_nothing() {
    let names = [
        "</title><script>alert(1)</script>",
        "\" onload=\"x",
        "\u{1b}[2J\u{202e}]]>",
        "a very long name of a device that nobody would ever think of giving to one, and yet there it is",
    ];
    let times = [0.0, 1e-300, 1e300, f64::MIN_POSITIVE, 5.0];
    let mut cases = Vec::new();
    for device in names {
        for (time, algorithm) in times
            .into_iter()
            .zip(["rsa1024", "rsa2048", "rsa4096", "ed25519", "nistp256"])
        {
            let case = on(device, algorithm, Provenance::Published);
            cases.push(published(case, time));
        }
        let case = on(device, "rsa3072", Provenance::Measured);
        cases.push(measured(case, 900.0));
    }
    let charts = drawn(&record(cases));
    assert!(charts.len() > 3);
}

#[test]
fn many_rows_are_capped_and_it_is_said() {
    let cases = (0..300).map(|number| {
        let device = format!("device {number}");
        let case = on(&device, "rsa2048", Provenance::Published);
        published(case, 0.001 * f64::from(number + 1))
    });
    let charts = drawn(&record(cases.collect()));
    let means = charts.iter().find(|chart| chart.kind == "means").unwrap();
    assert!(
        means
            .notes
            .iter()
            .any(|note| note.contains("100 of 300 figures")),
        "{:?}",
        means.notes
    );
}

#[test]
fn runs_stand_in_one_picture_and_are_told_apart() {
    let mut first = record(vec![measured(case("rsa2048", StackName::RAW, 1), 900.0)]);
    let second = Record {
        id: keymark_bench::record::RunId("20260102-000000-0003".to_owned()),
        ..first.clone()
    };
    let mut both = [first.clone(), second];
    pictures::distinguish(&mut both);
    let joined = charts(&both, PictureKind::Means);
    let names: Vec<&str> = dots(&joined[0]).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "rsa2048 sign software (20260101-000000-0002) raw",
            "rsa2048 sign software (20260102-000000-0003) raw"
        ]
    );
    pictures::keep_cases(&mut first, "rsa2048 gpg");
    assert!(first.cases.is_empty());
}

/// Open loops of several runs make a curve, whose capacity is that of the lowest load.
#[test]
fn loads_of_several_runs_are_one_curve() {
    let at = |rate: &str| {
        let mut open = case("rsa2048", StackName::RAW, 1);
        open.load.pacing = Pacing::Open(rate.parse().unwrap());
        record(vec![measured(open, 10_000.0)])
    };
    assert_eq!(
        charts(&[at("5/s")], PictureKind::Load),
        [],
        "a point is no curve"
    );
    let mut both = [at("20/s"), at("5/s")];
    pictures::distinguish(&mut both);
    let joined = charts(&both, PictureKind::Load);
    let [chart] = joined.as_slice() else {
        panic!("{joined:?}");
    };
    let loads: Vec<f64> = dots(chart).into_iter().map(|(_, load)| load).collect();
    assert_eq!(loads[..2], [5.0, 20.0]);
    assert_says(&chart.summary, ["the knee is at 100"]);
}

/// Workers of one key, then keys, then keys of which each is on several devices.
#[test]
fn a_picture_shows_what_the_answer_is_about() {
    let cases = |keys: &[&str], stacks: &[StackName], workers: &[u32]| {
        let mut cases = Vec::new();
        for (key, time) in keys.iter().zip([900.0, 5_000.0, 7_000.0]) {
            for (stack, more) in stacks.iter().zip([1.0, 2.0, 9.0]) {
                for n in workers {
                    let several = f64::from(*n) * if *n > 1 { 0.6 } else { 1.0 };
                    cases.push(measured(case(key, *stack, *n), time * more * several));
                }
            }
        }
        cases
    };
    let all = [StackName::RAW, StackName::AGENT, StackName::GPG];
    let keys = ["rsa2048", "rsa4096", "ed25519"];
    let one = &[StackName::RAW];
    let drawn = |cases| chosen(&record(cases));
    assert_eq!(
        drawn(cases(&keys[..1], one, &[1])),
        Some(PictureKind::Distributions)
    );
    assert_eq!(
        drawn(cases(&keys[..1], one, &[1, 2, 4])),
        Some(PictureKind::Throughput)
    );
    assert_eq!(drawn(cases(&keys, one, &[1])), Some(PictureKind::Means));
    assert_eq!(drawn(cases(&keys, &all, &[1])), Some(PictureKind::Layers));
}

#[test]
fn a_report_of_the_default_plan_has_few_pictures_the_answers_first() {
    let record = imported("records/default");
    let document = Analysis::of(&record, &layers()).document(&record, &[]);
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let pictures = blocks.filter_map(|block| match block {
        Block::Picture(chart) => Some(chart.kind),
        Block::Table(_) | Block::Remark(_) => None,
    });
    let kinds: Vec<&str> = pictures.collect();
    assert_eq!(kinds, ["layers", "means", "throughput"]);
    let mut first = document.sections[0].blocks.iter();
    assert!(first.any(|block| matches!(block, Block::Picture(chart) if chart.kind == "layers")));
    let page = html::render(document, ReadIn::File).unwrap();
    assert_eq!(page.matches("<figure>").count(), kinds.len());
}

/// One bar is one path: as long as the mean in the table, and none with a passphrase among those without.
#[test]
fn bars_of_parts_are_as_long_as_was_measured() {
    let record = imported("records/default");
    let rows = Analysis::of(&record, &layers()).rows;
    let chart = charts(&[record], PictureKind::Layers).remove(0);
    assert!(
        !chart.keys.iter().any(|part| part == "S2K"),
        "{:?}",
        chart.keys
    );
    let bars: Vec<_> = chart.panels[0]
        .marks
        .iter()
        .filter_map(Mark::try_as_bar_ref)
        .collect();
    let mut whole = 0;
    for (number, bar) in bars.iter().enumerate() {
        let next = bars.get(number + 1);
        if next.is_some_and(|next| next.y == bar.y) {
            assert_eq!(bar.to, bars[number + 1].from);
            continue;
        }
        let name = bar.about.case.as_deref().unwrap();
        let row = rows
            .iter()
            .find(|row| row.case.to_string() == name)
            .unwrap();
        assert!((bar.to - row.mean().unwrap().0).abs() < 1e-9, "{name}");
        whole += 1;
    }
    assert_eq!(whole, 8);
}

//! Pictures of records: which there are, what they say, and that nothing in a record spoils them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a test looks for one kind of several"
)]

use std::path::Path;

use keymark_bench::case::{Case, DeviceName, Pacing, Parameters, Provenance, StackName};
use keymark_bench::record::{CaseRecord, Record};
use keymark_report::analysis::Analysis;
use keymark_report::answers::answers;
use keymark_report::charts::terminal::{self, Signs};
use keymark_report::charts::{Chart, Mark, Theme, svg};
use keymark_report::document::{Block, Figure, Plot};
use keymark_report::exchange;
use keymark_report::pictures::{self, Kind};
use keymark_report::render::html::{self, ReadIn};
use keymark_stats::Seconds;
use keymark_testkit::layers::layers;
use keymark_testkit::record::{failed, measured, of as record, published, signing as case};
use keymark_testkit::{assert_says, assert_silent};
use roxmltree::Document;

fn figures(record: &Record) -> Vec<Figure> {
    Analysis::of(record, &layers()).figures(record)
}

/// What is drawn of a record without anybody asking for a kind.
fn chosen(record: &Record) -> Option<Kind> {
    let answers = answers(&Analysis::of(record, &layers()), record);
    pictures::of_the_answer(&answers, &figures(record))
}

fn kinds(figures: &[Figure]) -> Vec<&'static str> {
    let drawn = figures.iter().filter_map(pictures::chart);
    let mut kinds: Vec<&str> = drawn.map(|chart| chart.kind).collect();
    kinds.dedup();
    kinds
}

/// Every picture of a record, in every form; each is a sound XML without a number that is none.
fn drawn(record: &Record) -> Vec<Chart> {
    let charts: Vec<Chart> = figures(record).iter().filter_map(pictures::chart).collect();
    for chart in &charts {
        for theme in [Theme::Light, Theme::Dark] {
            let text = svg::draw(chart, theme);
            let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let named = document
                .descendants()
                .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "desc")));
            assert!(named.count() == 1 && !chart.summary.is_empty());
            let numbers = document.descendants().flat_map(|node| node.attributes());
            for attribute in numbers.filter(|attribute| {
                matches!(attribute.name(), "d" | "x" | "y" | "width" | "height")
            }) {
                assert!(
                    !attribute.value().contains("NaN") && !attribute.value().contains("inf"),
                    "{attribute:?}"
                );
            }
            assert_eq!(text, svg::draw(chart, theme));
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
                (StackName::GNUPG, 9.0),
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
    let figures = figures(&plenty());
    let kinds = kinds(&figures);
    for kind in [
        "means",
        "security",
        "distributions",
        "samples",
        "load",
        "layers",
        "throughput",
    ] {
        assert!(kinds.contains(&kind), "{kind} of {kinds:?}");
    }
    // The twin's bars would hide those of the others.
    assert_eq!(chosen(&plenty()), Some(Kind::Means));
    let mut here = plenty();
    here.cases
        .retain(|case| case.case.provenance == Provenance::Measured);
    here.plan.cases = here.cases.iter().map(|case| case.case.clone()).collect();
    assert_eq!(chosen(&here), Some(Kind::Layers));
    drawn(&plenty());
}

#[test]
fn a_load_at_one_rate_is_no_curve_and_does_not_fit() {
    let mut open = case("rsa2048", StackName::RAW, 1);
    open.load.pacing = Pacing::Open("10/s".parse().unwrap());
    let record = record(vec![
        measured(open, 900.0),
        measured(case("rsa4096", StackName::RAW, 1), 5000.0),
    ]);
    assert_eq!(chosen(&record), Some(Kind::Means));
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
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for entry in std::fs::read_dir(golden).unwrap() {
        let file = entry.unwrap().path();
        let record = exchange::import(&file).unwrap();
        let charts = drawn(&record);
        assert!(!charts.is_empty(), "{}", file.display());
        let name = format!("golden_{}", file.file_stem().unwrap().to_string_lossy());
        let words: Vec<&str> = charts.iter().map(|chart| chart.summary.as_str()).collect();
        insta::assert_snapshot!(name, words.join("\n"));
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
    let dots = means.panels[0].marks.iter().filter_map(|mark| match mark {
        Mark::Dot(dot) => Some((dot.fill, dot.reach)),
        _ => None,
    });
    let dots: Vec<_> = dots.collect();
    assert_eq!(dots.len(), 11);
    assert!(
        dots.iter()
            .all(|dot| *dot == (keymark_report::charts::Fill::Hollow, None))
    );
    assert_says(
        &means.summary,
        ["rsa4096 decrypt FST-01 gnupg: 8.22 s, published"],
    );
    assert_eq!(chosen(&record), Some(Kind::Means));
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
    let kinds = kinds(&figures(&record(vec![one])));
    assert!(kinds.contains(&"means"), "{kinds:?}");
}

#[test]
fn absurd_figures_and_hostile_names_spoil_nothing() {
    let names = [
        "</title><script>alert(1)</script>",
        "\" onload=\"x",
        "\u{1b}[2J\u{202e}]]>",
        "a very long name of a device that nobody would ever think of giving to one, and yet somebody does",
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
    for chart in &charts {
        let text = svg::draw(chart, Theme::Light);
        assert_silent(&text, ["<script"]);
        let document = Document::parse(&text).unwrap();
        let mut attributes = document.descendants().flat_map(|node| node.attributes());
        assert!(attributes.all(|attribute| !attribute.name().starts_with("on")));
        assert!(!text.contains(['\u{1b}', '\u{202e}']));
    }
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
    pictures::tell_apart(&mut both);
    let joined = pictures::joined(both.iter().flat_map(figures).collect());
    let means = joined.iter().find_map(|figure| match &figure.plot {
        Plot::Means { means, .. } => Some(means),
        _ => None,
    });
    let devices: Vec<String> = means
        .unwrap()
        .iter()
        .map(|mean| mean.of.device.to_string())
        .collect();
    assert_eq!(
        devices,
        [
            "software (20260101-000000-0002)",
            "software (20260102-000000-0003)"
        ]
    );
    pictures::keep_cases(&mut first, "rsa2048 gnupg");
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
    let single = figures(&at("5/s"));
    assert!(!kinds(&single).contains(&"load"), "a point is no curve");
    let mut both = [at("20/s"), at("5/s")];
    pictures::tell_apart(&mut both);
    let joined = pictures::joined(both.iter().flat_map(figures).collect());
    let curve = joined.iter().find_map(|figure| match &figure.plot {
        Plot::ResponseTimes { curves, .. } => curves.first(),
        _ => None,
    });
    let curve = curve.unwrap();
    let loads: Vec<f64> = curve.points.iter().map(|point| point.load).collect();
    assert_eq!(loads, [5.0, 20.0]);
    assert!(
        (curve.knee.unwrap() - 100.0).abs() < 1.0,
        "{:?}",
        curve.knee
    );
    assert!(kinds(&joined).contains(&"load"));
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
    let all = [StackName::RAW, StackName::AGENT, StackName::GNUPG];
    let keys = ["rsa2048", "rsa4096", "ed25519"];
    let one = &[StackName::RAW];
    let drawn = |cases| chosen(&record(cases));
    assert_eq!(
        drawn(cases(&keys[..1], one, &[1])),
        Some(Kind::Distributions)
    );
    assert_eq!(
        drawn(cases(&keys[..1], one, &[1, 2, 4])),
        Some(Kind::Throughput)
    );
    assert_eq!(drawn(cases(&keys, one, &[1])), Some(Kind::Means));
    assert_eq!(drawn(cases(&keys, &all, &[1])), Some(Kind::Layers));
}

/// A run of the default plan.
fn default_plan() -> Record {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    exchange::import(&records.join("default.json")).unwrap()
}

#[test]
fn a_report_of_the_default_plan_has_few_pictures_the_answers_first() {
    let record = default_plan();
    let document = Analysis::of(&record, &layers()).document(&record, &[]);
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let figures = blocks.filter_map(|block| match block {
        Block::Figure(figure) => Some(figure.clone()),
        Block::Table(_) | Block::Remark(_) => None,
    });
    let figures: Vec<Figure> = figures.collect();
    assert_eq!(
        kinds(&figures),
        ["layers", "means", "throughput", "security"]
    );
    assert!(figures.len() <= 6);
    let first = &document.sections[0].blocks;
    assert!(first.iter().any(
        |block| matches!(block, Block::Figure(figure) if matches!(figure.plot, Plot::Layers { .. }))
    ));
    let page = html::render(document, ReadIn::File).unwrap();
    assert_eq!(page.matches("<figure>").count(), figures.len());
}

/// One bar is one path: as long as the mean in the table, and none with a passphrase among those without.
#[test]
fn bars_of_parts_are_as_long_as_was_measured() {
    let record = default_plan();
    let analysis = Analysis::of(&record, &layers());
    let figures = analysis.figures(&record);
    let stacks = figures.iter().find_map(|figure| match &figure.plot {
        Plot::Layers { stacks, .. } => Some(stacks),
        _ => None,
    });
    let stacks = stacks.unwrap();
    assert_eq!(stacks.len(), 8);
    for stack in stacks {
        let row = analysis
            .rows
            .iter()
            .find(|row| row.case.to_string() == stack.of.label);
        assert_eq!(
            stack.sum,
            row.unwrap().mean().unwrap(),
            "{}",
            stack.of.label
        );
        let parts: f64 = stack.parts.iter().map(|part| part.time.0).sum();
        assert!((parts - stack.sum.0).abs() < 1e-9, "{}", stack.of.label);
        assert!(stack.parts.iter().all(|part| part.name != "S2K"));
    }
}

/// What a title says is in the intervals, or it is not said.
#[test]
fn titles_say_what_is_seen() {
    let seen = |cases: Vec<CaseRecord>, kind: Kind| {
        let record = record(cases);
        let analysis = Analysis::of(&record, &layers());
        let mut figures = analysis.figures(&record).into_iter();
        let figure = figures.find(|figure| figure.kind() == kind).unwrap();
        analysis.titled(&record, figure).title
    };
    let own = |key: &str, stack, time| {
        let mut case = case(key, stack, 1);
        if stack == StackName::RAW {
            case.parameters = Parameters::from([("library", "libgcrypt")]);
        }
        measured(case, time)
    };
    let through = |key: &str, raw: f64, whole: f64| {
        [
            own(key, StackName::RAW, raw),
            own(key, StackName::AGENT, raw * 1.1),
            own(key, StackName::GNUPG, whole),
        ]
    };
    let slow = through("rsa4096", 20_000.0, 26_000.0);
    let quick = through("ed25519", 300.0, 6_000.0);
    assert_eq!(
        seen([slow.to_vec(), quick.to_vec()].concat(), Kind::Layers),
        "with rsa4096 the key takes most of gpg's time, with ed25519 gpg itself"
    );
    let neither = through("rsa4096", 13_000.0, 26_000.0);
    assert_eq!(
        seen(neither.to_vec(), Kind::Layers),
        "where the time goes in GnuPG"
    );
    let keys = |fast: f64| {
        vec![
            own("rsa2048", StackName::RAW, 900.0),
            own("ed25519", StackName::RAW, fast),
        ]
    };
    assert_eq!(
        seen(keys(40.0), Kind::Means),
        "ed25519 is the fastest key to sign in libgcrypt"
    );
    assert_eq!(
        seen(keys(900.0), Kind::Means),
        "mean time of an operation, with its 95 % interval"
    );
}

//! What holds for every report, whatever the run: rows say where they come from, renderers say the same, and
//! a terminal is wide enough.

use std::collections::{BTreeMap, BTreeSet};

use keymark_bench::case::{Case, DeviceName, Pacing, Parameters, Provenance, StackName};
use keymark_bench::operation::Operation;
use keymark_bench::parts::{Part, PartMean, Parts};
use keymark_bench::record::{CaseRecord, Record};
use keymark_bench::sample::Stretch;
use keymark_report::analysis::{Analysis, PublishedFigure};
use keymark_report::document::{Block, Document, RemarkKind};
use keymark_report::render::{Width, json, markdown};
use keymark_stats::Seconds;
use keymark_testkit::assert_says;
use keymark_testkit::layers::layers;
use keymark_testkit::record::{failed, measured, of as record, published, signing as case};
use serde_json::Value;

use crate::plain;

const DEVICES: [(&str, Provenance); 3] = [
    ("software", Provenance::Measured),
    ("YubiKey 5C NFC FIPS 0a1b2c3d", Provenance::Measured),
    ("twin:nitrokey-storage-2-of-2019", Provenance::Twin),
];

const PULLED_OUT: &str = "SCardTransmit failed: the card | was pulled out";

/// On every device: all stacks, concurrencies, a cached passphrase, an open loop, a copy, a failure, parts; and
/// figures of other kinds.
fn everything() -> Record {
    let mut cases = Vec::new();
    for (device, provenance) in DEVICES {
        let on = |case: Case| Case {
            device: DeviceName::new(device),
            provenance,
            ..case
        };
        let of = |stack, c| on(case("brainpoolp512r1", stack, c));
        for (stack, microseconds) in [
            (StackName::RAW, 900.0),
            (StackName::AGENT, 2_000.0),
            (StackName::GPG, 90_000.0),
        ] {
            let mut alone = measured(of(stack, 1), microseconds);
            alone.parts = match stack {
                StackName::GPG => Some(parts(|part| !BESIDE.contains(part))),
                StackName::AGENT => Some(parts(|part| BESIDE.contains(part))),
                _ => None,
            };
            cases.push(alone);
        }
        for workers in [2, 3, 4, 8, 16, 32] {
            let time = 90_000.0 * (1.0 + f64::from(workers) / 4.0);
            cases.push(measured(of(StackName::GPG, workers), time));
        }
        let cached = Case {
            parameters: Parameters::from([("protection", "cached")]),
            ..of(StackName::AGENT, 1)
        };
        cases.push(measured(cached.clone(), 95_000.0));
        cases.push(measured(
            Case {
                replica: 1,
                ..cached.clone()
            },
            95_000.0,
        ));
        let mut open = Case {
            stack: StackName::GPG,
            ..cached
        };
        open.load.pacing = Pacing::Open("7.25/s".parse().unwrap());
        cases.push(measured(open, 110_000.0));
        let opens = Case {
            operation: Operation::Decrypt,
            ..of(StackName::GPG, 1)
        };
        cases.push(measured(opens.clone(), 80_000.0));
        let stack = StackName::RAW;
        cases.push(failed(Case { stack, ..opens }, PULLED_OUT));
    }
    cases.push(predicted());
    record(cases)
}

/// Parts that are measured in addition to the operations of a program that is a process per operation.
const BESIDE: [Part; 4] = [
    Part::ProgramStart,
    Part::KeyLoad,
    Part::Operation,
    Part::Rest,
];

fn parts(which: impl Fn(&Part) -> bool) -> Parts {
    let mean = |part: &Part| {
        let mean_s = Seconds(0.0123);
        (*part, PartMean { n: 3, mean_s })
    };
    let all = Part::ALL.iter().filter(|part| which(part));
    Parts(all.map(mean).collect::<BTreeMap<_, _>>())
}

fn predicted() -> CaseRecord {
    let case = Case {
        device: DeviceName::new("stm32l432:gnuk-2017,umaal=on"),
        provenance: Provenance::Predicted,
        ..case("rsa4096", StackName::RAW, 1)
    };
    let mut predicted = published(case, 1.25);
    let mean = predicted.published.as_mut().unwrap();
    mean.note = "100000000 cycles at 80 MHz".to_owned();
    predicted
}

fn report() -> Document {
    let record = everything();
    let (twin, _) = DEVICES[2];
    let published = PublishedFigure {
        device: DeviceName::new(twin),
        algorithm: "brainpoolp512r1".parse().unwrap(),
        operation: Operation::Sign,
        stack: StackName::GPG,
        card: Seconds(0.08),
        whole: Seconds(0.1),
    };
    Analysis::of(&record, &layers()).document(&record, &[published])
}

#[test]
fn every_section_there_is_stands_in_the_report() {
    let report = report();
    let headings: Vec<&str> = report
        .told()
        .filter_map(|section| section.heading.as_deref())
        .collect();
    let begins = [
        "mean time of an operation",
        "operations per second, by number of workers: sign, gpg",
        "where the time goes in GnuPG",
        "where the time goes, by process",
        "where the time goes with one process for each operation",
        "twins compared",
        "in parallel",
    ];
    assert_eq!(headings.len(), begins.len(), "{headings:?}");
    for (heading, begin) in headings.iter().zip(begins) {
        assert!(heading.starts_with(begin), "{heading}");
    }
    assert_eq!(report.tables().count(), 8);
}

#[test]
fn a_terminal_of_a_hundred_columns_is_wide_enough_for_everything() {
    let report = report();
    for width in [100, 80] {
        let text = plain(&report, Width::Columns(width));
        for line in text.lines() {
            assert!(
                line.chars().count() <= usize::from(width),
                "{width}: {line}\n{text}"
            );
        }
        assert_says(&text, ["hidden (terminal too narrow)"]);
    }
    let wide = plain(&report, Width::Unlimited);
    assert!(!wide.contains("hidden (") && !wide.contains("in every row"));
    insta::assert_snapshot!("hundred", plain(&report, Width::Columns(100)));
}

#[test]
fn no_figure_of_a_narrow_table_is_cut() {
    let report = report();
    let wide = plain(&report, Width::Unlimited);
    let figures: BTreeSet<&str> = wide.split_whitespace().collect();
    let narrow = plain(&report, Width::Columns(100));
    let numbers = narrow
        .split_whitespace()
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '×'))
        // A long name may be broken before a digit.
        .filter(|word| word.contains('.'));
    for number in numbers.map(|word| word.trim_end_matches(',')) {
        assert!(figures.contains(number), "{number}: {narrow}");
    }
}

#[test]
fn every_figure_has_its_device_and_provenance() {
    let json: Value = serde_json::from_str(&json(&report()).unwrap()).unwrap();
    let known: BTreeSet<&str> = DEVICES
        .iter()
        .map(|(device, _)| *device)
        .chain(["stm32l432:gnuk-2017,umaal=on"])
        .collect();
    let mut rows = 0;
    let blocks = json["sections"].as_array().unwrap().iter();
    for block in blocks.flat_map(|section| section["blocks"].as_array().unwrap()) {
        if block["block"] != "table" {
            continue;
        }
        let columns = block["columns"].as_array().unwrap();
        let place = |name| columns.iter().position(|column| column["name"] == name);
        for row in block["rows"].as_array().unwrap() {
            rows += 1;
            assert_eq!(row.as_array().unwrap().len(), columns.len(), "{row}");
            let Some(provenance) = place("provenance") else {
                // In a pivot each figure has its own.
                let cells = row.as_array().unwrap().iter();
                let figures = cells.filter(|cell| cell["kind"] == "number");
                figures.for_each(|cell| assert!(cell["value"]["provenance"].is_string(), "{cell}"));
                continue;
            };
            let device = row[place("device").unwrap()]["value"].as_str().unwrap();
            let provenance: Provenance =
                row[provenance]["value"].as_str().unwrap().parse().unwrap();
            assert!(known.contains(device), "{row}");
            assert_eq!(
                provenance == Provenance::Twin,
                device.starts_with("twin:"),
                "{row}"
            );
        }
    }
    assert!(rows > 50, "{rows}");
}

#[test]
fn layers_of_different_devices_and_kinds_are_never_subtracted() {
    let mut record = everything();
    // The agent's figures of one device become another kind.
    for case in &mut record.cases {
        if case.case.stack == StackName::AGENT {
            case.case.provenance = Provenance::Virtual;
        }
    }
    let analysis = Analysis::of(&record, &layers());
    for breakdown in analysis.breakdowns.iter().flat_map(|f| &f.breakdowns) {
        let [agent, _, process] = breakdown.steps[..] else {
            panic!("{breakdown:?}")
        };
        assert_eq!((agent, process), (None, None), "{breakdown:?}");
    }
}

#[test]
fn a_queue_that_grows_has_no_mean() {
    let mut record = everything();
    // 110 ms each, eleven a second.
    let case = record
        .cases
        .iter_mut()
        .find(|case| !case.case.load.is_closed())
        .unwrap();
    case.case.load.pacing = Pacing::Open("11/s".parse().unwrap());
    for block in &mut case.blocks {
        let length_ns = block.samples.len() as u64 * 110_000_000;
        block.queue = Some(Stretch {
            length_ns,
            waiting: u64::from(block.round) * 2,
        });
    }
    let analysis = Analysis::of(&record, &layers());
    let rows = analysis.rows.iter();
    let overloaded: Vec<_> = rows.filter(|row| row.overload.is_some()).collect();
    let [row] = overloaded[..] else {
        panic!("{overloaded:?}")
    };
    let overload = row.overload.unwrap();
    assert!((overload.utilisation.0 - 1.21).abs() < 0.01, "{overload:?}");
    // Eleven come and nine are served.
    assert!(
        (overload.growth.unwrap().0 - (11.0 - 1.0 / 0.11)).abs() < 0.05,
        "{overload:?}"
    );
    assert!(row.summary.is_none() && row.ratio.is_none() && row.throughput.is_some());
    let said = analysis.warnings(&record);
    let said = said
        .iter()
        .find(|remark| remark.kind == RemarkKind::Overload)
        .unwrap();
    assert_says(&said.text, ["the queue grows by 1.91/s"]);
}

#[test]
fn markdown_says_what_text_says_in_the_same_order_and_the_warnings() {
    let report = report();
    let (text, markdown) = (
        plain(&report, Width::Unlimited),
        markdown::render(&report).unwrap(),
    );
    let unescaped = markdown.replace('\\', "");
    let mut sentences = vec![report.title.as_deref().unwrap()];
    sentences.extend(report.head.iter().map(String::as_str));
    for section in report.told() {
        sentences.extend(section.heading.as_deref());
        sentences.extend(section.blocks.iter().filter_map(|block| match block {
            Block::Remark(remark) => Some(remark.text.as_str()),
            Block::Table(_) | Block::Picture(_) => None,
        }));
    }
    for said in [&text, &unescaped] {
        let mut place = 0;
        for sentence in &sentences {
            let found = said[place..].find(sentence);
            assert!(found.is_some(), "{sentence} after {place}: {said}");
            place += found.unwrap();
        }
    }
    assert!(!report.warnings.is_empty());
    for warning in &report.warnings {
        assert!(unescaped.contains(&warning.text), "{}", warning.text);
    }
    assert!(
        markdown.contains("the card \\| was pulled out"),
        "a bar would end a cell: {markdown}"
    );
}

use std::num::NonZeroU32;

use itertools::iproduct;
use keymark_bench::Operation;
use keymark_bench::case::{Case, DeviceName, Load, Parameters, Provenance, StackName, StoreKind};
use keymark_stats::{Estimate, Seconds};

use super::*;
use crate::analysis::Analysis;
use crate::render::Width;
use crate::render::text;
use keymark_records::published::PublishedTable;
use keymark_testkit::assert_says;
use keymark_testkit::record::{case, measured, of};

const KEYS: [&str; 3] = ["rsa2048", "rsa4096", "cv25519"];
const CPU: &str = "software";
const FST: &str = "twin:fst-01";
const YUBIKEY: &str = "twin:yubikey-4";
const RAW: StackName = StackName::RAW;
const AGENT: StackName = StackName::AGENT;
const GPG: StackName = StackName::GPG;

/// Puts a case on a device: a twin if it is called so, or a card.
fn on(device: &str, case: Case) -> Case {
    if device == CPU {
        return case;
    }
    let provenance = match device.starts_with("twin:") {
        true => Provenance::Twin,
        false => Provenance::Measured,
    };
    Case {
        device: DeviceName::new(device),
        store: StoreKind::OPENPGP_CARD,
        provenance,
        ..case
    }
}

/// Each key on each of these devices, through each of these stacks, by each of these numbers of workers.
fn grid(devices: &[&str], stacks: &[StackName], workers: &[u32]) -> Vec<Case> {
    let cases = iproduct!(KEYS, devices, stacks, workers);
    let cases = cases.map(|(key, device, stack, workers)| {
        let workers = NonZeroU32::new(*workers).unwrap();
        let load = Load::closed(workers);
        on(
            device,
            Case {
                load,
                ..case(key, *stack)
            },
        )
    });
    cases.collect()
}

/// 12.34 ms to ±1 %.
fn entry(case: &Case) -> PivotFigure<'static> {
    let time = Estimate {
        low: Some(Seconds(0.012_19)),
        high: Some(Seconds(0.012_49)),
        ..Estimate::bare(Seconds(0.012_34))
    };
    PivotFigure {
        case: case.clone(),
        article: None,
        cell: brief(case, time.into()),
    }
}

fn pivot(cases: &[Case]) -> Pivot<'static> {
    Pivot::new(cases.iter().map(entry).collect(), None)
}

fn shown(pivot: &Pivot<'_>, columns: u16) -> String {
    text::table(&pivot.table(|_| false), Width::Columns(columns))
}

#[test]
fn columns_are_what_a_reader_compares_along() {
    let layers = grid(&[CPU], &[AGENT, GPG, RAW], &[1]);
    let libraries = grid(&[CPU], &[RAW], &[1]).into_iter().map(|case| Case {
        parameters: Parameters::from([("library", "libgcrypt")]),
        ..case
    });
    // A key on each of nine cards, by as many workers.
    let places = grid(&[CPU], &[GPG], &[1, 2, 3, 4, 5, 6, 7, 8, 9]).into_iter();
    let places = places.filter(|case| {
        let key = KEYS[case.workers() as usize % 2];
        case.algorithm.name() == key
    });
    let places = places.map(|case| on(&format!("card-{}", case.workers()), case));
    let cases: [(&str, Vec<Case>, Option<Axis>); 7] = [
        ("only keys vary", grid(&[CPU], &[GPG], &[1]), None),
        (
            "devices",
            grid(&[CPU, FST, YUBIKEY], &[GPG], &[1]),
            Some(Axis::Device),
        ),
        (
            "three layers on two devices: the fewest values",
            grid(&[CPU, FST], &[RAW, AGENT, GPG], &[1]),
            Some(Axis::Device),
        ),
        (
            "two layers on three devices",
            grid(&[CPU, FST, YUBIKEY], &[RAW, GPG], &[1]),
            Some(Axis::Stack),
        ),
        ("workers", grid(&[CPU], &[GPG], &[1, 4]), Some(Axis::Load)),
        (
            "a library below the layers, which have none: places",
            layers.into_iter().chain(libraries).collect(),
            Some(Axis::Stack),
        ),
        (
            "too many places for a table",
            places.collect(),
            Some(Axis::Device),
        ),
    ];
    for (what, cases, column) in cases {
        assert_eq!(pivot(&cases).columns(), Vec::from_iter(column), "{what}");
    }
}

#[test]
fn what_is_not_measured_is_in_brackets_only_beside_what_is() {
    let [own, twins] = [CPU, FST].map(|device| grid(&[device], &[GPG], &[1]));
    let both = [own.clone(), twins.clone()].concat();
    assert_eq!(
        shown(&pivot(&both), 80),
        "algorithm  software  twin:fst-01\n\
         rsa2048     12.3 ms    [12.3 ms]\n\
         rsa4096     12.3 ms    [12.3 ms]\n\
         cv25519     12.3 ms    [12.3 ms]\n"
    );
    assert!(!shown(&pivot(&twins), 80).contains('['));
    assert_eq!(pivot(&twins).provenance(), Some(Provenance::Twin));
    assert_eq!(pivot(&both).provenance(), None);
    assert_eq!(
        pivot(&own).constants(),
        ["decrypt", "gpg"],
        "the CPU goes without saying"
    );
}

#[test]
fn a_narrow_terminal_shows_the_main_column() {
    let pivot = pivot(&grid(&[CPU, FST], &[GPG], &[1]));
    let is_whole = |case: &Case| case.provenance == Provenance::Twin;
    let narrow = text::table(&pivot.table(is_whole), Width::Columns(24));
    // The other column has the same figure in every row, which a line above the table has.
    assert_says(&narrow, ["in every row: software", "rsa4096", "[12.3 ms]"]);
    assert_eq!(
        narrow.matches("12.3 ms").count(),
        KEYS.len() + 1,
        "{narrow}"
    );
}

#[test]
fn what_an_article_says_stands_below_in_the_same_column() {
    let cases = grid(&[CPU, FST], &[GPG], &[1]);
    let lwn = PublishedTable::named("lwn-2017").unwrap().record().unwrap();
    let articles = [lwn];
    let shown = shown(&pivot(&cases).beside(&articles), 100);
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    let place = lines
        .iter()
        .position(|line| line.starts_with("rsa4096") && line.contains("this run"))
        .unwrap();
    assert!(lines[place].contains("12.3 ms"), "{shown}");
    let below = lines[place + 1];
    assert!(
        below.starts_with("rsa4096") && below.contains("[43.0 ms]") && below.contains("[8.22 s]"),
        "{shown}"
    );
}

#[test]
fn axes_are_parsed_as_they_are_shown() {
    for word in [
        "algorithm",
        "operation",
        "device",
        "stack",
        "workers",
        "kex",
    ] {
        assert_eq!(word.parse::<Axis>().unwrap().to_string(), word);
    }
    assert!("".parse::<Axis>().is_err());
}

#[test]
fn devices_of_today_stand_beside_a_run_that_has_no_card() {
    let seen = |cases: &[Case]| {
        let cases = cases.iter().map(|case| measured(case.clone(), 12_340.0));
        let record = of(cases.collect());
        let document = Analysis::of(&record, &[]).document(&record, &[]);
        anstream::adapter::strip_str(&text::render(&document, Width::Columns(120))).to_string()
    };
    let raw = |operation| Case {
        operation,
        ..case("rsa2048", StackName::RAW)
    };
    let said = seen(&[raw(Operation::Sign), raw(Operation::Decrypt)]);
    let (_, devices) = said.split_once("devices of today").unwrap();
    assert_says(devices, ["YubiKey 5 5.1.2", "138 ms", "667 ms"]);
    assert_says(devices, ["139 ms", "77.0 ms", "direct, published"]);
    let with_card = [raw(Operation::Sign), on(FST, raw(Operation::Sign))];
    assert!(!seen(&with_card).contains("of today"));
    // A card's command is no gpg process.
    assert!(!seen(&grid(&[CPU], &[GPG], &[1])).contains("of today"));
}

#[test]
fn the_main_column_is_that_of_a_whole_program() {
    let raw = |key| measured(case(key, StackName::RAW), 900.0);
    let whole = measured(case("rsa2048", StackName::GPG), 9_000.0);
    let record = of(vec![raw("rsa2048"), raw("rsa4096"), whole]);
    let analysis = Analysis::of(&record, &keymark_testkit::layers::layers());
    let (heading, rows) = analysis.main_column().unwrap();
    assert_eq!((heading.as_str(), rows.len()), ("gpg", 1));
}

use std::num::NonZeroU32;

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

fn on(device: &str, case: Case) -> Case {
    let provenance = if device.starts_with("twin:") {
        Provenance::Twin
    } else {
        Provenance::Measured
    };
    Case {
        device: DeviceName::new(device),
        store: StoreKind::OPENPGP_CARD,
        provenance,
        ..case
    }
}

fn at_once(workers: u32, case: Case) -> Case {
    Case {
        load: Load::closed(NonZeroU32::new(workers).unwrap()),
        ..case
    }
}

fn in_library(word: &str, case: Case) -> Case {
    Case {
        parameters: Parameters::from([("library", word)]),
        ..case
    }
}

/// Each key, varied by each of these.
fn each(vary: &[&dyn Fn(Case) -> Case]) -> Vec<Case> {
    let varied = |key: &&str| {
        let vary = vary.iter();
        let cases = vary.map(|vary| vary(case(key, StackName::GPG)));
        cases.collect::<Vec<_>>()
    };
    KEYS.iter().flat_map(varied).collect()
}

fn stack(stack: StackName) -> impl Fn(Case) -> Case {
    move |case| Case { stack, ..case }
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
    let software = |case| case;
    let fst = |case| on("twin:fst-01", case);
    let yubikey = |case| on("twin:yubikey-4", case);
    let (raw, agent, gnupg) = (
        stack(StackName::RAW),
        stack(StackName::AGENT),
        stack(StackName::GPG),
    );
    let cases: [(&str, Vec<Case>, Vec<Axis>); 7] = [
        ("only keys vary", each(&[&software]), vec![]),
        (
            "devices",
            each(&[&software, &fst, &yubikey]),
            vec![Axis::Device],
        ),
        (
            "three layers on two devices: the fewest values",
            each(&[
                &raw,
                &agent,
                &gnupg,
                &|case| fst(raw(case)),
                &|case| fst(agent(case)),
                &|case| fst(gnupg(case)),
            ]),
            vec![Axis::Device],
        ),
        (
            "two layers on three devices",
            each(&[
                &raw,
                &gnupg,
                &|case| fst(raw(case)),
                &|case| fst(gnupg(case)),
                &|case| yubikey(raw(case)),
                &|case| yubikey(gnupg(case)),
            ]),
            vec![Axis::Stack],
        ),
        (
            "workers",
            each(&[&software, &|case| at_once(4, case)]),
            vec![Axis::Load],
        ),
        (
            "a library below the layers, which have none: places",
            each(&[&agent, &gnupg, &raw, &|case| {
                in_library("libgcrypt", raw(case))
            }]),
            vec![Axis::Stack],
        ),
        (
            "too many places for a table",
            (1..=9)
                .flat_map(|workers| {
                    let key = ["rsa2048", "ed25519"][workers as usize % 2];
                    let own = at_once(workers, case(key, StackName::GPG));
                    [on(&format!("card-{workers}"), own)]
                })
                .collect(),
            vec![Axis::Device],
        ),
    ];
    for (what, cases, columns) in cases {
        assert_eq!(pivot(&cases).columns(), columns, "{what}");
    }
}

#[test]
fn what_is_not_measured_is_in_brackets_only_beside_what_is() {
    let own = each(&[&|case| case]);
    let twins = each(&[&|case| on("twin:fst-01", case)]);
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
    let fst = |case| on("twin:fst-01", case);
    let cases = each(&[&|case| case, &fst]);
    let pivot = pivot(&cases);
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
    let cases = each(&[&|case| case, &|case| on("twin:fst-01", case)]);
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
    assert_says(
        devices,
        [
            "YubiKey 5 5.1.2",
            "138 ms",
            "667 ms",
            "139 ms",
            "77.0 ms",
            "direct, published",
        ],
    );
    let with_card = [
        raw(Operation::Sign),
        on("twin:fst-01", raw(Operation::Sign)),
    ];
    assert!(!seen(&with_card).contains("of today"));
    // A card's command is no gpg process.
    assert!(!seen(&each(&[&|case| case])).contains("of today"));
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

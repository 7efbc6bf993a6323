//! Every table that comes with keymark, a table of the user's own, and profiles made of rows ([`twins`]).

mod twins;

use keymark_bench::{Operation, Provenance, StackName};
use keymark_testkit::assert_says;

use super::*;

#[test]
fn rows_become_cases_where_they_say_which_one() {
    let record = PublishedTable::named("tokens").unwrap().record().unwrap();
    let found = |device: &str, case: &str| {
        let found = record.cases.iter().find(|each| {
            let words = format!(
                "{} {} {}",
                each.case.algorithm,
                each.case.operation,
                each.case.way()
            );
            each.case.device.as_str() == device && words == case
        })?;
        Some(found.published.as_ref().unwrap().mean.0)
    };
    let tpm = "TPM 2.0 STM  fw 73.4.17568.4452";
    let signs = found(tpm, "rsa2048 sign raw").unwrap();
    assert!((0.01..1.0).contains(&signs), "{signs}");
    assert!(found(tpm, "rsa2048 sign raw pss").is_some());
    assert!(found(tpm, "nistp256 sign raw").is_some());
    // Sixty thousand milliseconds over a hundred a minute.
    assert_eq!(
        found("Nitrokey HSM (SmartCard-HSM)", "rsa2048 sign raw"),
        Some(0.6)
    );
    // Which curve of 256 bits is not said there.
    assert_eq!(
        found("Nitrokey HSM (SmartCard-HSM)", "nistp256 sign raw"),
        None
    );
    assert_eq!(
        found(
            "Pico OpenPGP (Raspberry Pi Pico RP2040)",
            "rsa4096 decrypt raw"
        ),
        Some(15.0)
    );
    // "~1.5" is no number.
    assert_eq!(found("Gnuk 1.2.19 on STM32F103", "rsa2048 sign raw"), None);
    let notes = record
        .cases
        .iter()
        .map(|case| &case.published.as_ref().unwrap().note);
    assert!(
        notes.clone().all(|note| note.contains("http")),
        "every row has its source"
    );
    assert_eq!(record.cases.len(), 122);
}

#[test]
fn each_is_found_by_its_beginning_and_makes_sense() {
    assert_eq!(
        PublishedTable::named("lwn-2017").unwrap().name,
        "lwn-2017-keycards"
    );
    for wanted in ["", "x", "lwn-2018"] {
        let refused = PublishedTable::named(wanted).unwrap_err();
        assert_says(&refused, ["zeitgitter-2019-sign"]);
    }
    let readme = include_str!("../../../../../data/published/README.md");
    for shipped in SHIPPED.iter() {
        assert!(readme.contains(shipped.source), "{}", shipped.source);
        if let Some((_, rows)) = shipped.cells() {
            assert!(rows.len() > 1, "{}", shipped.name);
            assert!(shipped.record().is_err());
            continue;
        }
        let rows = shipped.rows().unwrap();
        assert!(rows.len() > 1, "{}", shipped.name);
        let record = shipped.record().unwrap();
        let mut cases = record.cases.iter();
        assert!(cases.all(|case| case.case.provenance == Provenance::Published));
    }
    assert_eq!(PublishedTable::collection().len(), 1549);
}

#[test]
fn no_kind_of_figure_is_taken_for_another() {
    for (table, row) in PublishedTable::collection() {
        let what = format!("{}: {row:?}", table.name);
        let is_rate = row.mean().is_none();
        assert!(row.grade != Grade::Quota || is_rate, "{what}");
        assert!(!(is_rate && row.case().is_some()), "{what}");
        assert_eq!(is_rate, row.timed == Timed::Service && is_rate, "{what}");
        let whole = row
            .case()
            .is_some_and(|(_, case)| case.case.stack == StackName::GPG);
        assert_eq!(whole, whole && row.through == "gpg", "{what}");
    }
    let mean = |device: &str, firmware: &str, through: &str| {
        let mut rows = PublishedTable::collection().iter().map(|(_, row)| row);
        let found = rows.find(|row| {
            row.device.is_some_and(|own| own.id == device)
                && row.firmware == firmware
                && row.through.contains(through)
                && row.algorithm == Term::Known("rsa2048".parse().unwrap())
                && row.operation == Term::Known(Operation::Sign)
        });
        found.and_then(PublishedRow::mean).map(|mean| mean.0)
    };
    let yubikey = mean("yubikey-5", "5.1.2", "OpenPGP").unwrap();
    assert!((yubikey - 0.1378).abs() < 1e-3, "{yubikey}");
    assert_eq!(mean("yubihsm-2", "", "maker's tool"), Some(0.139));
}

#[test]
fn a_table_of_the_users_own_is_read_from_its_file() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("own.csv");
    let head = COLUMNS.join(",");
    let row = "YubiKey 5,5.7.1,ed25519,sign,program: gpg,0.1,,,9,2026,measured,me,";
    std::fs::write(&file, format!("# mine\n{head}\n{row}\n")).unwrap();
    let table = PublishedTable::named(file.to_str().unwrap()).unwrap();
    assert_eq!((table.name, table.source), ("own", "mine"));
    let again = table.rows().unwrap()[0].cells().join(",");
    assert_eq!(again, row.replace(",,,9", ",,1,9"));
    let refused = PublishedTable::named("nowhere.csv").unwrap_err();
    assert_says(&refused, ["nowhere.csv"]);
}

#[test]
fn all_files_say_where_they_are_from() {
    let tables = FILES.files().map(|file| file.path().display().to_string());
    let tables = tables.filter(|name| name.ends_with(".csv"));
    assert_eq!(tables.count(), SHIPPED.len());
}

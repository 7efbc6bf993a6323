use keymark_bench::case::DeviceName;
use keymark_bench::record::Record;
use keymark_testkit::record::mixed as record;

use super::*;

fn archive() -> (tempfile::TempDir, Archive) {
    let directory = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(&directory.path().join("runs.sqlite3")).unwrap();
    for (day, device) in [(1, "software"), (2, "YubiKey 5"), (3, "yubikey 4")] {
        let mut run: Record = record(&format!("run-{day}"));
        run.started = format!("2026-01-0{day}T23:30:00Z").parse().unwrap();
        run.cases
            .iter_mut()
            .for_each(|case| case.case.device = DeviceName::new(device));
        archive.insert(&run).unwrap();
    }
    (directory, archive)
}

const ALL: Window = Window { skip: 0, take: 100 };

fn found(archive: &Archive, search: &RunSearch) -> Vec<String> {
    let found = archive.search(search, ALL).unwrap();
    assert_eq!(found.all, found.runs.len() as u64);
    found.runs.into_iter().map(|run| run.id.0).collect()
}

#[test]
fn runs_are_found_by_device_algorithm_and_day() {
    let (_directory, archive) = archive();
    let day = |text: &str| Some(text.parse().unwrap());
    let all = RunSearch::default();
    assert_eq!(found(&archive, &all), ["run-3", "run-2", "run-1"]);
    let device = |name: &str| RunSearch {
        device: Some(name.to_owned()),
        ..RunSearch::default()
    };
    assert_eq!(found(&archive, &device("YUBI")), ["run-3", "run-2"]);
    assert_eq!(found(&archive, &device("%")), [""; 0]);
    let algorithm = |name: &str| RunSearch {
        algorithm: Some(name.to_owned()),
        ..device("yubikey 5")
    };
    assert_eq!(found(&archive, &algorithm("RSA40")), ["run-2"]);
    assert_eq!(found(&archive, &algorithm("mldsa")), [""; 0]);
    let on = RunSearch {
        from: day("2026-01-02"),
        to: day("2026-01-02"),
        ..RunSearch::default()
    };
    assert_eq!(found(&archive, &on), ["run-2"]);
}

#[test]
fn a_window_shows_some_and_counts_all() {
    let (_directory, archive) = archive();
    let window = Window { skip: 1, take: 1 };
    let found = archive.search(&RunSearch::default(), window).unwrap();
    assert_eq!(found.all, 3);
    assert_eq!(found.runs, archive.runs().unwrap()[1..2]);
    assert_eq!(found.runs[0].cases, 3);
    let beyond = Window { skip: 9, take: 1 };
    assert_eq!(
        archive.search(&RunSearch::default(), beyond).unwrap().runs,
        []
    );
}

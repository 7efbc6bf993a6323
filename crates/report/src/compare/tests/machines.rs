//! Comparisons of machines.

use super::*;

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
    assert_says(
        &slowest(&compared),
        ["Slowest to sign: c, 2.00× (", "The library is the cause"],
    );
    assert!(compared.differences.iter().all(|one| one.what != "machine"));
}

/// The only sentence about machines.
fn slowest(comparison: &Comparison) -> String {
    let verdict = comparison.document(&[]).verdict.unwrap();
    let Finding::SlowestMachines { machines } = &verdict.finding else {
        panic!("{verdict:?}");
    };
    assert_eq!(machines.len(), 1);
    verdict.headline()
}

#[test]
fn a_library_is_blamed_only_where_another_one_is_not_as_slow() {
    let [alike, open] = [[2000, 16_000], [1090, 9200]].map(|slow| {
        let compared = fleet(&[("a", "1.11.0", [1000, 8000]), ("b", "1.10.1", slow)]);
        slowest(&compared)
    });
    assert_says(&alike, ["Slowest to sign: b", "is also"]);
    assert_says(
        &open,
        [
            "Slowest to sign: b",
            "Whether its library is the cause is open",
        ],
    );
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

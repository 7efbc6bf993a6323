//! Series, the sides of comparisons, and what the archive knows of runs like them.

use keymark_stats::BetweenRuns;
use keymark_testkit::assert_says;

use super::*;

with_either!(
    a_run_brings_its_series_and_several_stand_for_themselves,
    the_last_finished_run_of_each_machine_with_a_label_is_found,
    runs_that_were_broken_off_are_no_part_of_a_series_that_has_others,
    earlier_runs_on_the_machine_tell_by_how_much_runs_differ
);

/// A run of a series, whose first case takes that number of microseconds.
fn of_series(series: &str, number: u32, state: RunState, microseconds: u64) -> Record {
    let mut record = started(&format!("{series}-{number}"), number, state);
    record.series = Some(InSeries {
        id: SeriesId(series.to_owned()),
        number,
        runs: 3,
        pause: Duration::ZERO,
        against: None,
    });
    record.cases[0].blocks = vec![block(0, &[microseconds * 1000])];
    record.cases[1].blocks.clear();
    record
}

fn ids(archive: &Archive, side: &str) -> Result<Vec<String>> {
    let side = archive.side(&side.parse().unwrap())?;
    Ok(side.into_iter().map(|record| record.id.0).collect())
}

fn a_run_brings_its_series_and_several_stand_for_themselves(archive: &mut Archive) {
    for (series, number) in [("x", 0), ("x", 1), ("y", 4), ("y", 5), ("x", 2)] {
        let run = of_series(series, number, RunState::Finished, 100);
        archive.insert(&run).unwrap();
    }
    let alone = started("alone", 9, RunState::Finished);
    archive.insert(&alone).unwrap();
    for (side, runs) in [
        ("x-1", "x-0 x-1 x-2"),
        ("series:last", "y-4 y-5"),
        ("series:last~1", "x-0 x-1 x-2"),
        ("x-1,last", "x-1 alone"),
        ("series:y,alone", "y-4 y-5 alone"),
    ] {
        assert_eq!(ids(archive, side).unwrap().join(" "), runs, "{side}");
    }
    for (bad, why) in [
        ("series:y,y-5", "has the run y-5 twice"),
        ("series:last~2", "no run 'series:last~2'"),
        ("series:alone", "no run 'series:alone'"),
    ] {
        let error = ids(archive, bad).unwrap_err().to_string();
        assert_says(&error, [why]);
    }
}

fn the_last_finished_run_of_each_machine_with_a_label_is_found(archive: &mut Archive) {
    for (id, number, machine, state) in [
        ("old", 0, Some("b"), RunState::Finished),
        ("new", 1, Some("b"), RunState::Finished),
        ("broken-off", 2, Some("b"), RunState::Interrupted),
        ("other", 3, Some("a 'quoted'"), RunState::Finished),
        ("unlabelled", 4, None, RunState::Finished),
    ] {
        let mut run = started(id, number, state);
        run.environment.machine = machine.map(str::to_owned);
        archive.insert(&run).unwrap();
    }
    let last = archive.last_of_machines().unwrap();
    let last: Vec<String> = last.iter().map(ToString::to_string).collect();
    assert_eq!(last, ["other", "new"]);
}

fn runs_that_were_broken_off_are_no_part_of_a_series_that_has_others(archive: &mut Archive) {
    for (number, state) in [(0, RunState::Finished), (1, RunState::Interrupted)] {
        archive.insert(&of_series("x", number, state, 100)).unwrap();
    }
    assert_eq!(ids(archive, "series:x").unwrap(), ["x-0"]);
    let other = of_series("z", 0, RunState::Interrupted, 100);
    archive.insert(&other).unwrap();
    assert_eq!(ids(archive, "series:z").unwrap(), ["z-0"]);
}

fn earlier_runs_on_the_machine_tell_by_how_much_runs_differ(archive: &mut Archive) {
    let known = |archive: &Archive, single: &[&Record]| {
        let compared = of_series("now", 0, RunState::Finished, 100);
        archive.between_runs(&[&compared], single).unwrap()
    };
    assert_eq!(known(archive, &[]), BetweenRuns::ASSUMED);
    for (number, microseconds) in (0..).zip([80, 90, 100, 110, 120]) {
        let run = of_series("earlier", number, RunState::Finished, microseconds);
        archive.insert(&run).unwrap();
    }
    let mut elsewhere = of_series("elsewhere", 0, RunState::Finished, 5_000);
    elsewhere.environment.cpu_model = Some("another".to_owned());
    archive.insert(&elsewhere).unwrap();
    let found = known(archive, &[]);
    assert_eq!(found.runs, 5, "another machine's runs say nothing");
    // Standard deviation of the logs of 0.8, 0.9, 1, 1.1, 1.2.
    assert!((found.deviation - 0.1602).abs() < 1e-3, "{found:?}");
    let single = of_series("earlier", 4, RunState::Finished, 120);
    assert_eq!(known(archive, &[&single]), BetweenRuns::ASSUMED);
}

use keymark_bench::case::{DeviceName, Provenance};
use keymark_stats::{Estimate, Method, Ratio, Seconds};
use keymark_testkit::assert_says;

use super::*;
use crate::document::TableOf;
use crate::render::text;

fn estimate(value: f64) -> Cell {
    Cell::RatioEstimate(Estimate {
        value: Ratio(value),
        low: Some(Ratio(value * 0.99)),
        high: Some(Ratio(value * 1.01)),
        confidence: 0.95,
        method: Method::BootstrapT,
    })
}

fn table() -> Table {
    let rows = [
        ("software", "rsa2048", 200_u64),
        ("a card of quite some name 0a1b2c3d", "rsa4096", 100),
    ];
    let subject = |(device, ..): &(&str, _, _)| (DeviceName::new(*device), Provenance::Measured);
    TableOf::new(rows, subject)
        .case("algorithm", |(_, algorithm, _)| *algorithm)
        .device()
        .value("mean", |_| Seconds(0.012))
        .optional(0, "n", |(.., n)| *n)
        .value("ratio (95 % interval)", |_| estimate(2.0))
        .shorten(1)
        .provenance()
        .table()
}

fn lines(width: u16) -> Vec<String> {
    let text = text::table(&table(), Width::Columns(width));
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for line in &lines {
        assert!(line.width() <= usize::from(width), "{width}: {line}");
    }
    lines
}

#[test]
fn where_there_is_room_nothing_changes() {
    let wide = text::table(&table(), Width::Unlimited);
    assert_eq!(lines(200).join("\n") + "\n", wide);
    assert!(wide.contains("ratio (95 % interval)") && wide.contains("2.00 (1.98–2.02)"));
}

#[test]
fn headings_are_broken_first_and_stand_on_their_columns() {
    let widest = text::table(&table(), Width::Unlimited);
    let widest = widest.lines().map(|line| line.width()).max().unwrap();
    let lines = lines(widest as u16 - 1);
    assert!(lines[0].contains("ratio"), "{lines:#?}");
    assert!(
        lines[1].starts_with("algorithm") && lines[1].contains("(95 % interval)"),
        "{lines:#?}"
    );
    assert!(lines[3].contains("2.00 (1.98–2.02)"), "{lines:#?}");
}

#[test]
fn what_all_rows_share_is_said_once() {
    let lines = lines(85);
    assert_eq!(lines[0], "in every row: provenance measured");
    assert!(
        lines.iter().any(|line| line.contains("200")),
        "nothing is left out yet: {lines:#?}"
    );
}

#[test]
fn columns_and_intervals_go_by_rank_and_it_is_said() {
    let without_n = lines(75).join("\n");
    assert!(without_n.ends_with("hidden columns (terminal too narrow): n (--wide shows all)"));
    assert_says(&without_n, ["2.00 (1.98–2.02)"]);
    let without_interval = lines(63).join("\n");
    assert_says(&without_interval, ["interval of ratio", "2.00"]);
}

#[test]
fn a_cases_names_come_together_and_are_broken_but_no_numbers() {
    let joined = lines(58).join("\n");
    assert_says(
        &joined,
        [
            "case",
            "rsa4096 a card of quite some name 0a1b2c3d  12.0 ms",
        ],
    );
    let broken = lines(50);
    assert!(
        broken
            .iter()
            .any(|line| line.starts_with("rsa2048 software")),
        "{broken:#?}"
    );
    let broken = broken.join("\n");
    assert_says(&broken, ["rsa4096 a card of quite", "12.0 ms", "2.00"]);
    assert!(!joined.contains('[') && !broken.contains('['), "{broken}");
}

#[test]
fn long_names_of_others_become_numbers_and_what_fits_again_comes_back() {
    let mut table = table();
    for column in &mut table.columns[..2] {
        column.narrow = Narrow::Once;
    }
    let lines = text::table(&table, Width::Columns(52));
    assert_says(
        &lines,
        [
            "device: [1] software, [2] a card of quite some name",
            "200",
            "2.00 (1.98–2.02)",
        ],
    );
}

#[test]
fn a_column_without_values_goes_before_one_that_has_them() {
    let mut table = table();
    table.columns.insert(3, Column::value("empty").leave(9));
    for row in &mut table.rows {
        row.cells.insert(2, Cell::Missing);
    }
    let text = text::table(&table, Width::Columns(95));
    assert_says(&text, ["hidden columns (terminal too narrow): empty"]);
}

#[test]
fn where_nothing_helps_figures_stay_whole() {
    let text = text::table(&table(), Width::Columns(10));
    assert_says(&text, ["12.0 ms", "2.00"]);
}

#[test]
fn signs_and_brackets_stay_with_their_words() {
    let pieces = |heading| -> Vec<&str> { pieces(heading).map(|piece| piece.word).collect() };
    assert_eq!(pieces("+ gpg process"), ["+ gpg", "process"]);
    assert_eq!(pieces("≤ 2 s"), ["≤ 2 s"]);
    assert_eq!(pieces("mean (95 % interval)"), ["mean", "(95 % interval)"]);
}

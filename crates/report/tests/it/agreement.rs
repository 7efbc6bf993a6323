//! Table, picture and sentence of a run have the same figures.

use keymark_bench::{Parameters, Record, StackName};
use keymark_report::analysis::{Analysis, Row};
use keymark_report::charts::terminal::{self, Signs};
use keymark_report::charts::{Bar, Mark};
use keymark_report::pictures::{self, AnalyzedRun, PictureKind};
use keymark_report::render::{Width, text};
use keymark_report::units::Unit;
use keymark_report::verdict::Verdict;
use keymark_report::{Beside, Block, Cell, Form, RemarkKind};
use keymark_testkit::assert_says;
use keymark_testkit::layers::layers;
use serde_json::Value;

use crate::imported;

const RECORDS: [&str; 5] = [
    "golden/everything",
    "golden/stacks",
    "golden/schemes",
    "golden/predicted",
    "records/default",
];

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
#[allow(clippy::too_many_lines, reason = "one walk through each record")]
fn no_figure_contradicts_another() {
    let (mut cells, mut dots, mut bars, mut evidence) = (0, 0, 0, 0);
    for name in RECORDS {
        let record = imported(name);
        let analysis = Analysis::of(&record, &layers());
        let means = analysis.rows.iter().filter_map(Row::mean);
        let means: Vec<f64> = means.map(|mean| mean.0).collect();
        let is_mean = |time: f64| means.iter().any(|mean| near(*mean, time));
        // Published keycards have figures of their own.
        let sections = analysis.overview(None, &[]);
        for block in sections.iter().take(1).flat_map(|section| &section.blocks) {
            let Block::Table(table) = block else { continue };
            for cell in table.rows.iter().flatten() {
                if let Cell::Number(figure) = cell
                    && (figure.unit, figure.form) == (Unit::Seconds, Form::Brief)
                {
                    assert!(is_mean(figure.estimate.value), "{name}: {figure:?}");
                    cells += 1;
                }
            }
        }
        let run = [AnalyzedRun {
            record: &record,
            analysis: &analysis,
        }];
        let means = pictures::charts(&run, PictureKind::Means).into_iter();
        for chart in means.filter(|chart| chart.x.unit == Unit::Seconds) {
            let marks = chart.panels[0].marks.iter();
            for dot in marks.filter_map(Mark::try_as_dot_ref) {
                assert!(is_mean(dot.x), "{name}: {dot:?}");
                dots += 1;
            }
        }
        for chart in pictures::charts(&run, PictureKind::Layers) {
            let is_key = |bar: &&Bar| {
                let key = chart.keys.get(bar.series);
                key.is_some_and(|key| key == "key" || key.starts_with("key ("))
            };
            let bars_of = chart.panels[0]
                .marks
                .iter()
                .filter_map(Mark::try_as_bar_ref);
            for bar in bars_of.filter(is_key) {
                let lines = analysis.breakdowns.iter().flat_map(|of| &of.breakdowns);
                let mut paths = lines.flat_map(|line| &line.paths);
                assert!(
                    paths.any(|path| near(path.key.value.0, bar.to - bar.from)),
                    "{name}: {bar:?}"
                );
                bars += 1;
            }
        }
        let fields = Verdict::of(&analysis, &record).fields();
        evidence += figures_of_rows(&fields, &analysis);
    }
    assert!(cells > 20 && dots > 20 && bars > 3, "{cells} {dots} {bars}");
    assert!(evidence > 20, "{evidence}");
}

/// Checks each mean and each rate of a verdict as JSON against its row, and counts them.
fn figures_of_rows(fields: &Value, analysis: &Analysis) -> usize {
    let inner = match fields {
        Value::Object(fields) => fields
            .values()
            .map(|of| figures_of_rows(of, analysis))
            .sum(),
        Value::Array(all) => all.iter().map(|of| figures_of_rows(of, analysis)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    let Some(row) = fields.get("row").and_then(Value::as_u64) else {
        return inner;
    };
    let row = &analysis.rows[row as usize];
    let same = |name: &str, own: Option<f64>| {
        let Some(value) = fields.get(name).and_then(|figure| figure["value"].as_f64()) else {
            return 0;
        };
        assert!(near(value, own.unwrap()), "{fields}");
        1
    };
    inner
        + same("mean", row.mean().map(|mean| mean.0))
        + same("rate", row.throughput.map(|rate| rate.value.0))
}

/// A screen as a terminal of this width shows it.
fn screen(record: &Record, columns: u16) -> String {
    let analysis = Analysis::of(record, &layers());
    let document = analysis.document(record, &[]);
    let chart = analysis.picture(record).unwrap();
    let beside = match chart.kind == PictureKind::Layers.word() {
        true => Beside::Picture,
        false => Beside::Nothing,
    };
    let picture = terminal::draw(&chart, Signs::Unicode, usize::from(columns));
    let text = text::illustrated(
        &document.brief(beside),
        Some(&picture),
        Width::Columns(columns),
    );
    anstream::adapter::strip_str(&text).to_string()
}

#[test]
fn a_default_run_fits_a_screen_and_begins_with_its_verdict() {
    let mut record = imported("records/default");
    let [wide, narrow] = [100, 80].map(|columns| screen(&record, columns));
    assert!(wide.lines().count() <= 30, "{wide}");
    assert!(narrow.lines().count() <= 35, "{narrow}");
    insta::assert_snapshot!("screen", wide);
    // Keys have a passphrase, by the times of an agent that derives a key each time.
    for place in 0..record.cases.len() {
        let mut case = record.cases[place].clone();
        if case.case.stack == StackName::GPG && case.case.is_alone() {
            case.case.parameters = Parameters::from([("protection", "cached")]);
            for sample in case.blocks.iter_mut().flat_map(|block| &mut block.samples) {
                sample.end.0 += 270_000_000;
            }
            record.plan.cases.push(case.case.clone());
            record.cases.push(case);
        }
    }
    let [wide, narrow] = [100, 80].map(|columns| screen(&record, columns));
    assert!(wide.lines().count() <= 30, "{wide}");
    assert!(narrow.lines().count() <= 36, "{narrow}");
    assert!(wide.contains("cached passphrase"), "{wide}");
}

#[test]
fn each_record_begins_with_its_verdict() {
    for name in RECORDS {
        let record = imported(name);
        let found = Verdict::of(&Analysis::of(&record, &layers()), &record);
        let text = screen(&record, 100);
        let begin: String = text.lines().take(3).collect::<Vec<_>>().join(" ");
        assert!(begin.starts_with(&found.headline()), "{name}: {begin}");
    }
}

#[test]
fn a_container_that_is_limited_is_not_called_busy() {
    let mut record = imported("golden/schemes");
    let coarse = |record: &Record| {
        let said = Analysis::of(record, &layers()).warnings(record);
        let coarse = said
            .into_iter()
            .find(|remark| remark.kind == RemarkKind::Coarse);
        coarse.unwrap().text
    };
    assert_says(&coarse(&record), ["The machine was busy"]);
    record.environment.cpu_quota = Some(0.5);
    let limited = coarse(&record);
    assert_says(&limited, ["The container is limited to 0.5 CPU"]);
    assert!(!limited.contains("idle"), "{limited}");
}

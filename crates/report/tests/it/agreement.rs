//! Table, picture and sentence of a run have the same figures.

use std::path::Path;

use keymark_bench::Record;
use keymark_records::exchange;
use keymark_report::analysis::{Analysis, Row};
use keymark_report::answers::{Topic, answers};
use keymark_report::charts::Mark;
use keymark_report::pictures::{self, AnalyzedRun, PictureKind};
use keymark_report::units::{self, Unit};
use keymark_report::{Block, Cell, Form, RemarkKind};
use keymark_testkit::assert_says;
use keymark_testkit::layers::layers;

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
    let (mut cells, mut dots, mut bars) = (0, 0, 0);
    for name in RECORDS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{name}.json"));
        let record = exchange::import(&path).unwrap();
        let analysis = Analysis::of(&record, &layers());
        let means: Vec<f64> = analysis
            .rows
            .iter()
            .filter_map(Row::mean)
            .map(|mean| mean.0)
            .collect();
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
            for dot in chart.panels[0]
                .marks
                .iter()
                .filter_map(Mark::try_as_dot_ref)
            {
                assert!(is_mean(dot.x), "{name}: {dot:?}");
                dots += 1;
            }
        }
        for chart in pictures::charts(&run, PictureKind::Layers) {
            let marks = chart.panels[0]
                .marks
                .iter()
                .filter_map(Mark::try_as_bar_ref);
            for bar in marks.filter(|bar| {
                chart
                    .keys
                    .get(bar.series)
                    .is_some_and(|key| key == "key" || key.starts_with("key ("))
            }) {
                let lines = analysis.breakdowns.iter().flat_map(|of| &of.breakdowns);
                let mut paths = lines.flat_map(|line| &line.paths);
                assert!(
                    paths.any(|path| near(path.key.value.0, bar.to - bar.from)),
                    "{name}: {bar:?}"
                );
                bars += 1;
            }
        }
        for said in answers(&analysis, &record) {
            if said.topic != Topic::Keys {
                continue;
            }
            let Some((_, rest)) = said.text.split_once("is fastest (") else {
                continue;
            };
            let (time, _) = rest.split_once(')').unwrap();
            let rows = said.rows.iter().map(|id| &analysis.rows[id.0 as usize]);
            let mut times = rows.filter_map(Row::mean).map(units::duration);
            assert!(
                time.starts_with("about ") || times.any(|own| own == time),
                "{name}: {}",
                said.text
            );
        }
    }
    assert!(cells > 20 && dots > 20 && bars > 3, "{cells} {dots} {bars}");
}

#[test]
fn a_container_that_is_limited_is_not_called_busy() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/schemes.json");
    let mut record = exchange::import(&path).unwrap();
    let coarse = |record: &Record| {
        let said = Analysis::of(record, &layers()).warnings(record);
        let coarse = said
            .into_iter()
            .find(|remark| remark.kind == RemarkKind::Coarse);
        coarse.unwrap().text
    };
    assert_says(&coarse(&record), ["this machine was busy"]);
    record.environment.cpu_quota = Some(0.5);
    let limited = coarse(&record);
    assert_says(&limited, ["The container is limited to 0.5 CPU"]);
    assert!(!limited.contains("idle"), "{limited}");
}

//! Table, picture and sentence of a run have the same figures.

use std::path::Path;

use keymark_bench::Record;
use keymark_report::analysis::{Analysis, Row};
use keymark_report::answers::{Topic, answers};
use keymark_report::units::{self, Unit};
use keymark_report::{Block, Cell, Form, Plot, RemarkKind, exchange};
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
        for figure in analysis.figures(&record) {
            match figure.plot {
                Plot::Means { means, .. } => {
                    for mean in means {
                        assert!(is_mean(mean.mean.value.0), "{name}: {mean:?}");
                        dots += 1;
                    }
                }
                Plot::Layers { stacks, .. } => {
                    for stack in stacks {
                        let of_table = |time: f64| {
                            let lines = analysis.breakdowns.iter().flat_map(|of| &of.breakdowns);
                            let mut keys = lines.flat_map(|line| &line.paths);
                            keys.any(|path| near(path.key.value.0, time))
                        };
                        let first = stack.parts[0].time.0;
                        // Parts that were measured on the way are of another table.
                        if stack.parts[0].name.starts_with("key") && is_mean(stack.sum.0) {
                            assert!(of_table(first), "{name}: {stack:?}");
                            bars += 1;
                        }
                    }
                }
                Plot::Rates { .. }
                | Plot::Distributions { .. }
                | Plot::Histograms { .. }
                | Plot::Throughput { .. }
                | Plot::ResponseTimes { .. }
                | Plot::Samples { .. }
                | Plot::Security { .. }
                | Plot::Predictions { .. } => {}
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

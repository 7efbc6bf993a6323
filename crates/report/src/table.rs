//! Tables: on the terminal, as Markdown, as CSV, and one JSON object a row.

use std::time::Duration;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use keymark_bench::case::{Case, Pacing, Protection};
use keymark_stats::{Estimate, Seconds};
use serde::Serialize;

use crate::analysis::{Breakdown, Layer, Row, Scaling};
use crate::compare::Pair;
use crate::units;
use keymark_bench::parts::Part;

/// How a table is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Columns of text.
    Text,
    /// A Markdown table.
    Markdown,
}

fn table(style: Style, header: &[String], left: usize, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(match style {
        Style::Text => presets::NOTHING,
        Style::Markdown => presets::ASCII_MARKDOWN,
    });
    table
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header)
        .add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        if index >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if style == Style::Text {
            column.set_padding((0, 2));
        }
    }
    let text = table.to_string();
    text.lines()
        .map(str::trim_end)
        .fold(String::new(), |text, line| text + line + "\n")
}

/// A table of words.
#[must_use]
pub fn plain(style: Style, names: &[&str], left: usize, rows: Vec<Vec<String>>) -> String {
    table(style, &header(names), left, rows)
}

fn header(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// `gnupg`, `agent cached`, `gnupg c=4`, `raw 50/s`
fn way(case: &Case) -> String {
    let mut way = case.stack.to_string();
    if case.protection == Protection::Cached {
        way += " cached";
    }
    if case.concurrency() > 1 {
        way += &format!(" c={}", case.concurrency());
    }
    if let Pacing::Open(rate) = case.load.pacing {
        way += &format!(" {}/s", rate.per_second());
    }
    if case.replica > 0 {
        way += &format!(" #{}", case.replica + 1);
    }
    way
}

const DASH: &str = "-";

fn or_dash<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| DASH.to_owned(), text)
}

/// The main table.
#[must_use]
pub fn rows(rows: &[Row], tolerance: Duration, style: Style) -> String {
    let tolerated = format!(
        "≤ {}",
        units::duration(Seconds(tolerance.as_secs_f64())).replace(".00", "")
    );
    let mut names = header(&[
        "algorithm",
        "operation",
        "device",
        "stack",
        "mean (95 % interval)",
        "median",
        "p99",
        "n",
        "ratio (95 % interval)",
        "op/s",
    ]);
    names.push(tolerated);
    names.push("provenance".to_owned());
    let lines = rows.iter().map(|row| {
        let summary = row.summary.as_ref();
        let case = &row.case;
        vec![
            case.algorithm.to_string(),
            case.operation.to_string(),
            case.device.to_string(),
            way(case),
            match (summary, row.published) {
                (Some(summary), _) => units::estimated_duration(&summary.mean),
                (None, Some(mean)) => units::duration(mean),
                (None, None) => if row.failure.is_some() {
                    "failed"
                } else {
                    DASH
                }
                .to_owned(),
            },
            or_dash(summary, |summary| units::duration(summary.median.value)),
            or_dash(summary, |summary| units::duration(summary.p99.value)),
            or_dash(row.n(), |n| n.to_string()),
            or_dash(row.ratio.as_ref(), units::estimated_ratio),
            or_dash(row.throughput, |rate| units::rate(rate.value)),
            or_dash(row.tolerable(tolerance), |yes| {
                if yes { "yes" } else { "no" }.to_owned()
            }),
            case.provenance.to_string(),
        ]
    });
    table(style, &names, 4, lines.collect())
}

/// Where the time goes.
#[must_use]
pub fn breakdowns(breakdowns: &[Breakdown], style: Style) -> String {
    let names = header(&[
        "algorithm",
        "operation",
        "device",
        "raw",
        "+ agent",
        "+ S2K",
        "+ gpg process",
        "= gpg",
        "raw's share",
    ]);
    let layer = |layer: Option<Layer>| or_dash(layer, |layer| layer.to_string());
    let lines = breakdowns.iter().map(|breakdown| {
        vec![
            breakdown.algorithm.to_string(),
            breakdown.operation.to_string(),
            breakdown.device.to_string(),
            or_dash(breakdown.arithmetic, |estimate| {
                units::duration(estimate.value)
            }),
            layer(breakdown.agent),
            layer(breakdown.unprotection),
            layer(breakdown.process),
            or_dash(breakdown.whole, |estimate| units::duration(estimate.value)),
            or_dash(breakdown.arithmetic_share(), units::percent),
        ]
    });
    table(style, &names, 3, lines.collect())
}

/// Where the time of operations on cards went, as measured on the way.
#[must_use]
pub fn parts(rows: &[Row], style: Style) -> String {
    const PARTS: [Part; 6] = [
        Part::Gpg,
        Part::Agent,
        Part::Scdaemon,
        Part::Transport,
        Part::Card,
        Part::Waiting,
    ];
    let mut names = header(&["algorithm", "operation", "device", "stack"]);
    names.extend(PARTS.iter().map(ToString::to_string));
    names.push("VERIFY, once".to_owned());
    let line = |row: &Row| {
        let parts = &row.parts.as_ref()?.0;
        let mut cells = vec![
            row.case.algorithm.to_string(),
            row.case.operation.to_string(),
            row.case.device.to_string(),
            row.case.stack.to_string(),
        ];
        let time = |part: &Part| or_dash(parts.get(part), |mean| units::duration(mean.mean_s));
        cells.extend(PARTS.iter().map(time));
        cells.push(time(&Part::Verify));
        Some(cells)
    };
    table(style, &names, 4, rows.iter().filter_map(line).collect())
}

/// What concurrency gains and what limits it.
#[must_use]
pub fn scaling(scaling: &[Scaling], style: Style) -> String {
    let mut levels: Vec<u32> = scaling
        .iter()
        .flat_map(|group| group.speed_ups())
        .map(|(c, _)| c)
        .collect();
    levels.sort_unstable();
    levels.dedup();
    levels.retain(|level| {
        scaling
            .iter()
            .any(|group| group.case.concurrency() < *level)
    });
    let mut names = header(&["algorithm", "operation", "stack"]);
    names.extend(levels.iter().map(|level| format!("c={level}")));
    names.extend(header(&[
        "agent's bound",
        "cores' bound",
        "limit",
        "serial share σ",
        "coherency κ",
    ]));
    let lines = scaling.iter().map(|group| {
        let gains = group.speed_ups();
        let mut cells = vec![
            group.case.algorithm.to_string(),
            group.case.operation.to_string(),
            way(&group.case),
        ];
        cells.extend(levels.iter().map(|level| {
            let gain = gains.iter().find(|(c, _)| c == level);
            or_dash(gain, |(_, gain)| format!("×{gain:.2}"))
        }));
        cells.push(or_dash(group.bounds, |bounds| {
            format!("×{:.1}", bounds.by_agent())
        }));
        cells.push(or_dash(group.bounds, |bounds| {
            format!("×{:.1}", bounds.by_cores())
        }));
        cells.push(or_dash(group.limit(), |limit| limit.to_string()));
        match &group.law {
            Ok(law) if law.rejected() => cells.extend(header(&["does not fit", DASH])),
            Ok(law) => cells.extend([interval(&law.sigma), interval(&law.kappa)]),
            Err(_) => cells.extend(header(&[DASH, DASH])),
        }
        cells
    });
    table(style, &names, 3, lines.collect())
}

/// A share in percent with its interval.
fn interval(estimate: &Estimate<f64>) -> String {
    let bound = |bound: Option<f64>| {
        bound.map_or_else(|| "?".to_owned(), |bound| format!("{:.1}", bound * 100.0))
    };
    format!(
        "{:.1} % ({}–{})",
        estimate.value * 100.0,
        bound(estimate.low),
        bound(estimate.high)
    )
}

/// Two runs, or two copies.
#[must_use]
pub fn pairs(pairs: &[Pair], style: Style) -> String {
    let names = header(&[
        "case",
        "against",
        "first",
        "second",
        "ratio (95 % interval)",
        "verdict",
    ]);
    let lines = pairs.iter().map(|pair| {
        let mean = |case: &Case, mean| format!("{} {}", units::duration(mean), case.provenance);
        vec![
            pair.old.to_string(),
            if pair.new.device == pair.old.device {
                "itself".to_owned()
            } else {
                pair.new.device.to_string()
            },
            mean(&pair.old, pair.old_mean),
            mean(&pair.new, pair.new_mean),
            units::estimated_ratio(&pair.ratio),
            pair.verdict().to_string(),
        ]
    });
    table(style, &names, 2, lines.collect())
}

/// One row as a flat object; times in seconds. This is the interface of `--json` and of CSV.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(
    missing_docs,
    reason = "the names are the documentation; see README, Output for programs"
)]
pub struct FlatRow {
    pub device: String,
    pub store: String,
    pub algorithm: String,
    pub operation: String,
    pub stack: String,
    pub protection: String,
    pub concurrency: u32,
    pub rate: Option<f64>,
    pub replica: u32,
    pub provenance: String,
    pub n: Option<u64>,
    pub mean_s: Option<f64>,
    pub ci_low_s: Option<f64>,
    pub ci_high_s: Option<f64>,
    pub ci_method: Option<keymark_stats::Method>,
    pub median_s: Option<f64>,
    pub p90_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub max_s: Option<f64>,
    pub stddev_s: Option<f64>,
    pub ops_per_s: Option<f64>,
    pub ratio: Option<f64>,
    pub ratio_low: Option<f64>,
    pub ratio_high: Option<f64>,
    pub user_s: Option<f64>,
    pub system_s: Option<f64>,
    pub failed: usize,
    pub reason: Option<String>,
}

impl From<&Row> for FlatRow {
    fn from(row: &Row) -> Self {
        let case = &row.case;
        let summary = row.summary.as_ref();
        let time = |pick: &dyn Fn(&keymark_stats::Summary) -> Option<Seconds>| {
            summary.and_then(pick).map(|t| t.0)
        };
        Self {
            device: case.device.to_string(),
            store: case.store.to_string(),
            algorithm: case.algorithm.to_string(),
            operation: case.operation.to_string(),
            stack: case.stack.to_string(),
            protection: case.protection.to_string(),
            concurrency: case.concurrency(),
            rate: match case.load.pacing {
                Pacing::Closed => None,
                Pacing::Open(rate) => Some(rate.per_second()),
            },
            replica: case.replica,
            provenance: case.provenance.to_string(),
            n: row.n(),
            mean_s: row.mean().map(|mean| mean.0),
            ci_low_s: time(&|summary| summary.mean.low),
            ci_high_s: time(&|summary| summary.mean.high),
            ci_method: summary.map(|summary| summary.mean.method),
            median_s: time(&|summary| Some(summary.median.value)),
            p90_s: time(&|summary| Some(summary.p90.value)),
            p99_s: time(&|summary| Some(summary.p99.value)),
            max_s: time(&|summary| Some(summary.max)),
            stddev_s: time(&|summary| summary.stddev.map(|estimate| estimate.value)),
            ops_per_s: row.throughput.map(|rate| rate.value.0),
            ratio: row.ratio.map(|ratio| ratio.value.0),
            ratio_low: row.ratio.and_then(|ratio| ratio.low).map(|low| low.0),
            ratio_high: row.ratio.and_then(|ratio| ratio.high).map(|high| high.0),
            user_s: row.child_cpu.map(|(user, _)| user.0),
            system_s: row.child_cpu.map(|(_, system)| system.0),
            failed: row.failed,
            reason: row.failure.clone(),
        }
    }
}

/// Rows as CSV with a header line.
///
/// # Errors
/// When writing to `out` fails.
pub fn csv(rows: &[Row], out: impl std::io::Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    for row in rows {
        writer.serialize(FlatRow::from(row))?;
    }
    writer.flush().map_err(csv::Error::from)
}

//! Firmware on microcontrollers: which part keeps users waiting, which does not, and what flash has to do with it.

use keymark_bench::case::Provenance;
use keymark_bench::record::Record;

use super::figure::{Figure, listed, sentence, what};
use super::{Statement, Topic};
use crate::analysis::Analysis;
use crate::grouped::grouped;
use crate::units;

/// How the clause of a prediction's note ends that says what share of its cycles the core waits for flash.
pub const WAITING: &str = " of it waiting for flash";

/// A sentence for each kind of key, those first that not every part is fast enough for.
pub(super) fn predictions(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    let rows = analysis.rows.iter();
    let rows = rows.filter(|row| row.case.provenance == Provenance::Predicted);
    let figures = rows.filter_map(Figure::of);
    let mut keys = grouped(figures, |figure| figure.case().capability());
    let tolerance = record.plan.settings.tolerance;
    let limit = units::chosen(tolerance);
    let fits = |figure: &Figure<'_>| figure.at_most() <= tolerance.as_secs_f64();
    let never = |figure: &Figure<'_>| figure.least() > tolerance.as_secs_f64();
    keys.sort_by_key(|(_, figures)| usize::from(figures.iter().all(fits)));
    let said = keys.into_iter().map(|(_, mut figures)| {
        figures.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let told = |figure: &Figure<'_>| {
            let waiting = waiting(record, figure).map(|share| format!(", {share}"));
            format!(
                "{} ({}{})",
                figure.case().device,
                figure.time(),
                waiting.unwrap_or_default()
            )
        };
        let of = |wanted: &dyn Fn(&Figure<'_>) -> bool| -> Vec<String> {
            figures
                .iter()
                .filter(|figure| wanted(figure))
                .map(told)
                .collect()
        };
        let (fast, slow) = (of(&fits), of(&never));
        let open = of(&|figure| !fits(figure) && !never(figure));
        let mut parts = Vec::new();
        if !fast.is_empty() {
            parts.push(format!("takes no longer than {limit} on {}", listed(&fast)));
        }
        if !slow.is_empty() {
            parts.push(format!("takes too long on {}", listed(&slow)));
        }
        if !open.is_empty() {
            parts.push(format!("may take longer than {limit} on {}", listed(&open)));
        }
        let text = format!(
            "as predicted, {} {}",
            what(figures[0].case()),
            parts.join("; it ")
        );
        Statement::new(
            Topic::Predictions,
            sentence(&text),
            figures.iter().map(Figure::id),
        )
    });
    said.collect()
}

/// As the prediction's note has it.
fn waiting<'r>(record: &'r Record, figure: &Figure<'_>) -> Option<&'r str> {
    let note = &record
        .cases
        .get(figure.id().0 as usize)?
        .published
        .as_ref()?
        .note;
    note.split("; ").find(|clause| clause.ends_with(WAITING))
}

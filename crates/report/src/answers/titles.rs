//! What is seen in a picture, in words for its head: nothing that the answer's rules do not say.

use keymark_bench::record::Record;
use keymark_stats::Warning;

use super::{devices, keys, layers, workers};
use crate::analysis::{Analysis, figures};
use crate::document::Figure;
use crate::units::counted;

/// None where nothing can be said; then a picture keeps the title that says what it shows.
pub fn title_of(analysis: &Analysis, record: &Record, figure: &Figure) -> Option<String> {
    match figure {
        Figure::Layers { title, .. } => {
            let mut families = analysis.breakdowns.iter();
            let family = families.find(|family| figures::layers_title(family) == *title)?;
            layers::title(family)
        }
        Figure::Throughput { .. } => workers::title(analysis, record.environment.cores),
        Figure::Means { .. } => devices::title(analysis).or_else(|| keys::title(analysis)),
        Figure::Samples { timelines, of, .. } => {
            let rows = analysis.rows.iter().filter_map(|row| row.summary.as_ref());
            let drifted = rows.filter(|summary| {
                let mut warnings = summary.warnings().into_iter();
                warnings.any(|warning| matches!(warning, Warning::Drift(_)))
            });
            match drifted.count() {
                0 => None,
                drifted if timelines.len() <= drifted => Some(format!(
                    "{drifted} of {} changed during the run",
                    counted(*of, "case")
                )),
                _ => None,
            }
        }
        Figure::Distributions { .. }
        | Figure::Histograms { .. }
        | Figure::ResponseTimes { .. }
        | Figure::Security { .. }
        | Figure::Predictions { .. } => None,
    }
}

//! CSV: a line a case. A run has the columns of [`crate::table`], a series fewer.

use serde::Serialize;

use super::measured::{Measured, measured};
use crate::render::{Exported, Format, FormatError};
use crate::table;
use crate::visible::no_formula;

pub(super) static FORMAT: Format = Format {
    word: "csv",
    about: "One line for each case",
    endings: &["csv"],
    write: |exported, out| {
        let mut text = Vec::new();
        match exported {
            Exported::Runs { runs: [_], .. } => table::csv(&exported.rows(), &mut text)?,
            Exported::Runs { .. } => return Err(FormatError::SeveralRuns),
            Exported::Series { .. } => render(&measured(exported), &mut text)?,
        }
        Ok(out.write_all(&text)?)
    },
};

#[derive(Serialize)]
struct Line {
    device: String,
    algorithm: String,
    operation: String,
    stack: String,
    provenance: String,
    runs: u64,
    mean_s: Option<f64>,
    ci_low_s: Option<f64>,
    ci_high_s: Option<f64>,
    between_runs: Option<f64>,
}

/// A series, with a header line.
pub(super) fn render(cases: &[Measured], out: impl std::io::Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    for Measured {
        case,
        mean,
        runs,
        between_runs,
        ..
    } in cases
    {
        writer.serialize(Line {
            device: no_formula(case.device.as_str()).into_owned(),
            algorithm: case.algorithm.to_string(),
            operation: case.operation.to_string(),
            stack: case.way(),
            provenance: case.provenance.to_string(),
            runs: *runs,
            mean_s: mean.map(|mean| mean.value.0),
            ci_low_s: mean.and_then(|mean| mean.low).map(|low| low.0),
            ci_high_s: mean.and_then(|mean| mean.high).map(|high| high.0),
            between_runs: between_runs.map(|share| share.0),
        })?;
    }
    writer.flush().map_err(csv::Error::from)
}

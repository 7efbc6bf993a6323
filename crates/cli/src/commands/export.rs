//! `keymark export`

use std::io::{self, Write};

use keymark_report::analysis::Analysis;
use keymark_report::archive::Archive;
use keymark_report::exchange::json;
use keymark_report::table::{self, Style};

use super::Outcome;
use crate::args::{ExportArguments, Format};
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) fn run(arguments: &ExportArguments, archive: &Archive) -> Outcome {
    let record = archive.load(&arguments.run).map_err(Failure::failed)?;
    match arguments.format {
        Format::Json => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            let written = json::write(&record, &mut out).and_then(|()| out.flush());
            closed_pipe_is_fine(written)?;
        }
        Format::Csv => {
            let mut text = Vec::new();
            table::csv(&Analysis::of(&record).rows, &mut text).map_err(Failure::failed)?;
            output::print(&String::from_utf8_lossy(&text));
        }
        Format::Markdown => {
            let analysis = Analysis::of(&record);
            output::print(&table::rows(
                &analysis.rows,
                record.plan.settings.tolerance,
                Style::Markdown,
            ));
            if !analysis.breakdowns.is_empty() {
                output::line("");
                output::print(&table::breakdowns(&analysis.breakdowns, Style::Markdown));
            }
            if !analysis.scaling.is_empty() {
                output::line("");
                output::print(&table::scaling(&analysis.scaling, Style::Markdown));
            }
        }
    }
    Ok(Exit::Fine)
}

fn closed_pipe_is_fine(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::failed(format!(
            "the record cannot be written: {error}"
        ))),
        Ok(()) => Ok(()),
    }
}

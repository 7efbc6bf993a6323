//! `keymark export`

use std::io::{self, Write};

use keymark_report::archive::Archive;
use keymark_report::exchange::json;
use keymark_report::render::{self, markdown};
use keymark_report::table;

use super::{Outcome, show};
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
            table::csv(&show::analysis(&record).rows, &mut text).map_err(Failure::failed)?;
            output::print(&String::from_utf8_lossy(&text));
        }
        Format::Markdown => output::print(&markdown::render(&show::document(&record))),
        Format::Document => {
            let text = render::json::render(&show::document(&record)).map_err(Failure::failed)?;
            output::print(&text);
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

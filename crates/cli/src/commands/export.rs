//! `keymark export`

use std::io::{self, Write};

use keymark_records::archive::{Archive, RunSelector, SideSelector};
use keymark_report::render::{Exported, FormatError};
use keymark_stacks::registry;

use super::Outcome;
use crate::args::ExportArguments;
use crate::documents::{self, analysis};
use crate::exit::{Exit, Failure};

pub(super) fn run(arguments: &ExportArguments, archive: &Archive) -> Outcome {
    let written = match &arguments.run {
        RunSelector::LastSeries(_) | RunSelector::Series(_) => {
            let name = archive.series(&arguments.run)?;
            let side = SideSelector(vec![arguments.run.clone()]);
            let runs = archive.side(&side)?;
            let name = format!("series:{name}");
            write(arguments, &Exported::Series { name, runs: &runs })
        }
        RunSelector::Last(_) | RunSelector::Id(_) => {
            let record = archive.load(&arguments.run)?;
            let exported = Exported::Runs {
                runs: std::slice::from_ref(&record),
                families: &registry::layers(),
                document: &|| documents::document(&analysis(&record), &record, &[], None),
            };
            write(arguments, &exported)
        }
    };
    match written {
        Err(FormatError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Fine),
        Err(error) => Err(Failure::failed(error)),
        Ok(()) => Ok(Exit::Fine),
    }
}

fn write(arguments: &ExportArguments, exported: &Exported<'_>) -> Result<(), FormatError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    (arguments.format.write)(exported, &mut out)?;
    Ok(out.flush()?)
}

//! `keymark export`

use std::io::{self, Write};

use keymark_bench::record::Record;
use keymark_report::archive::{Archive, RunSelector, SideSelector};
use keymark_report::document::Document;
use keymark_report::exchange::json;
use keymark_report::formats::{self, Measured, github, junit, openmetrics};
use keymark_report::render::{self, markdown};
use keymark_report::{series, table};

use super::Outcome;
use crate::args::{ExportArguments, Format};
use crate::documents;
use crate::exit::{Exit, Failure};
use crate::output;

/// What is written: a run, or the runs of a series.
enum Exported {
    Run(Box<Record>),
    Series { name: String, runs: Vec<Record> },
}

pub(super) fn run(arguments: &ExportArguments, archive: &Archive) -> Outcome {
    let exported = || load(arguments, archive);
    match arguments.format {
        Format::Json => {
            let exported = exported()?;
            let mut out = io::BufWriter::new(io::stdout().lock());
            let mut records = exported.records().iter();
            let written = records.try_for_each(|record| json::write(record, &mut out));
            closed_pipe_is_fine(written.and_then(|()| out.flush()))?;
        }
        Format::Csv => output::print(&exported()?.csv()?),
        Format::Markdown => output::print(&markdown::render(&exported()?.document())),
        Format::Document => {
            let text = render::json::render(&exported()?.document()).map_err(Failure::failed)?;
            output::print(&text);
        }
        Format::Openmetrics => {
            let exported = exported()?;
            output::print(&openmetrics::render(&exported.name(), &exported.measured()));
        }
        Format::Junit => {
            let exported = exported()?;
            output::print(&junit::render(&exported.name(), &exported.measured()));
        }
        Format::GithubBenchmark => {
            let exported = exported()?;
            let text = github::render(&exported.name(), &exported.measured());
            output::print(&text.map_err(Failure::failed)?);
        }
    }
    Ok(Exit::Fine)
}

fn load(arguments: &ExportArguments, archive: &Archive) -> Result<Exported, Failure> {
    match &arguments.run {
        RunSelector::LastSeries(_) | RunSelector::Series(_) => {
            let name = archive.series(&arguments.run).map_err(Failure::failed)?;
            let side = SideSelector(vec![arguments.run.clone()]);
            let runs = archive.side(&side).map_err(Failure::failed)?;
            let name = format!("series:{name}");
            Ok(Exported::Series { name, runs })
        }
        RunSelector::Last(_) | RunSelector::Id(_) => {
            let record = archive.load(&arguments.run).map_err(Failure::failed)?;
            Ok(Exported::Run(Box::new(record)))
        }
    }
}

impl Exported {
    fn name(&self) -> String {
        match self {
            Self::Run(record) => record.id.to_string(),
            Self::Series { name, .. } => name.clone(),
        }
    }

    fn records(&self) -> &[Record] {
        match self {
            Self::Run(record) => std::slice::from_ref(record),
            Self::Series { runs, .. } => runs,
        }
    }

    fn measured(&self) -> Vec<Measured> {
        match self {
            Self::Run(record) => documents::analysis(record)
                .rows
                .iter()
                .map(Measured::from)
                .collect(),
            Self::Series { runs, .. } => series::rows(runs).iter().map(Measured::from).collect(),
        }
    }

    fn csv(&self) -> Result<String, Failure> {
        let mut text = Vec::new();
        let written = match self {
            Self::Run(record) => table::csv(&documents::analysis(record).rows, &mut text),
            Self::Series { .. } => formats::csv::render(&self.measured(), &mut text),
        };
        written.map_err(Failure::failed)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn document(&self) -> Document {
        match self {
            Self::Run(record) => documents::document(record),
            Self::Series { runs, .. } => series::document(runs, &series::rows(runs)),
        }
    }
}

fn closed_pipe_is_fine(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::failed(format!("cannot write the record: {error}"))),
        Ok(()) => Ok(()),
    }
}

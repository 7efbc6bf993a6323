//! `keymark bench`

mod child;
mod measuring;
mod planning;
mod selection;
mod series;

use std::path::PathBuf;

use self::planning::Planned;
use crate::args::BenchArguments;
use crate::exit::{Exit, Outcome};

pub(super) fn run(arguments: &BenchArguments, archive: Option<&PathBuf>) -> Outcome {
    if arguments.series.is_wanted() && !arguments.run.dry_run {
        return series::run(arguments, archive);
    }
    let planned = Planned::of(arguments)?;
    if arguments.run.dry_run {
        planned.print(archive);
        series::foresee(&arguments.series);
        return Ok(Exit::Fine);
    }
    measuring::run(&planned, arguments, archive)
}

//! `keymark published`

use std::path::PathBuf;

use keymark_bench::outside::visible::excerpt;
use keymark_records::archive::RunSelector;
use keymark_records::published::{COLUMNS, DeviceCatalogue, PublishedTable};
use keymark_report::analysis::Analysis;
use keymark_report::report::{
    CollectedFigure, FigureFilter, published_device, published_devices, published_figures,
};
use serde_json::{Map, Value, json};

use crate::args::{FiguresFormat, PublishedArguments};
use crate::exit::{Exit, Failure, Outcome};
use crate::{archive, documents, output};

pub(super) fn run(arguments: &PublishedArguments, path: Option<&PathBuf>) -> Outcome {
    let filter = filter(arguments)?;
    let all = PublishedTable::collection();
    let figures = filter.chosen(all);
    if figures.is_empty() {
        return Err(Failure::nothing_usable(
            "nothing is published of that; 'keymark published' lists the devices with figures",
        ));
    }
    match arguments.format {
        FiguresFormat::Csv => print_csv(&figures)?,
        FiguresFormat::Json => figures
            .iter()
            .for_each(|figure| output::print_json(&object(figure))),
        FiguresFormat::Text => {
            let document = match filter.devices.as_slice() {
                [device] => published_device(device, &figures, all, here(path).as_ref()),
                _ if filter.is_all() => published_devices(&figures),
                _ => published_figures(&figures),
            };
            output::document(&document);
        }
    }
    Ok(Exit::Fine)
}

fn filter(arguments: &PublishedArguments) -> Result<FigureFilter, Failure> {
    let devices = match &arguments.device {
        None => Vec::new(),
        Some(wanted) => {
            let found = DeviceCatalogue::shipped().search(wanted);
            if found.is_empty() {
                return Err(Failure::usage(format!(
                    "no device '{}'; 'keymark published' lists them",
                    excerpt(wanted)
                )));
            }
            found
        }
    };
    Ok(FigureFilter {
        devices,
        kinds: arguments.kind.clone(),
        algorithms: arguments.algorithm.clone(),
        grades: arguments.grade.clone(),
    })
}

/// Analyses the archive's last run, if there is an archive with one.
fn here(path: Option<&PathBuf>) -> Option<Analysis> {
    let archive = archive::open_to_read(path).ok()?;
    let record = archive.load(&RunSelector::Last(0)).ok()?;
    Some(documents::analysis(&record))
}

fn print_csv(figures: &[&CollectedFigure]) -> Result<(), Failure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS)?;
    for (_, row) in figures {
        table.write_record(row.cells())?;
    }
    output::print(&String::from_utf8_lossy(&table.into_inner()?));
    Ok(())
}

/// Returns a figure with all its columns, its table, and the device's id and kind.
fn object((table, row): &CollectedFigure) -> Value {
    let mut object: Map<String, Value> = COLUMNS
        .iter()
        .zip(row.cells())
        .map(|(column, cell)| ((*column).to_owned(), text(cell)))
        .collect();
    let numbers = json!({
        "mean_s": row.mean(),
        "ops_per_s": row.rate(),
        "n": row.n,
        "table": table.name,
        "id": row.device.map(|own| &own.id),
        "kind": row.device.map(|own| own.kind),
    });
    if let Value::Object(numbers) = numbers {
        object.extend(numbers);
    }
    Value::Object(object)
}

fn text(cell: String) -> Value {
    if cell.is_empty() {
        Value::Null
    } else {
        cell.into()
    }
}

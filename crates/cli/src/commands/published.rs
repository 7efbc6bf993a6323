//! `keymark published`

use std::path::PathBuf;

use keymark_bench::outside::visible::excerpt;
use keymark_records::archive::RunSelector;
use keymark_records::published::{COLUMNS, DeviceCatalogue, PublishedTable};
use keymark_report::analysis::Analysis;
use keymark_report::report::{
    CollectedFigure, FigureFilter, published_device, published_devices, published_figures,
};
use serde_json::{Map, Value};

use super::Outcome;
use crate::args::{FiguresFormat, PublishedArguments};
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
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
        FiguresFormat::Csv => print_csv(&figures),
        FiguresFormat::Json => figures
            .iter()
            .for_each(|figure| print_json(&object(figure))),
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

fn print_csv(figures: &[&CollectedFigure]) {
    let quoted = |cell: String| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell
        }
    };
    let rows = figures
        .iter()
        .map(|(_, row)| row.cells().map(quoted).join(","));
    let lines = [COLUMNS.join(",")].into_iter().chain(rows);
    lines.for_each(|line| output::print(&format!("{line}\n")));
}

/// Returns a figure with all its columns, its table, and the device's id and kind.
fn object((table, row): &CollectedFigure) -> Value {
    let mut object = Map::new();
    for (column, cell) in COLUMNS.iter().zip(row.cells()) {
        let number = matches!(*column, "mean_s" | "ops_per_s" | "n");
        let value = match cell.parse::<f64>() {
            _ if cell.is_empty() => Value::Null,
            Ok(number_of) if number => number_of.into(),
            _ => cell.into(),
        };
        object.insert((*column).to_owned(), value);
    }
    object.insert("table".to_owned(), table.name.into());
    object.insert(
        "id".to_owned(),
        row.device.map(|own| own.id.as_str()).into(),
    );
    object.insert(
        "kind".to_owned(),
        row.device.map(|own| own.kind.word()).into(),
    );
    Value::Object(object)
}

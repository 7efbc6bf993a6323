//! `keymark mcu storage`

use std::time::Duration;

use keymark_mcu::storage::design::DesignKind;
use keymark_mcu::storage::error::StorageError;
use keymark_mcu::storage::geometry::Geometry;
use keymark_mcu::storage::simulate::{StorageResult, simulate};
use keymark_mcu::storage::workload::Workload;
use keymark_report::table::{self, Style};
use keymark_report::units;
use keymark_stats::Seconds;
use serde::Serialize;

use crate::args::StorageArguments;
use crate::commands::Outcome;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

const DESIGNS: [DesignKind; 3] = [
    DesignKind::SeparatePages,
    DesignKind::LogForcedCollection,
    DesignKind::LogZeroing,
];

pub(super) fn run(arguments: &StorageArguments) -> Outcome {
    let geometries = geometries(&arguments.geometry)?;
    let designs = if arguments.design.is_empty() {
        &DESIGNS[..]
    } else {
        &arguments.design
    };
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    for geometry in &geometries {
        for &design in designs {
            for &workload in &arguments.workload {
                let result = simulate(
                    geometry,
                    design,
                    workload,
                    arguments.operations,
                    arguments.seed,
                );
                match result {
                    Ok(result) if arguments.json => print_json(&row(&result)),
                    Ok(result) => rows.push(cells(&result)),
                    Err(error) => refused.push((geometry, design, workload, error)),
                }
            }
        }
    }
    if !rows.is_empty() {
        output::print(&table::plain(Style::Text, &NAMES, 3, rows));
        output::line(&format!(
            "{} writes each, seed {}; times are those of the flash alone, typical and (worst) by the datasheet's maxima",
            arguments.operations, arguments.seed
        ));
    }
    say_refused(&refused);
    Ok(if refused.is_empty() || arguments.geometry.is_empty() {
        Exit::Fine
    } else {
        Exit::Failed
    })
}

/// Each reason once, whatever the workload.
fn say_refused(refused: &[(&Geometry, DesignKind, Workload, StorageError)]) {
    let mut said = Vec::new();
    for (geometry, design, _, error) in refused {
        let text = format!("{design} on {}: {error}", geometry.name);
        if !said.contains(&text) {
            output::warning(&text);
            said.push(text);
        }
    }
}

fn geometries(wanted: &[String]) -> Result<Vec<Geometry>, Failure> {
    if wanted.is_empty() {
        return Geometry::shipped().map_err(Failure::failed);
    }
    let find = |name: &String| Geometry::find(name).map_err(Failure::usage);
    wanted.iter().map(find).collect()
}

const NAMES: [&str; 10] = [
    "geometry",
    "design",
    "workload",
    "mean write",
    "worst write",
    "(worst)",
    "erases",
    "lifetime, signatures",
    "lifetime, writes",
    "space used",
];

fn duration(time: Duration) -> String {
    units::duration(Seconds(time.as_secs_f64()))
}

fn cells(result: &StorageResult) -> Vec<String> {
    let lifetime = |number: Option<u64>, writes: u64| match (number, writes) {
        (Some(number), _) => super::count(number),
        (None, 0) => "-".to_owned(),
        (None, _) => "no erase".to_owned(),
    };
    vec![
        result.geometry.clone(),
        result.design.to_string(),
        result.workload.to_string(),
        duration(result.latency_typical.mean),
        duration(result.latency_typical.worst),
        duration(result.latency_maximum.worst),
        result.erases.to_string(),
        lifetime(result.lifetime_signatures, result.signatures),
        lifetime(result.lifetime_writes, result.writes),
        format!(
            "{} of {} B",
            result.space.used_bytes, result.space.reserved_bytes
        ),
    ]
}

#[derive(Serialize)]
struct Row {
    geometry: String,
    design: String,
    workload: String,
    provenance: &'static str,
    seed: u64,
    writes: u64,
    mean_s: f64,
    worst_s: f64,
    mean_maximum_s: f64,
    worst_maximum_s: f64,
    programs: u64,
    erases: u64,
    most_worn_sector_erases: u64,
    lifetime_signatures: Option<u64>,
    lifetime_writes: Option<u64>,
    used_bytes: u64,
    reserved_bytes: u64,
}

fn row(result: &StorageResult) -> Row {
    Row {
        geometry: result.geometry.clone(),
        design: result.design.to_string(),
        workload: result.workload.to_string(),
        provenance: "predicted",
        seed: result.seed,
        writes: result.writes,
        mean_s: result.latency_typical.mean.as_secs_f64(),
        worst_s: result.latency_typical.worst.as_secs_f64(),
        mean_maximum_s: result.latency_maximum.mean.as_secs_f64(),
        worst_maximum_s: result.latency_maximum.worst.as_secs_f64(),
        programs: result.programs,
        erases: result.erases,
        most_worn_sector_erases: result.most_worn_sector_erases,
        lifetime_signatures: result.lifetime_signatures,
        lifetime_writes: result.lifetime_writes,
        used_bytes: result.space.used_bytes as u64,
        reserved_bytes: result.space.reserved_bytes as u64,
    }
}

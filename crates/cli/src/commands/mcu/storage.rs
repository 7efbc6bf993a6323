//! `keymark mcu storage`

use std::time::Duration;

use itertools::Itertools;
use keymark_flash::design::DesignKind;
use keymark_flash::geometry::Geometry;
use keymark_flash::simulate::{MOST_WRITES, StorageResult, simulate};
use keymark_report::TableOf;
use keymark_report::units;
use serde_json::{Value, json};

use crate::args::StorageArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;
use crate::parts;

pub(super) fn run(arguments: &StorageArguments) -> Outcome {
    let geometries = geometries(&arguments.geometry)?;
    let (mut results, mut refused) = (Vec::new(), Vec::new());
    for (geometry, &design) in geometries.iter().cartesian_product(DesignKind::ALL) {
        for &workload in &arguments.workload {
            match simulate(geometry, design, workload, MOST_WRITES) {
                Ok(result) => results.push(result),
                Err(error) => refused.push((&geometry.name, design.to_string(), error.to_string())),
            }
        }
    }
    if arguments.form.is_json() {
        results
            .iter()
            .for_each(|result| output::print_json(&row(result)));
        for (geometry, design, error) in &refused {
            output::print_json(
                &json!({ "geometry": geometry, "design": design, "refused": error }),
            );
        }
    } else if !results.is_empty() {
        print(&results);
    }
    for (geometry, design, error) in refused.into_iter().unique() {
        output::warning(&format!("{design} on {geometry}: {error}"));
    }
    Ok(Exit::of(results.is_empty(), false))
}

fn geometries(wanted: &[String]) -> Result<Vec<Geometry>, Failure> {
    if wanted.is_empty() {
        return Geometry::shipped().map_err(Failure::failed);
    }
    let find = |name: &String| parts::geometry(name).map_err(Failure::usage);
    wanted.iter().map(find).collect()
}

fn print(results: &[StorageResult]) {
    let table = TableOf::new(results)
        .name("geometry", |one| one.geometry.as_str())
        .name("design", |one| one.design.to_string())
        .name("workload", |one| one.workload.to_string())
        .value("writes", |one| super::count(one.writes))
        .value("mean write", |one| time(one, one.latency_typical.mean))
        .value("worst write", |one| time(one, one.latency_typical.worst))
        .value("at maximum times", |one| {
            time(one, one.latency_maximum.worst)
        })
        .value("erases", |one| one.erases)
        .value("lifetime, signatures", |one| {
            lifetime(one, one.lifetime_signatures, one.signatures)
        })
        .value("lifetime, writes", |one| {
            lifetime(one, one.lifetime_writes, one.writes)
        })
        .value("space used", |one| {
            format!("{} of {} B", one.space.used_bytes, one.space.reserved_bytes)
        });
    output::table(table);
    output::paragraph(
        "Times of the flash alone: the datasheet's typical times and, for the worst write, its maximum times",
    );
    if results.iter().any(|result| !result.is_settled()) {
        output::line("~: too few erases of any sector to show long-term figures");
    }
}

fn about(result: &StorageResult, figure: String) -> String {
    if result.is_settled() {
        figure
    } else {
        format!("~{figure}")
    }
}

fn time(result: &StorageResult, time: Duration) -> String {
    about(result, units::time(time))
}

fn lifetime(result: &StorageResult, number: Option<u64>, writes: u64) -> String {
    match (number, writes) {
        (Some(number), _) => about(result, super::count(number)),
        (None, 0) => "-".to_owned(),
        (None, _) => "no erase".to_owned(),
    }
}

fn row(result: &StorageResult) -> Value {
    json!({
        "geometry": result.geometry,
        "design": result.design.to_string(),
        "workload": result.workload.to_string(),
        "provenance": "predicted",
        "writes": result.writes,
        "signatures": result.signatures,
        "settled": result.is_settled(),
        "mean_s": result.latency_typical.mean.as_secs_f64(),
        "worst_s": result.latency_typical.worst.as_secs_f64(),
        "mean_maximum_s": result.latency_maximum.mean.as_secs_f64(),
        "worst_maximum_s": result.latency_maximum.worst.as_secs_f64(),
        "programs": result.programs,
        "erases": result.erases,
        "most_worn_sector_erases": result.most_worn_sector_erases,
        "lifetime_signatures": result.lifetime_signatures,
        "lifetime_writes": result.lifetime_writes,
        "used_bytes": result.space.used_bytes,
        "reserved_bytes": result.space.reserved_bytes,
    })
}

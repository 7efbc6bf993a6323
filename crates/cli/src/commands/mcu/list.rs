//! `keymark mcu list`

use keymark_flash::geometry::Geometry;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_report::render::text;
use serde::Serialize;

use crate::args::JsonArguments;
use crate::commands::Outcome;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

#[derive(Serialize)]
struct Row<'a> {
    mcu: &'a str,
    also: &'a [String],
    product: &'a str,
    core: String,
    clock_mhz: u32,
    wait_states: u8,
    flash_bytes: u32,
    ram_bytes: u32,
    sources: &'a [String],
    assumed: &'a [String],
}

#[derive(Serialize)]
struct GeometryRow<'a> {
    geometry: &'a str,
    bytes: usize,
    sectors: usize,
    program_unit_bytes: usize,
    endurance_cycles: u32,
    sources: &'a [String],
    assumed: &'a [String],
}

pub(super) fn run(arguments: &JsonArguments) -> Outcome {
    let parts = Microcontroller::shipped().map_err(Failure::failed)?;
    let geometries = Geometry::shipped().map_err(Failure::failed)?;
    if arguments.json {
        for part in &parts {
            print_json(&Row {
                mcu: &part.name,
                also: &part.also,
                product: &part.product,
                core: part.core.to_string(),
                clock_mhz: part.clock.0,
                wait_states: part.flash.wait_states,
                flash_bytes: part.layout.flash_size,
                ram_bytes: part.layout.ram_size,
                sources: &part.sources,
                assumed: &part.assumed,
            });
        }
        for geometry in &geometries {
            let sectors = geometry.sector_list();
            print_json(&GeometryRow {
                geometry: &geometry.name,
                bytes: sectors.iter().map(|sector| sector.bytes).sum(),
                sectors: sectors.len(),
                program_unit_bytes: geometry.program_unit_bytes,
                endurance_cycles: geometry.endurance_cycles,
                sources: &geometry.sources,
                assumed: &geometry.assumed,
            });
        }
        return Ok(Exit::Fine);
    }
    print_parts(&parts);
    output::line("");
    print_geometries(&geometries);
    Ok(Exit::Fine)
}

fn print_parts(parts: &[Microcontroller]) {
    let names = [
        "mcu",
        "core",
        "product",
        "clock",
        "wait states",
        "flash",
        "RAM",
    ];
    let kibibytes = |bytes: u32| format!("{} KiB", bytes / 1024);
    let rows = parts.iter().map(|part| {
        vec![
            [&part.name]
                .into_iter()
                .chain(&part.also)
                .cloned()
                .collect::<Vec<_>>()
                .join(", "),
            part.core.to_string(),
            part.product.clone(),
            part.clock.to_string(),
            part.flash.wait_states.to_string(),
            kibibytes(part.layout.flash_size),
            kibibytes(part.layout.ram_size),
        ]
    });
    output::print(&text::plain(&names, 3, rows.collect()));
    for part in parts {
        print_grounds(&part.name, &part.sources, &part.assumed);
    }
}

fn print_geometries(geometries: &[Geometry]) {
    let names = ["flash geometry", "programs", "sectors"];
    let sectors = |geometry: &Geometry| {
        let runs = geometry.sectors.iter();
        let runs: Vec<String> = runs
            .map(|run| format!("{} of {} KiB", run.count, run.bytes / 1024))
            .collect();
        runs.join(", ")
    };
    let rows = geometries.iter().map(|geometry| {
        vec![
            geometry.name.clone(),
            format!("{} bytes", geometry.program_unit_bytes),
            sectors(geometry),
        ]
    });
    output::print(&text::plain(&names, 3, rows.collect()));
    for geometry in geometries {
        print_grounds(&geometry.name, &geometry.sources, &geometry.assumed);
    }
}

/// What figures rest on.
fn print_grounds(name: &str, sources: &[String], assumed: &[String]) {
    output::line("");
    output::heading(name);
    for source in sources {
        output::line(&format!("  {source}"));
    }
    for assumed in assumed {
        output::line(&format!("  assumed: {assumed}"));
    }
}

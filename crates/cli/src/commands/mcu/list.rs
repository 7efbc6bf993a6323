//! `keymark mcu list`

use itertools::Itertools;
use keymark_flash::geometry::Geometry;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_report::TableOf;
use serde_json::json;

use crate::args::FormatArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

pub(super) fn run(arguments: &FormatArguments) -> Outcome {
    let parts = Microcontroller::shipped().map_err(Failure::failed)?;
    let geometries = Geometry::shipped().map_err(Failure::failed)?;
    if arguments.is_json() {
        for part in &parts {
            output::print_json(&json!({
                "mcu": part.name,
                "also": part.also,
                "product": part.product,
                "core": part.core.to_string(),
                "clock_mhz": part.clock.0,
                "wait_states": part.flash.wait_states,
                "flash_bytes": part.layout.flash_size,
                "ram_bytes": part.layout.ram_size,
                "sources": part.sources,
                "assumed": part.assumed,
            }));
        }
        for geometry in &geometries {
            let sectors = geometry.sector_list();
            output::print_json(&json!({
                "geometry": geometry.name,
                "bytes": sectors.iter().map(|sector| sector.bytes).sum::<usize>(),
                "sectors": sectors.len(),
                "program_unit_bytes": geometry.program_unit_bytes,
                "endurance_cycles": geometry.endurance_cycles,
                "sources": geometry.sources,
                "assumed": geometry.assumed,
            }));
        }
        return Ok(Exit::Fine);
    }
    print_parts(&parts);
    output::line("");
    print_geometries(&geometries);
    Ok(Exit::Fine)
}

fn print_parts(parts: &[Microcontroller]) {
    let kibibytes = |bytes: u32| format!("{} KiB", bytes / 1024);
    let table = TableOf::new(parts)
        .name("mcu", |part| {
            std::iter::once(&part.name).chain(&part.also).join(", ")
        })
        .name("core", |part| part.core.to_string())
        .value("clock", |part| part.clock.to_string())
        .value("wait states", |part| part.flash.wait_states.to_string())
        .value("flash", |part| {
            let size = part.layout.flash_size;
            (size > 0).then(|| kibibytes(size))
        })
        .value("RAM", |part| kibibytes(part.layout.ram_size))
        .label("product", |part| part.product.clone());
    output::table(table);
    for part in parts {
        print_grounds(&part.name, &part.sources, &part.assumed);
    }
}

fn print_geometries(geometries: &[Geometry]) {
    let table = TableOf::new(geometries)
        .name("flash geometry", |geometry| geometry.name.clone())
        .name("programs", |geometry| {
            format!("{} bytes", geometry.program_unit_bytes)
        })
        .name("sectors", |geometry| {
            geometry
                .sectors
                .iter()
                .map(|run| format!("{} of {} KiB", run.count, run.bytes / 1024))
                .join(", ")
        });
    output::table(table);
    for geometry in geometries {
        print_grounds(&geometry.name, &geometry.sources, &geometry.assumed);
    }
}

/// Prints the sources and assumptions of figures.
fn print_grounds(name: &str, sources: &[String], assumed: &[String]) {
    output::line("");
    output::heading(name);
    for source in sources {
        output::entry(1, "", 0, source);
    }
    for assumed in assumed {
        output::entry(1, "", 0, &format!("assumed: {assumed}"));
    }
}

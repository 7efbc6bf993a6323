//! `keymark mcu list`

use keymark_mcu::microcontroller::Microcontroller;
use keymark_report::table::{self, Style};
use serde::Serialize;

use crate::args::JsonArguments;
use crate::commands::Outcome;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

#[derive(Serialize)]
struct Row<'a> {
    mcu: &'a str,
    product: &'a str,
    core: String,
    clock_mhz: u32,
    wait_states: u8,
    flash_bytes: u32,
    ram_bytes: u32,
    sources: &'a [String],
    assumed: &'a [String],
}

pub(super) fn run(arguments: &JsonArguments) -> Outcome {
    let parts = Microcontroller::shipped().map_err(Failure::failed)?;
    if arguments.json {
        for part in &parts {
            print_json(&Row {
                mcu: &part.name,
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
        return Ok(Exit::Fine);
    }
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
            part.name.clone(),
            part.core.to_string(),
            part.product.clone(),
            part.clock.to_string(),
            part.flash.wait_states.to_string(),
            kibibytes(part.layout.flash_size),
            kibibytes(part.layout.ram_size),
        ]
    });
    output::print(&table::plain(Style::Text, &names, 3, rows.collect()));
    for part in &parts {
        output::line("");
        output::heading(&part.name);
        for source in &part.sources {
            output::line(&format!("  {source}"));
        }
        for assumed in &part.assumed {
            output::line(&format!("  assumed: {assumed}"));
        }
    }
    Ok(Exit::Fine)
}

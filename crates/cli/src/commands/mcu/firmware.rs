//! `keymark mcu run`

use std::collections::BTreeMap;

use keymark_mcu::machine::Stop;
use keymark_mcu::microcontroller::{Megahertz, Microcontroller};
use keymark_mcu::profiler::{Profiler, Spent};
use keymark_mcu::timing::{Phase, Pipeline, Stall};
use keymark_report::units;
use serde_json::{Value, json};

use super::count;
use crate::args::FirmwareArguments;
use crate::commands::Outcome;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output::{self, Table};
use crate::{file, parts};

pub(super) fn run(arguments: &FirmwareArguments) -> Outcome {
    let mcu = parts::part(&arguments.mcu).map_err(Failure::usage)?;
    let path = arguments.elf.display();
    let in_file = |error: String| Failure::failed(format!("{path}: {error}"));
    let image = parts::image(&arguments.elf, &mcu.layout).map_err(in_file)?;
    let mut machine = mcu
        .load(&image)
        .map_err(|error| in_file(error.to_string()))?;
    let pipeline = Pipeline::new(mcu.core.timing(), mcu.flash, &mcu.layout);
    let mut profiler = Profiler::new(pipeline, &image);
    let stop = machine.run(&mut profiler, arguments.limit);

    let printed = String::from_utf8_lossy(machine.output());
    if arguments.json {
        print_json(&report(&mcu, &profiler, &printed));
    } else {
        output::print(&printed);
        output::heading(&format!(
            "{path} on {} at {} (predicted)",
            mcu.name, mcu.clock
        ));
        print_phases(&profiler, mcu.clock);
        print_functions(&profiler, arguments.top);
    }
    if let Some(folded) = &arguments.folded {
        let text = profiler.folded().join("\n") + "\n";
        file::put(Some(folded), &text)?;
    }
    ending(&stop, machine.executed())
}

fn ending(stop: &Stop, executed: u64) -> Outcome {
    match stop {
        Stop::Exit(0) => Ok(Exit::Fine),
        Stop::Exit(code) => Err(Failure::failed(format!(
            "the program ended with code {code} after {executed} instructions"
        ))),
        Stop::Limit => Err(Failure::failed(format!(
            "no end after {executed} instructions: the program may be in an endless loop; otherwise raise --limit"
        ))),
        Stop::Fault(fault) => Err(Failure::failed(format!(
            "the program stopped after {executed} instructions, {fault}"
        ))),
    }
}

fn report(mcu: &Microcontroller, profiler: &Profiler, output: &str) -> Value {
    let pipeline = profiler.pipeline();
    let account = pipeline.account();
    let phase = |phase: Phase| {
        let account = phase.account;
        let stalls = Stall::ALL
            .iter()
            .map(|&stall| (stall, account.stall(stall)));
        json!({
            "phase": phase.number,
            "cycles": account.cycles(),
            "instructions": account.instructions(),
            "seconds": mcu.clock.seconds(account.cycles()),
            "stalls": stalls.collect::<BTreeMap<_, _>>(),
        })
    };
    let function = |(function, spent): (String, Spent)| {
        json!({
            "function": function,
            "cycles": spent.cycles,
            "instructions": spent.instructions,
            "calls": spent.calls,
        })
    };
    json!({
        "mcu": mcu.name,
        "clock_mhz": mcu.clock.0,
        "provenance": "predicted",
        // Over all phases.
        "cycles": account.cycles(),
        "instructions": account.instructions(),
        "seconds": mcu.clock.seconds(account.cycles()),
        "phases": pipeline.phases().into_iter().map(phase).collect::<Vec<_>>(),
        "functions": profiler.flat().into_iter().map(function).collect::<Vec<_>>(),
        // What the program wrote through semihosting.
        "output": output,
    })
}

fn print_phases(profiler: &Profiler, clock: Megahertz) {
    let mut table = Table::of(profiler.pipeline().phases())
        .column("phase", |phase| match phase.number {
            0 => "outside".to_owned(),
            number => number.to_string(),
        })
        .column("time", |phase| {
            units::duration(clock.seconds(phase.account.cycles()))
        })
        .column("cycles", |phase| count(phase.account.cycles()))
        .column("instructions", |phase| count(phase.account.instructions()))
        .column("cycles an instruction", |phase| {
            let instructions = phase.account.instructions().max(1);
            format!("{:.2}", phase.account.cycles() as f64 / instructions as f64)
        });
    for &stall in Stall::ALL {
        table = table.column(stall.name(), |phase| count(phase.account.stall(stall)));
    }
    table.print(1);
}

fn print_functions(profiler: &Profiler, top: usize) {
    let all = profiler.pipeline().now().max(1) as f64;
    output::line("");
    Table::of(profiler.flat().into_iter().take(top))
        .column("function", |(name, _)| name.clone())
        .column("share", |(_, spent)| {
            format!("{:.1} %", 100.0 * spent.cycles as f64 / all)
        })
        .column("cycles", |(_, spent)| count(spent.cycles))
        .column("instructions", |(_, spent)| count(spent.instructions))
        .column("calls", |(_, spent)| spent.calls.to_string())
        .print(1);
}

//! `keymark mcu run`

use std::collections::BTreeMap;

use keymark_mcu::machine::Stop;
use keymark_mcu::microcontroller::{Megahertz, Microcontroller};
use keymark_mcu::profiler::{Profiler, Spent};
use keymark_mcu::timing::{Phase, Pipeline, Stall};
use keymark_report::render::text;
use keymark_report::units;
use keymark_stats::Seconds;
use serde::Serialize;

use super::count;
use crate::args::FirmwareArguments;
use crate::commands::Outcome;
use crate::exit::{Exit, Failure};
use crate::file;
use crate::observers::print_json;
use crate::output;
use crate::parts;

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

#[derive(Serialize)]
struct Report<'a> {
    mcu: &'a str,
    clock_mhz: u32,
    provenance: &'static str,
    /// Over all phases.
    cycles: u64,
    instructions: u64,
    seconds: Seconds,
    phases: Vec<PhaseRow>,
    functions: Vec<FunctionRow>,
    /// What the program wrote through semihosting.
    output: &'a str,
}

#[derive(Serialize)]
struct PhaseRow {
    phase: u8,
    cycles: u64,
    instructions: u64,
    seconds: Seconds,
    stalls: BTreeMap<Stall, u64>,
}

#[derive(Serialize)]
struct FunctionRow {
    function: String,
    cycles: u64,
    instructions: u64,
    calls: u64,
}

fn report<'a>(mcu: &'a Microcontroller, profiler: &Profiler, output: &'a str) -> Report<'a> {
    let pipeline = profiler.pipeline();
    let account = pipeline.account();
    let phase = |phase: Phase| PhaseRow {
        phase: phase.number,
        cycles: phase.account.cycles(),
        instructions: phase.account.instructions(),
        seconds: mcu.clock.seconds(phase.account.cycles()),
        stalls: Stall::ALL
            .iter()
            .map(|&stall| (stall, phase.account.stall(stall)))
            .collect(),
    };
    let function = |(function, spent): (String, Spent)| FunctionRow {
        function,
        cycles: spent.cycles,
        instructions: spent.instructions,
        calls: spent.calls,
    };
    Report {
        mcu: &mcu.name,
        clock_mhz: mcu.clock.0,
        provenance: "predicted",
        cycles: account.cycles(),
        instructions: account.instructions(),
        seconds: mcu.clock.seconds(account.cycles()),
        phases: pipeline.phases().into_iter().map(phase).collect(),
        functions: profiler.flat().into_iter().map(function).collect(),
        output,
    }
}

fn print_phases(profiler: &Profiler, clock: Megahertz) {
    let mut names = vec![
        "phase",
        "time",
        "cycles",
        "instructions",
        "cycles an instruction",
    ];
    names.extend(Stall::ALL.iter().map(|stall| stall.name()));
    let rows = profiler.pipeline().phases().into_iter().map(|phase| {
        let (cycles, instructions) = (phase.account.cycles(), phase.account.instructions());
        let name = match phase.number {
            0 => "outside".to_owned(),
            number => number.to_string(),
        };
        let mut row = vec![
            name,
            units::duration(clock.seconds(cycles)),
            count(cycles),
            count(instructions),
            format!("{:.2}", cycles as f64 / instructions.max(1) as f64),
        ];
        row.extend(
            Stall::ALL
                .iter()
                .map(|&stall| count(phase.account.stall(stall))),
        );
        row
    });
    output::print(&text::plain(&names, 1, rows.collect()));
}

fn print_functions(profiler: &Profiler, top: usize) {
    let all = profiler.pipeline().now().max(1) as f64;
    let rows = profiler.flat().into_iter().take(top).map(|(name, spent)| {
        vec![
            name,
            format!("{:.1} %", 100.0 * spent.cycles as f64 / all),
            count(spent.cycles),
            count(spent.instructions),
            spent.calls.to_string(),
        ]
    });
    output::line("");
    output::print(&text::plain(
        &["function", "share", "cycles", "instructions", "calls"],
        1,
        rows.collect(),
    ));
}

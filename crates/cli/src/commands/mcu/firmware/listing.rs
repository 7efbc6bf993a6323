//! The costliest function, instruction by instruction.

use keymark_mcu::annotated::Annotated;
use keymark_mcu::timing::{Pipeline, Stall};

use super::simulate::Run;
use crate::exit::Failure;
use crate::output::{self, Table};

/// Runs the program once more, looking at that function alone.
pub(super) fn print(run: &Run) -> Result<(), Failure> {
    let Some(function) = run.profiler.hottest() else {
        return Ok(());
    };
    let mcu = &run.mcu;
    let pipeline = Pipeline::new(mcu.core.timing(), mcu.flash, &mcu.layout);
    let mut annotated = Annotated::new(pipeline, function);
    let mut machine = mcu.load(&run.image).map_err(Failure::failed)?;
    while machine.executed() < run.executed {
        machine.run(&mut annotated, run.executed - machine.executed());
        machine.take_output();
    }
    let lines = annotated.lines();
    let addresses: Vec<u32> = lines.iter().map(|(address, _)| *address).collect();
    let sources = run.image.source_lines(&addresses);
    output::line("");
    output::heading(&format!("{}, instruction by instruction", function.name));
    let mut table = Table::of(lines.into_iter().zip(sources))
        .column("address", |((address, _), _)| format!("{address:#010x}"))
        .column("source", |(_, source)| source.clone().unwrap_or_default())
        .column("encoding", |((address, line), _)| {
            let half = |offset: u32| machine.memory.half(address + offset).unwrap_or_default();
            match line.size {
                2 => format!("{:04x}", half(0)),
                _ => format!("{:04x} {:04x}", half(0), half(2)),
            }
        })
        .column("kind", |((_, line), _)| line.class.name().to_owned())
        .column("times", |((_, line), _)| line.times.to_string())
        .column("cycles", |((_, line), _)| line.cycles.to_string());
    for (index, stall) in Stall::ALL.iter().enumerate() {
        table = table.column(stall.name(), |((_, line), _)| {
            line.stalls[index].to_string()
        });
    }
    table.print(4);
    Ok(())
}

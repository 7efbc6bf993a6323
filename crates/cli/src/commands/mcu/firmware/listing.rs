//! `keymark mcu run --annotate`: the instructions of one function, with what each of them took.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use keymark_mcu::listing::{InstructionCost, Listing};
use keymark_mcu::timing::Stall;
use keymark_report::TableOf;
use keymark_stores::places::program;
use serde::Serialize;

use super::simulate::FirmwareRun;
use crate::exit::Failure;
use crate::{output, parts};

const OBJDUMP: &str = "arm-none-eabi-objdump";

/// The instructions of a function that were executed.
#[derive(Serialize)]
pub(super) struct Annotated {
    function: String,
    lines: Vec<InstructionRow>,
}

#[derive(Serialize)]
struct InstructionRow {
    address: u32,
    instruction: String,
    #[serde(flatten)]
    took: InstructionCost,
}

/// Runs the program again, until where it came, and looks at that function; at the costliest, where none is named.
pub(super) fn annotate(path: &Path, run: &FirmwareRun, wanted: &str) -> Result<Annotated, Failure> {
    let mut functions = run.profiler.flat().into_iter().map(|(name, _)| name);
    let function = functions.find(|name| wanted.is_empty() || name == wanted);
    let image = parts::image(path, &run.mcu.layout).map_err(Failure::failed)?;
    let named = |name: &String| image.code().iter().find(|one| one.name == *name);
    let symbol = function.as_ref().and_then(named).ok_or_else(|| {
        Failure::usage(format!("--annotate: no function '{wanted}' was executed"))
    })?;
    let range = symbol.address..symbol.address.saturating_add(symbol.size);
    let machine = run.mcu.load(&image).map_err(Failure::failed)?;
    let (mut listing, mut machine) = Listing::new(&run.mcu, range.clone(), machine);
    let mut left = run.executed;
    while left > 0 {
        machine.run(&mut listing, left);
        machine.take_output();
        // It ends where it faults, whatever is left then.
        let still = run.executed - machine.executed();
        left = if still < left { still } else { 0 };
    }
    let mut texts = texts(path, &range);
    let row = |(&address, line): (&u32, &InstructionCost)| InstructionRow {
        address,
        instruction: texts.remove(&address).unwrap_or_default(),
        took: line.clone(),
    };
    Ok(Annotated {
        function: symbol.name.clone(),
        lines: listing.lines().iter().map(row).collect(),
    })
}

/// Returns the instructions' texts from the compiler's own disassembler.
fn texts(path: &Path, range: &Range<u32>) -> BTreeMap<u32, String> {
    let listed = program::locate(None, OBJDUMP).and_then(|objdump| {
        let mut objdump = program::command(&objdump);
        objdump.args(["--disassemble", "--no-show-raw-insn"]);
        objdump.arg(format!("--start-address={:#x}", range.start));
        objdump.arg(format!("--stop-address={:#x}", range.end));
        program::run(objdump.arg("--").arg(path), program::WORK).ok()
    });
    let listed = listed.filter(|listed| listed.status.success());
    if listed.is_none() {
        output::warning(&format!("without {OBJDUMP} the listing has no text"));
    }
    let listed = listed.map(|listed| listed.stdout).unwrap_or_default();
    let line = |line: &str| {
        let (address, text) = line.split_once(":\t")?;
        let address = u32::from_str_radix(address.trim(), 16).ok()?;
        Some((address, text.replace('\t', " ")))
    };
    let listed = String::from_utf8_lossy(&listed);
    listed.lines().filter_map(line).collect()
}

impl Annotated {
    pub(super) fn print(&self) {
        output::line("");
        output::heading(&format!("{}, by instruction", self.function));
        let cycles: u64 = self.lines.iter().map(|line| line.took.cycles).sum();
        let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / cycles.max(1) as f64);
        let mut table = TableOf::new(&self.lines)
            .name("address", |line| format!("{:x}", line.address))
            .name("instruction", |line| line.instruction.as_str())
            .value("count", |line| line.took.count)
            .value("cycles", |line| line.took.cycles)
            .value("share", |line| share(line.took.cycles));
        for stall in Stall::ALL {
            if self.lines.iter().any(|line| line.took.waits[stall] > 0) {
                table = table.value(stall.name(), |line| line.took.waits[stall]);
            }
        }
        output::table(table);
    }
}

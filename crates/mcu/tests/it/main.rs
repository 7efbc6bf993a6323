//! The simulator against manuals, properties, QEMU and its own kernels.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod baseline;
mod cross;
mod firmware;
mod instances;
mod isa_properties;
mod isa_qemu;
mod isa_stops;
mod isa_table;
mod kernels;
mod kernels_build;
mod timing_rules;
mod unmarked;

use std::io::Write as _;

use keymark_mcu::instruction::Register;
use keymark_mcu::kernel::Umaal;
use keymark_mcu::machine::{Layout, Memory, SimulatedMachine};
use keymark_mcu::microcontroller::Microcontroller;

const FLASH: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;
const LAYOUT: Layout = Layout {
    flash_base: FLASH,
    flash_size: 0x4000,
    ram_base: RAM,
    ram_size: 0x1000,
    ccm_base: 0,
    ccm_size: 0,
};

/// A machine with several stretches of code, that begins with the first of them.
fn machine(code: &[(u32, &[u16])]) -> SimulatedMachine {
    let mut memory = Memory::new(LAYOUT);
    for (address, code) in code {
        let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
        memory.load(*address, &bytes).unwrap();
    }
    SimulatedMachine::new(memory, code[0].0 | 1, RAM + 0x800)
}

/// Puts these values in R0, R1, …
fn set(machine: &mut SimulatedMachine, values: &[u32]) {
    for (number, &value) in (0..).zip(values) {
        machine.registers.set(Register::new(number), value);
    }
}

fn register(machine: &SimulatedMachine, number: u32) -> u32 {
    machine.registers.get(Register::new(number))
}

/// The smallest part that has the instructions.
fn part(umaal: Umaal) -> Microcontroller {
    let name = match umaal {
        Umaal::On => "stm32l432",
        Umaal::Off | Umaal::Portable => "stm32f103",
    };
    Microcontroller::find(name).unwrap()
}

/// Not through the macro, which the harness captures.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

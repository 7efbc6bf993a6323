//! Any code: every halfword is decoded, and all of it is executed from RAM and from flash.
//!
//! An input is an octet of which each bit makes one of R0 to R7 point to the code, sixteen octets for R8 to
//! R11, and code.

#![no_main]

use keymark_mcu::decode::decode;
use keymark_mcu::instruction::{Flags, Register};
use keymark_mcu::machine::{Layout, Memory, SimulatedMachine, Stop};
use keymark_mcu::timing::Untimed;
use libfuzzer_sys::fuzz_target;

const INSTRUCTIONS: u64 = 2_000;
const CODE: usize = 0x400;
const LAYOUT: Layout = Layout {
    flash_base: 0x0800_0000,
    flash_size: 0x1000,
    ram_base: 0x2000_0000,
    ram_size: 0x1000,
    ccm_base: 0,
    ccm_size: 0,
};

fuzz_target!(|data: &[u8]| {
    let Some((&[pointers], rest)) = data.split_first_chunk() else {
        return;
    };
    let Some((values, code)) = rest.split_first_chunk::<16>() else {
        return;
    };
    let code = &code[..code.len().min(CODE)];
    let (halves, _) = code.as_chunks();
    let halves: Vec<u16> = halves
        .iter()
        .map(|half| u16::from_le_bytes(*half))
        .collect();
    for (&first, &second) in halves.iter().zip(halves.iter().cycle().skip(1)) {
        for flags in [Flags::Keep, Flags::Set] {
            for address in [LAYOUT.ram_base, 0, u32::MAX - 1] {
                let _ = decode(first, second, address, flags);
            }
        }
    }
    for start in [LAYOUT.ram_base, LAYOUT.flash_base] {
        let mut memory = Memory::new(LAYOUT);
        for base in [LAYOUT.ram_base, LAYOUT.flash_base] {
            memory.load(base + 0x100, code).expect("it has room");
        }
        let mut machine = SimulatedMachine::new(memory, start + 0x101, LAYOUT.ram_base + 0xc00);
        for number in (0..8).filter(|number| pointers >> number & 1 == 1) {
            let pointer = LAYOUT.ram_base + 0x101 + 0x40 * number;
            machine.registers.set(Register::new(number), pointer);
        }
        for (number, value) in (8..).zip(values.as_chunks().0) {
            let value = u32::from_be_bytes(*value);
            machine.registers.set(Register::new(number), value);
        }
        let stop = machine.run(&mut Untimed, INSTRUCTIONS);
        assert!(machine.executed() <= INSTRUCTIONS);
        if let Stop::Fault(fault) = stop {
            assert_eq!(fault.address, machine.pc());
        }
    }
});

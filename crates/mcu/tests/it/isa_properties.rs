//! What holds for any code and any operands.

use keymark_mcu::decode::{decode, is_wide, it_conditions};
use keymark_mcu::instruction::{Flags, Instruction};
use keymark_mcu::machine::Stop;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::timing::{Pipeline, Untimed};
use proptest::prelude::*;

use crate::{LAYOUT, RAM, machine, set};

/// Where code is, in RAM.
const START: u32 = RAM + 0x100;

/// Registers that point somewhere, more often than not, for accesses to succeed.
fn pointer() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        RAM..RAM + 0x1000,
        Just(RAM + 0x101),
        Just(0x0800_0001),
        0..0x400u32
    ]
}

/// Halfwords, half of which begin instructions of 32 bits.
fn halfwords(count: usize) -> impl Strategy<Value = Vec<u16>> {
    let half = prop_oneof![
        any::<u16>(),
        0xe800..=0xffffu16,
        0xbf00..=0xbfffu16,
        Just(0xbeab)
    ];
    proptest::collection::vec(half, count)
}

proptest! {
    #[test]
    fn anything_can_be_decoded(
        first in prop_oneof![any::<u16>(), 0xe800..=0xffffu16],
        second: u16,
        address in prop_oneof![any::<u32>(), Just(u32::MAX - 1), Just(0)],
        in_block: bool,
    ) {
        let flags = if in_block { Flags::Keep } else { Flags::Set };
        let (operation, size) = decode(first, second, address, flags);
        prop_assert_eq!(size, if is_wide(first) { 4 } else { 2 });
        prop_assert!(it_conditions(first).len() <= 4);
        for condition in it_conditions(first) {
            let instruction = Instruction::new(operation, size, condition);
            prop_assert_eq!(instruction.facts.size, size);
        }
    }

    #[test]
    fn anything_can_be_executed(
        code in halfwords(64),
        values in proptest::collection::vec(pointer(), 13),
    ) {
        let mut untimed = machine(&[(START, &code)]);
        set(&mut untimed, &values);
        let mut timed = untimed.clone();
        let stop = untimed.run(&mut Untimed, 1000);
        prop_assert!(untimed.executed() <= 1000);
        prop_assert_eq!(stop == Stop::Limit, untimed.executed() == 1000);
        if let Stop::Fault(fault) = &stop {
            prop_assert_eq!(fault.address, untimed.pc());
            prop_assert!(!fault.to_string().is_empty());
        }
        // Timing changes nothing, nor does executing it one by one.
        let part = Microcontroller::find("stm32f405").unwrap();
        let mut pipeline = Pipeline::new(part.core.timing(), part.flash, &LAYOUT);
        let mut last = Stop::Limit;
        while last == Stop::Limit && timed.executed() < 1000 {
            last = timed.run(&mut pipeline, 1);
        }
        prop_assert_eq!(last, stop);
        prop_assert_eq!(timed.executed(), untimed.executed());
        prop_assert_eq!(&timed.registers, &untimed.registers);
        prop_assert_eq!(timed.memory.bytes(RAM, 0x1000), untimed.memory.bytes(RAM, 0x1000));
    }
}

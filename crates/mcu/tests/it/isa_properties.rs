//! What holds for any code and any operands.

use keymark_mcu::decode::{decode, is_wide, it_conditions};
use keymark_mcu::instruction::{Flags, Instruction, Register};
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

    #[test]
    fn what_is_stored_is_loaded(list in 1..0x1000u16, values in any::<[u32; 12]>(), down: bool) {
        // stm r12!, {list} and ldmdb r12!, or stmdb and ldm; registers cleared between.
        prop_assume!(list.count_ones() > 1);
        let (store, load) = if down { (0xe92c, 0xe8bc) } else { (0xe8ac, 0xe93c) };
        let mut machine = machine(&[(START, &[store, list, load, list])]);
        set(&mut machine, &values);
        let base = RAM + 0x400;
        machine.registers.set(Register::new(12), base);
        prop_assert_eq!(machine.run(&mut Untimed, 1), Stop::Limit);
        let moved = 4 * list.count_ones();
        let expected = if down { base - moved } else { base + moved };
        prop_assert_eq!(machine.registers.get(Register::new(12)), expected);
        set(&mut machine, &[0; 12]);
        prop_assert_eq!(machine.run(&mut Untimed, 1), Stop::Limit);
        prop_assert_eq!(machine.registers.get(Register::new(12)), base);
        for (number, &value) in (0..).zip(&values) {
            let listed = list >> number & 1 == 1;
            let register = machine.registers.get(Register::new(number));
            prop_assert_eq!(register, if listed { value } else { 0 });
        }
        // In the order of their numbers, the lowest at the lowest address.
        let lowest = expected.min(base);
        let listed = values.iter().enumerate().filter(|(number, _)| list >> number & 1 == 1);
        for (address, (_, &value)) in (lowest..).step_by(4).zip(listed) {
            prop_assert_eq!(machine.memory.word(address), Ok(value));
        }
    }
}

//! What holds for any code and any operands.

use keymark_mcu::decode::{decode, is_wide, it_conditions};
use keymark_mcu::instruction::{Flags, Instruction, Register};
use keymark_mcu::machine::{SimulatedMachine, Stop};
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::timing::{Pipeline, Untimed};
use proptest::prelude::*;

use crate::{LAYOUT, RAM, machine, set};

/// Where code is, in RAM.
const START: u32 = RAM + 0x100;

/// R0, R1, … after executing all of it.
fn execute<const N: usize>(
    code: &[u16],
    values: &[u32],
    instructions: u64,
) -> ([u32; N], SimulatedMachine) {
    let mut machine = machine(&[(START, code)]);
    set(&mut machine, values);
    assert_eq!(machine.run(&mut Untimed, instructions), Stop::Limit);
    let registers =
        std::array::from_fn(|number| machine.registers.get(Register::new(number as u32)));
    (registers, machine)
}

fn words(value: u128) -> [u32; 4] {
    std::array::from_fn(|index| (value >> (32 * index)) as u32)
}

fn number(words: &[u32]) -> u128 {
    words
        .iter()
        .rev()
        .fold(0, |number, &word| number << 32 | u128::from(word))
}

/// An operand; one in two lies where something overflows.
fn operand() -> impl Strategy<Value = u32> {
    let corner = (0..32u32, -2..=2i32).prop_map(|(bit, by)| (1u32 << bit).wrapping_add_signed(by));
    prop_oneof![any::<u32>(), corner]
}

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
    fn long_products_are_those_of_64_bits(a in operand(), b in operand(), low in operand(), high in operand()) {
        let sum = u64::from(high) << 32 | u64::from(low);
        let product = u64::from(a) * u64::from(b);
        let signed = i64::from(a as i32) * i64::from(b as i32);
        for (code, expected) in [
            ([0xfbe2, 0x0163], product + u64::from(high) + u64::from(low)), // umaal r0, r1, r2, r3
            ([0xfbe2, 0x0103], product.wrapping_add(sum)),                  // umlal r0, r1, r2, r3
            ([0xfbc2, 0x0103], sum.wrapping_add_signed(signed)),            // smlal r0, r1, r2, r3
            ([0xfba2, 0x0103], product),                                    // umull r0, r1, r2, r3
            ([0xfb82, 0x0103], signed as u64),                              // smull r0, r1, r2, r3
        ] {
            let ([l, h], _) = execute(&code, &[low, high, a, b], 1);
            prop_assert_eq!(u64::from(h) << 32 | u64::from(l), expected);
        }
    }

    #[test]
    fn chains_of_carries_add_128_bits(a: u128, b: u128, near in any::<bool>()) {
        // Such that the carry runs through, every other time.
        let b = if near { (!a).wrapping_add(b & 3) } else { b };
        // adds r0, r4; adcs r1, r5; adcs r2, r6; adcs r3, r7
        let add: &[u16] = &[0x1900, 0x4169, 0x4172, 0x417b];
        // subs r0, r4; sbcs r1, r5; sbcs r2, r6; sbcs r3, r7
        let subtract: &[u16] = &[0x1b00, 0x41a9, 0x41b2, 0x41bb];
        let values = [words(a), words(b)].concat();
        let (sum, machine) = execute::<4>(add, &values, 4);
        prop_assert_eq!(number(&sum), a.wrapping_add(b));
        prop_assert_eq!(machine.registers.carry, a.checked_add(b).is_none());
        prop_assert_eq!(machine.registers.overflow, (a as i128).checked_add(b as i128).is_none());
        let (difference, machine) = execute::<4>(subtract, &values, 4);
        prop_assert_eq!(number(&difference), a.wrapping_sub(b));
        prop_assert_eq!(machine.registers.carry, a >= b);
        prop_assert_eq!(machine.registers.overflow, (a as i128).checked_sub(b as i128).is_none());
    }

    #[test]
    fn a_row_of_umaal_multiplies(a in any::<[u32; 4]>(), b in operand()) {
        // R0 carries, R1 is the factor, R2 to R5 the number, R6 to R9 the row: umaal r6, r0, r2, r1 …
        let code = [0xfbe2, 0x6061, 0xfbe3, 0x7061, 0xfbe4, 0x8061, 0xfbe5, 0x9061];
        let (row, _) = execute::<10>(&code, &[&[0, b], &a[..], &[0; 4]].concat(), 4);
        // 160 bits: the low 128, and what is above by halves.
        let low = number(&a).wrapping_mul(u128::from(b));
        let above = (number(&a[2..]) * u128::from(b) + ((number(&a[..2]) * u128::from(b)) >> 64)) >> 64;
        prop_assert_eq!(number(&row[6..]), low);
        prop_assert_eq!(u128::from(row[0]), above);
    }

    #[test]
    fn flags_are_those_of_exact_arithmetic(a in operand(), b in operand()) {
        let (ua, ub) = (i64::from(a), i64::from(b));
        let (sa, sb) = (i64::from(a as i32), i64::from(b as i32));
        for (code, adds, unsigned, signed) in [
            (0x1840, true, ua + ub, sa + sb), // adds r0, r0, r1
            (0x1a40, false, ua - ub, sa - sb), // subs r0, r0, r1
            (0x4288, false, ua - ub, sa - sb), // cmp r0, r1
            (0x42c8, true, ua + ub, sa + sb), // cmn r0, r1
        ] {
            let ([r0], machine) = execute(&[code], &[a, b], 1);
            let registers = &machine.registers;
            let result = unsigned as u32;
            let writes = code < 0x4000;
            prop_assert_eq!(r0, if writes { result } else { a });
            prop_assert_eq!(registers.negative(), (result as i32) < 0);
            prop_assert_eq!(registers.zero(), result == 0);
            let carry = if adds { unsigned >> 32 != 0 } else { unsigned >= 0 };
            prop_assert_eq!(registers.carry, carry);
            prop_assert_eq!(registers.overflow, i64::from(signed as i32) != signed);
        }
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

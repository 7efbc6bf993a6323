//! How programs end that cannot go on (most are in `isa/stops.table`), and what becomes of code that changes.

use keymark_mcu::instruction::Register;
use keymark_mcu::machine::{CpuFault, Reason, SimulatedMachine, Stop};
use keymark_mcu::timing::{Retired, Timing, Untimed};

use crate::{FLASH, LAYOUT, RAM, machine, register, set};

const START: u32 = FLASH + 0x100;

/// Runs code in flash with these values in R0, R1, …
fn run(code: &[u16], values: &[u32]) -> (SimulatedMachine, Stop) {
    let mut machine = machine(&[(START, code)]);
    set(&mut machine, values);
    let stop = machine.run(&mut Untimed, 100);
    (machine, stop)
}

fn no_code(address: u32) -> Stop {
    let reason = Reason::NoCode;
    Stop::Fault(CpuFault { address, reason })
}

#[test]
fn code_that_runs_out_of_memory_is_a_fault_there() {
    for (start, end) in [
        (FLASH + LAYOUT.flash_size - 4, FLASH + LAYOUT.flash_size),
        (RAM + LAYOUT.ram_size - 4, RAM + LAYOUT.ram_size),
    ] {
        let mut two_nops = machine(&[(start, &[0xbf00, 0xbf00])]);
        assert_eq!(two_nops.run(&mut Untimed, 100), no_code(end));
        assert_eq!(two_nops.executed(), 2);
        // Of bl only the first half is there.
        let mut half = machine(&[(start, &[0xbf00, 0xf000])]);
        assert_eq!(half.run(&mut Untimed, 100), no_code(end - 2));
        // it eq, and nothing to which it applies.
        let mut block = machine(&[(start, &[0xbf00, 0xbf08])]);
        assert_eq!(block.run(&mut Untimed, 100), no_code(end));
        assert_eq!(block.executed(), 2);
    }
    for target in [0x4000_0001, 0xffff_ffff, LAYOUT.flash_size + 1] {
        let (_, stop) = run(&[0x4718], &[0, 0, 0, target]); // bx r3
        assert_eq!(stop, no_code(target & !1));
    }
}

#[test]
fn endless_loops_end_at_the_limit_and_can_be_continued() {
    let mut endless = machine(&[(START, &[0x3001, 0xe7fd])]); // adds r0, #1; b .-2
    for round in 1..=3 {
        assert_eq!(endless.run(&mut Untimed, 100), Stop::Limit);
        assert_eq!(endless.executed(), 100 * round);
        assert_eq!(u64::from(register(&endless, 0)), 50 * round);
    }
    assert_eq!(endless.run(&mut Untimed, 0), Stop::Limit);
    assert_eq!(endless.executed(), 300);
}

/// Notes every marker with the number of instructions retired before it.
#[derive(Default)]
struct Markers {
    retired: usize,
    markers: Vec<(usize, u8)>,
}

impl Timing for Markers {
    fn retire(&mut self, retired: &Retired<'_>) {
        self.retired += retired.len();
    }

    fn marker(&mut self, number: u8) {
        self.markers.push((self.retired, number));
    }
}

#[test]
fn breakpoints_are_markers() {
    // bkpt #1; nop; bkpt #0xff; bkpt #0; b .
    let mut marked = machine(&[(START, &[0xbe01, 0xbf00, 0xbeff, 0xbe00, 0xe7fe])]);
    let mut markers = Markers::default();
    assert_eq!(marked.run(&mut markers, 5), Stop::Limit);
    assert_eq!(markers.markers, [(1, 1), (3, 0xff), (4, 0)]);
    assert_eq!(markers.retired, 5);
    // They are unconditional: movs r0, #1; ite eq; bkpt #1; bkpt #2; b . (A7.7.17)
    let mut marked = machine(&[(START, &[0x2001, 0xbf0c, 0xbe01, 0xbe02, 0xe7fe])]);
    let mut markers = Markers::default();
    assert_eq!(marked.run(&mut markers, 5), Stop::Limit);
    assert_eq!(markers.markers, [(3, 1), (4, 2)]);
}

#[test]
fn a_program_can_ask_what_semihosting_can_do() {
    // bkpt #0xab; mov r4, r0; str r0, [r5]; movs r0, #6; mov r1, r5; bkpt #0xab; b .
    let code = [0xbeab, 0x4604, 0x6028, 0x2006, 0x4629, 0xbeab, 0xe7fe];
    let mut asking = machine(&[(START, &code)]);
    set(&mut asking, &[1, RAM, 0, 0, 0, RAM + 0x40]);
    let open = [RAM + 0x20, 0, 21].map(u32::to_le_bytes).concat();
    let read = [0, RAM + 0x80, 8].map(u32::to_le_bytes).concat();
    let name = b":semihosting-features\0";
    for (address, bytes) in [(RAM, &open[..]), (RAM + 0x20, name), (RAM + 0x40, &read)] {
        asking.memory.load(address, bytes).unwrap();
    }
    asking.run(&mut Untimed, 20);
    assert_eq!(asking.memory.bytes(RAM + 0x80, 5).unwrap(), b"SHFB\x03");
    assert_eq!(register(&asking, 0), 3, "bytes that are not there");
}

#[test]
fn output_is_handed_over_before_it_grows_without_bounds() {
    // loop: bkpt #0xab; movs r0, #5; b loop: SYS_WRITE of all RAM
    let mut writer = machine(&[(START, &[0xbeab, 0x2005, 0xe7fc])]);
    set(&mut writer, &[5, RAM]);
    let block = [1, RAM, LAYOUT.ram_size].map(u32::to_le_bytes).concat();
    writer.memory.load(RAM, &block).unwrap();
    assert_eq!(writer.run(&mut Untimed, 100_000), Stop::Output);
    assert_eq!(writer.take_output().len(), 1 << 20);
    assert_eq!(
        writer.run(&mut Untimed, 100_000),
        Stop::Output,
        "and goes on"
    );
}

#[test]
fn both_names_of_flash_are_executed() {
    let other = 0x200;
    // bx r3, from each name to the other; there movs r0, #9 and b .
    for (start, target) in [(START, other), (START - FLASH, FLASH + other)] {
        let target_code: &[u16] = &[0x2009, 0xe7fe];
        let mut both = machine(&[(start, &[0x4718]), (other, target_code)]);
        both.registers.set(Register::new(3), target | 1);
        assert_eq!(both.run(&mut Untimed, 10), Stop::Limit);
        assert_eq!((register(&both, 0), both.pc()), (9, target + 2));
    }
    // From RAM to flash, by either name.
    for target in [other, FLASH + other] {
        let mut from_ram = machine(&[(RAM, &[0x4718]), (other, &[0x2009, 0xe7fe])]);
        from_ram.registers.set(Register::new(3), target | 1);
        assert_eq!(from_ram.run(&mut Untimed, 10), Stop::Limit);
        assert_eq!((register(&from_ram, 0), from_ram.pc()), (9, target + 2));
    }
}

#[test]
fn changed_code_is_executed_anew_after_a_branch() {
    // A function of movs r0, #1; bx lr is called, overwritten, and called again.
    let function: &[u16] = &[0x2001, 0x4770];
    // blx r4; adds r5, r0; strh r2, [r3]; blx r4; adds r5, r0, r5; b .
    let caller: &[u16] = &[0x47a0, 0x4605, 0x801a, 0x47a0, 0x1945, 0xe7fe];
    for (caller_at, function_at) in [(START, RAM + 2), (RAM + 0x100, RAM), (RAM, RAM + 0x100)] {
        let mut changing = machine(&[(caller_at, caller), (function_at, function)]);
        let registers = &mut changing.registers;
        registers.set(Register::new(2), 0x2007); // movs r0, #7
        registers.set(Register::new(3), function_at);
        registers.set(Register::new(4), function_at | 1);
        assert_eq!(changing.run(&mut Untimed, 20), Stop::Limit);
        assert_eq!(register(&changing, 5), 8);
    }
}

#[test]
fn changed_code_is_executed_anew_after_a_barrier() {
    // movs r7, #3
    // loop: strh r2, [r3]; isb; patched: movs r0, #1; subs r3, #0xf8; add r0, r5; movs r5, r0
    // subs r7, #1; bne loop; b .
    let code: &[u16] = &[
        0x2703, 0x801a, 0xf3bf, 0x8f6f, 0x2001, 0x3bf8, 0x4428, 0x0005, 0x3f01, 0xd1f6, 0xe7fe,
    ];
    let mut changing = machine(&[(RAM, code)]);
    let registers = &mut changing.registers;
    registers.set(Register::new(2), 0x2007); // movs r0, #7
    // Only the third write meets the code, which the second pass has executed.
    registers.set(Register::new(3), RAM + 8 + 2 * 0xf8);
    assert_eq!(changing.run(&mut Untimed, 40), Stop::Limit);
    assert_eq!(register(&changing, 5), 1 + 1 + 7);
}

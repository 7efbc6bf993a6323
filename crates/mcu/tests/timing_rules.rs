//! Each rule of the timing model on a few instructions, with the figure of the manual that is cited.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use keymark_mcu::instruction::Class;
use keymark_mcu::layout::Layout;
use keymark_mcu::machine::{Machine, Memory, Stop};
use keymark_mcu::timing::{Account, CacheShape, CoreTiming, FlashTiming, Pairing, Pipeline, Stall};

const LAYOUT: Layout = Layout {
    flash_base: 0x0800_0000,
    flash_size: 0x1_0000,
    ram_base: 0x2000_0000,
    ram_size: 0x4000,
};

/// Flash that never waits.
const NO_WAIT: FlashTiming = FlashTiming {
    read_bytes: 8,
    wait_states: 0,
    reads_ahead: 2,
    instruction_cache: None,
    data_cache: None,
};

const fn waits(wait_states: u8) -> FlashTiming {
    FlashTiming {
        wait_states,
        ..NO_WAIT
    }
}

/// Runs these halfwords from `address` on, between two markers; gives what lies between.
fn run_at(address: u32, core: CoreTiming, flash: FlashTiming, code: &[u16]) -> Account {
    let mut memory = Memory::new(LAYOUT);
    // R1 points into RAM, R0 and R2 are long operands; then the code, and the end.
    let set_up = [0xbe01];
    let end = [
        0xbe00, 0x2018, 0x4902, 0xbeab, 0xbf00, 0xbf00, 0x0026, 0x0002,
    ];
    let all: Vec<u8> = set_up
        .iter()
        .chain(code)
        .chain(&end)
        .flat_map(|half: &u16| half.to_le_bytes())
        .collect();
    memory.load(address - 2, &all).unwrap();
    let mut machine = Machine::new(memory, address - 2, LAYOUT.ram_base + LAYOUT.ram_size);
    for (register, value) in [
        (0, 0xdead_beef),
        (1, 0x2000_0100),
        (2, 0x1234_5678),
        (3, 5),
        (4, 0x2000_0200),
    ] {
        machine
            .registers
            .set(keymark_mcu::instruction::Register::new(register), value);
    }
    let mut pipeline = Pipeline::new(core, flash, &LAYOUT);
    let stop = machine.run(&mut pipeline, 10_000);
    assert!(
        pipeline.phases().len() == 3,
        "{stop:?}: both markers must be passed"
    );
    assert!(matches!(stop, Stop::Exit(_) | Stop::Fault(_)), "{stop:?}");
    pipeline.phases()[1].account.clone()
}

/// Cycles of the code alone, without waits: the marker that ends it takes one.
fn cycles(core: CoreTiming, code: &[u16]) -> u64 {
    run_at(0x0800_0002, core, NO_WAIT, code).cycles() - 1
}

fn m3(code: &[u16]) -> u64 {
    cycles(CoreTiming::CORTEX_M3, code)
}

fn m4(code: &[u16]) -> u64 {
    cycles(CoreTiming::CORTEX_M4, code)
}

#[test]
fn arithmetic_takes_one_cycle() {
    assert_eq!(
        m3(&[0x1818, 0x4158, 0x0058, 0x4043]),
        4,
        "ADDS, ADCS, LSLS, EORS"
    );
    assert_eq!(m3(&[0x4343]), 1, "MULS (DDI 0337I, table 3-1)");
}

#[test]
fn long_products_end_early_on_the_m3_and_take_one_cycle_on_the_m4() {
    let umull = |n: u16, m: u16| [0xfba0 | n, 0x5600 | m]; // UMULL R5, R6, Rn, Rm
    assert_eq!(m3(&umull(0, 2)), 5, "two long operands");
    assert_eq!(m3(&umull(0, 3)), 4, "one below 2^16");
    assert_eq!(m3(&umull(3, 3)), 3, "both below 2^16");
    let umlal = [0xfbe0, 0x5602]; // UMLAL R5, R6, R0, R2
    assert_eq!(m3(&umlal), 7);
    assert_eq!(
        (m4(&umull(0, 2)), m4(&umlal)),
        (1, 1),
        "DDI 0439, table 3-1"
    );
    assert_eq!(m4(&[0xfbe0, 0x5662]), 1, "UMAAL");
}

#[test]
fn mla_takes_two_cycles_on_the_m3() {
    let mla = [0xfb00, 0x5502]; // MLA R5, R0, R2, R5
    assert_eq!((m3(&mla), m4(&mla)), (2, 1));
}

#[test]
fn division_takes_two_to_twelve_cycles() {
    let udiv = |n: u16, m: u16| [0xfbb0 | n, 0xf5f0 | m]; // UDIV R5, Rn, Rm
    assert_eq!(m3(&udiv(3, 0)), 2, "a small by a large number");
    assert!(
        (3..=12).contains(&m3(&udiv(0, 3))),
        "a quotient of thirty bits"
    );
}

#[test]
fn a_load_takes_two_cycles_and_one_behind_another() {
    assert_eq!(m3(&[0x680d]), 2, "LDR R5, [R1]");
    assert_eq!(
        m3(&[0x680d, 0x6826]),
        3,
        "LDR R5, [R1]; LDR R6, [R4] (3.3.2)"
    );
    assert_eq!(m3(&[0x680d, 0x684e, 0x688f]), 4, "three from one base");
    assert_eq!(m3(&[0x680d, 0x1818, 0x6826]), 5, "not across an addition");
}

#[test]
fn a_load_is_not_pipelined_when_its_address_was_just_loaded() {
    let mut memory_safe = vec![0x6021]; // STR R1, [R4]: so that what is loaded is an address
    memory_safe.extend([0x6825, 0x682e]); // LDR R5, [R4]; LDR R6, [R5]
    assert_eq!(m3(&memory_safe), 1 + 2 + 2);
}

#[test]
fn a_store_takes_one_cycle_and_with_a_register_offset_two() {
    assert_eq!(m3(&[0x600d]), 1, "STR R5, [R1] (3.3.2: always one cycle)");
    assert_eq!(m3(&[0x50cd]), 2, "STR R5, [R1, R3]");
    assert_eq!(
        m3(&[0x680d, 0x50e5]),
        3,
        "LDR R5, [R1]; STR R5, [R4, R3]: three in total"
    );
}

#[test]
fn multiple_transfers_take_one_cycle_and_one_a_register() {
    assert_eq!(m3(&[0xc960]), 3, "LDMIA R1!, {{R5, R6}}");
    assert_eq!(m3(&[0xe8a1, 0x07e0]), 7, "STMIA R1!, {{R5-R10}}");
    assert_eq!(m3(&[0xe9d1, 0x5600]), 3, "LDRD R5, R6, [R1]");
}

#[test]
fn an_address_that_was_just_computed_waits_a_cycle() {
    assert_eq!(
        m3(&[0x3104, 0x680d]),
        1 + 1 + 2,
        "ADDS R1, #4; LDR R5, [R1]: no forwarding (3.3.2)"
    );
    assert_eq!(m3(&[0x3104, 0x6825]), 1 + 2, "another base");
}

#[test]
fn a_taken_branch_refills_the_pipeline() {
    assert_eq!(m3(&[0xe000, 0xbf00]), 1 + 2, "B over a NOP: 1 + P");
    assert_eq!(m3(&[0xd100, 0xbf00]), 1 + 2, "BNE taken: Z is clear");
    assert_eq!(m3(&[0xd000, 0xbf00]), 2, "BEQ not taken, NOP");
    let account = run_at(
        0x0800_0002,
        CoreTiming::CORTEX_M3,
        NO_WAIT,
        &[0xe000, 0xbf00],
    );
    assert_eq!(account.stall(Stall::Refill), 2);
}

#[test]
fn a_wide_target_across_a_word_costs_a_cycle_more() {
    // The code begins two bytes behind a word boundary: B over a NOP to a MOVW across one, and, behind
    // another NOP, to a MOVW at one.
    let wide = [0xf240, 0x0500];
    let across = m3(&[&[0xe000, 0xbf00][..], &wide].concat());
    let aligned = m3(&[&[0xbf00, 0xe000, 0xbf00][..], &wide].concat()) - 1;
    assert_eq!(aligned, 1 + 2 + 1, "1 + P and the MOVW");
    assert_eq!(across, aligned + 1, "P is longer (DDI 0337, 3.3.1)");
}

#[test]
fn it_folds_into_a_narrow_instruction() {
    // ITE NE; MOVNE R5, #1; MOVEQ R5, #2
    let block = [0xbf14, 0x2501, 0x2502];
    assert_eq!(
        m3(&[&[0xbf00][..], &block].concat()),
        1 + 2,
        "behind a NOP of two bytes"
    );
    assert_eq!(
        m3(&[&[0xf240, 0x0500][..], &block].concat()),
        1 + 1 + 2,
        "behind a MOVW of four"
    );
}

#[test]
fn straight_narrow_code_is_fetched_in_time() {
    // Sixty-four one-cycle instructions of two bytes: four a read of three cycles (PM0075, 2.3.2).
    let account = run_at(0x0800_0002, CoreTiming::CORTEX_M3, waits(2), &[0xbf00; 64]);
    assert_eq!(account.stall(Stall::Fetch), 0);
}

#[test]
fn straight_wide_code_runs_as_fast_as_flash_delivers() {
    // MOVW R5, #0: two a read of three cycles.
    let code = [0xf240, 0x0500].repeat(60);
    let account = run_at(0x0800_0002, CoreTiming::CORTEX_M3, waits(2), &code);
    let per_read = account.cycles() as f64 / 30.0;
    assert!((2.8..3.2).contains(&per_read), "{per_read} cycles a read");
    let account = run_at(0x0800_0002, CoreTiming::CORTEX_M3, waits(0), &code);
    assert_eq!(account.stall(Stall::Fetch), 0);
}

/// `SUBS R3, #1; BNE` back over it: five times round.
const LOOP: [u16; 2] = [0x3b01, 0xd1fd];

#[test]
fn a_branch_waits_for_its_target_without_a_cache_and_not_with_one() {
    let cached = FlashTiming {
        instruction_cache: Some(CacheShape {
            lines: 8,
            reads_per_line: 1,
            ways: 8,
        }),
        ..waits(4)
    };
    // Padded, so that the loop crosses from one read of eight bytes to the next.
    let code = [&[0xbf00, 0xbf00][..], &LOOP].concat();
    let plain = run_at(0x0800_0002, CoreTiming::CORTEX_M4, waits(4), &code);
    let with_cache = run_at(0x0800_0002, CoreTiming::CORTEX_M4, cached, &code);
    assert!(plain.stall(Stall::Fetch) >= 4 * 4, "{plain:?}");
    assert!(
        with_cache.stall(Stall::Fetch) < plain.stall(Stall::Fetch) / 2,
        "{with_cache:?}"
    );
    assert!(with_cache.instruction_cache.hits > 0);
}

#[test]
fn data_in_flash_waits_and_a_data_cache_spares_that() {
    // LDR R5, literal, twice from the same word, with an addition between.
    let code = [
        0x4d02, 0x1818, 0x4d01, 0xe002, 0xbf00, 0x1111, 0x2222, 0x3333,
    ];
    let plain = run_at(0x0800_0002, CoreTiming::CORTEX_M4, waits(4), &code);
    let cached = FlashTiming {
        data_cache: Some(CacheShape {
            lines: 8,
            reads_per_line: 4,
            ways: 8,
        }),
        ..waits(4)
    };
    let with_cache = run_at(0x0800_0002, CoreTiming::CORTEX_M4, cached, &code);
    assert!(plain.stall(Stall::Data) >= 8, "{plain:?}");
    assert_eq!(with_cache.data_cache.hits, 1, "{with_cache:?}");
    assert!(with_cache.stall(Stall::Data) < plain.stall(Stall::Data));
}

#[test]
fn each_word_of_a_multiple_load_from_flash_waits() {
    // ADR R5; LDMIA R5!, {R0, R2, R3}; the words behind a branch over them.
    let load = |list: u16| {
        [
            0xa501,
            0xcd00 | list,
            0xe008,
            0xbf00,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ]
    };
    let waited = |list: u16| {
        run_at(0x0800_0004, CoreTiming::CORTEX_M3, waits(2), &load(list)).stall(Stall::Data)
    };
    assert_eq!(
        waited(0b1101) - waited(0b0001),
        2 * 2,
        "two more words, two wait states each"
    );
}

#[test]
fn code_in_ram_does_not_wait_for_flash_but_for_its_data() {
    let wide = [0xf240, 0x0500].repeat(20);
    let account = run_at(0x2000_0802, CoreTiming::CORTEX_M3, waits(4), &wide);
    assert_eq!(account.stall(Stall::Fetch), 0);
    // LDR R5, [R1] from the same RAM: one bus for both (DDI 0337, 1.2).
    let account = run_at(0x2000_0802, CoreTiming::CORTEX_M3, waits(4), &[0x680d]);
    assert_eq!(account.stall(Stall::Data), 1);
}

#[test]
fn every_cycle_is_accounted_for() {
    let code = [
        &[
            0x680d, 0x3104, 0xc960, 0xfba0, 0x5602, 0xbf14, 0x2501, 0x2502,
        ][..],
        &LOOP,
    ]
    .concat();
    let account = run_at(0x0800_0002, CoreTiming::CORTEX_M3, waits(2), &code);
    let of_classes: u64 = Class::ALL
        .iter()
        .map(|&class| account.class(class).cycles)
        .sum();
    let of_waits: u64 = [Stall::Address, Stall::Refill, Stall::Fetch, Stall::Data]
        .iter()
        .map(|&stall| account.stall(stall))
        .sum();
    assert_eq!(account.cycles(), of_classes + of_waits);
    assert_eq!(account.instructions(), 7 + 2 * 5 + 1);
}

/// "Unaligned load … one extra cycle for a byte-aligned halfword or a halfword-aligned word, two for a
/// byte-aligned word" (3.3.2).
#[test]
fn an_unaligned_load_takes_the_accesses_into_which_it_is_split() {
    let load = |width: u16, offset: u16| [width | 1, 0x5000 | offset]; // LDR{H,B}.W R5, [R1, #offset]
    let (word, half, byte) = (0xf8d0, 0xf8b0, 0xf890);
    assert_eq!(
        [0, 1, 2, 3].map(|offset| m4(&load(word, offset))),
        [2, 4, 3, 4]
    );
    assert_eq!(
        [0, 1, 2, 3].map(|offset| m4(&load(half, offset))),
        [2, 3, 2, 3]
    );
    assert_eq!([0, 1].map(|offset| m4(&load(byte, offset))), [2, 2]);
}

#[test]
fn what_is_skipped_is_no_neighbour() {
    let (compare, it_ne) = (0x4289, 0xbf18); // CMP R1, R1
    assert_eq!(
        m3(&[compare, it_ne, 0x680d, 0x6826]),
        4,
        "LDRNE, LDR R6, [R4]: no pair"
    );
    assert_eq!(
        m3(&[compare, it_ne, 0x3404, 0x6826]),
        4,
        "ADDNE R4: no address was computed"
    );
}

#[test]
fn a_register_offset_store_pairs_unless_its_address_was_loaded() {
    assert_eq!(m3(&[0x680d, 0x50e2]), 3, "LDR R5, [R1]; STR R2, [R4, R3]");
    assert_eq!(m3(&[0x680d, 0x5162]), 4, "LDR R5, [R1]; STR R2, [R4, R5]");
}

/// "ABS(inputs) < 64K terminates early" (table 3-1).
#[test]
fn signed_operands_count_by_their_magnitude() {
    let negate = 0x425d; // RSBS R5, R3, #0: −5
    assert_eq!(m3(&[negate, 0xfb85, 0x6705]), 1 + 3, "SMULL R6, R7, R5, R5");
    assert_eq!(m3(&[negate, 0xfbc5, 0x6705]), 1 + 4, "SMLAL");
    assert_eq!(
        m3(&[negate, 0xfb95, 0xf6f3]),
        1 + m3(&[0xfb93, 0xf6f3]),
        "SDIV R6, R5, R3 as 5 by 5"
    );
}

/// "STREX … treated more like an LDR" (3.3.2).
#[test]
fn strex_takes_two_cycles_and_one_behind_a_load() {
    let (load, store) = ([0xe851, 0x5f00], [0xe841, 0x2600]);
    assert_eq!(
        m3(&[load[0], load[1], 0xbf00, store[0], store[1]]),
        2 + 1 + 2
    );
    assert_eq!(m3(&[load[0], load[1], store[0], store[1]]), 2 + 1);
}

#[test]
fn isb_refills_the_pipeline() {
    assert_eq!(m3(&[0xf3bf, 0x8f6f]), 3, "1 + B, table 3-1");
}

/// "Folded onto a preceding 16-bit instruction" (table 3-1).
#[test]
fn it_folds_onto_its_neighbour_only_and_leaves_it_one() {
    let it_ne = 0xbf18;
    assert_eq!(
        m3(&[0xe000, 0xbf00, it_ne, 0x680d]),
        3 + 1 + 2,
        "behind a branch"
    );
    assert_eq!(
        m3(&[0x3404, it_ne, 0x6825]),
        1 + 3,
        "ADDS R4; LDRNE R5, [R4]: the address was computed"
    );
}

#[test]
fn wide_loads_across_words_and_those_that_update_their_base_may_not_pair() {
    let hindered = CoreTiming {
        pairing: Pairing::Hindered,
        ..CoreTiming::CORTEX_M4
    };
    let crossing = [0xf8d1, 0x5000, 0x6826]; // LDR.W R5, [R1] at an odd halfword; LDR R6, [R4]
    assert_eq!((m4(&crossing), cycles(hindered, &crossing)), (3, 4));
    let updating = [0xbf00, 0xf851, 0x5b04, 0x6826]; // LDR R5, [R1], #4, aligned
    assert_eq!((m4(&updating), cycles(hindered, &updating)), (4, 5));
    let plain = [0x680d, 0x6826];
    assert_eq!((m4(&plain), cycles(hindered, &plain)), (3, 3));
}

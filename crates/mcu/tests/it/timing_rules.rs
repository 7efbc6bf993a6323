//! Each rule of the timing model on a few instructions, with the figure of the manual that is cited.

use keymark_mcu::instruction::Class;
use keymark_mcu::machine::Stop;
use keymark_mcu::timing::{
    Account, CacheShape, CoreTiming, FlashTiming, Pairing, Pipeline, Ports, Stall, Untimed,
};

use crate::{LAYOUT, machine, set};

const M3: CoreTiming = CoreTiming::CORTEX_M3;
const M4: CoreTiming = CoreTiming::CORTEX_M4;
const M0: CoreTiming = CoreTiming::CORTEX_M0_PLUS;
/// With the small multiplier.
const M0_SMALL: CoreTiming = CoreTiming { multiply: 32, ..M0 };
/// The code begins two bytes behind a word boundary.
const START: u32 = 0x0800_0002;

/// Flash that never waits.
const NO_WAIT: FlashTiming = FlashTiming {
    read_bytes: 8,
    wait_states: 0,
    reads_ahead: 2,
    ports: Ports::Shared,
    instruction_cache: None,
    data_cache: None,
};

const fn waits(wait_states: u8) -> FlashTiming {
    FlashTiming {
        wait_states,
        ..NO_WAIT
    }
}

const fn cache(reads_per_line: u8) -> Option<CacheShape> {
    Some(CacheShape {
        lines: 8,
        reads_per_line,
        ways: 8,
    })
}

/// Runs these halfwords from `address` on, between two markers; gives what lies between.
fn run_at(address: u32, core: CoreTiming, flash: FlashTiming, code: &[u16]) -> Account {
    // R1 points into RAM, R0 and R2 are long operands; then the code, and the end.
    let end = [
        0xbe00, 0x2018, 0x4902, 0xbeab, 0xbf00, 0xbf00, 0x0026, 0x0002,
    ];
    let all = [&[0xbe01], code, &end].concat();
    // Before that STR R1, [R0] to CPACR allows floating point; BX R2 goes there.
    let mut machine = machine(&[(0x0800_3000, &[0x6001, 0x4710]), (address - 2, &all)]);
    set(&mut machine, &[0xe000_ed88, 0xf << 20, (address - 2) | 1]);
    machine.run(&mut Untimed, 2);
    let values = [0xdead_beef, 0x2000_0100, 0x1234_5678, 5, 0x2000_0200];
    set(&mut machine, &values);
    let mut pipeline = Pipeline::new(core, flash, &LAYOUT);
    let stop = machine.run(&mut pipeline, 10_000);
    let phases = pipeline.phases();
    assert_eq!(
        phases.iter().map(|phase| phase.count).collect::<Vec<_>>(),
        [2, 1],
        "{stop:?}: both markers must be passed"
    );
    assert!(matches!(stop, Stop::Exit(_) | Stop::Fault(_)), "{stop:?}");
    phases[1].account.clone()
}

/// Cycles of the code alone, without waits: the marker that ends it takes one.
fn cycles(core: CoreTiming, code: &[u16]) -> u64 {
    let flash = FlashTiming {
        ports: ports_of(core),
        ..NO_WAIT
    };
    run_at(START, core, flash, code).cycles() - 1
}

/// As `microcontroller` chooses them.
fn ports_of(core: CoreTiming) -> Ports {
    if core.call == M0.call {
        Ports::Single
    } else {
        Ports::Shared
    }
}

fn m3(code: &[u16]) -> u64 {
    cycles(M3, code)
}

/// A rule, its instructions from [`START`] on, and their cycles.
type Rule = (&'static str, CoreTiming, &'static [u16], u64);

/// Pages are those of DDI 0337I (Cortex-M3) and DDI 0439 (Cortex-M4), tables 3-1 and section 3.3.2.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    ("ADDS, ADCS, LSLS, EORS", M3, &[0x1818, 0x4158, 0x0058, 0x4043], 4),
    ("MULS", M3, &[0x4343], 1),
    ("UMULL R5, R6, R0, R2: two long operands", M3, &[0xfba0, 0x5602], 5),
    ("UMULL R5, R6, R0, R3: one below 2^16", M3, &[0xfba0, 0x5603], 4),
    ("UMULL R5, R6, R3, R3: both below 2^16", M3, &[0xfba3, 0x5603], 3),
    ("UMLAL R5, R6, R0, R2", M3, &[0xfbe0, 0x5602], 7),
    ("UMULL", M4, &[0xfba0, 0x5602], 1),
    ("UMLAL", M4, &[0xfbe0, 0x5602], 1),
    ("UMAAL", M4, &[0xfbe0, 0x5662], 1),
    ("RSBS R5, R3, #0; SMULL R6, R7, R5, R5: operands count by their magnitude", M3, &[0x425d, 0xfb85, 0x6705], 1 + 3),
    ("RSBS R5, R3, #0; SMLAL R6, R7, R5, R5", M3, &[0x425d, 0xfbc5, 0x6705], 1 + 4),
    ("MLA R5, R0, R2, R5", M3, &[0xfb00, 0x5502], 2),
    ("MLA", M4, &[0xfb00, 0x5502], 1),
    ("UDIV R5, R3, R0: a small by a large number", M3, &[0xfbb3, 0xf5f0], 2),
    ("LDR R5, [R1]", M3, &[0x680d], 2),
    ("LDR R5, [R1]; LDR R6, [R4]: behind another", M3, &[0x680d, 0x6826], 3),
    ("three loads from one base", M3, &[0x680d, 0x684e, 0x688f], 4),
    ("LDR, ADDS, LDR: not across an addition", M3, &[0x680d, 0x1818, 0x6826], 5),
    ("STR R1, [R4]; LDR R5, [R4]; LDR R6, [R5]: the address was just loaded", M3, &[0x6021, 0x6825, 0x682e], 1 + 2 + 2),
    ("STR R5, [R1]: always one cycle", M3, &[0x600d], 1),
    ("STR R5, [R1, R3]", M3, &[0x50cd], 2),
    ("LDR R5, [R1]; STR R5, [R4, R3]: three in total", M3, &[0x680d, 0x50e5], 3),
    ("LDR R5, [R1]; STR R2, [R4, R3]", M3, &[0x680d, 0x50e2], 3),
    ("LDR R5, [R1]; STR R2, [R4, R5]: its address was loaded", M3, &[0x680d, 0x5162], 4),
    ("LDMIA R1!, {R5, R6}", M3, &[0xc960], 3),
    ("STMIA R1!, {R5-R10}", M3, &[0xe8a1, 0x07e0], 7),
    ("LDRD R5, R6, [R1]", M3, &[0xe9d1, 0x5600], 3),
    ("LDREX, NOP, STREX: treated more like an LDR", M3, &[0xe851, 0x5f00, 0xbf00, 0xe841, 0x2600], 2 + 1 + 2),
    ("LDREX, STREX", M3, &[0xe851, 0x5f00, 0xe841, 0x2600], 2 + 1),
    ("ADDS R1, #4; LDR R5, [R1]: no forwarding", M3, &[0x3104, 0x680d], 1 + 1 + 2),
    ("ADDS R1, #4; LDR R5, [R4]: another base", M3, &[0x3104, 0x6825], 1 + 2),
    ("B over a NOP: 1 + P", M3, &[0xe000, 0xbf00], 1 + 2),
    ("BNE taken: Z is clear", M3, &[0xd100, 0xbf00], 1 + 2),
    ("BEQ not taken, NOP", M3, &[0xd000, 0xbf00], 2),
    ("NOP; B over a NOP to a MOVW at a word", M3, &[0xbf00, 0xe000, 0xbf00, 0xf240, 0x0500], 1 + 1 + 2 + 1),
    ("B over a NOP to a MOVW across a word: P is longer", M3, &[0xe000, 0xbf00, 0xf240, 0x0500], 1 + 3 + 1),
    ("ISB: 1 + B", M3, &[0xf3bf, 0x8f6f], 3),
    ("NOP; ITE NE; MOVNE R5, #1; MOVEQ R5, #2: folded onto a narrow instruction", M3, &[0xbf00, 0xbf14, 0x2501, 0x2502], 1 + 2),
    ("MOVW; ITE NE …: not onto a wide one", M3, &[0xf240, 0x0500, 0xbf14, 0x2501, 0x2502], 1 + 1 + 2),
    ("B; IT NE; LDRNE: nor behind a branch", M3, &[0xe000, 0xbf00, 0xbf18, 0x680d], 3 + 1 + 2),
    ("ADDS R4; IT NE; LDRNE R5, [R4]: the neighbor stays one", M3, &[0x3404, 0xbf18, 0x6825], 1 + 3),
    ("CMP R1, R1; IT NE; LDRNE; LDR R6, [R4]: what is skipped makes no pair", M3, &[0x4289, 0xbf18, 0x680d, 0x6826], 4),
    ("CMP R1, R1; IT NE; ADDNE R4; LDR: no address was computed", M3, &[0x4289, 0xbf18, 0x3404, 0x6826], 4),
    ("LDR.W R5, [R1] across a word; LDR R6, [R4]", M4, &[0xf8d1, 0x5000, 0x6826], 3),
    ("the same where these may not pair", HINDERED, &[0xf8d1, 0x5000, 0x6826], 4),
    ("NOP; LDR R5, [R1], #4; LDR R6, [R4]", M4, &[0xbf00, 0xf851, 0x5b04, 0x6826], 4),
    ("the same where these may not pair", HINDERED, &[0xbf00, 0xf851, 0x5b04, 0x6826], 5),
    // Table 7-1 of DDI 0439 and its notes.
    ("VADD, VABS, VMOV R5, S9, VMSR", M4, &[0xee30, 0x0a81, 0xeeb0, 0x2ac2, 0xee14, 0x5a90, 0xeee1, 0x3a10], 4),
    ("VADD S0; VMOV R5, S0: consumed by what follows", M4, &[0xee30, 0x0a81, 0xee10, 0x5a10], 3),
    ("VADD S0; NOP; VMOV R5, S0", M4, &[0xee30, 0x0a81, 0xbf00, 0xee10, 0x5a10], 3),
    ("VABS S0; VMOV R5, S0: no arithmetic", M4, &[0xeeb0, 0x0ac2, 0xee10, 0x5a10], 2),
    ("VMLA S0, S1, S2", M4, &[0xee00, 0x0a81], 3),
    ("VMUL S0; VFMA S0, S1, S2: the addend is taken late", M4, &[0xee20, 0x0a81, 0xeea0, 0x0a81], 1 + 3),
    ("VMUL S1; VFMA S0, S1, S2: but not a factor", M4, &[0xee60, 0x0a81, 0xeea0, 0x0a81], 1 + 1 + 3),
    ("VDIV S0, S0, S1; five NOPs: they do not wait", M4, &[0xee80, 0x0a20, 0xbf00, 0xbf00, 0xbf00, 0xbf00, 0xbf00], 6),
    ("VDIV S0, S0, S1; VMOV R5, S9: another waits for the unit", M4, &[0xee80, 0x0a20, 0xee14, 0x5a90], 14 + 1),
    ("VDIV S0, S0, S1; VMOV R5, S0", M4, &[0xee80, 0x0a20, 0xee10, 0x5a10], 14 + 1 + 1),
    ("VSQRT S0, S1; NOP; VSQRT S2, S1", M4, &[0xeeb1, 0x0ae0, 0xbf00, 0xeeb1, 0x1ae0], 14 + 1),
    ("VMOV R5, R6, D1", M4, &[0xec56, 0x5b11], 2),
    ("VLDR S0, [R1]", M4, &[0xed91, 0x0a00], 2),
    ("VLDR D0, [R1]", M4, &[0xed91, 0x0b00], 3),
    ("LDR R5, [R1]; VLDR S0, [R4]: no pair", M4, &[0x680d, 0xed94, 0x0a00], 4),
    ("VSTR S0, [R1]", M4, &[0xed81, 0x0a00], 2),
    ("VLDMIA R1!, {S0-S4}", M4, &[0xecb1, 0x0a05], 1 + 5),
    ("VSTMIA R1!, {D0-D2}", M4, &[0xeca1, 0x0b06], 1 + 6),
    ("ADDS R1, #4; VLDR S0, [R1]: no forwarding", M4, &[0x3104, 0xed91, 0x0a00], 1 + 1 + 2),
    ("NOP; IT NE; VMOVNE S0, R0; VMOV R5, S9", M4, &[0xbf00, 0xbf18, 0xee00, 0x0a10, 0xee14, 0x5a90], 1 + 2),
    ("CMP R1, R1; IT NE; VDIVNE: skipped; VMOV R5, S0", M4, &[0x4289, 0xbf18, 0xee80, 0x0a20, 0xee10, 0x5a10], 3),
    ("two narrow loads always pair", HINDERED, &[0x680d, 0x6826], 3),
    // Table 3-1 of DDI 0484C.
    ("ADDS, ADCS, LSLS, EORS", M0, &[0x1818, 0x4158, 0x0058, 0x4043], 4),
    ("MOV, ADD of high registers, SXTB, REV", M0, &[0x4681, 0x4481, 0xb245, 0xba05], 4),
    ("MULS", M0, &[0x4343], 1),
    ("MULS, bit by bit", M0_SMALL, &[0x4343], 32),
    ("LDR R5, [R1]", M0, &[0x680d], 2),
    ("LDR R5, [R1]; LDR R6, [R4]: no pair", M0, &[0x680d, 0x6826], 2 + 2),
    ("ADDS R1, #4; LDR R5, [R1]: no dependency", M0, &[0x3104, 0x680d], 1 + 2),
    ("LDR R5, literal", M0, &[0x4d00], 2),
    ("STR R5, [R1]", M0, &[0x600d], 2),
    ("STR R5, [R4, R3]: no more", M0, &[0x50e5], 2),
    ("LDMIA R1!, {R5, R6}", M0, &[0xc960], 1 + 2),
    ("STMIA R1!, {R5, R6, R7}", M0, &[0xc1e0], 1 + 3),
    ("PUSH {R5, LR}; POP {R5, R6}", M0, &[0xb520, 0xbc60], 1 + 2 + 1 + 2),
    ("ADR R5; ADDS R5, #1; PUSH {R4, R5}; POP {R6, PC}: to the next but one", M0, &[0xa502, 0x3501, 0xb430, 0xbd40, 0xbf00], 1 + 1 + (1 + 2) + (3 + 2)),
    ("B to the next but one", M0, &[0xe000, 0xbf00], 2),
    ("CMP R1, R1; BEQ: taken", M0, &[0x4289, 0xd000, 0xbf00], 1 + 2),
    ("CMP R1, R1; BNE: not taken", M0, &[0x4289, 0xd100, 0xbf00], 1 + 1 + 1),
    ("BL to the next but one", M0, &[0xf000, 0xf801, 0xbf00], 3),
    ("ADR R5; ADDS R5, #1; BX R5 over two", M0, &[0xa502, 0x3501, 0x4728, 0xbf00, 0xbf00], 1 + 1 + 2),
    ("ADR R5; ADDS R5, #1; BLX R5 over two", M0, &[0xa502, 0x3501, 0x47a8, 0xbf00, 0xbf00], 1 + 1 + 2),
    ("ADR R5; MOV PC, R5", M0, &[0xa501, 0x46af, 0xbf00, 0xbf00], 1 + 2 + 1),
    ("MRS R5, PRIMASK; MSR PRIMASK, R5", M0, &[0xf3ef, 0x8510, 0xf385, 0x8810], 3 + 3),
    ("DSB; DMB", M0, &[0xf3bf, 0x8f4f, 0xf3bf, 0x8f5f], 3 + 3),
    ("ISB", M0, &[0xf3bf, 0x8f6f], 3),
    ("CPSID I; NOP", M0, &[0xb672, 0xbf00], 2),
];

/// Wide loads across words and those that update their base may not pair.
const HINDERED: CoreTiming = CoreTiming {
    pairing: Pairing::Hindered,
    ..M4
};

#[test]
fn instructions_take_the_cycles_of_the_manuals() {
    for (rule, core, code, expected) in RULES {
        assert_eq!(cycles(*core, code), *expected, "{rule}");
    }
}

#[test]
fn division_takes_two_to_twelve_cycles() {
    let udiv = [0xfbb0, 0xf5f3]; // UDIV R5, R0, R3: a quotient of thirty bits
    assert!((3..=12).contains(&m3(&udiv)));
    let sdiv = |n: u16| [0x425d, 0xfb90 | n, 0xf6f3]; // RSBS R5, R3, #0; SDIV R6, Rn, R3
    assert_eq!(m3(&sdiv(5)), m3(&sdiv(3)), "−5 by 5 as 5 by 5");
}

#[test]
fn straight_wide_code_runs_as_fast_as_flash_delivers() {
    // MOVW R5, #0: two a read of three cycles.
    let code = [0xf240, 0x0500].repeat(60);
    let account = run_at(START, M3, waits(2), &code);
    let per_read = account.cycles() as f64 / 30.0;
    assert!((2.8..3.2).contains(&per_read), "{per_read} cycles a read");
    let account = run_at(START, M3, waits(0), &code);
    assert_eq!(account.stall(Stall::Fetch), 0);
}

/// `SUBS R3, #1; BNE` back over it: five times round.
const LOOP: [u16; 2] = [0x3b01, 0xd1fd];

#[test]
fn a_branch_waits_for_its_target_without_a_cache_and_not_with_one() {
    let cached = FlashTiming {
        instruction_cache: cache(1),
        ..waits(4)
    };
    // Padded, so that the loop crosses from one read of eight bytes to the next.
    let code = [&[0xbf00, 0xbf00][..], &LOOP].concat();
    let plain = run_at(START, M4, waits(4), &code);
    let with_cache = run_at(START, M4, cached, &code);
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
    let plain = run_at(START, M4, waits(4), &code);
    let cached = FlashTiming {
        data_cache: cache(4),
        ..waits(4)
    };
    let with_cache = run_at(START, M4, cached, &code);
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
    let waited = |list: u16| run_at(0x0800_0004, M3, waits(2), &load(list)).stall(Stall::Data);
    assert_eq!(
        waited(0b1101) - waited(0b0001),
        2 * 2,
        "two more words, two wait states each"
    );
}

#[test]
fn code_in_ram_does_not_wait_for_flash_but_for_its_data() {
    let wide = [0xf240, 0x0500].repeat(20);
    let account = run_at(0x2000_0802, M3, waits(4), &wide);
    assert_eq!(account.stall(Stall::Fetch), 0);
    // LDR R5, [R1] from the same RAM: one bus for both (DDI 0337, 1.2).
    let account = run_at(0x2000_0802, M3, waits(4), &[0x680d]);
    assert_eq!(account.stall(Stall::Data), 1);
}

#[test]
fn a_single_bus_waits_for_flash_alone() {
    let flash = |wait_states| FlashTiming {
        read_bytes: 4,
        wait_states,
        reads_ahead: 1,
        ports: Ports::Single,
        ..NO_WAIT
    };
    // LDR R5, [R1] from RAM, executed there: its table counts that they take turns.
    let account = run_at(0x2000_0802, M0, flash(1), &[0x680d, 0x680d]);
    assert_eq!(account.cycles() - 1, 2 + 2, "{account:?}");
    // LDR R5, literal: the wait state of its read.
    let literal = [0x4d01, 0xbf00, 0xe001, 0xbf00, 0x1111, 0x2222];
    let waited = |states| run_at(START, M0, flash(states), &literal).stall(Stall::Data);
    assert_eq!([waited(0), waited(1)], [0, 1]);
    // Narrow code: two instructions a read of two cycles.
    let account = run_at(START, M0, flash(1), &[0xbf00; 64]);
    assert_eq!(account.stall(Stall::Fetch), 0);
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
    let account = run_at(START, M3, waits(2), &code);
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
        [0, 1, 2, 3].map(|offset| cycles(M4, &load(word, offset))),
        [2, 4, 3, 4]
    );
    assert_eq!(
        [0, 1, 2, 3].map(|offset| cycles(M4, &load(half, offset))),
        [2, 3, 2, 3]
    );
    assert_eq!([0, 1].map(|offset| cycles(M4, &load(byte, offset))), [2, 2]);
}

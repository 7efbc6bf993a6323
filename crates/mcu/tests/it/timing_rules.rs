//! Each rule of the timing model on a few instructions, with the figure of the manual that is cited.

use keymark_mcu::instruction::Class;
use keymark_mcu::machine::Stop;
use keymark_mcu::timing::{
    Account, CacheShape, CoreTiming, FlashTiming, Pairing, Pipeline, Ports, Stall, Untimed,
};

use crate::isa_table::hex;
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

/// Wide loads across words and those that update their base may not pair.
const HINDERED: CoreTiming = CoreTiming {
    pairing: Pairing::Hindered,
    ..M4
};

#[test]
fn instructions_take_the_cycles_of_the_manuals() {
    let rows = include_str!("timing.table").lines();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let [core, code, expected, rule] = columns[..] else {
            panic!("not a row: {row}");
        };
        let core = match core {
            "M3" => M3,
            "M4" => M4,
            "HINDERED" => HINDERED,
            "M0" => M0,
            "M0_SMALL" => M0_SMALL,
            other => panic!("no core {other}"),
        };
        let halfwords = code.split(' ').map(|half| hex(half) as u16);
        let terms = expected.split(" + ");
        let expected: u64 = terms.map(|term| term.parse::<u64>().unwrap()).sum();
        let taken = cycles(core, &halfwords.collect::<Vec<_>>());
        assert_eq!(taken, expected, "{rule}");
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

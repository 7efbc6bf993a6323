//! A program of random instances of instruction forms, which writes what each of them did.

use std::fmt::Write as _;

use keymark_mcu::microcontroller::Core;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Hexadecimal digits that an instance writes: R0 to R3, APSR, R6.
pub const RECORD: usize = 2 * 24;

const SEED: u64 = 0x6b65_796d_6172_6b21;
/// Of every form.
const INSTANCES: usize = 16;

/// Operands at which something changes.
const CORNERS: [u32; 16] = [
    0,
    1,
    2,
    31,
    32,
    33,
    0xff,
    0x8000,
    0xffff,
    0x7fff_7fff,
    0x8000_8000,
    0x00ff_00ff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
];

const CONDITIONS: [(&str, &str); 7] = [
    ("eq", "ne"),
    ("cs", "cc"),
    ("mi", "pl"),
    ("vs", "vc"),
    ("hi", "ls"),
    ("ge", "lt"),
    ("gt", "le"),
];

/// Forms in assembly, one a line: `\n` parts instructions, `<a|b>` is either, `%x` are operands that `fill` draws. R6 points
/// to sixteen bytes of scratch memory. Those that begin with `~` compute with floats.
fn forms(core: Core) -> Vec<String> {
    let lines = match core {
        Core::CortexM0Plus => include_str!("forms_armv6m.txt"),
        Core::CortexM3 | Core::CortexM4 => include_str!("forms.txt"),
    };
    let forms = lines.lines().flat_map(expanded);
    let floats = |form: String| match form.strip_prefix('~') {
        Some(float) => vec![format!("{BEFORE}{float}{AFTER}"); 4],
        None => vec![form],
    };
    forms
        .flat_map(floats)
        .map(|form| form.replace("\\n", "\n"))
        .collect()
}

/// Each with subnormal numbers and NaNs kept or not; the cumulative flags apart.
const BEFORE: &str =
    "mov r4, #0\nmovt r4, #%f\nvmsr fpscr, r4\nvmov s0, s1, r0, r1\nvmov s2, s3, r2, r3\n";
const AFTER: &str = "\nvmov r0, s0\nvmrs r1, fpscr\nbic r1, #0x9f\nvmov r2, s1\nvmov r3, s2";

/// Every choice among `<a|b>`.
fn expanded(form: &str) -> Vec<String> {
    let Some((before, rest)) = form.split_once('<') else {
        return vec![form.to_owned()];
    };
    let (choices, behind) = rest.split_once('>').unwrap();
    let ends = expanded(behind);
    let with = |choice| ends.iter().map(move |end| format!("{before}{choice}{end}"));
    choices.split('|').flat_map(with).collect()
}

/// Puts operands where a form has `%`.
fn fill(form: &str, rng: &mut ChaCha8Rng) -> String {
    let (then, otherwise) = CONDITIONS[rng.random_range(0..CONDITIONS.len())];
    let mut parts = form.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (kind, rest) = part.split_at(1);
        let below = |rng: &mut ChaCha8Rng, end: u32| rng.random_range(0..end).to_string();
        text += &match kind {
            "c" => modified_immediate(rng).to_string(),
            "w" => below(rng, 0x1_0000),
            "i" => below(rng, 0x1000),
            "8" => below(rng, 0x100),
            "4" => below(rng, 16),
            "3" => below(rng, 8),
            "a" => below(rng, 13),
            "l" => rng.random_range(1..=31).to_string(),
            "r" => rng.random_range(1..=32).to_string(),
            "h" => rng.random_range(1..=16).to_string(),
            "o" => (8 * rng.random_range(1..=3)).to_string(),
            "S" => shift(rng),
            "b" => {
                let lsb = rng.random_range(0..32);
                format!("#{lsb}, #{}", rng.random_range(1..=32 - lsb))
            }
            // Half of them as after a reset.
            "f" => (rng.random_range(-3i32..4).max(0) << 8).to_string(),
            "t" => then.to_owned(),
            "e" => otherwise.to_owned(),
            _ => panic!("no operand %{kind}"),
        };
        text += rest;
    }
    text
}

fn shift(rng: &mut ChaCha8Rng) -> String {
    match rng.random_range(0..5) {
        0 => "rrx".to_owned(),
        1 => format!("lsl #{}", rng.random_range(1..=31)),
        2 => format!("ror #{}", rng.random_range(1..=31)),
        3 => format!("lsr #{}", rng.random_range(1..=32)),
        _ => format!("asr #{}", rng.random_range(1..=32)),
    }
}

/// One of the constants that A5.3.2 can express.
fn modified_immediate(rng: &mut ChaCha8Rng) -> u32 {
    let byte: u32 = rng.random_range(1..=255);
    match rng.random_range(0..6) {
        0 => byte,
        1 => byte << 16 | byte,
        2 => byte << 24 | byte << 8,
        3 => byte * 0x0101_0101,
        _ => (byte | 0x80).rotate_right(rng.random_range(8..=31)),
    }
}

fn operand(rng: &mut ChaCha8Rng) -> u32 {
    match rng.random_range(0..3) {
        0 => CORNERS[rng.random_range(0..CORNERS.len())],
        1 => CORNERS[rng.random_range(0..CORNERS.len())].rotate_left(rng.random_range(0..32)),
        _ => rng.random(),
    }
}

/// Floats at which something changes.
const FLOAT_CORNERS: [u32; 16] = [
    0x0000_0001, // The least.
    0x007f_ffff,
    0x0080_0000, // The least normal one.
    0x0080_0001,
    0x3f80_0000, // 1
    0x3f7f_ffff,
    0x3f00_0000,
    0x4b00_0001,
    0x4effffff, // Below 2^31.
    0x4f00_0000,
    0x4f80_0000,
    0x7f7f_ffff, // The greatest.
    0x7f80_0000, // Infinity.
    0x7f80_0001, // A signalling NaN.
    0x7fc1_2345,
    0x0000_0000,
];

fn float(rng: &mut ChaCha8Rng) -> u32 {
    let sign = rng.random::<u32>() & 0x8000_0000;
    let bits = match rng.random_range(0..5) {
        0 => FLOAT_CORNERS[rng.random_range(0..FLOAT_CORNERS.len())],
        // Of similar size, so that sums round and cancel; at the edge of what is normal; integers.
        1 | 2 => rng.random_range(0x3e00_0000..0x4100_0000),
        3 => rng.random_range(0x1000_0000..0x2000_0000),
        _ => rng.random::<u32>() & 0x7fff_ffff,
    };
    sign | bits
}

/// A program in assembly, and what each of its instances is.
pub fn program(core: Core) -> (String, Vec<String>) {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let (start, end) = include_str!("instances.s")
        .split_once("@ instances\n")
        .unwrap();
    let (symbols, status, flags_of_core) = match core {
        Core::CortexM0Plus => ("", "apsr_nzcvq", 0xf000_0000),
        Core::CortexM3 | Core::CortexM4 => (".set floats, 1\n", "apsr_nzcvqg", 0xf80f_0000u32),
    };
    let (mut assembly, mut instances) = (format!("{symbols}{start}"), Vec::new());
    for form in forms(core) {
        for _ in 0..INSTANCES {
            let text = fill(&form, &mut rng);
            let draw = if text.contains("fpscr") {
                float
            } else {
                operand
            };
            let values: [u32; 4] = std::array::from_fn(|_| draw(&mut rng));
            let flags = rng.random::<u32>() & flags_of_core;
            let [a, b, c, d] = values;
            // Both scratch memory, before and behind R6, and R9 are the operands.
            let _ = writeln!(
                assembly,
                "adr r7, 1f\nldmia r7!, {{r0-r4, r6}}\nb 2f\n.balign 4\n1: .word {a}, {b}, {c}, {d}, {flags}, 0x20001000\n\
                 2: mov r5, r6\nsubs r5, #16\nstmia r5!, {{r0-r3}}\nstmia r5!, {{r0-r3}}\nmov r9, r2\n\
                 msr {status}, r4\n{text}\nmrs r5, apsr\nmov r7, r8\nstmia r7!, {{r0-r3, r5, r6}}\nbl emit"
            );
            instances.push(format!("{text} of {values:x?} with APSR {flags:x}"));
        }
    }
    (assembly + end, instances)
}

//! A program of random instances of instruction forms, which writes what each of them did.

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Bytes that an instance leaves: R0 to R3, APSR, R6.
pub const RECORD: usize = 24;

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

/// Forms of which there are few of a kind, a line each; `\n` parts instructions.
const FORMS: &str = include_str!("forms.txt");

/// Forms in assembly, one for each string; `%x` are operands that `fill` draws. R6 points to sixteen
/// bytes of scratch memory.
fn forms() -> Vec<String> {
    let mut forms = Vec::new();
    let mut add = |form: &str| forms.push(form.to_owned());
    arithmetic(&mut add);
    for form in FORMS.lines() {
        add(&form.replace("\\n", "\n"));
    }
    products(&mut add);
    floats(&mut add);
    for kind in ["s", "q", "sh", "u", "uq", "uh"] {
        for lanes in ["add16", "asx", "sax", "sub16", "add8", "sub8"] {
            add(&format!("{kind}{lanes} r0, r1, r2"));
        }
    }
    for extension in ["sxtb", "sxth", "uxtb", "uxth", "sxtb16", "uxtb16"] {
        add(&format!("{extension} r0, r1"));
        add(&format!("{extension} r0, r1, ror #%o"));
        add(&format!(
            "{} r0, r1, r2, ror #%o",
            extension.replace("xt", "xta")
        ));
    }
    for width in ["", "h", "b", "sh", "sb"] {
        for address in [
            "[r6, #%a]",
            "[r6, #4]!",
            "[r6], #%8",
            "[r6, #-4]",
            "[r6, #-4]!",
            "[r6], #-%8",
        ] {
            add(&format!("ldr{width} r0, {address}"));
            if !width.starts_with('s') {
                add(&format!(
                    "str{width} r0, {address}\nldr r1, [r6]\nldr r2, [r6, #4]"
                ));
            }
        }
        add(&format!("and r1, #3\nldr{width} r0, [r6, r1, lsl #1]"));
    }
    forms
}

fn products(add: &mut impl FnMut(&str)) {
    for x in ["b", "t"] {
        for y in ["b", "t"] {
            add(&format!("smul{x}{y} r0, r1, r2"));
            add(&format!("smla{x}{y} r0, r1, r2, r3"));
            add(&format!("smlal{x}{y} r0, r1, r2, r3"));
        }
        add(&format!("smulw{x} r0, r1, r2"));
        add(&format!("smlaw{x} r0, r1, r2, r3"));
    }
    for x in ["", "x"] {
        for form in [
            "smuad{} r0, r1, r2",
            "smusd{} r0, r1, r2",
            "smlad{} r0, r1, r2, r3",
            "smlsd{} r0, r1, r2, r3",
            "smlald{} r0, r1, r2, r3",
            "smlsld{} r0, r1, r2, r3",
        ] {
            add(&form.replace("{}", x));
        }
    }
    for r in ["", "r"] {
        for form in [
            "smmul{} r0, r1, r2",
            "smmla{} r0, r1, r2, r3",
            "smmls{} r0, r1, r2, r3",
        ] {
            add(&form.replace("{}", r));
        }
    }
}

/// Each with subnormal numbers and NaNs kept or not; the cumulative flags apart.
fn floats(add: &mut impl FnMut(&str)) {
    const BEFORE: &str =
        "mov r4, #0\nmovt r4, #%f\nvmsr fpscr, r4\nvmov s0, s1, r0, r1\nvmov s2, s3, r2, r3\n";
    const AFTER: &str = "\nvmov r0, s0\nvmrs r1, fpscr\nbic r1, #0x9f\nvmov r2, s1\nvmov r3, s2";
    let mut computes = |form: &str| {
        for _ in 0..4 {
            add(&format!("{BEFORE}{form}{AFTER}"));
        }
    };
    for op in [
        "add", "sub", "mul", "nmul", "div", "mla", "mls", "nmla", "nmls", "fma", "fms", "fnma",
        "fnms",
    ] {
        computes(&format!("v{op}.f32 s0, s1, s2"));
        computes(&format!("v{op}.f32 s2, s2, s0"));
    }
    for op in ["abs", "neg", "sqrt", "mov"] {
        computes(&format!("v{op}.f32 s0, s1"));
    }
    for e in ["", "e"] {
        computes(&format!("vcmp{e}.f32 s1, s2"));
        computes(&format!("vcmp{e}.f32 s1, #0"));
        computes(&format!("vcmp{e}.f32 s0, s0\nvmrs apsr_nzcv, fpscr"));
    }
    for kind in ["s32", "u32"] {
        computes(&format!("vcvt.{kind}.f32 s0, s1"));
        computes(&format!("vcvtr.{kind}.f32 s0, s1"));
        computes(&format!("vcvt.f32.{kind} s0, s1"));
    }
    for (kind, fraction) in [("s16", "%h"), ("u16", "%h"), ("s32", "%r"), ("u32", "%r")] {
        computes(&format!("vcvt.{kind}.f32 s1, s1, #{fraction}"));
        computes(&format!("vcvt.f32.{kind} s1, s1, #{fraction}"));
    }
    computes("it %t\nvadd%t.f32 s0, s1, s2");
    for constant in ["1.0", "-31.0", "0.125", "1.9375", "-2.5"] {
        computes(&format!("vmov.f32 s0, #{constant}"));
    }
}

fn arithmetic(add: &mut impl FnMut(&str)) {
    for op in [
        "and", "bic", "orr", "orn", "eor", "add", "adc", "sub", "sbc", "rsb",
    ] {
        for s in ["", "s"] {
            add(&format!("{op}{s}.w r0, r1, #%c"));
            add(&format!("{op}{s}.w r0, r1, r2, %S"));
            add(&format!("{op}{s}.w r0, r1, r2"));
        }
    }
    for op in ["tst", "teq", "cmp", "cmn"] {
        add(&format!("{op}.w r1, #%c"));
        add(&format!("{op}.w r1, r2, %S"));
        add(&format!("{op}.w r1, r2"));
    }
    for op in ["lsl", "lsr", "asr", "ror"] {
        let amount = if op == "lsl" || op == "ror" {
            "%l"
        } else {
            "%r"
        };
        add(&format!("{op}s r0, r1"));
        add(&format!("{op}s.w r0, r1, #{amount}"));
        add(&format!("{op}.w r0, r1, r2"));
        add(&format!("{op}s.w r0, r1, r2"));
        if op != "ror" {
            add(&format!("{op}s r0, r1, #{amount}"));
        }
    }
    add("rrx r0, r1");
    add("rrxs r0, r1");
}

/// Puts operands where a form has `%`.
pub fn fill(form: &str, rng: &mut ChaCha8Rng) -> String {
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

pub fn operand(rng: &mut ChaCha8Rng) -> u32 {
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
pub struct Program {
    pub assembly: String,
    pub instances: Vec<String>,
}

fn constant(register: u32, value: u32) -> String {
    let (low, high) = (value & 0xffff, value >> 16);
    format!("movw r{register}, #{low}\nmovt r{register}, #{high}\n")
}

/// A program of that number of instances of each form.
pub fn program(seed: u64, of_each: usize) -> Program {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut assembly = START.to_owned();
    let mut instances = Vec::new();
    for form in forms() {
        for _ in 0..of_each {
            let text = fill(&form, &mut rng);
            let draw = if text.contains("fpscr") {
                float
            } else {
                operand
            };
            let values: [u32; 4] = std::array::from_fn(|_| draw(&mut rng));
            let flags = rng.random::<u32>() & 0xf80f_0000;
            for (register, value) in (0..).zip(values) {
                assembly += &constant(register, value);
            }
            assembly += &constant(6, 0x2000_1000);
            assembly += &constant(4, flags);
            // Both scratch memory and R9 are the operands.
            assembly += "stmdb r6, {r0-r3}\nstm r6, {r0-r3}\nmov r9, r2\nmsr apsr_nzcvqg, r4\n";
            let _ = writeln!(
                assembly,
                "{text}\nmrs r5, apsr\nstmia r8!, {{r0-r3, r5, r6}}"
            );
            instances.push(format!("{text} of {values:x?} with APSR {flags:x}"));
        }
    }
    assembly += END;
    Program {
        assembly,
        instances,
    }
}

const START: &str = "
    .syntax unified
    .cpu cortex-m4
    .fpu fpv4-sp-d16
    .thumb
    .word 0x20001800, reset + 1
    .rept 14
    .word fault + 1
    .endr
fault: movs r0, #0x18
    movs r1, #1
    bkpt #0xab
    .thumb_func
    .global reset
reset: ldr r8, =0xe000ed88
    mov r0, #0xf00000
    str r0, [r8]
    ldr r8, =0x20010000
    b begin
    .ltorg
begin:
";

/// Writes the records in hexadecimal and exits.
const END: &str = "
    ldr r9, =0x20010000
    ldr r10, =0x20080000
    adr r11, digits
1:  ldrb r0, [r9], #1
    lsr r1, r0, #4
    and r0, r0, #15
    ldrb r1, [r11, r1]
    ldrb r0, [r11, r0]
    strb r1, [r10], #1
    strb r0, [r10], #1
    cmp r9, r8
    bne 1b
    movs r0, #0
    strb r0, [r10]
    ldr r1, =0x20080000
    movs r0, #4
    bkpt #0xab
    adr r1, exit
    movs r0, #0x20
    bkpt #0xab
    .balign 4
exit: .word 0x20026, 0
digits: .ascii \"0123456789abcdef\"
    .ltorg
";

//! ARMv6-M, which the Cortex-M0+ has: the same as QEMU's microbit (a Cortex-M0) does, and nothing else.
//!
//! Needs gcc-arm-none-eabi and qemu-system-arm, which `make test` installs; without them what needs them is skipped.

use std::fmt::Write as _;
use std::path::Path;

use keymark_mcu::image::Image;
use keymark_mcu::instruction::{Architecture, Register};
use keymark_mcu::kernel::Options;
use keymark_mcu::machine::{BusError, CpuFault, Layout, Reason, SimulatedMachine, Stop};
use keymark_mcu::microcontroller::{Core, Microcontroller};
use keymark_mcu::predict::{Banded, band};
use keymark_mcu::timing::{Pipeline, Untimed};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::cross::{assembled, compiled, load};
use crate::instances::{RECORD, fill, operand};
use crate::isa_qemu::{present, qemu_instructions, qemu_output};
use crate::{RAM, machine, set};

/// The microbit's memories, an nRF51822's.
const LAYOUT: Layout = Layout {
    flash_base: 0,
    flash_size: 256 << 10,
    ram_base: RAM,
    ram_size: 16 << 10,
    ccm_base: 0,
    ccm_size: 0,
};
const SEED: u64 = 0x6d30_2b76_365f_6d21;
const INSTANCES: usize = 12;

/// Forms of ARMv6-M, `%x` as in `instances`; R6 points to scratch memory.
#[rustfmt::skip]
const FORMS: &[&str] = &[
    "adds r0, r1, r2", "adds r0, r1, #%3", "adds r0, #%8", "subs r0, r1, r2", "subs r0, r1, #%3", "subs r0, #%8",
    "adcs r0, r1", "sbcs r0, r1", "rsbs r0, r1, #0", "muls r0, r1, r0", "cmp r0, r1", "cmp r0, #%8", "cmn r0, r1",
    "tst r0, r1", "ands r0, r1", "eors r0, r1", "orrs r0, r1", "bics r0, r1", "mvns r0, r1", "movs r0, #%8",
    "movs r0, r1", "mov r0, r9", "mov r9, r0\nmov r1, r9", "add r0, r9", "add r9, r0\nmov r1, r9", "cmp r0, r9",
    "cmp r9, r0", "lsls r0, r1, #%l", "lsrs r0, r1, #%r", "asrs r0, r1, #%r", "lsls r0, r1", "lsrs r0, r1",
    "asrs r0, r1", "rors r0, r1", "sxtb r0, r1", "sxth r0, r1", "uxtb r0, r1", "uxth r0, r1", "rev r0, r1",
    "rev16 r0, r1", "revsh r0, r1", "ldr r0, [r6, #4]", "ldrh r0, [r6, #6]", "ldrb r0, [r6, #%a]",
    "movs r1, #%a\nldrb r0, [r6, r1]", "movs r1, #%a\nldrsb r0, [r6, r1]", "movs r1, #6\nldrh r0, [r6, r1]",
    "movs r1, #2\nldrsh r0, [r6, r1]", "movs r1, #8\nldr r0, [r6, r1]", "str r0, [r6, #4]\nldr r1, [r6, #4]",
    "strh r0, [r6, #2]\nldr r1, [r6]", "strb r0, [r6, #%a]\nldr r1, [r6, #4]\nldr r2, [r6, #8]",
    "movs r1, #4\nstr r0, [r6, r1]\nldr r2, [r6, #4]", "movs r1, #2\nstrh r0, [r6, r1]\nldr r2, [r6]",
    "movs r1, #%a\nstrb r0, [r6, r1]\nldr r2, [r6]", "ldmia r6!, {r0, r2, r3}", "stmia r6!, {r0, r1}\nsubs r6, #8\nldr r3, [r6, #4]",
    "ldmia r6, {r0, r6}\neors r6, r0", "push {r0-r3}\npop {r1, r2}\nadd sp, #8", "sub sp, #16\nstr r0, [sp, #12]\nldr r2, [sp, #12]\nadd sp, #16",
    "mov r0, sp\nadd r1, sp, #16\nsubs r0, r1, r0", "b%t 3f\nmovs r0, #1\n3: nop", "bl 3f\nmovs r0, #1\n3: mov r1, lr\nmov r2, pc\nsubs r1, r2, r1",
    "adr r1, 3f\nadds r1, #1\nbx r1\n.balign 4\n3: movs r0, #7", "adr r1, 3f\nadds r1, #1\nblx r1\nmovs r0, #1\n.balign 4\n3: nop",
    "adr r1, 3f\nmov pc, r1\nmovs r0, #1\n.balign 4\n3: nop", "adr r0, 3f\nldr r1, 3f\nsubs r0, r0, r0\nb 4f\n.balign 4\n3: .word 0x12345678\n4: nop",
    "cpsid i\nmrs r0, primask\ncpsie i\nmrs r1, primask", "dmb\ndsb\nisb", "nop\nyield\nsev", "mrs r0, apsr\nmsr apsr_nzcvq, r1\nmrs r1, ipsr",
    "mrs r0, msp\nmov r1, sp\nsubs r0, r1, r0", "movs r0, #%8\nlsls r0, r0, #2\nmsr psp, r0\nmrs r1, psp",
];

/// `emit` writes the record at R8 in hexadecimal.
const START: &str = "
    .syntax unified
    .cpu cortex-m0plus
    .thumb
    .word 0x20002000, reset + 1
    .rept 14
    .word fault + 1
    .endr
fault: movs r0, #0x18
    movs r1, #1
    bkpt #0xab
emit: mov r0, r8
    mov r1, r8
    adds r1, #32
    movs r2, #24
    ldr r3, =digits
1:  ldrb r4, [r0]
    lsrs r5, r4, #4
    ldrb r5, [r3, r5]
    strb r5, [r1]
    movs r5, #15
    ands r4, r5
    ldrb r4, [r3, r4]
    strb r4, [r1, #1]
    adds r0, #1
    adds r1, #2
    subs r2, #1
    bne 1b
    movs r4, #0
    strb r4, [r1]
    mov r1, r8
    adds r1, #32
    movs r0, #4
    bkpt #0xab
    bx lr
    .balign 4
digits: .ascii \"0123456789abcdef\"
    .ltorg
    .thumb_func
    .global reset
reset: ldr r0, =0x20000800
    mov r8, r0
    b 2f
    .ltorg
2:
";

const END: &str = "
    adr r1, exit
    movs r0, #0x20
    bkpt #0xab
    .balign 4
exit: .word 0x20026, 0
";

/// A program in assembly, and what each of its instances is.
fn program() -> (String, Vec<String>) {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let (mut assembly, mut instances) = (START.to_owned(), Vec::new());
    for form in FORMS {
        for _ in 0..INSTANCES {
            let text = fill(form, &mut rng);
            let values: [u32; 4] = std::array::from_fn(|_| operand(&mut rng));
            let flags = rng.random::<u32>() & 0xf000_0000;
            let [a, b, c, d] = values;
            let _ = writeln!(
                assembly,
                "adr r7, 1f\nldmia r7!, {{r0-r4, r6}}\nb 2f\n.balign 4\n1: .word {a}, {b}, {c}, {d}, {flags}, 0x20001000\n\
                 2: mov r5, r6\nstmia r5!, {{r0-r3}}\nmov r9, r2\nmsr apsr_nzcvq, r4\n{text}\nmrs r5, apsr\n\
                 mov r7, r8\nstmia r7!, {{r0-r3, r5, r6}}\nbl emit"
            );
            instances.push(format!("{text} of {values:x?} with APSR {flags:x}"));
        }
    }
    (assembly + END, instances)
}

fn simulate(elf: &[u8]) -> SimulatedMachine {
    let machine = Image::parse(elf).unwrap().machine(&LAYOUT).unwrap();
    let mut machine = machine.with_architecture(Architecture::Armv6M);
    assert_eq!(machine.run(&mut Untimed, 100_000_000), Stop::Exit(0));
    machine
}

fn output(machine: &SimulatedMachine) -> String {
    String::from_utf8(machine.output().to_vec()).unwrap()
}

#[test]
fn random_instances_of_armv6m_do_the_same() {
    if !present(&["arm-none-eabi-gcc", "qemu-system-arm"]) {
        return;
    }
    let (assembly, instances) = program();
    let directory = tempfile::tempdir().unwrap();
    let (source, elf) = (directory.path().join("x.s"), directory.path().join("x.elf"));
    std::fs::write(&source, assembly).unwrap();
    let words = ["-mcpu=cortex-m0plus", "-Wl,-Ttext=0,-e,reset", "-lgcc"];
    let ours = output(&simulate(&compiled(&source, &elf, &words)));
    let theirs = qemu_output(Core::CortexM0Plus, &elf);
    assert_eq!(ours.len(), instances.len() * 2 * RECORD);
    assert_eq!(ours.len(), theirs.len());
    let records = |text: &str| -> Vec<String> {
        let chunks = text.as_bytes().chunks(2 * RECORD);
        chunks
            .map(|one| String::from_utf8_lossy(one).into_owned())
            .collect()
    };
    for (instance, (our, their)) in instances
        .iter()
        .zip(records(&ours).iter().zip(records(&theirs)))
    {
        assert_eq!(*our, their, "{instance}");
    }
}

#[test]
fn a_compiled_program_does_the_same_as_in_qemu() {
    if !present(&["arm-none-eabi-gcc", "qemu-system-arm"]) {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/baseline.c");
    let directory = tempfile::tempdir().unwrap();
    let elf = directory.path().join("baseline.elf");
    for words in [
        ["-O2", "-DEXCEPTIONS"],
        ["-O0", "-DEXCEPTIONS"],
        ["-O2", "-g"],
        ["-Os", "-g"],
    ] {
        let places = [
            "-mcpu=cortex-m0plus",
            "-ffreestanding",
            "-lgcc",
            "-Wl,-e,main,--section-start=.vectors=0,-Ttext=0x100,-Tbss=0x20000000,-Tdata=0x20001000",
        ];
        let file = compiled(&source, &elf, &[&words[..], &places].concat());
        let machine = simulate(&file);
        assert_eq!(
            output(&machine),
            qemu_output(Core::CortexM0Plus, &elf),
            "{words:?}"
        );
        if !words.contains(&"-DEXCEPTIONS") {
            assert_eq!(
                machine.executed(),
                qemu_instructions(Core::CortexM0Plus, &elf)
            );
        }
    }
}

const START_OF_CODE: u32 = crate::FLASH + 0x100;

fn run(code: &[u16], values: &[u32]) -> Stop {
    let mut machine = machine(&[(START_OF_CODE, code)]).with_architecture(Architecture::Armv6M);
    set(&mut machine, values);
    machine.run(&mut Untimed, 100)
}

#[test]
fn what_only_armv7m_has_is_no_instruction() {
    for (code, encoding) in [
        (&[0xb100][..], 0xb100),          // cbz r0, .+4
        (&[0xbf18, 0xbf00], 0xbf18),      // it ne
        (&[0xb671], 0xb671),              // cpsid f
        (&[0xf240, 0x0000], 0xf240_0000), // movw r0, #0
        (&[0xf000, 0xb800], 0xf000_b800), // b.w
        (&[0xfbb0, 0xf0f1], 0xfbb0_f0f1), // udiv r0, r0, r1
        (&[0xfba0, 0x0101], 0xfba0_0101), // umull r0, r1, r0, r1
        (&[0xf8d0, 0x0000], 0xf8d0_0000), // ldr.w r0, [r0]
        (&[0xe850, 0x0f00], 0xe850_0f00), // ldrex r0, [r0]
        (&[0xf3bf, 0x8f2f], 0xf3bf_8f2f), // clrex
        (&[0xf3af, 0x8000], 0xf3af_8000), // nop.w
        (&[0xf380, 0x8811], 0xf380_8811), // msr basepri, r0
        (&[0xf3ef, 0x8013], 0xf3ef_8013), // mrs r0, faultmask
        (&[0xee30, 0x0a00], 0xee30_0a00), // vadd.f32 s0, s0, s0
        (&[0xde00], 0xde00),              // udf #0
    ] {
        let stop = run(code, &[]);
        let reason = Reason::Baseline(encoding);
        let address = START_OF_CODE;
        assert_eq!(
            stop,
            Stop::Fault(CpuFault { address, reason }),
            "{encoding:#x}"
        );
        assert!(stop.to_string().contains("Cortex-M0+"), "{stop}");
    }
    // bl, dsb, dmb, isb, mrs and msr of primask, and the end of them.
    let wide = [
        0xf000, 0xf800, 0xf3bf, 0x8f4f, 0xf3bf, 0x8f5f, 0xf3bf, 0x8f6f, 0xf3ef, 0x8010, 0xf380,
        0x8810, 0xe7fe,
    ];
    assert_eq!(run(&wide, &[]), Stop::Limit);
}

#[test]
fn unaligned_access_is_a_fault_and_bit_bands_are_none() {
    for (code, address) in [
        (0x6808, RAM + 2), // ldr r0, [r1]
        (0x8808, RAM + 1), // ldrh r0, [r1]
        (0x6008, RAM + 1), // str r0, [r1]
        (0x8008, RAM + 3), // strh r0, [r1]
        (0x5888, RAM + 2), // ldr r0, [r1, r2]
        (0x5e88, RAM + 1), // ldrsh r0, [r1, r2]
        (0x5088, RAM + 2), // str r0, [r1, r2]
    ] {
        let reason = BusError::Unaligned(address).into();
        let stop = run(&[0xbf00, code], &[0, address, 0]);
        let place = START_OF_CODE + 2;
        assert_eq!(
            stop,
            Stop::Fault(CpuFault {
                address: place,
                reason
            }),
            "{code:#x}"
        );
        assert_eq!(
            run(&[code, 0xe7fe], &[0, RAM + 4, 0]),
            Stop::Limit,
            "{code:#x}"
        );
    }
    assert_eq!(
        run(&[0x7808, 0xe7fe], &[0, RAM + 1]),
        Stop::Limit,
        "ldrb r0, [r1]"
    );
    let reason = BusError::Read(0x2200_0000).into();
    let address = START_OF_CODE;
    assert_eq!(
        run(&[0x6808], &[0, 0x2200_0000]),
        Stop::Fault(CpuFault { address, reason })
    );
}

fn build(address: u32, core: &str, code: &str) -> Option<Vec<u8>> {
    let vectors =
        ".word 0x20001000, reset\n.thumb_func\n.global reset\n.type reset, %function\nreset:";
    let words = [
        format!("-mcpu={core}"),
        format!("-Wl,-Ttext={address:#x},-e,reset"),
    ];
    let words = words.each_ref().map(String::as_str);
    assembled(&format!(".cpu {core}\n{vectors} {code}"), &words)
}

#[test]
fn programs_for_larger_cores_are_refused_by_name() {
    for (core, name) in [("cortex-m3", "Armv7-M"), ("cortex-m4", "Armv7E-M")] {
        let Some(elf) = build(0x0800_0000, core, "b .") else {
            return;
        };
        let refused = load(&elf, "stm32l073").unwrap_err().to_string();
        assert!(
            refused.contains(name) && refused.contains("cortex-m0plus"),
            "{refused}"
        );
    }
    let Some(elf) = build(0x0800_0000, "cortex-m0plus", "b .") else {
        return;
    };
    for part in ["stm32l073", "stm32f103"] {
        assert_eq!(load(&elf, part).unwrap().pc(), 0x0800_0008, "{part}");
    }
}

#[test]
fn an_rp2040_runs_programs_in_its_ram_and_no_others() {
    let Some(elf) = build(RAM, "cortex-m0plus", "movs r0, #42\nb .") else {
        return;
    };
    let mut machine = load(&elf, "rp2040").unwrap();
    assert_eq!(machine.run(&mut Untimed, 2), Stop::Limit);
    assert_eq!(machine.registers.get(Register::R0), 42);
    let Some(elf) = build(0x1000_0000, "cortex-m0plus", "b .") else {
        return;
    };
    let refused = load(&elf, "rp2040").unwrap_err().to_string();
    assert!(
        refused.contains("264 KiB of RAM") && refused.contains("linked for RAM"),
        "{refused}"
    );
}

#[test]
fn there_is_no_counter_of_cycles() {
    // TRCENA, CYCCNTENA and a value for CYCCNT, and what it reads as.
    let code = "ldr r0, =0xe000edfc\nldr r1, =0x01000000\nstr r1, [r0]\nldr r0, =0xe0001000\nmovs r1, #1\nstr r1, [r0]\n\
                movs r1, #77\nstr r1, [r0, #4]\nnop\nldr r2, [r0, #4]\nb .\n.ltorg";
    let Some(elf) = build(0x0800_0000, "cortex-m0plus", code) else {
        return;
    };
    for (part, counts) in [("stm32l073", false), ("stm32f103", true)] {
        let mut machine = load(&elf, part).unwrap();
        assert_eq!(machine.run(&mut Untimed, 20), Stop::Limit);
        assert_eq!(machine.registers.get(Register::R2) >= 77, counts, "{part}");
        assert!(counts || machine.registers.get(Register::R2) == 0);
    }
}

#[test]
fn an_exception_takes_fifteen_cycles_each_way() {
    // SVC, whose handler returns; every flash read in time.
    let code = "svc #0\nb .\n.balign 4\n.word 0, 0, 0, 0, 0, 0, 0";
    let vectors = ".thumb_func\n.type called, %function\ncalled: bx lr";
    let Some(elf) = build(RAM, "cortex-m0plus", &format!("{code}\n{vectors}")) else {
        return;
    };
    let part = Microcontroller::find("rp2040").unwrap();
    let image = Image::parse(&elf).unwrap();
    let handler = image
        .code()
        .iter()
        .find(|one| one.name == "called")
        .unwrap();
    let mut machine = part.load(&image).unwrap();
    machine
        .memory
        .load(RAM + 4 * 11, &(handler.address | 1).to_le_bytes())
        .unwrap();
    let mut pipeline = Pipeline::new(part.timing, part.flash, &part.layout);
    machine.run(&mut pipeline, 2);
    assert_eq!(machine.executed(), 2);
    // SVC, BX LR and its refill.
    assert_eq!(pipeline.now(), 1 + 15 + 2);
    machine.run(&mut pipeline, 1);
    // Leaving, and B with its refill.
    assert_eq!(pipeline.now(), 1 + 15 + 2 + 15 + 2);
}

#[test]
fn what_is_in_its_manual_makes_no_band() {
    let Some(elf) = build(
        RAM,
        "cortex-m0plus",
        "ldr r1, [r0]\nldr r2, [r0]\nstr r2, [r0]\nmuls r1, r2\nb .",
    ) else {
        return;
    };
    let part = Microcontroller::find("rp2040").unwrap();
    let image = Image::parse(&elf).unwrap();
    let mut machine = part.load(&image).unwrap();
    machine.registers.set(Register::R0, RAM + 0x1000);
    let mut banded = Banded::whole(&part);
    machine.run(&mut banded, 500);
    let own = banded.base().now();
    assert_eq!(own, 3 * 2 + 1 + 2 * 496);
    assert!(
        banded
            .estimates(|_| true)
            .iter()
            .all(|(_, cycles)| *cycles == own)
    );
}

#[test]
fn what_no_manual_explains_is_in_a_cortex_m3s_band() {
    let high = |name: &str| {
        let part = Microcontroller::find(name).unwrap();
        band(&part, 1_000_000, &[]).high.0 / part.clock.seconds(1_000_000).0
    };
    assert!((high("stm32f103") - 1.12).abs() < 1e-9);
    assert!((high("stm32f405") - 1.0).abs() < 1e-9);
}

#[test]
fn a_small_multiplier_takes_a_cycle_a_bit() {
    let text = include_str!("../../data/stm32l073.toml");
    let with = |line: &str| Microcontroller::parse(&text.replace("ram-kib", line), "own");
    let cycles = |line: &str| with(line).unwrap().timing.multiply;
    assert_eq!(cycles("ram-kib"), 1);
    assert_eq!(cycles("multiply-cycles = 32\nram-kib"), 32);
    assert!(with("multiply-cycles = 2\nram-kib").is_err());
}

#[test]
fn kernels_are_for_armv7m_alone() {
    let core = Core::CortexM0Plus;
    let problem = Options::for_core(core).problem(core).unwrap();
    assert!(
        problem.contains("Cortex-M0+") && problem.contains("mcu run"),
        "{problem}"
    );
    let refused = "stm32l073"
        .parse::<keymark_mcu::target::Target>()
        .unwrap_err();
    assert!(refused.to_string().contains("ARMv6-M"), "{refused}");
}

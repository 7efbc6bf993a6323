//! ARMv6-M, which the Cortex-M0+ has: the same as QEMU's microbit (a Cortex-M0) does, and nothing else.
//!
//! Needs gcc-arm-none-eabi and qemu-system-arm, which `make test` installs; without them what needs them is skipped.

use std::path::Path;

use keymark_mcu::image::Image;
use keymark_mcu::instruction::{Architecture, Register};
use keymark_mcu::machine::{BusError, CpuFault, Layout, Reason, SimulatedMachine, Stop};
use keymark_mcu::microcontroller::{Core, Microcontroller};
use keymark_mcu::predict::band;
use keymark_mcu::timing::{Pipeline, Untimed};

use crate::cross::{assembled, compiled, load};
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
fn what_no_manual_explains_is_in_a_cortex_m3s_band() {
    let high = |name: &str| {
        let part = Microcontroller::find(name).unwrap();
        band(&part, 1_000_000, &[]).high.0 / part.clock.seconds(1_000_000).0
    };
    assert!((high("stm32f103") - 1.12).abs() < 1e-9);
    assert!((high("stm32f405") - 1.0).abs() < 1e-9);
}

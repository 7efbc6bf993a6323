//! ARMv6-M, which the Cortex-M0+ has, and nothing else. What needs gcc-arm-none-eabi is skipped without it.

use keymark_mcu::image::Image;
use keymark_mcu::instruction::Register;
use keymark_mcu::machine::Stop;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::predict::Banded;
use keymark_mcu::timing::{Pipeline, Untimed};

use crate::RAM;
use crate::cross::{GCC, assembled, load, needs, refusal};

fn build(address: u32, core: &str, code: &str) -> Vec<u8> {
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
    needs!(GCC);
    for (core, name) in [("cortex-m3", "Armv7-M"), ("cortex-m4", "Armv7E-M")] {
        let elf = build(0x0800_0000, core, "b .");
        let refused = refusal(&elf, "stm32l073");
        let both = refused.contains(name) && refused.contains("cortex-m0plus");
        assert!(both, "{refused}");
    }
    let elf = build(0x0800_0000, "cortex-m0plus", "b .");
    for part in ["stm32l073", "stm32f103"] {
        assert_eq!(load(&elf, part).unwrap().pc(), 0x0800_0008, "{part}");
    }
}

#[test]
fn an_rp2040_runs_programs_in_its_ram_and_no_others() {
    needs!(GCC);
    let elf = build(RAM, "cortex-m0plus", "movs r0, #42\nb .");
    let mut machine = load(&elf, "rp2040").unwrap();
    assert_eq!(machine.run(&mut Untimed, 2), Stop::Limit);
    assert_eq!(machine.registers.get(Register::R0), 42);
    let elf = build(0x1000_0000, "cortex-m0plus", "b .");
    let refused = refusal(&elf, "rp2040");
    assert!(
        refused.contains("264 KiB of RAM") && refused.contains("linked for RAM"),
        "{refused}"
    );
}

#[test]
fn there_is_no_counter_of_cycles() {
    needs!(GCC);
    // TRCENA, CYCCNTENA and a value for CYCCNT, and what it reads as.
    let code = "ldr r0, =0xe000edfc\nldr r1, =0x01000000\nstr r1, [r0]\nldr r0, =0xe0001000\nmovs r1, #1\nstr r1, [r0]\n\
                movs r1, #77\nstr r1, [r0, #4]\nnop\nldr r2, [r0, #4]\nb .\n.ltorg";
    let elf = build(0x0800_0000, "cortex-m0plus", code);
    for (part, counts) in [("stm32l073", false), ("stm32f103", true)] {
        let mut machine = load(&elf, part).unwrap();
        assert_eq!(machine.run(&mut Untimed, 20), Stop::Limit);
        assert_eq!(machine.registers.get(Register::R2) >= 77, counts, "{part}");
        assert!(counts || machine.registers.get(Register::R2) == 0);
    }
}

#[test]
fn an_exception_takes_fifteen_cycles_each_way() {
    needs!(GCC);
    // SVC, whose handler returns; every flash read in time.
    let code = "svc #0\nb .\n.balign 4\n.word 0, 0, 0, 0, 0, 0, 0";
    let vectors = ".thumb_func\n.type called, %function\ncalled: bx lr";
    let elf = build(RAM, "cortex-m0plus", &format!("{code}\n{vectors}"));
    let part = Microcontroller::find("rp2040").unwrap();
    let image = Image::parse(&elf).unwrap();
    let handler = image.symbol("called").unwrap().address | 1;
    let mut machine = part.load(&image).unwrap();
    let entry = machine.memory.load(RAM + 4 * 11, &handler.to_le_bytes());
    entry.unwrap();
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
    needs!(GCC);
    let code = "ldr r1, [r0]\nldr r2, [r0]\nstr r2, [r0]\nmuls r1, r2\nb .";
    let elf = build(RAM, "cortex-m0plus", code);
    let part = Microcontroller::find("rp2040").unwrap();
    let image = Image::parse(&elf).unwrap();
    let mut machine = part.load(&image).unwrap();
    machine.registers.set(Register::R0, RAM + 0x1000);
    let mut banded = Banded::whole(&part);
    machine.run(&mut banded, 500);
    let own = banded.base().now();
    assert_eq!(own, 3 * 2 + 1 + 2 * 496);
    let estimates = banded.estimates(|_| true);
    assert!(estimates.iter().all(|(_, cycles)| *cycles == own));
}

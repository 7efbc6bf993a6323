//! A program with floats, spilled values in their registers and nested exceptions does in the simulator what it does in QEMU.
//!
//! Needs gcc-arm-none-eabi and qemu-system-arm, which `make test` installs; without them it is skipped.

use std::path::Path;

use keymark_mcu::microcontroller::Core;

use crate::cross::compiled;
use crate::isa_qemu::{present, qemu_instructions, qemu_output, simulate};

#[test]
fn a_program_with_floats_and_exceptions_does_the_same_as_in_qemu() {
    if !present(&["arm-none-eabi-gcc", "qemu-system-arm"]) {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hard_float.c");
    let directory = tempfile::tempdir().unwrap();
    for words in [
        ["-O2", "-DEXCEPTIONS"],
        ["-O0", "-DEXCEPTIONS"],
        ["-O2", "-g"],
    ] {
        let elf = directory.path().join("floats.elf");
        let places = [
            "-mcpu=cortex-m4",
            "-mfloat-abi=hard",
            "-mfpu=fpv4-sp-d16",
            "-ffreestanding",
            "-Wl,-e,main,--section-start=.vectors=0",
            "-Wl,-Ttext=0x100,-Tbss=0x20000000,-Tdata=0x20004000",
        ];
        let machine = simulate(&compiled(&source, &elf, &[&words[..], &places].concat()));
        let ours = String::from_utf8(machine.output().to_vec()).unwrap();
        assert_eq!(ours, qemu_output(Core::CortexM4, &elf), "{words:?}");
        let has_exceptions = words.contains(&"-DEXCEPTIONS");
        assert_eq!(ours.contains("kept "), has_exceptions, "{ours}");
        if !has_exceptions {
            assert_eq!(machine.executed(), qemu_instructions(Core::CortexM4, &elf));
        }
    }
}

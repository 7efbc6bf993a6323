//! The simulator against QEMU: what random instances of instructions do, what programs and kernels compute, and how many
//! instructions they take. Skipped without QEMU and Arm's GCC.

use std::path::Path;

use keymark_mcu::image::Image;
use keymark_mcu::kernel::{Kernel, Optimisation, Options, Umaal};
use keymark_mcu::machine::{Layout, SimulatedMachine, Stop};
use keymark_mcu::microcontroller::Core;
use keymark_mcu::timing::Untimed;

use crate::cross::{GCC, QEMU, compiled, needs, qemu_instructions, qemu_output};
use crate::instances::{RECORD, program};
use crate::part;
use crate::unmarked::elf_without_markers;

/// The memories of QEMU's boards, as much of them as is needed.
const LAYOUT: Layout = Layout {
    flash_base: 0,
    flash_size: 0x40_0000,
    ram_base: 0x2000_0000,
    ram_size: 0x10_0000,
    ccm_base: 0,
    ccm_size: 0,
};

/// Runs it in the simulator; gives what it writes.
fn simulate(core: Core, elf: &[u8]) -> (SimulatedMachine, String) {
    let machine = Image::parse(elf).unwrap().machine(&LAYOUT).unwrap();
    let mut machine = machine.with_core(core);
    assert_eq!(machine.run(&mut Untimed, 1_000_000_000), Stop::Exit(0));
    let output = String::from_utf8(machine.take_output()).unwrap();
    (machine, output)
}

/// Whether the number of instructions is compared: QEMU's log of them is slow.
#[derive(PartialEq, Eq)]
enum Count {
    Compared,
    Ignored,
}

/// Runs a kernel in both, and compares what it writes and, where asked, how many instructions it takes.
fn compare(kernel: Kernel, umaal: Umaal, opt: Optimisation, count: Count) {
    let mcu = part(umaal);
    let core = mcu.core;
    let options = Options {
        umaal,
        opt,
        ..Options::for_core(core)
    };
    let machine = kernel.run(&mcu, &options, &mut Untimed).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kernel.elf");
    // QEMU faults at markers.
    let elf = elf_without_markers(kernel, &mcu, &options).unwrap();
    std::fs::write(&path, elf).unwrap();
    let output = String::from_utf8(machine.output().to_vec()).unwrap();
    assert_eq!(
        output,
        qemu_output(core, &path),
        "{kernel} {umaal:?} {opt:?}"
    );
    if count == Count::Compared {
        assert_eq!(
            machine.executed(),
            qemu_instructions(core, &path),
            "{kernel} {umaal:?} {opt:?}"
        );
    }
}

#[test]
fn random_instances_of_instructions_do_the_same() {
    needs!(GCC, QEMU);
    for (core, words) in [
        (
            Core::CortexM4,
            &[
                "-mcpu=cortex-m4",
                "-mfpu=fpv4-sp-d16",
                "-mfloat-abi=hard",
                "-Wl,-Ttext=0,-e,reset",
            ][..],
        ),
        (
            Core::CortexM0Plus,
            &["-mcpu=cortex-m0plus", "-Wl,-Ttext=0,-e,reset"],
        ),
    ] {
        let (assembly, instances) = program(core);
        let directory = tempfile::tempdir().unwrap();
        let (source, elf) = (directory.path().join("x.s"), directory.path().join("x.elf"));
        std::fs::write(&source, assembly).unwrap();
        let (_, ours) = simulate(core, &compiled(&source, &elf, words));
        let theirs = qemu_output(core, &elf);
        assert_eq!(ours.len(), instances.len() * RECORD);
        assert_eq!(ours.len(), theirs.len());
        for (number, instance) in instances.iter().enumerate() {
            // R0 to R3, APSR and R6, as they lie in memory.
            let record = number * RECORD..(number + 1) * RECORD;
            assert_eq!(ours[record.clone()], theirs[record], "{instance}");
        }
    }
}

/// Compiles a program in each of these ways, and compares what it writes and, without exceptions, how many instructions it
/// takes.
fn compare_compiled(core: Core, source: &str, places: &[&str], ways: &[[&str; 2]]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it")
        .join(source);
    let directory = tempfile::tempdir().unwrap();
    let elf = directory.path().join("x.elf");
    for way in ways {
        let (machine, ours) =
            simulate(core, &compiled(&source, &elf, &[&way[..], places].concat()));
        assert_eq!(ours, qemu_output(core, &elf), "{way:?}");
        if !way.contains(&"-DEXCEPTIONS") {
            assert_eq!(machine.executed(), qemu_instructions(core, &elf));
        }
    }
}

#[test]
fn compiled_programs_do_the_same() {
    needs!(GCC, QEMU);
    let ways = [
        ["-O2", "-DEXCEPTIONS"],
        ["-O0", "-DEXCEPTIONS"],
        ["-O2", "-g"],
        ["-Os", "-g"],
    ];
    let small = [
        "-mcpu=cortex-m0plus",
        "-ffreestanding",
        "-lgcc",
        "-Wl,-e,main,--section-start=.vectors=0,-Ttext=0x100,-Tbss=0x20000000,-Tdata=0x20001000",
    ];
    compare_compiled(Core::CortexM0Plus, "baseline.c", &small, &ways);
    // With floats, spilled values in their registers and nested exceptions.
    let floats = [
        "-mcpu=cortex-m4",
        "-mfloat-abi=hard",
        "-mfpu=fpv4-sp-d16",
        "-ffreestanding",
        "-Wl,-e,main,--section-start=.vectors=0,-Ttext=0x100,-Tbss=0x20000000,-Tdata=0x20004000",
    ];
    compare_compiled(Core::CortexM4, "hard_float.c", &floats, &ways[..3]);
}

/// Every program of a kernel.
fn compare_all(kernel: Kernel) {
    needs!(QEMU);
    for &umaal in Umaal::ALL {
        for &opt in Optimisation::ALL {
            // Of RSA the shortest, and without QEMU's log, which has 16 million lines.
            let count = match (kernel, umaal, opt) {
                (Kernel::Rsa2048, _, Optimisation::O2 | Optimisation::Os) => continue,
                (Kernel::X25519, Umaal::Off | Umaal::On, Optimisation::O3)
                | (Kernel::Ed25519, Umaal::On, Optimisation::O3) => Count::Compared,
                _ => Count::Ignored,
            };
            compare(kernel, umaal, opt, count);
        }
    }
}

#[test]
fn x25519_computes_the_same() {
    compare_all(Kernel::X25519);
}

#[test]
fn ed25519_computes_the_same() {
    compare_all(Kernel::Ed25519);
}

#[test]
fn rsa_computes_the_same() {
    compare_all(Kernel::Rsa2048);
}

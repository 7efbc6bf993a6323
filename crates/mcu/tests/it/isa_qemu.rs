//! The simulator against QEMU: what random instances of instructions do, what kernels compute, and how
//! many instructions they take.
//!
//! Needs qemu-system-arm and arm-none-eabi-as, which `make test` installs; without them it is skipped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::instances::{Program, RECORD, program};
use keymark_mcu::image::Image;
use keymark_mcu::kernel::{Kernel, Optimisation, Options, Umaal};
use keymark_mcu::machine::{Layout, SimulatedMachine, Stop};
use keymark_mcu::microcontroller::Core;
use keymark_mcu::timing::Untimed;

use crate::unmarked::elf_without_markers;
use crate::{part, skipped};

/// The memories of QEMU's mps2 boards, as much of them as is needed.
const LAYOUT: Layout = Layout {
    flash_base: 0,
    flash_size: 0x40_0000,
    ram_base: 0x2000_0000,
    ram_size: 0x10_0000,
    ccm_base: 0,
    ccm_size: 0,
};

const SEED: u64 = 0x6b65_796d_6172_6b21;
/// Of every form.
const INSTANCES: usize = 16;

/// Whether these programs are there; says so if not.
pub fn present(tools: &[&str]) -> bool {
    tools.iter().all(|tool| {
        let found = Command::new(tool).arg("--version").output().is_ok();
        if !found {
            skipped(&format!("{tool} is missing"));
        }
        found
    })
}

fn qemu(core: Core, elf: &Path) -> Command {
    let mut command = Command::new("qemu-system-arm");
    let board = match core {
        // A Cortex-M0: QEMU has no M0+.
        Core::CortexM0Plus => "microbit",
        Core::CortexM3 => "mps2-an385",
        Core::CortexM4 => "mps2-an386",
    };
    command
        .args([
            "-machine", board, "-display", "none", "-monitor", "none", "-serial", "none",
        ])
        .args(["-chardev", "stdio,id=output", "-semihosting-config"])
        .args(["enable=on,target=native,chardev=output", "-kernel"])
        .arg(elf)
        .stdin(Stdio::null());
    command
}

/// What the program writes in QEMU.
pub fn qemu_output(core: Core, elf: &Path) -> String {
    let output = qemu(core, elf).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{elf:?}: {}: {errors}",
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
}

/// How many instructions QEMU executes.
///
/// One line of the log is one instruction, the last being the breakpoint that ends the program: it is
/// retired in QEMU's count and in the simulator's.
pub fn qemu_instructions(core: Core, elf: &Path) -> u64 {
    let version = Command::new("qemu-system-arm")
        .arg("--version")
        .output()
        .unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let major = version
        .split_whitespace()
        .nth(3)
        .and_then(|number| number.split('.').next());
    let mut command = qemu(core, elf);
    // Since 8.1 -singlestep has another name, and later it is gone.
    match major.unwrap().parse::<u32>().unwrap() {
        ..9 => command.arg("-singlestep"),
        _ => command.args(["-accel", "tcg,one-insn-per-tb=on"]),
    };
    let mut child = command
        .args(["-d", "exec,nochain"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::with_capacity(1 << 20, child.stderr.take().unwrap());
    let (mut line, mut count) = (Vec::new(), 0);
    while log.read_until(b'\n', &mut line).unwrap() > 0 {
        count += u64::from(line.starts_with(b"Trace"));
        line.clear();
    }
    assert!(child.wait().unwrap().success());
    count
}

/// Runs it in the simulator.
pub fn simulate(elf: &[u8]) -> SimulatedMachine {
    let mut machine = Image::parse(elf).unwrap().machine(&LAYOUT).unwrap();
    assert_eq!(machine.run(&mut Untimed, 1_000_000_000), Stop::Exit(0));
    machine
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
    let machine = kernel.execute(&mcu, &options).unwrap();
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

fn assemble(program: &Program, directory: &Path) -> std::path::PathBuf {
    let (source, object, elf) = (
        directory.join("x.s"),
        directory.join("x.o"),
        directory.join("x.elf"),
    );
    std::fs::write(&source, &program.assembly).unwrap();
    let mut assembler = Command::new("arm-none-eabi-as");
    assembler
        .arg("-mcpu=cortex-m4")
        .arg(&source)
        .arg("-o")
        .arg(&object);
    let mut linker = Command::new("arm-none-eabi-ld");
    linker
        .args(["-Ttext=0", "-e", "reset"])
        .arg(&object)
        .arg("-o")
        .arg(&elf);
    for command in [&mut assembler, &mut linker] {
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }
    elf
}

fn records(text: &str) -> impl Iterator<Item = &[u8]> {
    text.as_bytes().chunks(2 * RECORD)
}

#[test]
fn random_instances_of_instructions_do_the_same() {
    if !present(&["qemu-system-arm", "arm-none-eabi-as", "arm-none-eabi-ld"]) {
        return;
    }
    let program = program(SEED, INSTANCES);
    let directory = tempfile::tempdir().unwrap();
    let elf = assemble(&program, directory.path());
    let theirs = qemu_output(Core::CortexM4, &elf);
    let machine = simulate(&std::fs::read(&elf).unwrap());
    let ours = String::from_utf8(machine.output().to_vec()).unwrap();
    assert_eq!(ours.len(), program.instances.len() * 2 * RECORD);
    assert_eq!(ours.len(), theirs.len());
    for (instance, (our, their)) in program
        .instances
        .iter()
        .zip(records(&ours).zip(records(&theirs)))
    {
        // R0 to R3, APSR and R6, as they lie in memory.
        assert_eq!(
            String::from_utf8_lossy(our),
            String::from_utf8_lossy(their),
            "{instance}"
        );
    }
}

/// Every program of a kernel.
fn compare_all(kernel: Kernel) {
    if !present(&["qemu-system-arm"]) {
        return;
    }
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

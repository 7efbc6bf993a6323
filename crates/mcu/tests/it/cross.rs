//! Programs that Arm's GCC builds and QEMU runs, both of which `make test` installs.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use keymark_mcu::McuError;
use keymark_mcu::image::Image;
use keymark_mcu::machine::SimulatedMachine;
use keymark_mcu::microcontroller::{Core, Microcontroller};

use crate::skipped;

pub const GCC: &str = "arm-none-eabi-gcc";
pub const QEMU: &str = "qemu-system-arm";

/// Ends a test where a program is missing.
macro_rules! needs {
    ($($tool:expr),+) => {
        if !$crate::cross::present(&[$($tool),+]) {
            return;
        }
    };
}
pub(crate) use needs;

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

/// What it makes of the source with these words.
pub fn compiled(source: &Path, elf: &Path, words: &[&str]) -> Vec<u8> {
    let output = Command::new(GCC)
        .args(["-mthumb", "-nostdlib"])
        .arg(source)
        .args(words)
        .arg("-o")
        .arg(elf)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    std::fs::read(elf).unwrap()
}

/// The same of assembly.
pub fn assembled(assembly: &str, words: &[&str]) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let (source, elf) = (directory.path().join("x.s"), directory.path().join("x.elf"));
    std::fs::write(&source, format!(".syntax unified\n.thumb\n{assembly}\n")).unwrap();
    compiled(&source, &elf, words)
}

/// The program on a part of that name.
pub fn load(elf: &[u8], part: &str) -> Result<SimulatedMachine, McuError> {
    let part = Microcontroller::find(part).unwrap();
    part.load(&Image::parse(elf)?)
}

/// Returns why the part does not take the program.
pub fn refusal(elf: &[u8], part: &str) -> String {
    load(elf, part).unwrap_err().to_string()
}

fn qemu(core: Core, elf: &Path) -> Command {
    let mut command = Command::new(QEMU);
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
    let version = Command::new(QEMU).arg("--version").output().unwrap();
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

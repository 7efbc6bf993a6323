//! Programs that Arm's GCC builds, which `make test` installs.

use std::path::Path;
use std::process::Command;

use keymark_mcu::McuError;
use keymark_mcu::image::Image;
use keymark_mcu::machine::SimulatedMachine;
use keymark_mcu::microcontroller::Microcontroller;

use crate::isa_qemu::present;

pub const GCC: &str = "arm-none-eabi-gcc";

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

/// The same of assembly, where it is there.
pub fn assembled(assembly: &str, words: &[&str]) -> Option<Vec<u8>> {
    if !present(&[GCC]) {
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let (source, elf) = (directory.path().join("x.s"), directory.path().join("x.elf"));
    std::fs::write(&source, format!(".syntax unified\n.thumb\n{assembly}\n")).unwrap();
    Some(compiled(&source, &elf, words))
}

/// The program on a part of that name.
pub fn load(elf: &[u8], part: &str) -> Result<SimulatedMachine, McuError> {
    let part = Microcontroller::find(part).unwrap();
    part.load(&Image::parse(elf)?)
}

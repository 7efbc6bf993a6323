//! Semihosting, by which a program without an operating system writes and ends ("Semihosting for AArch32
//! and AArch64", Arm 100863): R0 holds the operation, R1 its argument.

use super::{Machine, Reason};
use crate::instruction::Register;

/// The number of the breakpoint on M-profile cores.
pub(super) const NUMBER: u8 = 0xab;

const SYS_WRITEC: u32 = 0x03;
const SYS_WRITE0: u32 = 0x04;
const SYS_WRITE: u32 = 0x05;
const SYS_EXIT: u32 = 0x18;
const SYS_EXIT_EXTENDED: u32 = 0x20;
/// ADP_Stopped_ApplicationExit: the reason of an orderly end.
const APPLICATION_EXIT: u32 = 0x2_0026;
/// A string without an end is cut there, and so is all output.
const LONGEST: usize = 1 << 20;

impl Machine {
    /// Does what the program asks; gives its exit code if it ends.
    pub(super) fn semihosting(&mut self) -> Result<Option<u32>, Reason> {
        let (operation, argument) = (
            self.registers.get(Register::new(0)),
            self.registers.get(Register::new(1)),
        );
        match operation {
            SYS_WRITEC => {
                let byte = self.memory.byte(argument)?;
                self.write_output(&[byte]);
            }
            SYS_WRITE0 => {
                let mut text = Vec::new();
                for offset in 0..LONGEST as u32 {
                    match self.memory.byte(argument.wrapping_add(offset))? {
                        0 => break,
                        byte => text.push(byte),
                    }
                }
                self.write_output(&text);
            }
            SYS_WRITE => {
                let (buffer, length) = (
                    self.memory.word(argument.wrapping_add(4))?,
                    self.memory.word(argument.wrapping_add(8))?,
                );
                let bytes = self.memory.bytes(buffer, length as usize)?.to_vec();
                self.write_output(&bytes);
                self.registers.set(Register::new(0), 0);
            }
            SYS_EXIT => return Ok(Some(u32::from(argument != APPLICATION_EXIT))),
            SYS_EXIT_EXTENDED => {
                let reason = self.memory.word(argument)?;
                let code = self.memory.word(argument.wrapping_add(4))?;
                return Ok(Some(if reason == APPLICATION_EXIT { code } else { 1 }));
            }
            other => return Err(Reason::Semihosting(other)),
        }
        Ok(None)
    }

    fn write_output(&mut self, bytes: &[u8]) {
        let room = LONGEST.saturating_sub(self.output.len());
        self.output.extend(bytes.iter().take(room));
    }
}

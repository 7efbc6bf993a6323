//! Semihosting, by which a program without an operating system writes and ends ("Semihosting for AArch32 and
//! AArch64", Arm 100863). Nothing of the host is opened: there is a console, and nothing to read from it.

use super::{BusError, Reason, SimulatedMachine};
use crate::instruction::Register;

const SYS_OPEN: u32 = 0x01;
const SYS_CLOSE: u32 = 0x02;
const SYS_WRITEC: u32 = 0x03;
const SYS_WRITE0: u32 = 0x04;
const SYS_WRITE: u32 = 0x05;
const SYS_READ: u32 = 0x06;
const SYS_ISTTY: u32 = 0x09;
const SYS_SEEK: u32 = 0x0a;
const SYS_FLEN: u32 = 0x0c;
const SYS_CLOCK: u32 = 0x10;
const SYS_TIME: u32 = 0x11;
const SYS_ERRNO: u32 = 0x13;
const SYS_GET_CMDLINE: u32 = 0x15;
const SYS_HEAPINFO: u32 = 0x16;
const SYS_EXIT: u32 = 0x18;
const SYS_EXIT_EXTENDED: u32 = 0x20;
/// ADP_Stopped_ApplicationExit: the reason of an orderly end.
const APPLICATION_EXIT: u32 = 0x2_0026;
/// A string without an end is cut there.
const LONGEST: u32 = 1 << 20;
/// The handle of the console, and what an operation gives that failed.
const CONSOLE: u32 = 1;
/// The handle of the file that says what there is besides: newlib asks it before it uses SYS_EXIT_EXTENDED.
const FEATURES: u32 = 2;
/// Its bytes: a magic number, then SYS_EXIT_EXTENDED and separate streams for output and errors.
const FEATURE_BYTES: &[u8] = b"SHFB\x03";
const FAILED: u32 = u32::MAX;

impl SimulatedMachine {
    /// R0 holds the operation, R1 its argument; `cycles` have passed. Gives the program's exit code if it ends.
    pub(super) fn semihosting(&mut self, cycles: u64) -> Result<Option<u32>, Reason> {
        let argument = self.registers.get(Register::new(1));
        let word =
            |machine: &Self, index: u32| machine.memory.word(argument.wrapping_add(4 * index));
        let result = match self.registers.get(Register::new(0)) {
            SYS_OPEN => match self.text(word(self, 0)?)?.as_slice() {
                b":tt" => CONSOLE,
                b":semihosting-features" => {
                    self.features_read = 0;
                    FEATURES
                }
                _ => FAILED,
            },
            SYS_WRITEC => {
                let byte = self.memory.byte(argument)?;
                self.output.push(byte);
                return Ok(None);
            }
            SYS_WRITE0 => {
                let text = self.text(argument)?;
                self.output.extend(text);
                return Ok(None);
            }
            SYS_WRITE => {
                let (address, length) = (word(self, 1)?, word(self, 2)?);
                let bytes = self.memory.bytes(address, length as usize);
                let bytes = bytes.map_err(|_| Reason::Written { address, length })?;
                self.output.extend_from_slice(bytes);
                0
            }
            SYS_READ if word(self, 0)? == FEATURES => {
                self.read_features(word(self, 1)?, word(self, 2)?)?
            }
            // All that was asked for is not there.
            SYS_READ => word(self, 2)?,
            SYS_SEEK if word(self, 0)? == FEATURES => {
                self.features_read = word(self, 1)?;
                0
            }
            SYS_FLEN if word(self, 0)? == FEATURES => FEATURE_BYTES.len() as u32,
            SYS_ISTTY => u32::from(word(self, 0)? == CONSOLE),
            SYS_CLOSE | SYS_SEEK | SYS_FLEN | SYS_ERRNO => 0,
            SYS_CLOCK => (u128::from(cycles) * 100 / u128::from(self.hertz.max(1))) as u32,
            SYS_TIME => (cycles / self.hertz.max(1)) as u32,
            SYS_GET_CMDLINE => {
                let buffer = word(self, 0)?;
                self.memory.write(buffer, &[0])?;
                self.memory
                    .write(argument.wrapping_add(4), &0u32.to_le_bytes())?;
                0
            }
            SYS_HEAPINFO => {
                self.heap_information(word(self, 0)?)?;
                0
            }
            SYS_EXIT => return Ok(Some(u32::from(argument != APPLICATION_EXIT))),
            SYS_EXIT_EXTENDED => {
                let (reason, code) = (word(self, 0)?, word(self, 1)?);
                return Ok(Some(if reason == APPLICATION_EXIT { code } else { 1 }));
            }
            other => return Err(Reason::Semihosting(other)),
        };
        self.registers.set(Register::new(0), result);
        Ok(None)
    }

    /// Gives how many of the bytes asked for are not there.
    fn read_features(&mut self, buffer: u32, length: u32) -> Result<u32, BusError> {
        let rest = FEATURE_BYTES
            .get(self.features_read as usize..)
            .unwrap_or_default();
        let mut left = length;
        for (offset, byte) in (0..length).zip(rest) {
            self.memory.write(buffer.wrapping_add(offset), &[*byte])?;
            left -= 1;
        }
        self.features_read += length - left;
        Ok(left)
    }

    /// The string there, without the zero that ends it.
    fn text(&self, address: u32) -> Result<Vec<u8>, BusError> {
        let mut text = Vec::new();
        for offset in 0..LONGEST {
            match self.memory.byte(address.wrapping_add(offset))? {
                0 => break,
                byte => text.push(byte),
            }
        }
        Ok(text)
    }

    /// Reports heap and stack: zero for the heap, so that it is where the linker says; the stack at the end of RAM.
    fn heap_information(&mut self, block: u32) -> Result<(), BusError> {
        let layout = self.memory.layout();
        let end = layout.ram_base.wrapping_add(layout.ram_size);
        for (offset, value) in [(0, 0), (4, 0), (8, end), (12, layout.ram_base)] {
            self.memory
                .write(block.wrapping_add(offset), &u32::to_le_bytes(value))?;
        }
        Ok(())
    }
}

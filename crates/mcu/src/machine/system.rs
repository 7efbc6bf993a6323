//! Bits of the core's own registers (B3 and C1 of DDI 0403E, B3 of DDI 0419). Bits that a core lacks read as zero.

use super::registers::{BASEPRI, BASEPRI_MAX, CONTROL, FAULTMASK, PRIMASK};
use crate::instruction::Core;

/// State of exceptions and special registers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct System {
    pub(super) core: Core,
    /// Bits of a priority; all that an ARMv7-M can have where no number is known. An ARMv6-M always has two.
    pub(super) priority_bits: Option<u8>,
}

impl System {
    fn priority(self) -> u32 {
        let bits = match self.core {
            Core::CortexM0Plus => 2,
            Core::CortexM3 | Core::CortexM4 => self.priority_bits.unwrap_or(8).min(8),
        };
        0xff00 >> bits & 0xff
    }

    /// The register there: its value after a reset, and the bits that a write changes.
    pub(super) fn bits(self, address: u32) -> (u32, u32) {
        let is_small = self.core == Core::CortexM0Plus;
        let has_floats = self.core == Core::CortexM4;
        let priorities = self.priority() * 0x0101_0101;
        match address {
            // Without ITM and DWT; the ITM's ports are ready; DWT_CTRL has four comparators.
            0xe000_0000..=0xe000_1000 if is_small => (0, 0),
            0xe000_0000..=0xe000_007c => (1, 0),
            0xe000_1000 => (0x4000_0000, 0x007f_1fff),
            // NVIC_IPR, VTOR, SCR
            0xe000_e400..=0xe000_e4ec => (0, priorities),
            0xe000_ed08 => (0, !0x7f),
            0xe000_ed10 => (0, 0x16),
            // AIRCR, CCR: the stack is aligned.
            0xe000_ed0c => (0xfa05_0000, if is_small { 0 } else { 0x700 }),
            0xe000_ed14 if is_small => (0x208, 0),
            0xe000_ed14 => (0x200, 0x31b),
            // SHPR, SHCSR
            0xe000_ed18 | 0xe000_ed24 if is_small => (0, 0),
            0xe000_ed18 => (0, priorities & 0x00ff_ffff),
            0xe000_ed1c => (0, priorities & 0xff00_0000),
            0xe000_ed20 if is_small => (0, priorities & 0xffff_0000),
            0xe000_ed20 => (0, priorities & 0xffff_00ff),
            0xe000_ed24 => (0, 0x0007_0000),
            // No fault, memory protection or debugger: CFSR to DFSR, MPU_TYPE, DHCSR.
            0xe000_ed28..=0xe000_ed30 | 0xe000_ed90 | 0xe000_edf0 => (0, 0),
            // CPACR, FPCCR to MVFR1
            0xe000_ed88 | 0xe000_ef34..=0xe000_ef44 if !has_floats => (0, 0),
            0xe000_ed88 => (0, 0x00f0_0000),
            0xe000_ef34 => (0xc000_0000, 0xc000_0000),
            0xe000_ef3c => (0, 0x07c0_0000),
            0xe000_ef40 => (0x1011_0021, 0),
            0xe000_ef44 => (0x1100_0011, 0),
            _ => (0, u32::MAX),
        }
    }

    /// The bits of a special register (B1.4.3).
    pub(super) fn special(self, number: u8) -> u32 {
        match usize::from(number) {
            PRIMASK | FAULTMASK => 1,
            BASEPRI | BASEPRI_MAX => self.priority(),
            CONTROL if self.core == Core::CortexM4 => 7,
            CONTROL => 3,
            _ => u32::MAX,
        }
    }
}

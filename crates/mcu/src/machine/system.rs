//! Which bits the registers of the core's own space have: those that it lacks read as zero, and those that are fixed read as
//! what they are (B3 and C1 of DDI 0403E; B3 of DDI 0419).

use crate::instruction::Architecture;

/// What differs between the parts with one core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SystemControl {
    /// The core's instructions, by which its registers differ.
    pub architecture: Architecture,
    /// What CPUID reads as.
    pub cpuid: u32,
    /// Bits of a priority, from the top of its octet on.
    pub priority_bits: u8,
    /// Regions of the memory protection unit; none where there is no such unit. It protects nothing.
    pub mpu_regions: u8,
}

/// A register's bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bits {
    /// What it reads as after a reset.
    pub reset: u32,
    /// The bits that a write changes.
    pub written: u32,
}

impl Bits {
    /// It remembers all that is written.
    const ALL: Self = Self::written(u32::MAX);

    const fn fixed(reset: u32) -> Self {
        Self { reset, written: 0 }
    }

    const fn written(written: u32) -> Self {
        Self { reset: 0, written }
    }
}

impl SystemControl {
    /// The bits of one priority.
    pub(super) fn priority_mask(&self) -> u32 {
        0xff << (8 - u32::from(self.priority_bits.clamp(1, 8))) & 0xff
    }

    /// The same for the octets of a word that hold one.
    fn priorities(&self, octets: u32) -> Bits {
        Bits::written(octets & (self.priority_mask() * 0x0101_0101))
    }

    /// The register there, of those that the core has.
    pub(super) fn bits(&self, address: u32) -> Bits {
        let floats = self.architecture == Architecture::Armv7EM;
        let common = match address {
            // VTOR
            0xe000_ed08 => Bits::written(match self.architecture {
                Architecture::Armv6M => 0xffff_ff00,
                Architecture::Armv7M => 0x3fff_ff80,
                Architecture::Armv7EM => 0xffff_ff80,
            }),
            // SCR
            0xe000_ed10 => Bits::written(0x16),
            // SHPR2: the supervisor call alone.
            0xe000_ed1c => self.priorities(0xff00_0000),
            // MPU_TYPE
            0xe000_ed90 => Bits::fixed(u32::from(self.mpu_regions) << 8),
            0xe000_ed94..=0xe000_edb8 if self.mpu_regions == 0 => Bits::fixed(0),
            // DHCSR: no debugger is there.
            0xe000_edf0 => Bits::fixed(0),
            // CPACR and the registers of the floating-point unit.
            0xe000_ed88 if floats => Bits::written(0x00f0_0000),
            0xe000_ef34 if floats => Bits {
                reset: 0xc000_0000,
                written: 0xc000_0000,
            },
            0xe000_ef38 if floats => Bits::written(!7),
            0xe000_ef3c if floats => Bits::written(0x07c0_0000),
            0xe000_ef40 if floats => Bits::fixed(0x1011_0021),
            0xe000_ef44 if floats => Bits::fixed(0x1100_0011),
            0xe000_ed88 | 0xe000_ef34..=0xe000_ef44 => Bits::fixed(0),
            _ => return self.of_architecture(address),
        };
        common
    }

    fn of_architecture(&self, address: u32) -> Bits {
        match (self.architecture, address) {
            (Architecture::Armv6M, _) => self.baseline(address),
            // ITM: trace enables, privileges, and control without BUSY.
            (_, 0xe000_0e40) => Bits::written(0xf),
            (_, 0xe000_0e80) => Bits::written(0x007f_0f1f),
            // DWT_CTRL: four comparators.
            (_, 0xe000_1000) => Bits {
                reset: 0x4000_0000,
                written: 0x007f_1fff,
            },
            // ICTR, IABR.
            (_, 0xe000_e004 | 0xe000_e300..=0xe000_e33c) => Bits::fixed(0),
            (_, 0xe000_e400..=0xe000_e4ec) => self.priorities(u32::MAX),
            // AIRCR: the grouping of priorities.
            (_, 0xe000_ed0c) => Bits::written(0x700),
            // CCR: the stack is aligned.
            (_, 0xe000_ed14) => Bits {
                reset: 0x200,
                written: 0x31b,
            },
            (_, 0xe000_ed18) => self.priorities(0x00ff_ffff),
            (_, 0xe000_ed20) => self.priorities(0xffff_00ff),
            // SHCSR: what is enabled. CFSR, HFSR and DFSR: a fault ends the program.
            (_, 0xe000_ed24) => Bits::written(0x0007_0000),
            (_, 0xe000_ed28..=0xe000_ed30) => Bits::fixed(0),
            // DEMCR
            (_, 0xe000_edfc) => Bits::written(0x010f_07f1),
            _ => Bits::ALL,
        }
    }

    fn baseline(&self, address: u32) -> Bits {
        match address {
            // It has no ITM.
            0xe000_0000..=0xe000_0fff => Bits::fixed(0),
            0xe000_1000 => Bits::fixed(0),
            0xe000_e400..=0xe000_e41c => self.priorities(u32::MAX),
            0xe000_ed0c => Bits::fixed(0),
            // CCR: the stack is aligned, and unaligned accesses are faults.
            0xe000_ed14 => Bits::fixed(0x208),
            0xe000_ed20 => self.priorities(0xffff_0000),
            0xe000_ed18 | 0xe000_ed28..=0xe000_ed3c => Bits::fixed(0),
            0xe000_edfc => Bits::written(0x0100_0401),
            _ => Bits::ALL,
        }
    }
}

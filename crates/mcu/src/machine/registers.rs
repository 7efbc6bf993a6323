//! Core registers and flags.

use crate::instruction::{Condition, Operands, Register};

/// R0 to R15 and the application flags (APSR, A2.3.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registers {
    core: [u32; 16],
    /// N
    pub negative: bool,
    /// Z
    pub zero: bool,
    /// C
    pub carry: bool,
    /// V
    pub overflow: bool,
    /// Q: something was saturated.
    pub saturated: bool,
    /// `GE[3:0]`, set by parallel additions and read by SEL.
    pub greater_equal: u8,
    /// PRIMASK and its kin, as MSR sets them; there is nothing to mask, and CPS does nothing.
    pub special: [u32; 32],
}

impl Registers {
    /// The value of a register. The PC reads as the address of the instruction plus 4.
    #[inline(always)]
    pub const fn get(&self, register: Register) -> u32 {
        self.core[register.number()]
    }

    /// The value of a register; zero where the PC stands for none.
    #[inline(always)]
    pub(super) fn get_or_zero(&self, register: Register) -> u32 {
        if register == Register::PC {
            0
        } else {
            self.get(register)
        }
    }

    /// The values of Rn and Rm.
    #[inline(always)]
    pub(super) const fn operands(&self, r: Operands) -> (u32, u32) {
        (self.get(r.n), self.get(r.m))
    }

    /// Sets a register.
    #[inline(always)]
    pub const fn set(&mut self, register: Register, value: u32) {
        self.core[register.number()] = value;
    }

    /// N and Z of a result.
    #[inline(always)]
    pub const fn set_nz(&mut self, result: u32) {
        self.negative = (result as i32) < 0;
        self.zero = result == 0;
    }

    /// Whether a condition holds (A7.3.1).
    #[inline(always)]
    pub const fn holds(&self, condition: Condition) -> bool {
        match condition {
            Condition::Eq => self.zero,
            Condition::Ne => !self.zero,
            Condition::Cs => self.carry,
            Condition::Cc => !self.carry,
            Condition::Mi => self.negative,
            Condition::Pl => !self.negative,
            Condition::Vs => self.overflow,
            Condition::Vc => !self.overflow,
            Condition::Hi => self.carry && !self.zero,
            Condition::Ls => !self.carry || self.zero,
            Condition::Ge => self.negative == self.overflow,
            Condition::Lt => self.negative != self.overflow,
            Condition::Gt => !self.zero && self.negative == self.overflow,
            Condition::Le => self.zero || self.negative != self.overflow,
            Condition::Al => true,
        }
    }

    /// APSR as MRS reads it.
    pub fn apsr(&self) -> u32 {
        u32::from(self.negative) << 31
            | u32::from(self.zero) << 30
            | u32::from(self.carry) << 29
            | u32::from(self.overflow) << 28
            | u32::from(self.saturated) << 27
            | u32::from(self.greater_equal & 0xf) << 16
    }

    /// Sets what MSR may: the flags (mask bit 1) and GE (mask bit 0).
    pub const fn set_apsr(&mut self, value: u32, mask: u8) {
        if mask & 2 != 0 {
            self.negative = value >> 31 & 1 == 1;
            self.zero = value >> 30 & 1 == 1;
            self.carry = value >> 29 & 1 == 1;
            self.overflow = value >> 28 & 1 == 1;
            self.saturated = value >> 27 & 1 == 1;
        }
        if mask & 1 != 0 {
            self.greater_equal = (value >> 16 & 0xf) as u8;
        }
    }
}

//! Core registers and flags.

use super::fpscr::Fpscr;
use crate::instruction::{Condition, Operands, Register};

/// R0 to R15 and the application flags (APSR, A2.3.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registers {
    core: [u32; 16],
    /// The last result that set N and Z, which is not looked at until it is needed; the top bit is for N with Z, which
    /// no result sets.
    nz: u64,
    /// C
    pub carry: bool,
    /// V
    pub overflow: bool,
    /// Q: something was saturated.
    pub saturated: bool,
    /// `GE[3:0]`, set by parallel additions and read by SEL.
    pub greater_equal: u8,
    /// PRIMASK and its kin, by the numbers of MRS (B5.1.1). The stack pointer in use is R13, the other one is here.
    pub special: [u32; 32],
    /// S0 to S31.
    pub floats: [u32; 32],
    /// FPSCR
    pub fpscr: Fpscr,
    /// R13 is PSP.
    on_process_stack: bool,
}

pub(super) const IPSR: usize = 5;
pub(super) const MSP: usize = 8;
pub(super) const PSP: usize = 9;
pub(super) const PRIMASK: usize = 16;
pub(super) const BASEPRI: usize = 17;
pub(super) const BASEPRI_MAX: usize = 18;
pub(super) const FAULTMASK: usize = 19;
pub(super) const CONTROL: usize = 20;
/// CONTROL.SPSEL
const PROCESS_STACK: u32 = 2;
/// CONTROL.FPCA: floating point has been used.
pub(super) const FLOAT_CONTEXT: u32 = 4;

impl Registers {
    /// The value of a register. The PC reads as the address of the instruction plus 4.
    #[inline(always)]
    pub const fn get(&self, register: Register) -> u32 {
        self.core[register.number()]
    }

    /// The value of a register; zero where the PC means none.
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

    /// S0 to S31 by their numbers.
    #[inline(always)]
    pub(super) const fn float(&mut self, number: u8) -> &mut u32 {
        &mut self.floats[(number & 31) as usize]
    }

    /// N and Z of a result.
    #[inline(always)]
    pub const fn set_nz(&mut self, result: u32) {
        self.nz = result as u64;
    }

    /// N
    #[inline(always)]
    pub const fn negative(&self) -> bool {
        self.nz & (1 << 63 | 1 << 31) != 0
    }

    /// Z
    #[inline(always)]
    pub const fn zero(&self) -> bool {
        self.nz as u32 == 0
    }

    /// Returns true if a condition holds (A7.3.1).
    #[inline(always)]
    pub const fn holds(&self, condition: Condition) -> bool {
        match condition {
            Condition::Eq => self.zero(),
            Condition::Ne => !self.zero(),
            Condition::Cs => self.carry,
            Condition::Cc => !self.carry,
            Condition::Mi => self.negative(),
            Condition::Pl => !self.negative(),
            Condition::Vs => self.overflow,
            Condition::Vc => !self.overflow,
            Condition::Hi => self.carry && !self.zero(),
            Condition::Ls => !self.carry || self.zero(),
            Condition::Ge => self.negative() == self.overflow,
            Condition::Lt => self.negative() != self.overflow,
            Condition::Gt => !self.zero() && self.negative() == self.overflow,
            Condition::Le => self.zero() || self.negative() != self.overflow,
            Condition::Al => true,
        }
    }

    /// APSR as MRS reads it.
    pub fn apsr(&self) -> u32 {
        u32::from(self.negative()) << 31
            | u32::from(self.zero()) << 30
            | u32::from(self.carry) << 29
            | u32::from(self.overflow) << 28
            | u32::from(self.saturated) << 27
            | u32::from(self.greater_equal & 0xf) << 16
    }

    /// Sets what MSR may: the flags (mask bit 1) and GE (mask bit 0).
    pub const fn set_apsr(&mut self, value: u32, mask: u8) {
        if mask & 2 != 0 {
            let not_zero = !value >> 30 & 1;
            self.nz = ((value & 1 << 31) as u64) << 32 | not_zero as u64;
            self.carry = value >> 29 & 1 == 1;
            self.overflow = value >> 28 & 1 == 1;
            self.saturated = value >> 27 & 1 == 1;
        }
        if mask & 1 != 0 {
            self.greater_equal = (value >> 16 & 0xf) as u8;
        }
    }

    /// MRS
    pub(super) fn read_special(&self, number: u8) -> u32 {
        match usize::from(number & 31) {
            // Bit 0 for the exception's number, bit 2 for no flags.
            number @ 0..MSP => {
                let flags = if number & 4 == 0 { self.apsr() } else { 0 };
                flags | (self.special[IPSR] * (number as u32 & 1))
            }
            number if self.is_current_stack(number) => self.get(Register::SP),
            BASEPRI_MAX => self.special[BASEPRI],
            number => self.special[number],
        }
    }

    /// MSR
    pub(super) fn write_special(&mut self, number: u8, mask: u8, value: u32) {
        match usize::from(number & 31) {
            number @ 0..MSP if number & 4 == 0 => self.set_apsr(value, mask),
            0..MSP => {}
            number if self.is_current_stack(number) => self.set(Register::SP, value & !3),
            number @ (MSP | PSP) => self.special[number] = value & !3,
            CONTROL => {
                self.special[CONTROL] = value;
                if self.special[IPSR] == 0 {
                    self.use_process_stack(value & PROCESS_STACK != 0);
                }
            }
            // It masks more, never less (B5.2.3).
            BASEPRI_MAX if value == 0 => {}
            BASEPRI_MAX if (1..=value).contains(&self.special[BASEPRI]) => {}
            BASEPRI_MAX => self.special[BASEPRI] = value,
            number => self.special[number] = value,
        }
    }

    pub(super) const fn is_on_process_stack(&self) -> bool {
        self.on_process_stack
    }

    const fn is_current_stack(&self, number: usize) -> bool {
        number == if self.on_process_stack { PSP } else { MSP }
    }

    /// Makes R13 the process stack's pointer or the main one's.
    pub(super) const fn use_process_stack(&mut self, process: bool) {
        if process != self.on_process_stack {
            let (old, new) = if process { (MSP, PSP) } else { (PSP, MSP) };
            self.special[old] = self.get(Register::SP);
            self.set(Register::SP, self.special[new]);
            self.on_process_stack = process;
        }
    }
}

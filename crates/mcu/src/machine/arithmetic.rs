//! What data-processing instructions compute: pure functions, and their effect on registers and flags.

use super::registers::Registers;
use crate::instruction::{Alu, BitField, Flags, ImmediateCarry, Register, Shift, Unary};

/// AddWithCarry, A2.2.1: result, carry, overflow.
#[inline(always)]
pub(super) const fn add_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool, bool) {
    let wide = a as u64 + b as u64 + carry as u64;
    let result = wide as u32;
    let overflow = ((a ^ result) & (b ^ result)) >> 31 == 1;
    (result, wide >> 32 == 1, overflow)
}

/// Shift_C, A2.2.1, for amounts below 256: result and carry.
#[inline(always)]
pub(super) const fn shift_with_carry(
    value: u32,
    shift: Shift,
    amount: u32,
    carry: bool,
) -> (u32, bool) {
    if let Shift::Rrx = shift {
        return ((carry as u32) << 31 | value >> 1, value & 1 == 1);
    }
    if amount == 0 {
        return (value, carry);
    }
    match shift {
        Shift::Lsl if amount < 32 => (value << amount, value >> (32 - amount) & 1 == 1),
        Shift::Lsl => (0, amount == 32 && value & 1 == 1),
        Shift::Lsr if amount < 32 => (value >> amount, value >> (amount - 1) & 1 == 1),
        Shift::Lsr => (0, amount == 32 && value >> 31 == 1),
        Shift::Asr if amount < 32 => (
            (value as i32 >> amount) as u32,
            value >> (amount - 1) & 1 == 1,
        ),
        Shift::Asr => ((value as i32 >> 31) as u32, value >> 31 == 1),
        Shift::Ror | Shift::Rrx => {
            let result = value.rotate_right(amount & 31);
            (result, result >> 31 == 1)
        }
    }
}

impl Registers {
    /// Computes and, where asked, sets flags; `shifter` is the carry of the second operand.
    #[inline(always)]
    pub(super) fn alu(
        &mut self,
        alu: Alu,
        flags: Flags,
        rd: Register,
        (a, b): (u32, u32),
        shifter: bool,
    ) {
        let keep = self.overflow;
        let (result, carry, overflow) = match alu {
            Alu::Add | Alu::Cmn => add_with_carry(a, b, false),
            Alu::Adc => add_with_carry(a, b, self.carry),
            Alu::Sub | Alu::Cmp => add_with_carry(a, !b, true),
            Alu::Sbc => add_with_carry(a, !b, self.carry),
            Alu::Rsb => add_with_carry(!a, b, true),
            Alu::And | Alu::Tst => (a & b, shifter, keep),
            Alu::Bic => (a & !b, shifter, keep),
            Alu::Orr => (a | b, shifter, keep),
            Alu::Orn => (a | !b, shifter, keep),
            Alu::Eor | Alu::Teq => (a ^ b, shifter, keep),
            Alu::Mov => (b, shifter, keep),
            Alu::Mvn => (!b, shifter, keep),
        };
        if flags == Flags::Set {
            self.set_nz(result);
            self.carry = carry;
            self.overflow = overflow;
        }
        if !matches!(alu, Alu::Cmp | Alu::Cmn | Alu::Tst | Alu::Teq) {
            self.set(rd, result);
        }
    }

    /// The carry of a modified immediate constant.
    #[inline(always)]
    pub(super) const fn immediate_carry(&self, carry: ImmediateCarry) -> bool {
        match carry {
            ImmediateCarry::Keep => self.carry,
            ImmediateCarry::Clear => false,
            ImmediateCarry::Set => true,
        }
    }

    /// LSL, LSR, ASR, ROR by the low byte of a register.
    #[inline(always)]
    pub(super) fn shift_register(
        &mut self,
        shift: Shift,
        flags: Flags,
        rd: Register,
        (value, amount): (u32, u32),
    ) {
        let (result, carry) = shift_with_carry(value, shift, amount & 0xff, self.carry);
        if flags == Flags::Set {
            self.set_nz(result);
            self.carry = carry;
        }
        self.set(rd, result);
    }

    /// BFI, BFC, SBFX, UBFX. Beyond bit 31 the architecture is unpredictable: nothing is there.
    pub(super) fn bit_field(
        &mut self,
        field: BitField,
        rd: Register,
        rn: Register,
        (lsb, width): (u8, u8),
    ) {
        let (lsb, width) = (u32::from(lsb), u32::from(width).min(32 - u32::from(lsb)));
        let mask = ((1u64 << width) - 1) as u32;
        let source = if rn == Register::PC { 0 } else { self.get(rn) };
        let result = match field {
            BitField::Bfi => self.get(rd) & !(mask << lsb) | (source & mask) << lsb,
            BitField::Ubfx => source >> lsb & mask,
            BitField::Sbfx => {
                let top = 32 - width;
                (((source >> lsb) << top) as i32 >> top) as u32
            }
        };
        self.set(rd, result);
    }
}

/// REV and its kin.
#[inline(always)]
pub(super) const fn unary(unary: Unary, value: u32) -> u32 {
    match unary {
        Unary::Rev => value.swap_bytes(),
        Unary::Rev16 => value.swap_bytes().rotate_left(16),
        Unary::Revsh => (value as u16).swap_bytes() as i16 as i32 as u32,
        Unary::Rbit => value.reverse_bits(),
        Unary::Clz => value.leading_zeros(),
    }
}

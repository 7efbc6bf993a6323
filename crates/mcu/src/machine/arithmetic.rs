//! What data-processing instructions compute (A7.7.x by mnemonic): pure functions, and their effect on registers and
//! flags. The plain ones come first, then multiplications and divisions, then saturation, lanes and packing of the DSP
//! extension.

use crate::instruction::{
    Alu, BitField, Dual, Extend, Flags, Lane, Lanes, Long, LongDsp, Multiply, Operands, Register,
    Saturating, Shift, Sign, Unary,
};
use crate::machine::registers::Registers;

/// AddWithCarry, A2.2.1: result, carry, overflow.
#[inline(always)]
pub(super) const fn add_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool, bool) {
    let wide = a as u64 + b as u64 + carry as u64;
    let result = wide as u32;
    let overflow = ((a ^ result) & (b ^ result)) >> 31 == 1;
    (result, wide >> 32 == 1, overflow)
}

/// AddWithCarry(a, NOT(b), 1): it carries where it does not borrow.
#[inline(always)]
const fn subtract(a: u32, b: u32) -> (u32, bool, bool) {
    let (result, overflow) = a.cast_signed().overflowing_sub(b.cast_signed());
    (result.cast_unsigned(), a >= b, overflow)
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
        set_flags: bool,
        rd: Register,
        (a, b): (u32, u32),
        shifter: bool,
    ) {
        let keep = self.overflow;
        let (result, carry, overflow) = match alu {
            Alu::Add | Alu::Cmn => add_with_carry(a, b, false),
            Alu::Adc => add_with_carry(a, b, self.carry),
            Alu::Sub | Alu::Cmp => subtract(a, b),
            Alu::Sbc => add_with_carry(a, !b, self.carry),
            Alu::Rsb => subtract(b, a),
            Alu::And | Alu::Tst => (a & b, shifter, keep),
            Alu::Bic => (a & !b, shifter, keep),
            Alu::Orr => (a | b, shifter, keep),
            Alu::Orn => (a | !b, shifter, keep),
            Alu::Eor | Alu::Teq => (a ^ b, shifter, keep),
            Alu::Mov => (b, shifter, keep),
            Alu::Mvn => (!b, shifter, keep),
        };
        if set_flags {
            self.set_nz(result);
            self.carry = carry;
            self.overflow = overflow;
        }
        if !matches!(alu, Alu::Cmp | Alu::Cmn | Alu::Tst | Alu::Teq) {
            self.set(rd, result);
        }
    }

    /// LSL, LSR, ASR, ROR by the low byte of a register.
    #[inline(always)]
    pub(super) fn shift_register(&mut self, shift: Shift, flags: Flags, r: Operands) {
        let (value, amount) = self.operands(r);
        let (result, carry) = shift_with_carry(value, shift, amount & 0xff, self.carry);
        if flags == Flags::Set {
            self.set_nz(result);
            self.carry = carry;
        }
        self.set(r.d, result);
    }

    /// BFI, BFC, SBFX, UBFX. Beyond bit 31 the architecture is unpredictable: nothing is there.
    pub(super) fn bit_field(&mut self, field: BitField, r: Operands, (lsb, width): (u8, u8)) {
        let (lsb, width) = (u32::from(lsb), u32::from(width).min(32 - u32::from(lsb)));
        let mask = ((1u64 << width) - 1) as u32;
        let source = self.get_or_zero(r.n);
        let result = match field {
            BitField::Bfi => self.get(r.d) & !(mask << lsb) | (source & mask) << lsb,
            BitField::Ubfx => source >> lsb & mask,
            BitField::Sbfx => {
                let top = 32 - width;
                (((source >> lsb) << top) as i32 >> top) as u32
            }
        };
        self.set(r.d, result);
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

const fn half(value: u32, top: bool) -> i64 {
    let half = if top { value >> 16 } else { value };
    half as i16 as i64
}

const fn dual(n: u32, m: u32, dual: Dual) -> i64 {
    let m = if dual.exchanges { m.rotate_left(16) } else { m };
    let (bottom, top) = (
        half(n, false) * half(m, false),
        half(n, true) * half(m, true),
    );
    bottom + if dual.subtracts { -top } else { top }
}

const fn pair(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// RdHi:RdLo of the long products, given what they held.
#[inline(always)]
pub(super) const fn long(long: Long, n: u32, m: u32, high: u32, low: u32) -> u64 {
    match long {
        Long::Umull => n as u64 * m as u64,
        Long::Smull => (n as i32 as i64 * m as i32 as i64) as u64,
        Long::Umlal => (n as u64 * m as u64).wrapping_add(pair(high, low)),
        Long::Smlal => ((n as i32 as i64 * m as i32 as i64) as u64).wrapping_add(pair(high, low)),
        // Cannot overflow: (2³²−1)² + 2 (2³²−1) = 2⁶⁴−1.
        Long::Umaal => n as u64 * m as u64 + high as u64 + low as u64,
    }
}

/// RdHi:RdLo of the DSP products.
pub(super) const fn long_dsp(long: LongDsp, n: u32, m: u32, high: u32, low: u32) -> u64 {
    let sum = match long {
        LongDsp::Smlal(top_n, top_m) => half(n, top_n) * half(m, top_m),
        LongDsp::Smlald(of) => dual(n, m, of),
    };
    pair(high, low).wrapping_add(sum as u64)
}

/// SDIV and UDIV; by zero gives zero, since DIV_0_TRP is clear after reset (A7.7.127).
#[inline(always)]
pub(super) const fn divide(sign: Sign, n: u32, m: u32) -> u32 {
    match (sign, m) {
        (_, 0) => 0,
        (Sign::Signed, _) => (n as i32).wrapping_div(m as i32) as u32,
        (Sign::Unsigned, _) => n / m,
    }
}

impl Registers {
    /// MUL to USADA8.
    #[inline(always)]
    pub(super) fn multiply(&mut self, multiply: Multiply, flags: Flags, r: Operands, ra: Register) {
        let (n, m) = self.operands(r);
        let result = match multiply {
            Multiply::Mul => n.wrapping_mul(m),
            Multiply::Mla => n.wrapping_mul(m).wrapping_add(self.get(ra)),
            Multiply::Mls => self.get(ra).wrapping_sub(n.wrapping_mul(m)),
            _ => self.multiply_dsp(multiply, n, m, ra),
        };
        if flags == Flags::Set {
            self.set_nz(result);
        }
        self.set(r.d, result);
    }

    fn multiply_dsp(&mut self, multiply: Multiply, n: u32, m: u32, ra: Register) -> u32 {
        let addend = self.get_or_zero(ra);
        let (signed, signed_n) = (i64::from(addend as i32), i64::from(n as i32));
        let sum = match multiply {
            Multiply::Smla(top_n, top_m) => half(n, top_n) * half(m, top_m) + signed,
            Multiply::Smlaw(top) => ((signed_n * half(m, top)) >> 16) + signed,
            Multiply::Smlad(of) => dual(n, m, of) + signed,
            Multiply::Smmla { rounds, subtracts } => {
                let whole = signed_n * i64::from(m as i32);
                let product = if subtracts { -whole } else { whole };
                let rounding = i64::from(rounds) << 31;
                let sum = (signed << 32).wrapping_add(product).wrapping_add(rounding);
                return (sum >> 32) as u32;
            }
            _ => return addend.wrapping_add(absolute_differences(n, m)),
        };
        // Q is set when the sum does not fit 32 bits (A7.7.141 and others).
        if i64::from(sum as i32) != sum {
            self.saturated = true;
        }
        sum as u32
    }
}

/// USAD8: the sum of the absolute differences of the bytes.
fn absolute_differences(n: u32, m: u32) -> u32 {
    n.to_le_bytes()
        .iter()
        .zip(m.to_le_bytes())
        .map(|(n, m)| u32::from(n.abs_diff(m)))
        .sum()
}

/// SignedSat and UnsignedSat, A2.2.1: the value, and whether it was cut.
fn saturated(sign: Sign, bits: u32, value: i64) -> (i64, bool) {
    let (low, high) = match sign {
        Sign::Signed => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
        Sign::Unsigned => (0, (1i64 << bits) - 1),
    };
    let within = value.clamp(low, high);
    (within, within != value)
}

/// SXTB and its kin, of a rotated register.
pub(super) const fn extend(extend: Extend, value: u32, rotation: u8, addend: u32) -> u32 {
    let value = value.rotate_right(rotation as u32);
    let whole = match extend {
        Extend::Sxtb => value as i8 as i32 as u32,
        Extend::Sxth => value as i16 as i32 as u32,
        Extend::Uxtb => value & 0xff,
        Extend::Uxth => value & 0xffff,
        Extend::Sxtb16 => {
            return halves(value as i8 as u16, (value >> 16) as i8 as u16, addend);
        }
        Extend::Uxtb16 => return halves(value as u8 as u16, (value >> 16) as u8 as u16, addend),
    };
    whole.wrapping_add(addend)
}

/// Adds the halves of a word to two others.
const fn halves(low: u16, top: u16, addend: u32) -> u32 {
    let low = low.wrapping_add(addend as u16) as u32;
    (top.wrapping_add((addend >> 16) as u16) as u32) << 16 | low
}

/// PKHBT and PKHTB.
pub(super) const fn pack(n: u32, m: u32, shift: Shift, amount: u8) -> u32 {
    let shifted = shift_with_carry(m, shift, amount as u32, false).0;
    match shift {
        Shift::Lsl => shifted & 0xffff_0000 | n & 0xffff,
        _ => n & 0xffff_0000 | shifted & 0xffff,
    }
}

impl Registers {
    /// QADD, QDADD, QSUB, QDSUB: of Rm and Rn.
    pub(super) fn saturating(&mut self, saturating: Saturating, r: Operands) {
        let (n, m) = self.operands(r);
        let (n, m) = (i64::from(n as i32), i64::from(m as i32));
        let (doubled, cut) = saturated(Sign::Signed, 32, 2 * n);
        let (sum, first) = match saturating {
            Saturating::Qadd => (m + n, false),
            Saturating::Qsub => (m - n, false),
            Saturating::Qdadd => (m + doubled, cut),
            Saturating::Qdsub => (m - doubled, cut),
        };
        let (result, second) = saturated(Sign::Signed, 32, sum);
        self.saturated |= first || second;
        self.set(r.d, result as u32);
    }

    /// SSAT and USAT.
    pub(super) fn saturate(&mut self, sign: Sign, bits: u8, r: Operands, shift: (Shift, u8)) {
        let (value, amount) = (self.get(r.n), u32::from(shift.1));
        let (shifted, _) = shift_with_carry(value, shift.0, amount, self.carry);
        let result = self.saturate_value(sign, bits, i64::from(shifted as i32));
        self.set(r.d, result as u32);
    }

    /// SSAT16 and USAT16.
    pub(super) fn saturate16(&mut self, sign: Sign, bits: u8, r: Operands) {
        let value = self.get(r.n);
        let low = self.saturate_value(sign, bits, i64::from(value as i16)) as u16;
        let top = self.saturate_value(sign, bits, i64::from((value >> 16) as i16)) as u16;
        self.set(r.d, u32::from(top) << 16 | u32::from(low));
    }

    fn saturate_value(&mut self, sign: Sign, bits: u8, value: i64) -> i64 {
        let (result, cut) = saturated(sign, u32::from(bits), value);
        self.saturated |= cut;
        result
    }

    /// SADD16 and its 35 kin.
    pub(super) fn parallel(&mut self, lanes: Lanes, sign: Sign, sums: Lane, r: Operands) {
        let (n, m) = self.operands(r);
        let width = match lanes {
            Lanes::Add8 | Lanes::Sub8 => 8,
            _ => 16,
        };
        let lane = |value: u32, position: u32| {
            let value = value >> (position * width) & ((1 << width) - 1);
            match sign {
                Sign::Signed => i64::from((value << (32 - width)) as i32 >> (32 - width)),
                Sign::Unsigned => i64::from(value),
            }
        };
        let (mut result, mut greater_equal) = (0, 0);
        for position in 0..32 / width {
            // ASX subtracts below and adds above, SAX the other way; both take the other lane of Rm.
            let (other, add) = match lanes {
                Lanes::Add16 | Lanes::Add8 => (position, true),
                Lanes::Sub16 | Lanes::Sub8 => (position, false),
                Lanes::Asx => (1 - position, position == 1),
                Lanes::Sax => (1 - position, position == 0),
            };
            let (a, b) = (lane(n, position), lane(m, other));
            let sum = if add { a + b } else { a - b };
            let value = match sums {
                Lane::Wraps => sum,
                Lane::Saturates => saturated(sign, width, sum).0,
                Lane::Halves => sum >> 1,
            };
            result |= (value as u32 & ((1 << width) - 1)) << (position * width);
            // Of an unsigned sum GE is the carry, of a difference that there was no borrow.
            let least = i64::from(add && sign == Sign::Unsigned) << width;
            if sum >= least {
                let bits = if width == 8 { 0b1 } else { 0b11 };
                greater_equal |= bits << (position * width / 8);
            }
        }
        if sums == Lane::Wraps {
            self.greater_equal = greater_equal;
        }
        self.set(r.d, result);
    }

    /// SEL
    pub(super) fn select(&mut self, r: Operands) {
        let (n, m) = self.operands(r);
        let selected = (0..4).fold(0, |result, byte| {
            let from = if self.greater_equal >> byte & 1 == 1 {
                n
            } else {
                m
            };
            result | from & 0xff << (8 * byte)
        });
        self.set(r.d, selected);
    }
}

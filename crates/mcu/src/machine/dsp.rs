//! Saturation, parallel lanes, packing and extension of the DSP extension.

use super::arithmetic::shift_with_carry;
use super::registers::Registers;
use crate::instruction::{Extend, LaneKind, Lanes, Register, Saturating, Shift, Sign};

/// SignedSat, A2.2.1: the value, and whether it was cut.
const fn signed_sat(value: i64, bits: u32) -> (i64, bool) {
    let (low, high) = (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1);
    if value < low {
        (low, true)
    } else if value > high {
        (high, true)
    } else {
        (value, false)
    }
}

/// UnsignedSat, A2.2.1.
const fn unsigned_sat(value: i64, bits: u32) -> (i64, bool) {
    let high = (1i64 << bits) - 1;
    if value < 0 {
        (0, true)
    } else if value > high {
        (high, true)
    } else {
        (value, false)
    }
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
            let low = (value as i8 as i16 as u16).wrapping_add(addend as u16) as u32;
            let top = ((value >> 16) as i8 as i16 as u16).wrapping_add((addend >> 16) as u16);
            return (top as u32) << 16 | low;
        }
        Extend::Uxtb16 => {
            let low = (value as u8 as u16).wrapping_add(addend as u16) as u32;
            let top = ((value >> 16) as u8 as u16).wrapping_add((addend >> 16) as u16);
            return (top as u32) << 16 | low;
        }
    };
    whole.wrapping_add(addend)
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
    pub(super) fn saturating(&mut self, saturating: Saturating, n: u32, m: u32) -> u32 {
        let (n, m) = (i64::from(n as i32), i64::from(m as i32));
        let (doubled, cut) = signed_sat(2 * n, 32);
        let (sum, first) = match saturating {
            Saturating::Qadd => (m + n, false),
            Saturating::Qsub => (m - n, false),
            Saturating::Qdadd => (m + doubled, cut),
            Saturating::Qdsub => (m - doubled, cut),
        };
        let (result, second) = signed_sat(sum, 32);
        self.saturated |= first || second;
        result as u32
    }

    /// SSAT and USAT.
    pub(super) fn saturate(
        &mut self,
        sign: Sign,
        bits: u8,
        value: u32,
        (shift, amount): (Shift, u8),
    ) -> u32 {
        let (shifted, _) = shift_with_carry(value, shift, u32::from(amount), self.carry);
        self.saturate_value(sign, bits, i64::from(shifted as i32)) as u32
    }

    /// SSAT16 and USAT16.
    pub(super) fn saturate16(&mut self, sign: Sign, bits: u8, value: u32) -> u32 {
        let low = self.saturate_value(sign, bits, i64::from(value as i16)) as u16;
        let top = self.saturate_value(sign, bits, i64::from((value >> 16) as i16)) as u16;
        u32::from(top) << 16 | u32::from(low)
    }

    fn saturate_value(&mut self, sign: Sign, bits: u8, value: i64) -> i64 {
        let (result, cut) = match sign {
            Sign::Signed => signed_sat(value, u32::from(bits)),
            Sign::Unsigned => unsigned_sat(value, u32::from(bits)),
        };
        self.saturated |= cut;
        result
    }

    /// SADD16 and its 35 kin.
    pub(super) fn parallel(&mut self, lanes: Lanes, kind: LaneKind, n: u32, m: u32) -> u32 {
        let signed = matches!(
            kind,
            LaneKind::Signed | LaneKind::SignedSaturating | LaneKind::SignedHalving
        );
        let width = match lanes {
            Lanes::Add8 | Lanes::Sub8 => 8,
            _ => 16,
        };
        let lane = |value: u32, position: u32| {
            let value = value >> (position * width) & ((1 << width) - 1);
            if signed {
                i64::from((value << (32 - width)) as i32 >> (32 - width))
            } else {
                i64::from(value)
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
            // Of an unsigned sum GE is the carry, of a difference that there was no borrow.
            let (sum, least) = if add { (a + b, 1 << width) } else { (a - b, 0) };
            let (value, ge) = lane_result(kind, sum, width, least);
            result |= (value as u32 & ((1 << width) - 1)) << (position * width);
            if ge {
                let bits = if width == 8 { 0b1 } else { 0b11 };
                greater_equal |= bits << (position * width / 8);
            }
        }
        if matches!(kind, LaneKind::Signed | LaneKind::Unsigned) {
            self.greater_equal = greater_equal;
        }
        result
    }

    /// SEL
    pub(super) fn select(&self, n: u32, m: u32) -> u32 {
        (0..4).fold(0, |result, byte| {
            let from = if self.greater_equal >> byte & 1 == 1 {
                n
            } else {
                m
            };
            result | from & 0xff << (8 * byte)
        })
    }

    /// The addend of an extension: none where Rn is the PC.
    pub(super) const fn addend(&self, rn: Register) -> u32 {
        if rn.number() == Register::PC.number() {
            0
        } else {
            self.get(rn)
        }
    }
}

/// A lane's value, and whether its GE bits are set: where unsigned, from `least` on.
const fn lane_result(kind: LaneKind, sum: i64, width: u32, least: i64) -> (i64, bool) {
    match kind {
        LaneKind::Signed => (sum, sum >= 0),
        LaneKind::Unsigned => (sum, sum >= least),
        LaneKind::SignedSaturating => (signed_sat(sum, width).0, false),
        LaneKind::UnsignedSaturating => (unsigned_sat(sum, width).0, false),
        LaneKind::SignedHalving | LaneKind::UnsignedHalving => (sum >> 1, false),
    }
}

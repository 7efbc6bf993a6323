//! 32-bit encodings of arithmetic: A5.3.1 to A5.3.3 and A5.3.11 to A5.3.17.

use super::thumb16::{immediate_shift, shifted_data};
use super::{bits, operands, register as field};
use crate::instruction::{
    Alu, BitField, Dual, Effect, Extend, Flags, Lane, Lanes, Long, LongDsp, Multiply, Operands,
    Register, Saturating, Shift, Sign, Unary,
};

/// The sixteen opcodes shared by immediate and shifted-register forms; `None` where there is none.
fn alu(op: u32, r: Operands, flags: Flags) -> Option<Alu> {
    let compares = r.d == Register::PC && flags == Flags::Set;
    Some(match (op, compares, r.n == Register::PC) {
        (0, true, _) => Alu::Tst,
        (0, ..) => Alu::And,
        (1, ..) => Alu::Bic,
        (2, _, true) => Alu::Mov,
        (2, ..) => Alu::Orr,
        (3, _, true) => Alu::Mvn,
        (3, ..) => Alu::Orn,
        (4, true, _) => Alu::Teq,
        (4, ..) => Alu::Eor,
        (8, true, _) => Alu::Cmn,
        (8, ..) => Alu::Add,
        (10, ..) => Alu::Adc,
        (11, ..) => Alu::Sbc,
        (13, true, _) => Alu::Cmp,
        (13, ..) => Alu::Sub,
        (14, ..) => Alu::Rsb,
        _ => return None,
    })
}

fn set_flags(first: u32) -> Flags {
    if bits(first, 4, 1) == 1 {
        Flags::Set
    } else {
        Flags::Keep
    }
}

/// ThumbExpandImm_C, A5.3.2.
pub(super) fn expand_immediate(immediate: u32) -> (u32, Option<bool>) {
    let byte = immediate & 0xff;
    match immediate >> 8 & 0xf {
        0 => (byte, None),
        1 => (byte << 16 | byte, None),
        2 => (byte << 24 | byte << 8, None),
        3 => (byte * 0x0101_0101, None),
        _ => {
            let value = (0x80 | byte & 0x7f).rotate_right(immediate >> 7 & 0x1f);
            (value, Some(value >> 31 == 1))
        }
    }
}

/// i:imm3:imm8, A5.3.1.
fn immediate12(first: u32, second: u32) -> u32 {
    bits(first, 10, 1) << 11 | bits(second, 12, 3) << 8 | bits(second, 0, 8)
}

/// imm3:imm2, the amount of a shift.
const fn amount5(second: u32) -> u32 {
    bits(second, 12, 3) << 2 | bits(second, 6, 2)
}

/// A5.3.1
pub(super) fn modified_immediate(first: u32, second: u32) -> Option<Effect> {
    let (r, flags) = (operands(first, second), set_flags(first));
    let (value, carry) = expand_immediate(immediate12(first, second));
    let alu = alu(bits(first, 5, 4), r, flags)?;
    Some(Effect::DataImmediate(alu, flags, r, carry, value))
}

/// A5.3.3
pub(super) fn plain_immediate(first: u32, second: u32, pc: u32) -> Option<Effect> {
    let r = operands(first, second);
    let plain = |alu, value| Some(Effect::DataImmediate(alu, Flags::Keep, r, None, value));
    let imm12 = immediate12(first, second);
    let (lsb, low) = (amount5(second) as u8, bits(second, 0, 5) as u8);
    let bit_field = |field, width| Some(Effect::BitField(field, r, (lsb, width)));
    match bits(first, 4, 5) {
        0b00000 if r.n == Register::PC => plain(Alu::Mov, (pc & !3).wrapping_add(imm12)),
        0b00000 => plain(Alu::Add, imm12),
        0b00100 => plain(Alu::Mov, bits(first, 0, 4) << 12 | imm12),
        0b01010 if r.n == Register::PC => plain(Alu::Mov, (pc & !3).wrapping_sub(imm12)),
        0b01010 => plain(Alu::Sub, imm12),
        0b01100 => Some(Effect::MoveTop(
            r.d,
            (bits(first, 0, 4) << 12 | imm12) as u16,
        )),
        0b10000 | 0b10010 => Some(saturate(first, second, Sign::Signed)),
        0b11000 | 0b11010 => Some(saturate(first, second, Sign::Unsigned)),
        0b10100 => bit_field(BitField::Sbfx, low + 1),
        0b11100 => bit_field(BitField::Ubfx, low + 1),
        0b10110 => bit_field(BitField::Bfi, (low + 1).checked_sub(lsb)?),
        _ => None,
    }
}

/// SSAT, SSAT16, USAT, USAT16.
fn saturate(first: u32, second: u32, sign: Sign) -> Effect {
    let (r, amount) = (operands(first, second), amount5(second));
    let to = bits(second, 0, 5) as u8 + u8::from(sign == Sign::Signed);
    if bits(first, 5, 1) == 1 && amount == 0 {
        return Effect::Saturate16(sign, r, to);
    }
    let shift = immediate_shift(bits(first, 5, 1) << 1, amount);
    Effect::Saturate(sign, r, to, shift)
}

/// A5.3.11
pub(super) fn shifted(first: u32, second: u32) -> Option<Effect> {
    let (r, flags) = (operands(first, second), set_flags(first));
    let (kind, amount) = (bits(second, 4, 2), amount5(second));
    let op = bits(first, 5, 4);
    if op == 6 {
        // With S or T set it is undefined (A7.7.93).
        let defined = flags == Flags::Keep && kind & 1 == 0;
        return defined.then(|| Effect::Pack(r, immediate_shift(kind, amount)));
    }
    Some(shifted_data(alu(op, r, flags)?, flags, r, kind, amount))
}

/// A5.3.12
pub(super) fn register(first: u32, second: u32) -> Option<Effect> {
    let r = operands(first, second);
    let (op1, op2) = (bits(first, 4, 4), bits(second, 4, 4));
    if bits(second, 12, 4) != 0xf {
        return None;
    }
    match (op1, op2) {
        (0..=7, 0) => {
            let shift = [Shift::Lsl, Shift::Lsr, Shift::Asr, Shift::Ror][(op1 >> 1) as usize];
            Some(Effect::ShiftRegister(shift, set_flags(first), r))
        }
        (0..=5, 8..=15) => {
            use Extend::{Sxtb, Sxtb16, Sxth, Uxtb, Uxtb16, Uxth};
            let extend = [Sxth, Uxth, Sxtb16, Uxtb16, Sxtb, Uxtb][op1 as usize];
            Some(Effect::Extend(extend, r, (op2 & 3) as u8 * 8))
        }
        (8..=15, 0..=7) => parallel(op1, op2, r),
        (8..=11, 8..=11) => miscellaneous(op1, op2, r),
        _ => None,
    }
}

/// A5.3.13 and A5.3.14
fn parallel(op1: u32, op2: u32, r: Operands) -> Option<Effect> {
    use Lanes::{Add8, Add16, Asx, Sax, Sub8, Sub16};
    // Four of eight each; the last of them is undefined.
    let lanes = [[Add8, Add16, Asx], [Sub8, Sub16, Sax]];
    let lanes = lanes[(op1 >> 2 & 1) as usize].get((op1 & 3) as usize)?;
    let sign = [Sign::Signed, Sign::Unsigned][(op2 >> 2 & 1) as usize];
    let lane = [Lane::Wraps, Lane::Saturates, Lane::Halves];
    let lane = lane.get((op2 & 3) as usize)?;
    Some(Effect::Parallel(*lanes, sign, *lane, r))
}

/// A5.3.15
fn miscellaneous(op1: u32, op2: u32, r: Operands) -> Option<Effect> {
    use Saturating::{Qadd, Qdadd, Qdsub, Qsub};
    let unary = |unary| Some(Effect::Unary(unary, r));
    match (op1 & 3, op2 & 3) {
        (0, which) => {
            let saturating = [Qadd, Qdadd, Qsub, Qdsub][which as usize];
            Some(Effect::Saturating(saturating, r))
        }
        (1, 0) => unary(Unary::Rev),
        (1, 1) => unary(Unary::Rev16),
        (1, 2) => unary(Unary::Rbit),
        (1, _) => unary(Unary::Revsh),
        (2, 0) => Some(Effect::Select(r)),
        (3, 0) => unary(Unary::Clz),
        _ => None,
    }
}

/// A5.3.16
pub(super) fn multiply(first: u32, second: u32) -> Option<Effect> {
    let r = operands(first, second);
    let (op1, op2) = (bits(first, 4, 3), bits(second, 4, 2));
    if bits(second, 6, 2) != 0 {
        return None;
    }
    let (ra, low) = (field(second, 12), op2 & 1 == 1);
    let multiply = match (op1, op2) {
        (0, 0) if ra == Register::PC => Multiply::Mul,
        (0, 0) => Multiply::Mla,
        (0, 1) => Multiply::Mls,
        (1, _) => Multiply::Smla(op2 & 2 == 2, low),
        (2 | 4, 0 | 1) => Multiply::Smlad(Dual {
            exchanges: low,
            subtracts: op1 == 4,
        }),
        (3, 0 | 1) => Multiply::Smlaw(low),
        (5 | 6, 0 | 1) => Multiply::Smmla {
            rounds: low,
            subtracts: op1 == 6,
        },
        (7, 0) => Multiply::Usada8,
        _ => return None,
    };
    Some(Effect::Multiply(multiply, Flags::Keep, r, ra))
}

/// A5.3.17
pub(super) fn multiply_long(first: u32, second: u32) -> Option<Effect> {
    let r = operands(first, second);
    let (op1, op2) = (bits(first, 4, 3), bits(second, 4, 4));
    let low = op2 & 1 == 1;
    let rd_low = field(second, 12);
    let long = |long| Some(Effect::MultiplyLong(long, r, rd_low));
    let dsp = |long| Some(Effect::MultiplyLongDsp(long, r, rd_low));
    match (op1, op2) {
        (0, 0) => long(Long::Smull),
        (1, 0xf) => Some(Effect::Divide(Sign::Signed, r)),
        (2, 0) => long(Long::Umull),
        (3, 0xf) => Some(Effect::Divide(Sign::Unsigned, r)),
        (4, 0) => long(Long::Smlal),
        (4, 8..=11) => dsp(LongDsp::Smlal(op2 & 2 == 2, low)),
        (4 | 5, 12 | 13) => dsp(LongDsp::Smlald(Dual {
            exchanges: low,
            subtracts: op1 == 5,
        })),
        (6, 0) => long(Long::Umlal),
        (6, 6) => long(Long::Umaal),
        _ => None,
    }
}

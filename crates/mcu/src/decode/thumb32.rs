//! 32-bit encodings, A5.3: the first level, and branches.

use super::{arithmetic32, bits, memory32, register, signed};
use crate::instruction::{Condition, Effect};

/// Decodes one; `address` is its own.
pub(super) fn decode(first: u32, second: u32, address: u32) -> Effect {
    let pc = address.wrapping_add(4);
    let unknown = Effect::Unknown(first << 16 | second);
    let effect = match (bits(first, 11, 2), bits(first, 4, 7)) {
        (0b01, op) if op & 0b1100100 == 0 => memory32::multiple(first, second),
        (0b01, op) if op & 0b1100100 == 0b0000100 => memory32::double_exclusive(first, second),
        (0b01, op) if op & 0b1100000 == 0b0100000 => arithmetic32::shifted(first, second),
        (0b10, _) if second >> 15 == 1 => branch_or_control(first, second, pc),
        (0b10, op) if op & 0b0100000 == 0 => arithmetic32::modified_immediate(first, second),
        (0b10, _) => arithmetic32::plain_immediate(first, second, pc),
        (0b11, op) if op & 0b1110001 == 0 => memory32::store(first, second),
        (0b11, op) if op & 0b1100001 == 0b0000001 => memory32::load(first, second, pc),
        (0b11, op) if op & 0b1110000 == 0b0100000 => arithmetic32::register(first, second),
        (0b11, op) if op & 0b1111000 == 0b0110000 => arithmetic32::multiply(first, second),
        (0b11, op) if op & 0b1111000 == 0b0111000 => arithmetic32::multiply_long(first, second),
        _ => None,
    };
    effect.unwrap_or(unknown)
}

/// A5.3.4
fn branch_or_control(first: u32, second: u32, pc: u32) -> Option<Effect> {
    let (op, op1) = (bits(first, 4, 7), bits(second, 12, 3));
    let far = pc.wrapping_add_signed(long_offset(first, second));
    match (op1 & 0b101, op) {
        (0b000, 0b0111000 | 0b0111001) => Some(Effect::WriteSpecial {
            rn: register(first, 0),
            special: bits(second, 0, 8) as u8,
            mask: bits(second, 10, 2) as u8,
        }),
        (0b000, 0b0111011) if bits(second, 4, 4) == 0b0110 => Some(Effect::Barrier),
        (0b000, 0b0111011) if bits(second, 4, 4) == 0b0010 => Some(Effect::ClearExclusive),
        // NOP and other hints; DSB, DMB.
        (0b000, 0b0111010 | 0b0111011) => Some(Effect::Nop),
        (0b000, 0b0111110 | 0b0111111) => Some(Effect::ReadSpecial(
            register(second, 8),
            bits(second, 0, 8) as u8,
        )),
        (0b000, _) if op & 0b0111000 != 0b0111000 => Some(Effect::BranchConditional(
            Condition::new(bits(first, 6, 4)),
            pc.wrapping_add_signed(conditional_offset(first, second)),
        )),
        (0b001, _) => Some(Effect::Branch(far)),
        (0b101, _) => Some(Effect::BranchLink(far)),
        _ => None,
    }
}

/// Encoding T3 of B: S:J2:J1:imm6:imm11:0.
fn conditional_offset(first: u32, second: u32) -> i32 {
    let value = bits(first, 10, 1) << 19
        | bits(second, 11, 1) << 18
        | bits(second, 13, 1) << 17
        | bits(first, 0, 6) << 11
        | bits(second, 0, 11);
    signed(value, 20) * 2
}

/// Encodings T4 of B and T1 of BL: S:I1:I2:imm10:imm11:0 with I = NOT(J EOR S).
fn long_offset(first: u32, second: u32) -> i32 {
    let sign = bits(first, 10, 1);
    let i1 = !(bits(second, 13, 1) ^ sign) & 1;
    let i2 = !(bits(second, 11, 1) ^ sign) & 1;
    let value = sign << 23 | i1 << 22 | i2 << 21 | bits(first, 0, 10) << 11 | bits(second, 0, 11);
    signed(value, 24) * 2
}

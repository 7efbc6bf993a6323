//! Decoder of encodings: ARM DDI 0403E, chapter A5 (Thumb encoding) and A7.7 (each form).

mod arithmetic32;
mod float;
mod memory32;
mod thumb16;

use crate::instruction::{Condition, Effect, Flags, Instruction, Operands, Register};

/// True where the first halfword begins a 32-bit instruction (A5.1).
pub const fn is_wide(first: u16) -> bool {
    first >> 11 >= 0b11101
}

/// Decodes one instruction at `address`; `second` is the following halfword, used by wide ones only. `flags` is what most
/// 16-bit forms do to them: in an IT block they keep them.
pub fn decode(first: u16, second: u16, address: u32, flags: Flags) -> (Effect, u8) {
    if is_wide(first) {
        (wide(u32::from(first), u32::from(second), address), 4)
    } else {
        (thumb16::decode(u32::from(first), address, flags), 2)
    }
}

/// The conditions of an IT block (A7.3.2), in order: none if `first` is not IT.
pub fn it_conditions(first: u16) -> Vec<Condition> {
    let mask = u32::from(first & 0xf);
    if first & 0xff00 != 0xbf00 || mask == 0 {
        return Vec::new();
    }
    let base = u32::from(first >> 4) & 0xf;
    let length = 4 - mask.trailing_zeros();
    (0..length)
        .map(|position| {
            // The first is the base itself; mask bit 3 decides the second, bit 2 the third, bit 1 the fourth.
            let lowest = match position {
                0 => base & 1,
                _ => mask >> (4 - position) & 1,
            };
            Condition::new(base & 0xe | lowest)
        })
        .collect()
}

/// Decodes the instruction at an address and, for IT, those of its block, as `halfword` reads them.
pub fn decode_at(
    address: u32,
    halfword: impl Fn(u32) -> Option<u16>,
) -> Option<Vec<(u32, Instruction)>> {
    let fetch = |address: u32, flags: Flags| {
        let first = halfword(address)?;
        let second = if is_wide(first) {
            halfword(address.wrapping_add(2))?
        } else {
            0
        };
        Some((first, decode(first, second, address, flags)))
    };
    let (first, (effect, size)) = fetch(address, Flags::Set)?;
    let mut decoded = vec![(address, Instruction::new(effect, size, Condition::Al))];
    let mut next = address.wrapping_add(2);
    for condition in it_conditions(first) {
        // What is not there faults when it is executed.
        let Some((_, (effect, size))) = fetch(next, Flags::Keep) else {
            break;
        };
        // Breakpoints are unconditional even there (A7.7.17).
        let condition = match effect {
            Effect::Breakpoint(_) => Condition::Al,
            _ => condition,
        };
        decoded.push((next, Instruction::new(effect, size, condition)));
        next = next.wrapping_add(u32::from(size));
    }
    Some(decoded)
}

/// The bits `low..low + width` of a value.
const fn bits(value: u32, low: u32, width: u32) -> u32 {
    value >> low & ((1 << width) - 1)
}

/// The register named by four bits from `low` on.
const fn register(value: u32, low: u32) -> Register {
    Register::new(value >> low)
}

/// The register named by three bits from `low` on.
const fn low_register(value: u32, low: u32) -> Register {
    Register::new(bits(value, low, 3))
}

/// R[d], R[n] and R[m] where 32-bit encodings have them.
const fn operands(first: u32, second: u32) -> Operands {
    Operands::new(register(second, 8), register(first, 0), register(second, 0))
}

/// Sign-extends the low `width` bits.
const fn signed(value: u32, width: u32) -> i32 {
    (value << (32 - width)) as i32 >> (32 - width)
}

/// 32-bit encodings, A5.3: the first level. `address` is the instruction's own.
fn wide(first: u32, second: u32, address: u32) -> Effect {
    let pc = address.wrapping_add(4);
    let unknown = Effect::Unknown(first << 16 | second);
    let effect = match (bits(first, 11, 2), bits(first, 4, 7)) {
        (0b01, op) if op & 0b1100100 == 0 => memory32::multiple(first, second),
        (0b01, op) if op & 0b1100100 == 0b0000100 => memory32::double_exclusive(first, second),
        (0b01, op) if op & 0b1100000 == 0b0100000 => arithmetic32::shifted(first, second),
        (0b01, op) if op & 0b1000000 != 0 && bits(second, 9, 3) == 0b101 => {
            float::decode(first, second).map(Effect::Float)
        }
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

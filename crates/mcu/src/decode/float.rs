//! Encodings of the floating-point extension, A6.4 to A6.7.

use super::{bits, register};
use crate::instruction::{Float, FloatOperation, FloatTransfer, Index, Toward};

/// A register of single precision: four bits and one more, the lowest.
const fn single(four: u32, one: u32) -> u8 {
    (four << 1 | one) as u8
}

/// One of double precision, by its first half: sixteen of them at most.
const fn double(four: u32) -> u8 {
    (four << 1) as u8
}

/// Decodes what names the coprocessors 10 and 11.
pub(super) fn decode(first: u32, second: u32) -> Option<Float> {
    if bits(second, 9, 3) != 0b101 {
        return None;
    }
    match (bits(first, 8, 8), bits(second, 4, 1)) {
        (0xee, 0) if bits(second, 8, 1) == 0 => compute(first, second),
        (0xee, _) => move_one(first, second),
        (0xec, _) if bits(first, 5, 3) == 0b010 => Some(move_two(first, second)),
        (0xec | 0xed, _) => transfer(first, second),
        _ => None,
    }
}

fn compute(first: u32, second: u32) -> Option<Float> {
    use FloatOperation::{
        Vadd, Vdiv, Vfma, Vfms, Vfnma, Vfnms, Vmla, Vmls, Vmul, Vnmla, Vnmls, Vnmul, Vsub,
    };
    let d = single(bits(second, 12, 4), bits(first, 6, 1));
    let n = single(bits(first, 0, 4), bits(second, 7, 1));
    let m = single(bits(second, 0, 4), bits(second, 5, 1));
    let operation = match (bits(first, 4, 4) & 0b1011, bits(second, 6, 1)) {
        (0b0000, 0) => Vmla,
        (0b0000, _) => Vmls,
        (0b0001, 0) => Vnmls,
        (0b0001, _) => Vnmla,
        (0b0010, 0) => Vmul,
        (0b0010, _) => Vnmul,
        (0b0011, 0) => Vadd,
        (0b0011, _) => Vsub,
        (0b1000, 0) => Vdiv,
        (0b1001, 0) => Vfnms,
        (0b1001, _) => Vfnma,
        (0b1010, 0) => Vfma,
        (0b1010, _) => Vfms,
        (0b1011, 0) => return Some(Float::Immediate(d, expanded(first, second))),
        (0b1011, _) => return other(first, second, d, m),
        _ => return None,
    };
    Some(Float::Compute(operation, [d, n, m]))
}

/// VFPExpandImm, A6.4.1.
fn expanded(first: u32, second: u32) -> u32 {
    let (high, low) = (bits(first, 0, 4), bits(second, 0, 4));
    let exponent = if bits(high, 2, 1) == 0 {
        0b1_0000_0
    } else {
        0b0_1111_1
    };
    high >> 3 << 31 | exponent << 25 | bits(high, 0, 2) << 23 | low << 19
}

/// Of two operands: A6.4, table A6-2.
fn other(first: u32, second: u32, d: u8, m: u8) -> Option<Float> {
    use FloatOperation::{
        FromSigned, FromUnsigned, RoundSigned, RoundUnsigned, ToSigned, ToUnsigned, Vabs, Vcmp,
        VcmpZero, Vmov, Vneg, Vsqrt,
    };
    let operation = match (bits(first, 0, 4), bits(second, 7, 1)) {
        (0b0000, 0) => Vmov,
        (0b0000, _) => Vabs,
        (0b0001, 0) => Vneg,
        (0b0001, _) => Vsqrt,
        (0b0100, _) => Vcmp,
        (0b0101, _) => VcmpZero,
        (0b1000, 0) => FromUnsigned,
        (0b1000, _) => FromSigned,
        (0b1100, 0) => RoundUnsigned,
        (0b1100, _) => ToUnsigned,
        (0b1101, 0) => RoundSigned,
        (0b1101, _) => ToSigned,
        _ => return None,
    };
    // With zero nothing else is read.
    let m = if operation == VcmpZero { d } else { m };
    Some(Float::Compute(operation, [d, m, m]))
}

fn toward(load: u32) -> Toward {
    match load {
        0 => Toward::Float,
        _ => Toward::Core,
    }
}

/// A6.6
fn move_one(first: u32, second: u32) -> Option<Float> {
    let (toward, rt) = (toward(bits(first, 4, 1)), register(second, 12));
    let four = bits(first, 0, 4);
    match (bits(second, 8, 1), bits(first, 5, 3)) {
        (0, 0) => Some(Float::Move(toward, rt, single(four, bits(second, 7, 1)))),
        (0, 0b111) if four == 1 => Some(Float::Status(toward, rt)),
        // A half of a double register.
        (1, half @ 0..=1) if bits(second, 5, 2) == 0 => {
            Some(Float::Move(toward, rt, single(four, half)))
        }
        _ => None,
    }
}

/// A6.7
fn move_two(first: u32, second: u32) -> Float {
    let core = [register(second, 12), register(first, 0)];
    let m = match bits(second, 8, 1) {
        0 => single(bits(second, 0, 4), bits(second, 5, 1)),
        _ => double(bits(second, 0, 4)),
    };
    Float::MovePair(toward(bits(first, 4, 1)), core, m)
}

/// A6.5
fn transfer(first: u32, second: u32) -> Option<Float> {
    let (pre, up, back) = (bits(first, 8, 1), bits(first, 7, 1), bits(first, 5, 1));
    let is_double = bits(second, 8, 1) == 1;
    let register_first = match is_double {
        true => double(bits(second, 12, 4)),
        false => single(bits(second, 12, 4), bits(first, 6, 1)),
    };
    let bytes = (bits(second, 0, 8) << 2) as i16;
    let (index, offset, words) = match (pre, up, back) {
        (1, 0, 0) => (Index::Offset, -bytes, 1 + u32::from(is_double)),
        (1, 1, 0) => (Index::Offset, bytes, 1 + u32::from(is_double)),
        (0, 1, 0) => (Index::Offset, 0, bits(second, 0, 8)),
        (0, 1, 1) => (Index::Post, bytes, bits(second, 0, 8)),
        (1, 0, 1) => (Index::Pre, -bytes, bits(second, 0, 8)),
        _ => return None,
    };
    (u32::from(register_first) + words <= 32).then_some(Float::Transfer(FloatTransfer {
        toward: match bits(first, 4, 1) {
            0 => Toward::Core,
            _ => Toward::Float,
        },
        rn: register(first, 0),
        index,
        first: register_first,
        words: words as u8,
        offset,
    }))
}

//! Floating-point encodings, A6.4 to A6.7 of DDI 0403E; of them those of single precision.

use super::{bits, register};
use crate::instruction::{Conversion, Float, FloatData, FloatOperands, FloatTransfer, Register};

/// Decodes one of coprocessor 10 or 11.
pub(super) fn decode(first: u32, second: u32) -> Option<Float> {
    match (bits(first, 8, 4), bits(second, 4, 1)) {
        (0b1110, 0) if bits(second, 8, 1) == 0 => data(first, second),
        (0b1110, 1) => move_one(first, second),
        (0b1100, _) if bits(first, 5, 3) == 0b010 => move_two(first, second),
        (0b1100 | 0b1101, _) => transfer(first, second),
        _ => None,
    }
}

/// A single register: four bits from `low` of one halfword, the lowest bit elsewhere.
const fn single(upper: u32, low: u32, lowest: u32, at: u32) -> u8 {
    (bits(upper, low, 4) << 1 | bits(lowest, at, 1)) as u8
}

/// The lower half of a double register, of which there are sixteen.
fn double(upper: u32, low: u32, highest: u32, at: u32) -> Option<u8> {
    (bits(highest, at, 1) == 0).then_some((bits(upper, low, 4) << 1) as u8)
}

/// A6.4
fn data(first: u32, second: u32) -> Option<Float> {
    let r = FloatOperands {
        d: single(second, 12, first, 6),
        n: single(first, 0, second, 7),
        m: single(second, 0, second, 5),
    };
    let op = bits(second, 6, 1) == 1;
    let accumulate = |fused, negates_addend| FloatData::Accumulate {
        fused,
        negates_product: op,
        negates_addend,
    };
    let data = match (bits(first, 7, 1), bits(first, 4, 2), op) {
        (0, 0, _) => accumulate(false, false),
        (0, 1, _) => accumulate(false, true),
        (0, 2, false) => FloatData::Mul,
        (0, 2, true) => FloatData::MulNegated,
        (0, _, false) => FloatData::Add,
        (0, _, true) => FloatData::Sub,
        (_, 0, false) => FloatData::Div,
        (_, 1, _) => accumulate(true, true),
        (_, 2, _) => accumulate(true, false),
        (_, 3, false) => {
            let value = bits(first, 0, 4) << 4 | bits(second, 0, 4);
            return Some(Float::Constant(r.d, value as u8));
        }
        (_, 3, true) => return other_data(bits(first, 0, 4), second, r),
        _ => return None,
    };
    Some(Float::Data(data, r))
}

/// Table A6-4, where the lower bit of opc3 is set: of one operand.
fn other_data(opc2: u32, second: u32, r: FloatOperands) -> Option<Float> {
    let top = bits(second, 7, 1) == 1;
    let whole = |is_signed, truncates| Conversion {
        is_signed,
        bits: 32,
        fraction: 0,
        truncates,
    };
    // In place, of the bits that the immediate leaves.
    let size = if top { 32 } else { 16 };
    let left = bits(second, 0, 4) << 1 | bits(second, 5, 1);
    let fixed = Conversion {
        is_signed: opc2 & 1 == 0,
        bits: size,
        fraction: size.saturating_sub(left as u8),
        truncates: true,
    };
    let (data, m) = match (opc2, top) {
        (0b0000, false) => (FloatData::Move, r.m),
        (0b0000, true) => (FloatData::Abs, r.m),
        (0b0001, false) => (FloatData::Neg, r.m),
        (0b0001, true) => (FloatData::Sqrt, r.m),
        (0b0100, _) => return Some(Float::Compare(r.d, Some(r.m))),
        (0b0101, _) => return Some(Float::Compare(r.d, None)),
        (0b1000, _) => (FloatData::FromFixed(whole(top, false)), r.m),
        (0b1100 | 0b1101, _) => (FloatData::ToFixed(whole(opc2 & 1 == 1, top)), r.m),
        (0b1010 | 0b1011, _) => (FloatData::FromFixed(fixed), r.d),
        (0b1110 | 0b1111, _) => (FloatData::ToFixed(fixed), r.d),
        _ => return None,
    };
    Some(Float::Data(data, FloatOperands { n: m, m, ..r }))
}

/// A6.5: loads and stores.
fn transfer(first: u32, second: u32) -> Option<Float> {
    let (pre, up, back) = (bits(first, 8, 1), bits(first, 7, 1), bits(first, 5, 1));
    let (loads, rn) = (bits(first, 4, 1) == 1, register(first, 0));
    let (start, width) = match bits(second, 8, 1) {
        0 => (single(second, 12, first, 6), 1),
        _ => (double(second, 12, first, 6)?, 2),
    };
    let words = bits(second, 0, 8) as i16;
    let (count, offset, moved) = match (pre, up, back) {
        (1, 0, 0) => (width, -4 * words, 0),
        (1, 1, 0) => (width, 4 * words, 0),
        (0, 1, _) => (words, 0, 4 * words * back as i16),
        (1, 0, 1) => (words, -4 * words, -4 * words),
        _ => return None,
    };
    let is_literal = pre == 1 && back == 0 && loads;
    let fits = count > 0 && count % width == 0 && i16::from(start) + count <= 32;
    let transfer = FloatTransfer {
        first: start,
        count: count as u8,
        rn,
        offset,
        moved,
    };
    match loads {
        _ if !fits || rn == Register::PC && !is_literal => None,
        true => Some(Float::Load(transfer)),
        false => Some(Float::Store(transfer)),
    }
}

/// A6.6: a core register and a single one, half a double one, or FPSCR.
fn move_one(first: u32, second: u32) -> Option<Float> {
    let (rt, opcode) = (register(second, 12), bits(first, 5, 3));
    let status = bits(first, 0, 4) == 1;
    let number = match (bits(second, 8, 1), opcode, bits(second, 5, 2)) {
        (0, 0b111, _) if status && bits(first, 4, 1) == 1 => return Some(Float::ReadStatus(rt)),
        (0, 0b111, _) if status => return Some(Float::WriteStatus(rt)),
        (0, 0b000, _) => single(first, 0, second, 7),
        (1, 0b000 | 0b001, 0b00) => double(first, 0, second, 7)? | opcode as u8,
        _ => return None,
    };
    Some(moved(first, number, [rt, Register::PC]))
}

/// A6.7: two core registers, and two single ones or a double one.
fn move_two(first: u32, second: u32) -> Option<Float> {
    let registers = [register(second, 12), register(first, 0)];
    let number = match (bits(second, 4, 4) & 0b1101, bits(second, 8, 1)) {
        (0b0001, 0) => single(second, 0, second, 5),
        (0b0001, _) => double(second, 0, second, 5)?,
        _ => return None,
    };
    let is_known = number < 31 && !registers.contains(&Register::PC);
    is_known.then(|| moved(first, number, registers))
}

fn moved(first: u32, number: u8, registers: [Register; 2]) -> Float {
    match bits(first, 4, 1) {
        0 => Float::FromCore(number, registers),
        _ => Float::ToCore(number, registers),
    }
}

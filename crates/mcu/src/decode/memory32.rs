//! 32-bit encodings of loads and stores: A5.3.5 to A5.3.10.

use super::{bits, operands, register};
use crate::instruction::{Access, Direction, Effect, MultipleTransfer, Offset, Register, Transfer};

/// A5.3.5
pub(super) fn multiple(first: u32, second: u32) -> Option<Effect> {
    let transfer = MultipleTransfer {
        rn: register(first, 0),
        list: second as u16,
        direction: match bits(first, 7, 2) {
            0b01 => Direction::IncrementAfter,
            0b10 => Direction::DecrementBefore,
            _ => return None,
        },
        write_back: bits(first, 5, 1) == 1,
    };
    Some(match bits(first, 4, 1) {
        0 => Effect::StoreMultiple(transfer),
        _ => Effect::LoadMultiple(transfer),
    })
}

/// Reads P, U and W; P = 0 and W = 0 is something else.
fn offset(pre: u32, up: u32, write_back: u32, magnitude: u32) -> Option<Offset> {
    let offset = match up {
        0 => -(magnitude as i16),
        _ => magnitude as i16,
    };
    match (pre, write_back) {
        (0, 0) => None,
        (0, _) => Some(Offset::Post(offset)),
        (_, 0) => Some(Offset::Plain(offset)),
        _ => Some(Offset::Pre(offset)),
    }
}

/// R[t] at an offset from R[n].
const fn transfer(first: u32, second: u32, access: Access, offset: Offset) -> Transfer {
    Transfer {
        access,
        rt: register(second, 12),
        rn: register(first, 0),
        offset,
    }
}

/// A5.3.6
pub(super) fn double_exclusive(first: u32, second: u32) -> Option<Effect> {
    let (pre, up, back) = (bits(first, 8, 1), bits(first, 7, 1), bits(first, 5, 1));
    let Some(offset) = offset(pre, up, back, bits(second, 0, 8) << 2) else {
        return exclusive_or_table(first, second);
    };
    let rt2 = register(second, 8);
    let transfer = transfer(first, second, Access::Word, offset);
    Some(match bits(first, 4, 1) {
        0 => Effect::StoreDouble(rt2, transfer),
        _ => Effect::LoadDouble(rt2, transfer),
    })
}

/// LDREX, STREX, their byte and halfword forms, TBB and TBH.
fn exclusive_or_table(first: u32, second: u32) -> Option<Effect> {
    let r = operands(first, second);
    let load = bits(first, 4, 1) == 1;
    let exclusive = |access, rd, offset| {
        let transfer = transfer(first, second, access, Offset::Plain(offset));
        Some(match load {
            true => Effect::LoadExclusive(transfer),
            false => Effect::StoreExclusive(rd, transfer),
        })
    };
    if bits(first, 7, 1) == 0 {
        return exclusive(Access::Word, r.d, (bits(second, 0, 8) << 2) as i16);
    }
    match (bits(second, 4, 4), load) {
        (0, true) => Some(Effect::TableBranch(Access::Byte, r)),
        (1, true) => Some(Effect::TableBranch(Access::Half, r)),
        (4, _) => exclusive(Access::Byte, r.m, 0),
        (5, _) => exclusive(Access::Half, r.m, 0),
        _ => None,
    }
}

/// The forms that A5.3.7 to A5.3.10 share: at an immediate offset, or at a scaled register.
fn single(
    first: u32,
    second: u32,
    access: Access,
    effect: fn(Transfer) -> Effect,
) -> Option<Effect> {
    let offset = if bits(first, 7, 1) == 1 {
        Offset::Plain(bits(second, 0, 12) as i16)
    } else if bits(second, 6, 6) == 0 {
        Offset::Scaled(register(second, 0), bits(second, 4, 2) as u8)
    } else if bits(second, 11, 1) == 1 {
        // P = 0 and W = 0 is undefined; P U W = 1 1 0 is the unprivileged form, the same here.
        let (pre, up, back) = (bits(second, 10, 1), bits(second, 9, 1), bits(second, 8, 1));
        offset(pre, up, back, bits(second, 0, 8))?
    } else {
        return None;
    };
    Some(effect(transfer(first, second, access, offset)))
}

/// A5.3.10
pub(super) fn store(first: u32, second: u32) -> Option<Effect> {
    let access = match bits(first, 5, 2) {
        0 => Access::Byte,
        1 => Access::Half,
        2 => Access::Word,
        _ => return None,
    };
    if register(first, 0) == Register::PC {
        return None;
    }
    single(first, second, access, Effect::Store)
}

/// A5.3.7 to A5.3.9
pub(super) fn load(first: u32, second: u32, pc: u32) -> Option<Effect> {
    let (rt, rn) = (register(second, 12), register(first, 0));
    let signed = bits(first, 8, 1) == 1;
    let access = match (bits(first, 5, 2), signed) {
        (0, false) => Access::Byte,
        (0, true) => Access::SignedByte,
        (1, false) => Access::Half,
        (1, true) => Access::SignedHalf,
        (2, false) => Access::Word,
        _ => return None,
    };
    if rt == Register::PC && access != Access::Word {
        return Some(Effect::Nop); // PLD, PLI and unallocated hints
    }
    if rn == Register::PC {
        let (offset, base) = (bits(second, 0, 12), pc & !3);
        let address = match bits(first, 7, 1) {
            0 => base.wrapping_sub(offset),
            _ => base.wrapping_add(offset),
        };
        return Some(Effect::LoadLiteral(access, rt, address));
    }
    single(first, second, access, Effect::Load)
}

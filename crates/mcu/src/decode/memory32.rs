//! 32-bit encodings of loads and stores: A5.3.5 to A5.3.10.

use super::{bits, register};
use crate::instruction::{Access, Direction, Effect, Index, Register, WriteBack};

fn write_back(first: u32) -> WriteBack {
    if bits(first, 5, 1) == 1 {
        WriteBack::Yes
    } else {
        WriteBack::No
    }
}

/// A5.3.5
pub(super) fn multiple(first: u32, second: u32) -> Option<Effect> {
    let (rn, list) = (register(first, 0), second as u16);
    let write_back = write_back(first);
    let direction = match bits(first, 7, 2) {
        0b01 => Direction::IncrementAfter,
        0b10 => Direction::DecrementBefore,
        _ => return None,
    };
    Some(if bits(first, 4, 1) == 1 {
        Effect::LoadMultiple {
            rn,
            list,
            direction,
            write_back,
        }
    } else {
        Effect::StoreMultiple {
            rn,
            list,
            direction,
            write_back,
        }
    })
}

fn index(pre: u32, write_back: u32) -> Index {
    match (pre, write_back) {
        (0, _) => Index::Post,
        (_, 0) => Index::Offset,
        _ => Index::Pre,
    }
}

/// A5.3.6
pub(super) fn double_exclusive(first: u32, second: u32) -> Option<Effect> {
    let (pre, up, back, load) = (
        bits(first, 8, 1),
        bits(first, 7, 1),
        bits(first, 5, 1),
        bits(first, 4, 1),
    );
    if (pre, back) == (0, 0) {
        return exclusive_or_table(first, second);
    }
    let (rt, rt2, rn) = (
        register(second, 12),
        register(second, 8),
        register(first, 0),
    );
    let magnitude = (bits(second, 0, 8) << 2) as i16;
    let offset = if up == 1 { magnitude } else { -magnitude };
    let index = index(pre, back);
    Some(if load == 1 {
        Effect::LoadDouble {
            rt,
            rt2,
            rn,
            index,
            offset,
        }
    } else {
        Effect::StoreDouble {
            rt,
            rt2,
            rn,
            index,
            offset,
        }
    })
}

/// LDREX, STREX, their byte and halfword forms, TBB and TBH.
fn exclusive_or_table(first: u32, second: u32) -> Option<Effect> {
    let (rn, rt) = (register(first, 0), register(second, 12));
    let load = bits(first, 4, 1) == 1;
    let exclusive = |access, rd, offset| {
        if load {
            Effect::LoadExclusive {
                access,
                rt,
                rn,
                offset,
            }
        } else {
            Effect::StoreExclusive {
                access,
                rd,
                rt,
                rn,
                offset,
            }
        }
    };
    if bits(first, 7, 1) == 0 {
        let offset = (bits(second, 0, 8) << 2) as u16;
        return Some(exclusive(Access::Word, register(second, 8), offset));
    }
    match (bits(second, 4, 4), load) {
        (0 | 1, true) => Some(Effect::TableBranch {
            rn,
            rm: register(second, 0),
            access: if bits(second, 4, 1) == 0 {
                Access::Byte
            } else {
                Access::Half
            },
        }),
        (4, _) => Some(exclusive(Access::Byte, register(second, 0), 0)),
        (5, _) => Some(exclusive(Access::Half, register(second, 0), 0)),
        _ => None,
    }
}

/// How the address is given, of the forms that A5.3.7 to A5.3.10 share.
enum Address {
    Immediate { index: Index, offset: i32 },
    Shifted { rm: Register, shift: u8 },
}

fn address(first: u32, second: u32) -> Option<Address> {
    if bits(first, 7, 1) == 1 {
        let offset = bits(second, 0, 12) as i32;
        return Some(Address::Immediate {
            index: Index::Offset,
            offset,
        });
    }
    if bits(second, 11, 1) == 0 {
        return (bits(second, 6, 5) == 0).then(|| Address::Shifted {
            rm: register(second, 0),
            shift: bits(second, 4, 2) as u8,
        });
    }
    let (pre, up, back) = (bits(second, 10, 1), bits(second, 9, 1), bits(second, 8, 1));
    let magnitude = bits(second, 0, 8) as i32;
    let offset = if up == 1 { magnitude } else { -magnitude };
    // P = 0 and W = 0 is undefined; P U W = 1 1 0 is the unprivileged form, the same here.
    ((pre, back) != (0, 0)).then(|| Address::Immediate {
        index: index(pre, back),
        offset,
    })
}

/// A5.3.10
pub(super) fn store(first: u32, second: u32) -> Option<Effect> {
    let (rt, rn) = (register(second, 12), register(first, 0));
    let access = match bits(first, 5, 2) {
        0 => Access::Byte,
        1 => Access::Half,
        2 => Access::Word,
        _ => return None,
    };
    if rn == Register::PC {
        return None;
    }
    Some(match address(first, second)? {
        Address::Immediate { index, offset } => Effect::Store {
            access,
            rt,
            rn,
            index,
            offset,
        },
        Address::Shifted { rm, shift } => Effect::StoreRegister {
            access,
            rt,
            rn,
            rm,
            shift,
        },
    })
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
        let offset = bits(second, 0, 12);
        let base = pc & !3;
        let address = if bits(first, 7, 1) == 1 {
            base.wrapping_add(offset)
        } else {
            base.wrapping_sub(offset)
        };
        return Some(Effect::LoadLiteral {
            access,
            rt,
            address,
        });
    }
    Some(match address(first, second)? {
        Address::Immediate { index, offset } => Effect::Load {
            access,
            rt,
            rn,
            index,
            offset,
        },
        Address::Shifted { rm, shift } => Effect::LoadRegister {
            access,
            rt,
            rn,
            rm,
            shift,
        },
    })
}

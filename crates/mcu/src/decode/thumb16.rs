//! 16-bit encodings, A5.2.

use super::{bits, low_register, register, signed};
use crate::instruction::{
    Access, Alu, Condition, Direction, Effect, Extend, Flags, Indirect, MultipleTransfer, Multiply,
    Offset, Operands, Register, Shift, Transfer, Unary,
};

/// Decodes one; `address` is its own.
pub(super) fn decode(half: u32, address: u32, flags: Flags) -> Effect {
    let pc = address.wrapping_add(4);
    let (rd, words) = (low_register(half, 8), bits(half, 0, 8) << 2);
    let near = (pc & !3).wrapping_add(words);
    let keep = |alu, n, value| data_immediate(alu, Flags::Keep, rd, n, value);
    match half >> 10 {
        0b000000..=0b001111 => shift_add_move(half, flags),
        0b010000 => data_processing(half, flags),
        0b010001 => special(half),
        0b010010 | 0b010011 => Effect::LoadLiteral(Access::Word, rd, near),
        0b010100..=0b100111 => load_store(half),
        0b101000 | 0b101001 => keep(Alu::Mov, Register::PC, near),
        0b101010 | 0b101011 => keep(Alu::Add, Register::SP, words),
        0b101100..=0b101111 => miscellaneous(half, pc),
        0b110000..=0b110011 => multiple(half),
        0b110100..=0b110111 => conditional_branch(half, pc),
        _ => Effect::Branch(pc.wrapping_add_signed(signed(bits(half, 0, 11), 11) * 2)),
    }
}

fn data_immediate(alu: Alu, flags: Flags, d: Register, n: Register, value: u32) -> Effect {
    Effect::DataImmediate(alu, flags, Operands::new(d, n, n), None, value)
}

/// A5.2.1
fn shift_add_move(half: u32, flags: Flags) -> Effect {
    let (rd, rn) = (low_register(half, 0), low_register(half, 3));
    let (wide, imm8) = (low_register(half, 8), bits(half, 0, 8));
    let three = Operands::new(rd, rn, low_register(half, 6));
    let imm5 = bits(half, 6, 5);
    match half >> 9 {
        0b0001100 => Effect::DataRegister(Alu::Add, flags, three),
        0b0001101 => Effect::DataRegister(Alu::Sub, flags, three),
        0b0001110 => data_immediate(Alu::Add, flags, rd, rn, bits(half, 6, 3)),
        0b0001111 => data_immediate(Alu::Sub, flags, rd, rn, bits(half, 6, 3)),
        0b0010000..=0b0010011 => data_immediate(Alu::Mov, flags, wide, wide, imm8),
        0b0010100..=0b0010111 => data_immediate(Alu::Cmp, Flags::Set, wide, wide, imm8),
        0b0011000..=0b0011011 => data_immediate(Alu::Add, flags, wide, wide, imm8),
        0b0011100..=0b0011111 => data_immediate(Alu::Sub, flags, wide, wide, imm8),
        _ => shifted_data(Alu::Mov, flags, onto(rd, rn), half >> 11 & 3, imm5),
    }
}

/// Rd is also the first operand.
const fn onto(d: Register, m: Register) -> Operands {
    Operands::new(d, d, m)
}

/// With an operand that DecodeImmShift (A7.4.2) shifts: by LSL #0 it is a register.
pub(super) fn shifted_data(alu: Alu, flags: Flags, r: Operands, kind: u32, amount: u32) -> Effect {
    match immediate_shift(kind, amount) {
        (Shift::Lsl, 0) => Effect::DataRegister(alu, flags, r),
        shift => Effect::DataShifted(alu, flags, r, shift),
    }
}

/// DecodeImmShift, A7.4.2.
pub(super) const fn immediate_shift(kind: u32, amount: u32) -> (Shift, u8) {
    let or_32 = if amount == 0 { 32 } else { amount as u8 };
    match (kind & 3, amount) {
        (0, _) => (Shift::Lsl, amount as u8),
        (1, _) => (Shift::Lsr, or_32),
        (2, _) => (Shift::Asr, or_32),
        (_, 0) => (Shift::Rrx, 1),
        (_, _) => (Shift::Ror, amount as u8),
    }
}

/// A5.2.2
fn data_processing(half: u32, flags: Flags) -> Effect {
    let r = onto(low_register(half, 0), low_register(half, 3));
    let data = |alu, flags| Effect::DataRegister(alu, flags, r);
    let shift = |shift| Effect::ShiftRegister(shift, flags, r);
    match bits(half, 6, 4) {
        0 => data(Alu::And, flags),
        1 => data(Alu::Eor, flags),
        2 => shift(Shift::Lsl),
        3 => shift(Shift::Lsr),
        4 => shift(Shift::Asr),
        5 => data(Alu::Adc, flags),
        6 => data(Alu::Sbc, flags),
        7 => shift(Shift::Ror),
        8 => data(Alu::Tst, Flags::Set),
        9 => data_immediate(Alu::Rsb, flags, r.d, r.m, 0),
        10 => data(Alu::Cmp, Flags::Set),
        11 => data(Alu::Cmn, Flags::Set),
        12 => data(Alu::Orr, flags),
        13 => {
            let product = Operands::new(r.d, r.m, r.d);
            Effect::Multiply(Multiply::Mul, flags, product, Register::PC)
        }
        14 => data(Alu::Bic, flags),
        _ => data(Alu::Mvn, flags),
    }
}

/// A5.2.3: high registers, BX and BLX.
fn special(half: u32) -> Effect {
    let rm = register(half, 3);
    let rd = Register::new(bits(half, 0, 3) | bits(half, 7, 1) << 3);
    let keep = |alu, flags| Effect::DataRegister(alu, flags, onto(rd, rm));
    match (bits(half, 8, 2), rd == Register::PC) {
        (0, true) => Effect::BranchRegister(Indirect::Add, rm),
        (0, false) => keep(Alu::Add, Flags::Keep),
        (1, _) => keep(Alu::Cmp, Flags::Set),
        (2, true) => Effect::BranchRegister(Indirect::Move, rm),
        (2, false) => keep(Alu::Mov, Flags::Keep),
        _ if half & 0x80 == 0 => Effect::BranchRegister(Indirect::Exchange, rm),
        _ => Effect::BranchLinkRegister(rm),
    }
}

/// A5.2.4
fn load_store(half: u32) -> Effect {
    let (rt, rn) = (low_register(half, 0), low_register(half, 3));
    if half >> 12 == 0b0101 {
        return register_offset(half, rt, rn);
    }
    let (access, scale) = match half >> 12 {
        0b0110 | 0b1001 => (Access::Word, 2),
        0b0111 => (Access::Byte, 0),
        _ => (Access::Half, 1),
    };
    let (rt, rn, offset) = if half >> 12 == 0b1001 {
        (low_register(half, 8), Register::SP, bits(half, 0, 8))
    } else {
        (rt, rn, bits(half, 6, 5))
    };
    let transfer = Transfer {
        access,
        rt,
        rn,
        offset: Offset::Plain((offset << scale) as i16),
    };
    match half >> 11 & 1 {
        0 => Effect::Store(transfer),
        _ => Effect::Load(transfer),
    }
}

fn register_offset(half: u32, rt: Register, rn: Register) -> Effect {
    let scaled = |access| Transfer {
        access,
        rt,
        rn,
        offset: Offset::Scaled(low_register(half, 6), 0),
    };
    match bits(half, 9, 3) {
        0 => Effect::Store(scaled(Access::Word)),
        1 => Effect::Store(scaled(Access::Half)),
        2 => Effect::Store(scaled(Access::Byte)),
        3 => Effect::Load(scaled(Access::SignedByte)),
        4 => Effect::Load(scaled(Access::Word)),
        5 => Effect::Load(scaled(Access::Half)),
        6 => Effect::Load(scaled(Access::Byte)),
        _ => Effect::Load(scaled(Access::SignedHalf)),
    }
}

/// A5.2.5
fn miscellaneous(half: u32, pc: u32) -> Effect {
    let r = Operands::new(low_register(half, 0), Register::PC, low_register(half, 3));
    let extend = |extend| Effect::Extend(extend, r, 0);
    let unary = |unary| Effect::Unary(unary, r);
    let (sp, frame) = (Register::SP, bits(half, 0, 7) << 2);
    let list = bits(half, 0, 8) as u16;
    let on_stack = |link_or_pc, direction| MultipleTransfer {
        rn: Register::SP,
        list: list | (bits(half, 8, 1) as u16) << link_or_pc,
        direction,
        write_back: true,
    };
    match half >> 5 & 0x7f {
        0b0000000..=0b0000011 => data_immediate(Alu::Add, Flags::Keep, sp, sp, frame),
        0b0000100..=0b0000111 => data_immediate(Alu::Sub, Flags::Keep, sp, sp, frame),
        0b0110011 => Effect::MaskExceptions {
            value: bits(half, 4, 1),
            primask: bits(half, 1, 1) == 1,
            faultmask: bits(half, 0, 1) == 1,
        },
        _ => match half >> 8 & 0xf {
            0b0001 | 0b0011 | 0b1001 | 0b1011 => Effect::CompareBranch {
                rn: r.d,
                nonzero: bits(half, 11, 1) == 1,
                target: pc.wrapping_add(bits(half, 3, 5) << 1 | bits(half, 9, 1) << 6),
            },
            0b0010 => match bits(half, 6, 2) {
                0 => extend(Extend::Sxth),
                1 => extend(Extend::Sxtb),
                2 => extend(Extend::Uxth),
                _ => extend(Extend::Uxtb),
            },
            0b0100 | 0b0101 => Effect::StoreMultiple(on_stack(14, Direction::DecrementBefore)),
            0b1100 | 0b1101 => Effect::LoadMultiple(on_stack(15, Direction::IncrementAfter)),
            0b1010 => match bits(half, 6, 2) {
                0 => unary(Unary::Rev),
                1 => unary(Unary::Rev16),
                3 => unary(Unary::Revsh),
                _ => Effect::Unknown(half),
            },
            0b1110 => Effect::Breakpoint(list as u8),
            0b1111 if half & 0xf != 0 => Effect::If,
            0b1111 => Effect::Nop,
            _ => Effect::Unknown(half),
        },
    }
}

fn multiple(half: u32) -> Effect {
    let (rn, list) = (low_register(half, 8), bits(half, 0, 8) as u16);
    let load = half >> 11 & 1 == 1;
    let transfer = MultipleTransfer {
        rn,
        list,
        direction: Direction::IncrementAfter,
        // LDM writes the base back unless it is loaded itself (A7.7.41).
        write_back: !load || list & rn.bit() == 0,
    };
    if load {
        Effect::LoadMultiple(transfer)
    } else {
        Effect::StoreMultiple(transfer)
    }
}

/// A5.2.6
fn conditional_branch(half: u32, pc: u32) -> Effect {
    match bits(half, 8, 4) {
        0b1110 => Effect::Unknown(half),
        0b1111 => Effect::SupervisorCall,
        condition => Effect::BranchConditional(
            Condition::new(condition),
            pc.wrapping_add_signed(signed(bits(half, 0, 8), 8) * 2),
        ),
    }
}

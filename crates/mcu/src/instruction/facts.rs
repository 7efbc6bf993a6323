//! What follows from an effect for timing: its class, the registers written and addressed with.

use crate::instruction::{Alu, Class, Effect, Extend, Index, Long, Multiply, Register, WriteBack};

impl Effect {
    /// What its cycles are counted as.
    pub const fn class(&self) -> Class {
        use Effect as O;
        match self {
            O::DataImmediate { alu, .. }
            | O::DataRegister { alu, .. }
            | O::DataShifted { alu, .. } => match alu {
                Alu::Mov | Alu::Mvn => match self {
                    O::DataShifted { .. } => Class::Shift,
                    _ => Class::Move,
                },
                Alu::Add | Alu::Sub | Alu::Rsb | Alu::Cmp | Alu::Cmn => Class::Add,
                Alu::Adc | Alu::Sbc => Class::AddCarry,
                _ => Class::Logic,
            },
            O::MoveTop { .. } => Class::Move,
            O::ShiftRegister { .. } => Class::Shift,
            O::Unary { .. } | O::BitField { .. } | O::Extend { .. } => Class::Logic,
            O::Multiply { multiply, .. } => match multiply {
                Multiply::Mul => Class::Multiply,
                Multiply::Mla | Multiply::Mls => Class::MultiplyAccumulate,
                _ => Class::Dsp,
            },
            O::MultiplyLong { long, .. } => match long {
                Long::Umull | Long::Smull => Class::MultiplyLong,
                Long::Umlal | Long::Smlal => Class::MultiplyLongAccumulate,
                Long::Umaal => Class::Umaal,
            },
            O::Divide { .. } => Class::Divide,
            O::MultiplyLongDsp { .. }
            | O::Saturating { .. }
            | O::Saturate { .. }
            | O::Saturate16 { .. }
            | O::Parallel { .. }
            | O::Select { .. }
            | O::Pack { .. } => Class::Dsp,
            O::Load { .. }
            | O::LoadRegister { .. }
            | O::LoadLiteral { .. }
            | O::LoadExclusive { .. } => Class::Load,
            O::Store { .. } => Class::Store,
            // "Treated more like an LDR", 3.3.2.
            O::StoreRegister { .. } | O::StoreExclusive { .. } => Class::StoreRegister,
            O::LoadMultiple { .. } | O::LoadDouble { .. } => Class::LoadMultiple,
            O::StoreMultiple { .. } | O::StoreDouble { .. } => Class::StoreMultiple,
            O::Branch { .. }
            | O::BranchConditional { .. }
            | O::CompareBranch { .. }
            | O::BranchRegister { .. } => Class::Branch,
            O::BranchLink { .. } | O::BranchLinkRegister { .. } => Class::Call,
            O::TableBranch { .. } => Class::TableBranch,
            O::If => Class::If,
            O::Undecoded
            | O::ClearExclusive
            | O::Nop
            | O::Barrier
            | O::ReadSpecial { .. }
            | O::WriteSpecial { .. }
            | O::Breakpoint { .. }
            | O::Unknown { .. } => Class::System,
        }
    }

    /// Whether it belongs to the DSP extension, which the Cortex-M3 has not (A1.4, A7.7 by mnemonic).
    pub const fn needs_dsp(&self) -> bool {
        match self {
            Self::Multiply { multiply, .. } => {
                !matches!(multiply, Multiply::Mul | Multiply::Mla | Multiply::Mls)
            }
            Self::MultiplyLong { long, .. } => matches!(long, Long::Umaal),
            Self::Extend { extend, rn, .. } => {
                rn.number() != Register::PC.number()
                    || matches!(extend, Extend::Sxtb16 | Extend::Uxtb16)
            }
            Self::MultiplyLongDsp { .. }
            | Self::Saturating { .. }
            | Self::Saturate16 { .. }
            | Self::Parallel { .. }
            | Self::Select { .. }
            | Self::Pack { .. } => true,
            _ => false,
        }
    }

    /// Bytes moved to or from memory.
    pub const fn bytes(&self) -> u8 {
        match self {
            Self::LoadMultiple { list, .. } | Self::StoreMultiple { list, .. } => {
                4 * list.count_ones() as u8
            }
            Self::LoadDouble { .. } | Self::StoreDouble { .. } => 8,
            Self::Load { access, .. }
            | Self::LoadRegister { access, .. }
            | Self::LoadLiteral { access, .. }
            | Self::LoadExclusive { access, .. }
            | Self::Store { access, .. }
            | Self::StoreRegister { access, .. }
            | Self::StoreExclusive { access, .. }
            | Self::TableBranch { access, .. } => access.bytes(),
            _ => 0,
        }
    }

    /// The registers it writes, and those an address is made of.
    pub fn registers(&self) -> (u16, u16) {
        use Effect as O;
        match *self {
            O::DataImmediate { alu, rd, .. }
            | O::DataRegister { alu, rd, .. }
            | O::DataShifted { alu, rd, .. } => match alu {
                Alu::Tst | Alu::Teq | Alu::Cmp | Alu::Cmn => (0, 0),
                _ => (rd.bit(), 0),
            },
            O::ShiftRegister { rd, .. }
            | O::MoveTop { rd, .. }
            | O::Multiply { rd, .. }
            | O::Divide { rd, .. }
            | O::Saturating { rd, .. }
            | O::Saturate { rd, .. }
            | O::Saturate16 { rd, .. }
            | O::Parallel { rd, .. }
            | O::Select { rd, .. }
            | O::Pack { rd, .. }
            | O::Extend { rd, .. }
            | O::Unary { rd, .. }
            | O::BitField { rd, .. }
            | O::ReadSpecial { rd, .. } => (rd.bit(), 0),
            O::MultiplyLong { low, high, .. } | O::MultiplyLongDsp { low, high, .. } => {
                (low.bit() | high.bit(), 0)
            }
            O::LoadLiteral { rt, .. } => (rt.bit(), 0),
            O::Load { rt, rn, index, .. } => (rt.bit() | base(rn, index), rn.bit()),
            O::LoadRegister { rt, rn, rm, .. } => (rt.bit(), rn.bit() | rm.bit()),
            O::LoadExclusive { rt, rn, .. } => (rt.bit(), rn.bit()),
            O::Store { rn, index, .. } => (base(rn, index), rn.bit()),
            O::StoreRegister { rn, rm, .. } => (0, rn.bit() | rm.bit()),
            O::StoreExclusive { rd, rn, .. } => (rd.bit(), rn.bit()),
            O::LoadDouble {
                rt, rt2, rn, index, ..
            } => (rt.bit() | rt2.bit() | base(rn, index), rn.bit()),
            O::StoreDouble { rn, index, .. } => (base(rn, index), rn.bit()),
            O::LoadMultiple {
                rn,
                list,
                write_back,
                ..
            } => (list | written(rn, write_back), rn.bit()),
            O::StoreMultiple { rn, write_back, .. } => (written(rn, write_back), rn.bit()),
            O::BranchLink { .. } | O::BranchLinkRegister { .. } => (Register::LR.bit(), 0),
            O::TableBranch { rn, rm, .. } => (0, rn.bit() | rm.bit()),
            _ => (0, 0),
        }
    }
}

fn base(rn: Register, index: Index) -> u16 {
    match index {
        Index::Offset => 0,
        Index::Pre | Index::Post => rn.bit(),
    }
}

fn written(rn: Register, write_back: WriteBack) -> u16 {
    match write_back {
        WriteBack::No => 0,
        WriteBack::Yes => rn.bit(),
    }
}

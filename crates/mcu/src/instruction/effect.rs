//! What an instruction does.

use super::{
    Access, Alu, BitField, Condition, Direction, Extend, Flags, ImmediateCarry, Index, Indirect,
    LaneKind, Lanes, Long, LongDsp, Multiply, NonZero, Register, Saturating, Shift, Sign, Unary,
    WriteBack,
};

/// The registers of a computation by the manual's letters, R[d], R[n] and R[m]; those that a form has not are not
/// looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in the architecture manual")]
pub struct Operands {
    pub d: Register,
    pub n: Register,
    pub m: Register,
}

/// Those of a product of 64 bits: RdLo, RdHi, Rn, Rm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in the architecture manual")]
pub struct LongOperands {
    pub low: Register,
    pub high: Register,
    pub n: Register,
    pub m: Register,
}

/// One value moved, at an offset from a base register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in the architecture manual")]
pub struct Transfer {
    pub access: Access,
    pub rt: Register,
    pub rn: Register,
    pub index: Index,
    pub offset: i32,
}

/// One value moved, at a scaled register from a base register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in the architecture manual")]
pub struct ScaledTransfer {
    pub access: Access,
    pub rt: Register,
    pub rn: Register,
    pub rm: Register,
    pub shift: u8,
}

/// Two words moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in the architecture manual")]
pub struct DoubleTransfer {
    pub rt: Register,
    pub rt2: Register,
    pub rn: Register,
    pub index: Index,
    pub offset: i16,
}

/// A list of registers moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in the architecture manual")]
pub struct MultipleTransfer {
    pub rn: Register,
    pub list: u16,
    pub direction: Direction,
    pub write_back: WriteBack,
}

/// A value moved under the exclusive monitor; a store says in R[d] whether it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in the architecture manual")]
pub struct ExclusiveTransfer {
    pub access: Access,
    pub rd: Register,
    pub rt: Register,
    pub rn: Register,
    pub offset: u16,
}

/// What an instruction does, its operands ready for use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the architecture manual")]
pub enum Effect {
    /// Not looked at yet, or data.
    Undecoded,
    DataImmediate(Alu, Flags, Operands, ImmediateCarry, u32),
    DataRegister(Alu, Flags, Operands),
    DataShifted(Alu, Flags, Operands, (Shift, u8)),
    /// LSL, LSR, ASR, ROR by a register.
    ShiftRegister(Shift, Flags, Operands),
    /// MOVT
    MoveTop(Register, u16),
    /// With Ra.
    Multiply(Multiply, Flags, Operands, Register),
    MultiplyLong(Long, LongOperands),
    MultiplyLongDsp(LongDsp, LongOperands),
    Divide(Sign, Operands),
    Saturating(Saturating, Operands),
    /// SSAT, USAT to that many bits.
    Saturate(Sign, Operands, u8, (Shift, u8)),
    /// SSAT16, USAT16.
    Saturate16(Sign, Operands, u8),
    Parallel(Lanes, LaneKind, Operands),
    Select(Operands),
    /// PKHBT (`Lsl`) and PKHTB (`Asr`).
    Pack(Operands, (Shift, u8)),
    /// Of Rm rotated by so much; with addition, unless Rn is the PC.
    Extend(Extend, Operands, u8),
    Unary(Unary, Operands),
    /// From the least significant bit, of so many.
    BitField(BitField, Operands, (u8, u8)),
    Load(Transfer),
    LoadRegister(ScaledTransfer),
    /// Relative to the PC; the address is ready.
    LoadLiteral(Access, Register, u32),
    Store(Transfer),
    StoreRegister(ScaledTransfer),
    LoadDouble(DoubleTransfer),
    StoreDouble(DoubleTransfer),
    LoadMultiple(MultipleTransfer),
    StoreMultiple(MultipleTransfer),
    /// LDREX and its kin.
    LoadExclusive(ExclusiveTransfer),
    /// STREX and its kin: one core and no exceptions, so it succeeds behind a load-exclusive.
    StoreExclusive(ExclusiveTransfer),
    /// B
    Branch(u32),
    /// `B<c>`: the condition stands in the instruction.
    BranchConditional(Condition, u32),
    /// CBZ (`Clear`) and CBNZ (`Set`).
    CompareBranch(Register, NonZero, u32),
    /// BL
    BranchLink(u32),
    /// BX, MOV PC, and ADD PC (with Rn the PC).
    BranchRegister(Indirect, Register),
    /// BLX
    BranchLinkRegister(Register),
    /// TBB and TBH, of Rn and Rm.
    TableBranch(Access, Operands),
    If,
    /// CLREX
    ClearExclusive,
    /// NOP, DSB, DMB, hints, CPS, PLD.
    Nop,
    /// ISB: what follows is fetched anew.
    Barrier,
    /// MRS
    ReadSpecial(Register, u8),
    /// MSR
    WriteSpecial {
        rn: Register,
        special: u8,
        mask: u8,
    },
    Breakpoint(u8),
    /// Not an instruction of the architecture, or one that is not simulated: its encoding.
    Unknown(u32),
}

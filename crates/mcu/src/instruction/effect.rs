//! What an instruction does.

use super::{
    Access, Alu, BitField, Condition, Direction, Extend, Flags, ImmediateCarry, Index, Indirect,
    LaneKind, Lanes, Long, LongDsp, Multiply, NonZero, Register, Saturating, Shift, Sign, Unary,
    WriteBack,
};

/// What an instruction does, its operands ready for use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "fields are named as in the architecture manual"
)]
pub enum Effect {
    /// Not looked at yet, or data.
    Undecoded,
    DataImmediate {
        alu: Alu,
        flags: Flags,
        rd: Register,
        rn: Register,
        carry: ImmediateCarry,
        value: u32,
    },
    DataRegister {
        alu: Alu,
        flags: Flags,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    DataShifted {
        alu: Alu,
        flags: Flags,
        rd: Register,
        rn: Register,
        rm: Register,
        shift: Shift,
        amount: u8,
    },
    /// LSL, LSR, ASR, ROR by a register.
    ShiftRegister {
        shift: Shift,
        flags: Flags,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    /// MOVT
    MoveTop {
        rd: Register,
        value: u16,
    },
    Multiply {
        multiply: Multiply,
        flags: Flags,
        rd: Register,
        rn: Register,
        rm: Register,
        ra: Register,
    },
    MultiplyLong {
        long: Long,
        low: Register,
        high: Register,
        rn: Register,
        rm: Register,
    },
    MultiplyLongDsp {
        long: LongDsp,
        low: Register,
        high: Register,
        rn: Register,
        rm: Register,
    },
    Divide {
        sign: Sign,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    Saturating {
        saturating: Saturating,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    /// SSAT, USAT.
    Saturate {
        sign: Sign,
        rd: Register,
        rn: Register,
        bits: u8,
        shift: Shift,
        amount: u8,
    },
    /// SSAT16, USAT16.
    Saturate16 {
        sign: Sign,
        rd: Register,
        rn: Register,
        bits: u8,
    },
    Parallel {
        lanes: Lanes,
        kind: LaneKind,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    Select {
        rd: Register,
        rn: Register,
        rm: Register,
    },
    /// PKHBT (`Lsl`) and PKHTB (`Asr`).
    Pack {
        rd: Register,
        rn: Register,
        rm: Register,
        shift: Shift,
        amount: u8,
    },
    /// With addition, unless Rn is the PC.
    Extend {
        extend: Extend,
        rd: Register,
        rn: Register,
        rm: Register,
        rotation: u8,
    },
    Unary {
        unary: Unary,
        rd: Register,
        rm: Register,
    },
    BitField {
        field: BitField,
        rd: Register,
        rn: Register,
        lsb: u8,
        width: u8,
    },
    Load {
        access: Access,
        rt: Register,
        rn: Register,
        index: Index,
        offset: i32,
    },
    LoadRegister {
        access: Access,
        rt: Register,
        rn: Register,
        rm: Register,
        shift: u8,
    },
    /// Relative to the PC; the address is ready.
    LoadLiteral {
        access: Access,
        rt: Register,
        address: u32,
    },
    Store {
        access: Access,
        rt: Register,
        rn: Register,
        index: Index,
        offset: i32,
    },
    StoreRegister {
        access: Access,
        rt: Register,
        rn: Register,
        rm: Register,
        shift: u8,
    },
    LoadDouble {
        rt: Register,
        rt2: Register,
        rn: Register,
        index: Index,
        offset: i16,
    },
    StoreDouble {
        rt: Register,
        rt2: Register,
        rn: Register,
        index: Index,
        offset: i16,
    },
    LoadMultiple {
        rn: Register,
        list: u16,
        direction: Direction,
        write_back: WriteBack,
    },
    StoreMultiple {
        rn: Register,
        list: u16,
        direction: Direction,
        write_back: WriteBack,
    },
    /// LDREX and its kin.
    LoadExclusive {
        access: Access,
        rt: Register,
        rn: Register,
        offset: u16,
    },
    /// STREX and its kin: one core and no exceptions, so it succeeds behind a load-exclusive.
    StoreExclusive {
        access: Access,
        rd: Register,
        rt: Register,
        rn: Register,
        offset: u16,
    },
    /// B
    Branch {
        target: u32,
    },
    /// `B<c>`: the condition stands in the instruction.
    BranchConditional {
        condition: Condition,
        target: u32,
    },
    /// CBZ (`Clear`) and CBNZ (`Set`).
    CompareBranch {
        rn: Register,
        nonzero: NonZero,
        target: u32,
    },
    /// BL
    BranchLink {
        target: u32,
    },
    /// BX, MOV PC, and ADD PC (with Rn the PC).
    BranchRegister {
        rm: Register,
        kind: Indirect,
    },
    /// BLX
    BranchLinkRegister {
        rm: Register,
    },
    /// TBB and TBH.
    TableBranch {
        rn: Register,
        rm: Register,
        access: Access,
    },
    If,
    /// CLREX
    ClearExclusive,
    /// NOP, DSB, DMB, hints, CPS, PLD.
    Nop,
    /// ISB: what follows is fetched anew.
    Barrier,
    /// MRS
    ReadSpecial {
        rd: Register,
        special: u8,
    },
    /// MSR
    WriteSpecial {
        rn: Register,
        special: u8,
        mask: u8,
    },
    Breakpoint {
        number: u8,
    },
    /// Not an instruction of the architecture, or one that is not simulated.
    Unknown {
        encoding: u32,
    },
}

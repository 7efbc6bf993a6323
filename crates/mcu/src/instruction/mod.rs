//! Decoded instructions: what the machine executes and what the timing model needs to know of them.
//!
//! Names are those of the ARMv7-M Architecture Reference Manual (ARM DDI 0403E), sections A7.7.x.

mod facts;
mod float;
mod operand;

pub use facts::{Class, Core, Facts};
pub use float::*;
pub use operand::*;

/// Core register. An enumeration, so that an index into sixteen needs no check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::VariantArray)]
#[repr(u8)]
#[expect(missing_docs, reason = "what they say")]
#[rustfmt::skip]
pub enum Register {
    R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12,
    /// Stack pointer, R13.
    SP,
    /// Link register, R14.
    LR,
    /// Program counter, R15.
    PC,
}

impl Register {
    /// The register of that number; only the low four bits count.
    pub const fn new(number: u32) -> Self {
        <Self as strum::VariantArray>::VARIANTS[(number & 15) as usize]
    }

    /// Its number, below 16.
    pub const fn number(self) -> usize {
        self as usize
    }

    /// A set of this register alone.
    pub const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A7.3.1. `Al` is not written in the instruction but the case outside IT blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
#[repr(u8)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Condition {
    Eq,
    Ne,
    Cs,
    Cc,
    Mi,
    Pl,
    Vs,
    Vc,
    Hi,
    Ls,
    Ge,
    Lt,
    Gt,
    Le,
    Al,
}

impl Condition {
    /// Returns the condition of four bits; 15 is AL as in IT blocks.
    pub const fn new(bits: u32) -> Self {
        match bits & 15 {
            15 => Self::Al,
            bits => <Self as strum::VariantArray>::VARIANTS[bits as usize],
        }
    }
}

/// A decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// Effect of the instruction.
    pub effect: Effect,
    /// Facts for timing.
    pub facts: Facts,
}

impl Instruction {
    /// Adds what follows from the effect: class, registers.
    pub fn new(effect: Effect, size: u8, condition: Condition) -> Self {
        let facts = Facts {
            size,
            condition,
            ..effect.facts()
        };
        Self { effect, facts }
    }

    /// Returns true if it may go elsewhere, or has to be seen to before what follows.
    pub(crate) const fn ends_block(&self) -> bool {
        self.facts.writes & Register::PC.bit() != 0
            || matches!(
                self.facts.class,
                Class::Branch | Class::Call | Class::TableBranch
            )
            || matches!(
                self.effect,
                Effect::Barrier
                    | Effect::Breakpoint(_)
                    | Effect::SupervisorCall
                    | Effect::Unknown(_)
            )
    }
}

/// Effect of an instruction, its operands ready for use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the architecture manual")]
pub enum Effect {
    /// Data processing with a constant, and the carry of a rotated one (ThumbExpandImm_C, A5.3.2).
    DataImmediate(Alu, Flags, Operands, Option<bool>, u32),
    DataRegister(Alu, Flags, Operands),
    DataShifted(Alu, Flags, Operands, (Shift, u8)),
    /// LSL, LSR, ASR, ROR by a register.
    ShiftRegister(Shift, Flags, Operands),
    /// MOVT
    MoveTop(Register, u16),
    /// Multiplication, with Ra.
    Multiply(Multiply, Flags, Operands, Register),
    /// With RdLo.
    MultiplyLong(Long, Operands, Register),
    MultiplyLongDsp(LongDsp, Operands, Register),
    Divide(Sign, Operands),
    Saturating(Saturating, Operands),
    /// SSAT, USAT to that many bits.
    Saturate(Sign, Operands, u8, (Shift, u8)),
    /// SSAT16, USAT16.
    Saturate16(Sign, Operands, u8),
    Parallel(Lanes, Sign, Lane, Operands),
    Select(Operands),
    /// PKHBT (`Lsl`) and PKHTB (`Asr`).
    Pack(Operands, (Shift, u8)),
    /// Extension of Rm rotated by that many bits; with addition, unless Rn is the PC.
    Extend(Extend, Operands, u8),
    Unary(Unary, Operands),
    /// Bit field: least significant bit and width.
    BitField(BitField, Operands, (u8, u8)),
    Load(Transfer),
    /// Relative to the PC; the address is ready.
    LoadLiteral(Access, Register, u32),
    Store(Transfer),
    /// LDRD and STRD: also this register.
    LoadDouble(Register, Transfer),
    StoreDouble(Register, Transfer),
    LoadMultiple(MultipleTransfer),
    StoreMultiple(MultipleTransfer),
    /// LDREX and its kin.
    LoadExclusive(Transfer),
    /// STREX and its kin, which say in R[d] whether it was stored: one core and no exceptions, so it succeeds behind a
    /// load-exclusive.
    StoreExclusive(Register, Transfer),
    /// B
    Branch(u32),
    /// `B<c>`: the condition is in the instruction.
    BranchConditional(Condition, u32),
    /// CBZ and CBNZ.
    CompareBranch {
        rn: Register,
        nonzero: bool,
        target: u32,
    },
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
    /// NOP, DSB, DMB, hints, PLD.
    Nop,
    /// CPS: 1 where exceptions are disabled.
    MaskExceptions {
        value: u32,
        primask: bool,
        faultmask: bool,
    },
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
    /// SVC
    SupervisorCall,
    Float(Float),
    /// Not an instruction of the architecture, or one that is not simulated: its encoding.
    Unknown(u32),
}

//! The operands of an instruction, and the choices within it: mnemonics of one encoding group, modes, widths.

#![expect(
    missing_docs,
    reason = "as in the architecture manual, or what they say"
)]

use super::Register;

/// The registers of a computation by the manual's letters, R[d], R[n] and R[m]; those that a form has not are not
/// looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operands {
    pub d: Register,
    pub n: Register,
    pub m: Register,
}

impl Operands {
    pub const fn new(d: Register, n: Register, m: Register) -> Self {
        Self { d, n, m }
    }
}

/// Operands of a product of 64 bits: RdLo, RdHi, Rn, Rm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongOperands {
    pub low: Register,
    pub high: Register,
    pub n: Register,
    pub m: Register,
}

/// Transfer of one value at an offset from a base register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    pub access: Access,
    pub rt: Register,
    pub rn: Register,
    pub offset: Offset,
}

/// A list of registers moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MultipleTransfer {
    pub rn: Register,
    pub list: u16,
    pub direction: Direction,
    pub write_back: bool,
}

/// Arithmetic and logic of two operands. The last four only set flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub enum Alu {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sub,
    Sbc,
    Rsb,
    /// MOV and MVN ignore the first operand.
    Mov,
    Mvn,
    Tst,
    Teq,
    Cmp,
    Cmn,
}

/// Effect of an instruction on the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flags {
    /// APSR stays.
    Keep,
    /// N, Z and, by the instruction, C and V are set.
    Set,
}

/// A7.4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub enum Shift {
    Lsl,
    Lsr,
    Asr,
    Ror,
    /// Rotate right by one through carry; the amount is ignored.
    Rrx,
}

/// Width and extension of an access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub enum Access {
    Word,
    Half,
    Byte,
    SignedHalf,
    SignedByte,
}

impl Access {
    /// Extends a value that is read.
    #[inline(always)]
    pub(crate) const fn extend(self, value: u32) -> u32 {
        match self {
            Self::Word => value,
            Self::Half => value & 0xffff,
            Self::Byte => value & 0xff,
            Self::SignedHalf => value as i16 as u32,
            Self::SignedByte => value as i8 as u32,
        }
    }

    /// Bytes moved.
    pub const fn bytes(self) -> u8 {
        match self {
            Self::Word => 4,
            Self::Half | Self::SignedHalf => 2,
            Self::Byte | Self::SignedByte => 1,
        }
    }
}

/// Offset from the base register, and its write-back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offset {
    /// `[Rn, #offset]`
    Plain(i16),
    /// `[Rn, #offset]!`
    Pre(i16),
    /// `[Rn], #offset`
    Post(i16),
    /// `[Rn, Rm, LSL #shift]`
    Scaled(Register, u8),
}

/// Direction of the list of LDM and STM from the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// IA
    IncrementAfter,
    /// DB
    DecrementBefore,
}

/// Products of 64 bits into RdLo, RdHi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub enum Long {
    Umull,
    Smull,
    Umlal,
    Smlal,
    Umaal,
}

/// Halves of the operands that are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Halves {
    /// Half of Rn.
    pub n: Half,
    /// Half of Rm.
    pub m: Half,
}

/// Half of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    Bottom,
    Top,
}

/// Multiplications with a 32-bit result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiply {
    /// Ra is ignored.
    Mul,
    Mla,
    Mls,
    /// `SMUL<x><y>` where Ra is the PC, otherwise `SMLA<x><y>`.
    Smla(Halves),
    /// `SMULW<y>` or `SMLAW<y>`.
    Smlaw(Half),
    /// SMUAD{X} or SMLAD{X}; `Top` exchanges the halves of Rm first.
    Smlad(Half),
    /// SMUSD{X} or SMLSD{X}.
    Smlsd(Half),
    /// SMMUL{R} or SMMLA{R}; `Top` rounds.
    Smmla(Half),
    /// SMMLS{R}.
    Smmls(Half),
    /// USAD8 or USADA8.
    Usada8,
}

/// DSP products accumulated into 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongDsp {
    Smlal(Halves),
    Smlald(Half),
    Smlsld(Half),
}

/// Saturating additions, QADD and its kin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saturating {
    Qadd,
    Qdadd,
    Qsub,
    Qdsub,
}

/// Lanes of a parallel instruction (A7.4.x, `SADD16` …).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    Add16,
    Asx,
    Sax,
    Sub16,
    Add8,
    Sub8,
}

/// Result of a lane's sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// S…, U…: sets GE.
    Wraps,
    /// Q…, UQ…
    Saturates,
    /// SH…, UH…
    Halves,
}

/// SXTB and its kin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extend {
    Sxtb,
    Sxth,
    Sxtb16,
    Uxtb,
    Uxth,
    Uxtb16,
}

/// Operation with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Rev,
    Rev16,
    Revsh,
    Rbit,
    Clz,
}

/// Bit fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitField {
    /// BFI; BFC where Rn is the PC.
    Bfi,
    Sbfx,
    Ubfx,
}

/// Signedness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Signed,
    Unsigned,
}

/// Kind of an indirect branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indirect {
    /// BX: bit 0 must be set.
    Exchange,
    /// MOV PC: bit 0 is ignored.
    Move,
    /// ADD PC, Rm.
    Add,
}

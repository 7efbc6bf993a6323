//! The operands of an instruction, and the choices within it: mnemonics of one encoding group, modes, widths.

#![expect(
    missing_docs,
    reason = "as in the architecture manual, or what they say"
)]

use super::Register;

/// The registers of a computation by the manual's letters, R[d], R[n] and R[m]; those that a form has not are not
/// looked at. Of a product of 64 bits R[d] is RdHi.
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

/// Products of the like halves of Rn and Rm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dual {
    /// True if the halves of Rm are exchanged first.
    pub exchanges: bool,
    /// True if the product of the top halves is subtracted from the other.
    pub subtracts: bool,
}

/// Multiplications with a 32-bit result, which is added to Ra unless that is the PC. Halves are true for the top one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiply {
    /// Ra is ignored.
    Mul,
    Mla,
    Mls,
    /// `SMUL<x><y>` or `SMLA<x><y>`: halves of Rn and of Rm.
    Smla(bool, bool),
    /// `SMULW<y>` or `SMLAW<y>`.
    Smlaw(bool),
    /// SMUAD{X} and SMUSD{X}, SMLAD{X} and SMLSD{X}.
    Smlad(Dual),
    /// SMMUL{R}, SMMLA{R} and SMMLS{R}.
    Smmla {
        rounds: bool,
        subtracts: bool,
    },
    /// USAD8 or USADA8.
    Usada8,
}

/// DSP products accumulated into 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongDsp {
    /// `SMLAL<x><y>`: halves of Rn and of Rm.
    Smlal(bool, bool),
    /// SMLALD{X} and SMLSLD{X}.
    Smlald(Dual),
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

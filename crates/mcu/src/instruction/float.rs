//! The single-precision floating-point extension, FPv4-SP (A6 of DDI 0403E).

#![expect(
    missing_docs,
    reason = "as in the architecture manual, or what they say"
)]

use super::{Index, Register};

/// What is computed of S[n] and S[m] into S[d].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatOperation {
    Vadd,
    Vsub,
    Vmul,
    Vnmul,
    Vdiv,
    Vmla,
    Vmls,
    Vnmla,
    Vnmls,
    Vfma,
    Vfms,
    Vfnma,
    Vfnms,
    Vmov,
    Vabs,
    Vneg,
    Vsqrt,
    /// With S[m], and with zero: what N, Z, C and V of FPSCR become.
    Vcmp,
    VcmpZero,
    FromUnsigned,
    FromSigned,
    /// Rounded towards zero.
    ToUnsigned,
    ToSigned,
    /// Rounded to the nearest (VCVTR, in the rounding mode after reset).
    RoundUnsigned,
    RoundSigned,
}

impl FloatOperation {
    /// Cycles beyond the first (DDI 0439, table 7-1).
    pub const fn extra(self) -> u64 {
        match self {
            Self::Vdiv | Self::Vsqrt => 13,
            Self::Vmla | Self::Vmls | Self::Vnmla | Self::Vnmls => 2,
            Self::Vfma | Self::Vfms | Self::Vfnma | Self::Vfnms => 2,
            _ => 0,
        }
    }

    /// Whether S[d] is read as well.
    const fn accumulates(self) -> bool {
        self.extra() == 2 || matches!(self, Self::Vcmp | Self::VcmpZero)
    }

    const fn compares(self) -> bool {
        matches!(self, Self::Vcmp | Self::VcmpZero)
    }
}

/// Where a value is moved to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    Core,
    Float,
}

/// An instruction of the extension. Registers are numbered as S0 to S31.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Float {
    /// Of d, n and m.
    Compute(FloatOperation, [u8; 3]),
    Immediate(u8, u32),
    /// VMOV of one register, and of two that follow one another.
    Move(Toward, Register, u8),
    MovePair(Toward, [Register; 2], u8),
    /// VMRS and VMSR.
    Status(Toward, Register),
    /// VLDR, VLDM, VPOP and VSTR, VSTM, VPUSH: so many registers from one on.
    Transfer(FloatTransfer),
}

/// A transfer of floating-point registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatTransfer {
    /// `Float` loads.
    pub toward: Toward,
    pub rn: Register,
    pub index: Index,
    pub first: u8,
    pub words: u8,
    pub offset: i16,
}

const fn bits(first: u8, count: u8) -> u32 {
    (((1u64 << count) - 1) << (first & 31)) as u32
}

impl Float {
    /// The registers whose results come a cycle later to who waits for them: those of arithmetic and conversions.
    pub const fn late(self) -> u32 {
        match self {
            Self::Compute(
                FloatOperation::Vmov | FloatOperation::Vabs | FloatOperation::Vneg,
                _,
            ) => 0,
            Self::Compute(operation, [d, ..]) if !operation.compares() => bits(d, 1),
            _ => 0,
        }
    }

    /// The registers that it reads.
    pub const fn reads(self) -> u32 {
        match self {
            Self::Compute(operation, [d, n, m]) => {
                let accumulated = if operation.accumulates() {
                    bits(d, 1)
                } else {
                    0
                };
                accumulated | bits(n, 1) | bits(m, 1)
            }
            Self::Move(Toward::Core, _, s) => bits(s, 1),
            Self::MovePair(Toward::Core, _, s) => bits(s, 2),
            Self::Transfer(t) => match t.toward {
                Toward::Core => bits(t.first, t.words),
                Toward::Float => 0,
            },
            _ => 0,
        }
    }

    /// Cycles beyond the first, but for what is waited for.
    pub const fn extra(self) -> u64 {
        match self {
            Self::Compute(operation, _) => operation.extra(),
            Self::MovePair(..) => 1,
            Self::Transfer(t) => t.words as u64,
            _ => 0,
        }
    }

    /// Whether what uses no floating-point register goes on beside it (DDI 0439, table 7-1, note b).
    pub const fn is_beside(self) -> bool {
        matches!(
            self,
            Self::Compute(FloatOperation::Vdiv | FloatOperation::Vsqrt, _)
        )
    }
}

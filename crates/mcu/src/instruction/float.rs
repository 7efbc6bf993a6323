//! Floating-point instructions of FPv4-SP (A7.5 of DDI 0403E), and what follows from them for timing.

#![expect(missing_docs, reason = "as in the architecture manual")]

use super::{Class, Facts, Register};

/// Sd, Sn and Sm by their numbers, below 32. Where there is one operand both are that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatOperands {
    pub d: u8,
    pub n: u8,
    pub m: u8,
}

/// Registers that are loaded or stored one behind the other. A double register is two single ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatTransfer {
    pub first: u8,
    pub count: u8,
    pub rn: Register,
    /// Offset of the lowest address from the base.
    pub offset: i16,
    /// Change of the base.
    pub moved: i16,
}

/// Between a float and a number of `bits` bits, `fraction` of them behind the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    pub is_signed: bool,
    pub bits: u8,
    pub fraction: u8,
    /// Toward zero, whatever FPSCR says.
    pub truncates: bool,
}

/// Computation from Sn and Sm into Sd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatData {
    Add,
    Sub,
    Mul,
    /// VNMUL
    MulNegated,
    Div,
    /// VMLA, and VFMA where it is rounded once, with their kin: the product is added to Sd.
    Accumulate {
        fused: bool,
        negates_product: bool,
        negates_addend: bool,
    },
    Sqrt,
    Abs,
    Neg,
    Move,
    /// VCVT
    FromFixed(Conversion),
    ToFixed(Conversion),
}

/// Effect of a floating-point instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Float {
    Data(FloatData, FloatOperands),
    /// VMOV of an immediate, a sign, three bits of exponent and four of fraction.
    Constant(u8, u8),
    /// VCMP and VCMPE, of Sd with Sm or zero: they differ in flags that are not kept.
    Compare(u8, Option<u8>),
    /// VLDR, VLDM, VPOP.
    Load(FloatTransfer),
    /// VSTR, VSTM, VPUSH.
    Store(FloatTransfer),
    /// VMOV from that register on: one core register, or two unless the second is the PC.
    ToCore(u8, [Register; 2]),
    FromCore(u8, [Register; 2]),
    /// VMRS; to the flags where it names the PC.
    ReadStatus(Register),
    /// VMSR
    WriteStatus(Register),
}

/// A set of that number of registers from that one on.
const fn set(first: u8, count: u8) -> u32 {
    (((1u64 << count) - 1) << first) as u32
}

impl Float {
    /// Class and registers. What is computed comes late, and the addend is taken late (DDI 0439, table 7-1, notes).
    pub(super) fn facts(&self) -> Facts {
        let of = |class, late, reads| Facts {
            late,
            reads,
            ..Facts::of(class, 0)
        };
        let memory = |class, t: FloatTransfer, reads| Facts {
            writes: if t.moved == 0 { 0 } else { t.rn.bit() },
            ..of(class, 0, reads).moving(4 * t.count, t.rn.bit())
        };
        // The PC means none.
        let written = |register| match register {
            Register::PC => 0,
            register => register.bit(),
        };
        let moves = |registers: [Register; 2]| match registers[1] {
            Register::PC => (Class::Float, 1),
            _ => (Class::FloatMoveTwo, 2),
        };
        match *self {
            Self::Data(data, r) => {
                let reads = set(r.n, 1) | set(r.m, 1);
                let late = set(r.d, 1);
                match data {
                    FloatData::Abs | FloatData::Neg | FloatData::Move => of(Class::Float, 0, reads),
                    FloatData::Div | FloatData::Sqrt => of(Class::FloatDivide, late, reads),
                    FloatData::Accumulate { .. } => of(Class::FloatAccumulate, late, reads),
                    _ => of(Class::Float, late, reads),
                }
            }
            Self::Compare(d, m) => of(Class::Float, 0, set(d, 1) | set(m.unwrap_or(d), 1)),
            Self::Constant(..) | Self::WriteStatus(_) => of(Class::Float, 0, 0),
            Self::Load(t) => memory(Class::FloatLoad, t, 0),
            Self::Store(t) => memory(Class::FloatStore, t, set(t.first, t.count)),
            Self::FromCore(_, registers) => of(moves(registers).0, 0, 0),
            Self::ToCore(first, registers) => {
                let (class, count) = moves(registers);
                Facts {
                    writes: written(registers[0]) | written(registers[1]),
                    ..of(class, 0, set(first, count))
                }
            }
            Self::ReadStatus(rt) => Facts::of(Class::Float, written(rt)),
        }
    }
}

//! Decoded instructions: what the machine executes and what the timing model needs to know of them.
//!
//! Names are those of the ARMv7-M Architecture Reference Manual (ARM DDI 0403E), sections A7.7.x.

mod class;
mod effect;
mod facts;
mod operand;

pub use class::Class;
pub use effect::{
    DoubleTransfer, Effect, ExclusiveTransfer, LongOperands, MultipleTransfer, Operands,
    ScaledTransfer, Transfer,
};
pub use facts::Facts;
pub use operand::{
    Access, Alu, BitField, Direction, Extend, Flags, Half, Halves, ImmediateCarry, Index, Indirect,
    LaneKind, Lanes, Long, LongDsp, Multiply, NonZero, Saturating, Shift, Sign, Unary, WriteBack,
};

/// One of the sixteen core registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Register(u8);

impl Register {
    /// Stack pointer, R13.
    pub const SP: Self = Self(13);
    /// Link register, R14.
    pub const LR: Self = Self(14);
    /// Program counter, R15.
    pub const PC: Self = Self(15);

    /// The register of that number; only the low four bits count.
    pub const fn new(number: u32) -> Self {
        Self((number & 15) as u8)
    }

    /// Its number, below 16.
    pub const fn number(self) -> usize {
        (self.0 & 15) as usize
    }

    /// A set of this register alone.
    pub const fn bit(self) -> u16 {
        1 << (self.0 & 15)
    }
}

/// A7.3.1. `Al` is not written in the instruction but the case outside IT blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// From its four bits; 15 is AL as in IT blocks.
    pub const fn new(bits: u32) -> Self {
        use Condition::{Al, Cc, Cs, Eq, Ge, Gt, Hi, Le, Ls, Lt, Mi, Ne, Pl, Vc, Vs};
        [
            Eq, Ne, Cs, Cc, Mi, Pl, Vs, Vc, Hi, Ls, Ge, Lt, Gt, Le, Al, Al,
        ][(bits & 15) as usize]
    }
}

/// A decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// What it does.
    pub effect: Effect,
    /// What is known of it besides.
    pub facts: Facts,
}

impl Instruction {
    /// What stands where nothing has been decoded.
    pub const UNDECODED: Self = Self {
        effect: Effect::Undecoded,
        facts: Facts::NONE,
    };

    /// Adds what follows from the effect: class, registers.
    pub fn new(effect: Effect, size: u8, condition: Condition) -> Self {
        let facts = Facts {
            size,
            condition,
            ..effect.facts()
        };
        Self { effect, facts }
    }
}

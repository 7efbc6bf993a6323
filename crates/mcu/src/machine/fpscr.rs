//! Floating-point arithmetic as FPSCR says (A2.5 of DDI 0403E), rounded to nearest. Its cumulative flags stay as they are
//! written.
//!
//! An f64 holds sums, products, quotients and roots of floats so nearly that rounding it gives what rounding the exact
//! value would: it has more than twice their bits and two more.

use std::cmp::Ordering;

use crate::instruction::Conversion;

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
const QUIET: u32 = 1 << 22;
const DEFAULT_NAN: u32 = INFINITY | QUIET;

/// Modes: subnormal numbers count as zero; every NaN that results is the default one; how results are rounded.
const FLUSH: u32 = 1 << 24;
const ONE_NAN: u32 = 1 << 25;
const ROUNDING: u32 = 3 << 22;
/// Bits that can be written: the conditions, the modes, the flags.
const WRITABLE: u32 = 0xf7c0_009f;
/// Bits that a new context takes from FPDSCR: the modes.
const MODES: u32 = 0x07c0_0000;

/// The status and control register, by which floats are computed with. They are bits, so that no NaN changes on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fpscr(u32);

impl Fpscr {
    /// Returns the register as VMSR writes it.
    pub const fn new(value: u32) -> Self {
        Self(value & WRITABLE)
    }

    /// Returns the value as VMRS reads it.
    pub const fn value(self) -> u32 {
        self.0
    }

    /// Returns true if results are rounded to nearest, which is all that is simulated.
    pub(super) const fn rounds_to_nearest(self) -> bool {
        self.0 & ROUNDING == 0
    }

    /// Returns the register with the modes of FPDSCR.
    pub(super) const fn with_modes(self, defaults: u32) -> Self {
        Self(self.0 & !MODES | defaults & MODES)
    }

    const fn flushes(self, value: f64) -> bool {
        self.0 & FLUSH != 0 && value.abs() < f32::MIN_POSITIVE as f64
    }

    /// FPUnpack
    fn operand(self, bits: u32) -> f64 {
        match f64::from(f32::from_bits(bits)) {
            small if self.flushes(small) => 0f64.copysign(small),
            value => value,
        }
    }

    /// FPRound of a value that is nearly so.
    fn round(self, value: f32, nearly: f64) -> u32 {
        match value {
            value if value.is_nan() => DEFAULT_NAN,
            value if self.flushes(nearly) => 0f32.copysign(value).to_bits(),
            value => value.to_bits(),
        }
    }

    /// FPProcessNaNs: the one that is the result, if there is one; a signalling one first.
    fn nan(self, operands: &[u32]) -> Option<u32> {
        let signalling = operands.iter().find(|bits| is_signalling(**bits));
        let nan = signalling.or_else(|| operands.iter().find(|bits| is_nan(**bits)))?;
        Some(match self.0 & ONE_NAN {
            0 => nan | QUIET,
            _ => DEFAULT_NAN,
        })
    }

    /// Computes with two operands, unless one is a NaN.
    pub(super) fn binary(self, n: u32, m: u32, of: impl Fn(f64, f64) -> f64) -> u32 {
        let value = of(self.operand(n), self.operand(m));
        let value = || self.round(value as f32, value);
        self.nan(&[n, m]).unwrap_or_else(value)
    }

    /// FPMulAdd, rounded once.
    pub(super) fn multiply_add(self, addend: u32, n: u32, m: u32) -> u32 {
        let [z, x, y] = [addend, n, m].map(|bits| self.operand(bits));
        // Infinity by zero is invalid even with a quiet NaN.
        let is_invalid = (x * y).is_nan() && !is_nan(n) && !is_nan(m);
        match self.nan(&[addend, n, m]) {
            Some(_) if is_invalid && !is_signalling(addend) => DEFAULT_NAN,
            Some(nan) => nan,
            None => self.round((x as f32).mul_add(y as f32, z as f32), x * y + z),
        }
    }

    /// FPCompare, into N, Z, C and V.
    pub(super) fn compare(&mut self, n: u32, m: u32) {
        let flags = match self.operand(n).partial_cmp(&self.operand(m)) {
            Some(Ordering::Less) => 0b1000,
            Some(Ordering::Equal) => 0b0110,
            Some(Ordering::Greater) => 0b0010,
            None => 0b0011,
        };
        self.0 = self.0 & 0x0fff_ffff | flags << 28;
    }

    /// FixedToFP
    pub(super) fn fixed_to_float(self, how: Conversion, value: u32) -> u32 {
        let unused = 32 - u32::from(how.bits);
        let value = match how.is_signed {
            true => f64::from((value << unused).cast_signed() >> unused),
            false => f64::from(value << unused >> unused),
        };
        let value = value / how.unit();
        self.round(value as f32, value)
    }

    /// FPToFixed: saturates, a NaN to zero.
    pub(super) fn float_to_fixed(self, how: Conversion, value: u32) -> u32 {
        let value = self.operand(value) * how.unit();
        let whole = match how.truncates {
            true => value.trunc(),
            false => value.round_ties_even(),
        };
        let (least, beyond) = match how.is_signed {
            true => (-(1i64 << (how.bits - 1)), 1i64 << (how.bits - 1)),
            false => (0, 1 << how.bits),
        };
        (whole as i64).clamp(least, beyond - 1) as u32
    }
}

impl Conversion {
    /// Returns one in units of the last bit.
    fn unit(self) -> f64 {
        (1u64 << self.fraction) as f64
    }
}

/// Returns true if that is any NaN.
const fn is_nan(bits: u32) -> bool {
    bits & !SIGN > INFINITY
}

const fn is_signalling(bits: u32) -> bool {
    is_nan(bits) && bits & QUIET == 0
}

//! Floating point of single precision: rounding to nearest, without the cumulative exception flags of FPSCR.

use super::exceptions::FLOAT_ACTIVE;
use super::registers::CONTROL;
use super::{BusError, Halt, Interrupted, Machine, Reason};
use crate::instruction::{Access, Float, FloatOperation, FloatTransfer, Index, Register, Toward};

/// What arithmetic gives for what has no result, and QNaN's bit.
const DEFAULT_NAN: u32 = 0x7fc0_0000;
const QUIET: u32 = 0x0040_0000;

impl Machine {
    /// Executes one.
    #[inline(never)]
    pub(super) fn float(&mut self, float: Float) -> Result<(), Interrupted> {
        if !self.devices.has_float_access() {
            return Err(self.interrupt(Halt::Fault(Reason::NoFloat)));
        }
        self.registers.special[CONTROL] |= FLOAT_ACTIVE;
        let registers = &mut self.registers;
        match float {
            Float::Compute(operation, [d, n, m]) => {
                let values = [d, n, m].map(|number| registers.float[usize::from(number & 31)]);
                match operation {
                    FloatOperation::Vcmp => registers.compare(values[0], values[2]),
                    FloatOperation::VcmpZero => registers.compare(values[0], 0),
                    _ => registers.float[usize::from(d & 31)] = compute(operation, values),
                }
            }
            Float::Immediate(d, value) => registers.float[usize::from(d & 31)] = value,
            Float::Move(toward, rt, s) => registers.move_float(toward, rt, s),
            Float::MovePair(toward, [rt, rt2], s) => {
                registers.move_float(toward, rt, s);
                registers.move_float(toward, rt2, s + 1);
            }
            Float::Status(Toward::Float, rt) => registers.float_status = registers.get(rt),
            Float::Status(Toward::Core, Register::PC) => {
                registers.set_apsr(
                    registers.float_status & 0xf000_0000 | registers.apsr() & 0x0fff_ffff,
                    2,
                );
            }
            Float::Status(Toward::Core, rt) => registers.set(rt, registers.float_status),
            Float::Transfer(t) => return self.transfer_float(&t),
        }
        Ok(())
    }

    fn transfer_float(&mut self, t: &FloatTransfer) -> Result<(), Interrupted> {
        let base = match t.rn {
            Register::PC => self.registers.get(t.rn) & !3,
            rn => self.registers.get(rn),
        };
        let moved = base.wrapping_add_signed(i32::from(t.offset));
        let from = if t.index == Index::Post { base } else { moved };
        if from & 3 != 0 {
            return self.check(Err(BusError::Unaligned(from)));
        }
        self.access = from;
        for word in 0..t.words {
            let (address, s) = (
                from.wrapping_add(4 * u32::from(word)),
                usize::from(t.first + word & 31),
            );
            match t.toward {
                Toward::Float => self.registers.float[s] = self.read(Access::Word, address)?,
                Toward::Core => self.write(Access::Word, address, self.registers.float[s])?,
            }
        }
        if t.index != Index::Offset {
            self.registers.set(t.rn, moved);
        }
        Ok(())
    }
}

impl super::Registers {
    fn move_float(&mut self, toward: Toward, rt: Register, s: u8) {
        let s = usize::from(s & 31);
        match toward {
            Toward::Core => self.set(rt, self.float[s]),
            Toward::Float => self.float[s] = self.get(rt),
        }
    }

    /// N, Z, C and V of FPSCR.
    fn compare(&mut self, a: u32, b: u32) {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let flags = match f32::from_bits(a).partial_cmp(&f32::from_bits(b)) {
            Some(Less) => 0b1000,
            Some(Equal) => 0b0110,
            Some(Greater) => 0b0010,
            None => 0b0011,
        };
        self.float_status = self.float_status & 0x0fff_ffff | flags << 28;
    }
}

fn compute(operation: FloatOperation, [d, n, m]: [u32; 3]) -> u32 {
    use FloatOperation::{
        FromSigned, FromUnsigned, RoundSigned, RoundUnsigned, ToSigned, ToUnsigned, Vabs, Vadd,
        Vdiv, Vfma, Vfms, Vfnma, Vfnms, Vmla, Vmls, Vmov, Vmul, Vneg, Vnmla, Vnmls, Vnmul, Vsqrt,
        Vsub,
    };
    const SIGN: u32 = 1 << 31;
    let float = f32::from_bits;
    let binary = |result: f32| of(result, &[n, m]);
    let product = binary(float(n) * float(m));
    let sum = |a: u32, b: u32| of(float(a) + float(b), &[a, b]);
    let fused = |a: u32, n: u32| of(float(n).mul_add(float(m), float(a)), &[a, n, m]);
    match operation {
        Vadd => binary(float(n) + float(m)),
        Vsub => binary(float(n) - float(m)),
        Vmul => product,
        Vnmul => product ^ SIGN,
        Vdiv => binary(float(n) / float(m)),
        Vmla => sum(d, product),
        Vmls => sum(d, product ^ SIGN),
        Vnmla => sum(d ^ SIGN, product ^ SIGN),
        Vnmls => sum(d ^ SIGN, product),
        Vfma => fused(d, n),
        Vfms => fused(d, n ^ SIGN),
        Vfnma => fused(d ^ SIGN, n ^ SIGN),
        Vfnms => fused(d ^ SIGN, n),
        Vabs => m & !SIGN,
        Vneg => m ^ SIGN,
        Vsqrt => of(float(m).sqrt(), &[m]),
        FromUnsigned => (m as f32).to_bits(),
        FromSigned => (m.cast_signed() as f32).to_bits(),
        ToUnsigned => float(m) as u32,
        ToSigned => (float(m) as i32).cast_unsigned(),
        RoundUnsigned => float(m).round_ties_even() as u32,
        RoundSigned => (float(m).round_ties_even() as i32).cast_unsigned(),
        Vmov | FloatOperation::Vcmp | FloatOperation::VcmpZero => m,
    }
}

/// The result's bits; of what is not a number those of the operand that is none, signalling ones first (A2.5.7).
fn of(result: f32, operands: &[u32]) -> u32 {
    if !result.is_nan() {
        return result.to_bits();
    }
    let mut nans = operands
        .iter()
        .filter(|operand| f32::from_bits(**operand).is_nan());
    let signalling = nans.clone().find(|nan| *nan & QUIET == 0);
    signalling
        .or_else(|| nans.next())
        .map_or(DEFAULT_NAN, |nan| nan | QUIET)
}

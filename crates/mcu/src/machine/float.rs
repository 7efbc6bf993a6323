//! Executes the floating-point extension (A7.5): moves and memory here, arithmetic in `fpscr`.

use super::block::Operation;
use super::devices::FLOAT_DEFAULTS;
use super::execute::Done;
use super::fpscr::Fpscr;
use super::registers::{CONTROL, FLOAT_CONTEXT, Registers};
use super::transfer::aligned;
use super::{Halt, Reason, SimulatedMachine};
use crate::instruction::{Access, Effect, Float, FloatData, FloatTransfer, Register};

/// The sign of a float.
const SIGN: u32 = 1 << 31;
/// N, Z, C and V of FPSCR and APSR; Q, which is not copied.
const CONDITIONS: u32 = 0xf000_0000;
const SATURATED: u32 = 1 << 27;

/// Executes one, if CPACR allows it.
pub(super) fn execute(machine: &mut SimulatedMachine, operation: &Operation) -> Done {
    let Effect::Float(float) = operation.effect else {
        return Ok(());
    };
    machine.noted.at = operation.index;
    if !machine.devices.floats {
        return Err(machine.interrupt(Halt::Fault(Reason::FloatsOff)));
    }
    if !machine.registers.fpscr.rounds_to_nearest() {
        return Err(machine.interrupt(Halt::Fault(Reason::Rounding)));
    }
    let registers = &mut machine.registers;
    // The first one of a context takes its modes (ExecuteFPCheck, B1.5.7).
    if registers.special[CONTROL] & FLOAT_CONTEXT == 0 {
        registers.special[CONTROL] |= FLOAT_CONTEXT;
        let defaults = machine.devices.word(FLOAT_DEFAULTS);
        registers.fpscr = registers.fpscr.with_modes(defaults);
    }
    match float {
        Float::Load(t) => machine.transfer_floats(operation.index, t, |machine, number, at| {
            *machine.registers.float(number) = machine.read(Access::Word, at)?;
            Ok(())
        })?,
        Float::Store(t) => machine.transfer_floats(operation.index, t, |machine, number, at| {
            let value = *machine.registers.float(number);
            machine.write(Access::Word, at, value)
        })?,
        _ => compute(registers, float),
    }
    operation.go_on(machine)
}

/// Computes among registers.
fn compute(registers: &mut Registers, float: Float) {
    match float {
        Float::Data(data, r) => {
            let [d, n, m] = [r.d, r.n, r.m].map(|number| *registers.float(number));
            *registers.float(r.d) = value(registers.fpscr, data, [d, n, m]);
        }
        Float::Constant(d, value) => *registers.float(d) = expanded(value.into()),
        Float::Compare(d, m) => {
            let (n, m) = (*registers.float(d), m.map_or(0, |m| *registers.float(m)));
            registers.fpscr.compare(n, m);
        }
        Float::ToCore(first, into) => {
            for (number, register) in (first..).zip(into) {
                let value = *registers.float(number);
                if register != Register::PC {
                    registers.set(register, value);
                }
            }
        }
        Float::FromCore(first, from) => {
            for (number, register) in (first..).zip(from) {
                if register != Register::PC {
                    *registers.float(number) = registers.get(register);
                }
            }
        }
        Float::ReadStatus(Register::PC) => {
            let kept = registers.apsr() & SATURATED;
            registers.set_apsr(registers.fpscr.value() & CONDITIONS | kept, 2);
        }
        Float::ReadStatus(rt) => registers.set(rt, registers.fpscr.value()),
        Float::WriteStatus(rt) => registers.fpscr = Fpscr::new(registers.get(rt)),
        Float::Load(_) | Float::Store(_) => {}
    }
}

/// VFPExpandImm, A6.4.1.
const fn expanded(value: u32) -> u32 {
    let high = value >> 6 & 1;
    let exponent = (high ^ 1) << 7 | (high * 0x7c) | (value >> 4 & 3);
    (value >> 7) << 31 | exponent << 23 | (value & 15) << 19
}

fn value(status: Fpscr, data: FloatData, [d, n, m]: [u32; 3]) -> u32 {
    let negated = |negates, value: u32| if negates { value ^ SIGN } else { value };
    match data {
        FloatData::Add => status.binary(n, m, |x, y| x + y),
        FloatData::Sub => status.binary(n, m, |x, y| x - y),
        FloatData::Mul => status.binary(n, m, |x, y| x * y),
        FloatData::MulNegated => status.binary(n, m, |x, y| x * y) ^ SIGN,
        FloatData::Div => status.binary(n, m, |x, y| x / y),
        FloatData::Accumulate {
            fused,
            negates_product,
            negates_addend,
        } => {
            let addend = negated(negates_addend, d);
            if fused {
                return status.multiply_add(addend, negated(negates_product, n), m);
            }
            let product = status.binary(n, m, |x, y| x * y);
            status.binary(addend, negated(negates_product, product), |x, y| x + y)
        }
        FloatData::Sqrt => status.binary(m, m, |x, _| x.sqrt()),
        FloatData::Abs => m & !SIGN,
        FloatData::Neg => m ^ SIGN,
        FloatData::Move => m,
        FloatData::FromFixed(how) => status.fixed_to_float(how, m),
        FloatData::ToFixed(how) => status.float_to_fixed(how, m),
    }
}

impl SimulatedMachine {
    /// Visits registers and their words in memory; the base changes last.
    fn transfer_floats(
        &mut self,
        index: u8,
        t: FloatTransfer,
        each: impl Fn(&mut Self, u8, u32) -> Done,
    ) -> Done {
        let base = self.registers.get(t.rn);
        // Of a literal: Align(PC, 4).
        let from = if t.rn == Register::PC {
            base & !3
        } else {
            base
        };
        let address = from.wrapping_add_signed(t.offset.into());
        self.noted.put(index, address, 0);
        self.check(aligned(address))?;
        for number in 0..t.count {
            let offset = 4 * u32::from(number);
            each(self, t.first + number, address.wrapping_add(offset))?;
        }
        let base = base.wrapping_add_signed(t.moved.into());
        self.registers.set(t.rn, base);
        Ok(())
    }
}

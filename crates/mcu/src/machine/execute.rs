//! One effect: computing here, memory in `transfer`.

use super::arithmetic::{self, shift_with_carry, unary};
use super::exceptions::SUPERVISOR_CALL;
use super::registers::{FAULTMASK, PRIMASK};
use super::{BusError, Halt, Interrupted, Machine, Reason};
use crate::instruction::{
    Access, Effect, Indirect, Long, LongOperands, NonZero, Operands, Register, Sign,
};

const fn magnitudes(n: u32, m: u32) -> (u32, u32) {
    (
        n.cast_signed().unsigned_abs(),
        m.cast_signed().unsigned_abs(),
    )
}

impl Machine {
    /// Executes one effect; `after` is the address of the following instruction. Gives the address
    /// where it goes on.
    #[inline(always)]
    pub(super) fn execute(&mut self, effect: &Effect, after: u32) -> Result<u32, Interrupted> {
        let registers = &mut self.registers;
        match *effect {
            Effect::DataRegister(alu, flags, r) => {
                let values = registers.operands(r);
                registers.alu(alu, flags, r.d, values, registers.carry);
            }
            Effect::DataImmediate(alu, flags, r, carry, value) => {
                let values = (registers.get(r.n), value);
                registers.alu(alu, flags, r.d, values, registers.immediate_carry(carry));
            }
            Effect::DataShifted(alu, flags, r, (shift, amount)) => {
                let (n, m) = registers.operands(r);
                let (value, carry) = shift_with_carry(m, shift, u32::from(amount), registers.carry);
                registers.alu(alu, flags, r.d, (n, value), carry);
            }
            Effect::MultiplyLong(long, r) => self.multiply_long(long, r),
            Effect::Load(_)
            | Effect::LoadRegister(_)
            | Effect::LoadLiteral(..)
            | Effect::LoadDouble(..)
            | Effect::LoadMultiple(_)
            | Effect::LoadExclusive(_) => return self.load(effect, after),
            Effect::Store(_)
            | Effect::StoreRegister(_)
            | Effect::StoreDouble(..)
            | Effect::StoreMultiple(_)
            | Effect::StoreExclusive(..) => self.store(effect)?,
            Effect::Branch(_)
            | Effect::BranchConditional(..)
            | Effect::CompareBranch(..)
            | Effect::BranchLink(_)
            | Effect::BranchLinkRegister(_)
            | Effect::BranchRegister(..)
            | Effect::TableBranch(..) => return self.branch(effect, after),
            Effect::If | Effect::Nop => {}
            _ => self.compute(effect)?,
        }
        Ok(after)
    }

    #[inline(always)]
    fn multiply_long(&mut self, long: Long, r: LongOperands) {
        let registers = &mut self.registers;
        let (n, m) = (registers.get(r.n), registers.get(r.m));
        self.operands = match long {
            Long::Smull | Long::Smlal => magnitudes(n, m),
            _ => (n, m),
        };
        let result = arithmetic::long(long, n, m, registers.get(r.high), registers.get(r.low));
        registers.set(r.low, result as u32);
        registers.set(r.high, (result >> 32) as u32);
    }

    /// What is neither the plainest arithmetic nor memory nor a branch.
    fn compute(&mut self, effect: &Effect) -> Result<(), Interrupted> {
        let registers = &mut self.registers;
        match *effect {
            Effect::ShiftRegister(shift, flags, r) => {
                registers.shift_register(shift, flags, r);
            }
            Effect::MoveTop(d, value) => {
                let low = registers.get(d) & 0xffff;
                registers.set(d, u32::from(value) << 16 | low);
            }
            Effect::Multiply(multiply, flags, r, ra) => {
                registers.multiply(multiply, flags, r, ra);
            }
            Effect::Divide(sign, r) => {
                let (n, m) = registers.operands(r);
                self.operands = match sign {
                    Sign::Signed => magnitudes(n, m),
                    Sign::Unsigned => (n, m),
                };
                registers.set(r.d, arithmetic::divide(sign, n, m));
            }
            Effect::Extend(extend, r, rotation) => {
                let addend = registers.get_or_zero(r.n);
                let value = arithmetic::extend(extend, registers.get(r.m), rotation, addend);
                registers.set(r.d, value);
            }
            Effect::Unary(which, r) => registers.set(r.d, unary(which, registers.get(r.m))),
            Effect::BitField(field, r, place) => registers.bit_field(field, r, place),
            _ => return self.compute_dsp(effect),
        }
        Ok(())
    }

    /// The DSP extension, and what is no computation at all.
    fn compute_dsp(&mut self, effect: &Effect) -> Result<(), Interrupted> {
        let registers = &mut self.registers;
        match *effect {
            Effect::MultiplyLongDsp(long, r) => {
                let (n, m) = (registers.get(r.n), registers.get(r.m));
                let (high, low) = (registers.get(r.high), registers.get(r.low));
                let result = arithmetic::long_dsp(long, n, m, high, low);
                registers.set(r.low, result as u32);
                registers.set(r.high, (result >> 32) as u32);
            }
            Effect::Saturating(saturating, r) => registers.saturating(saturating, r),
            Effect::Saturate(sign, r, bits, shift) => registers.saturate(sign, bits, r, shift),
            Effect::Saturate16(sign, r, bits) => registers.saturate16(sign, bits, r),
            Effect::Parallel(lanes, kind, r) => registers.parallel(lanes, kind, r),
            Effect::Select(r) => registers.select(r),
            Effect::Pack(r, (shift, amount)) => {
                let (n, m) = registers.operands(r);
                registers.set(r.d, arithmetic::pack(n, m, shift, amount));
            }
            _ => return self.control(effect),
        }
        Ok(())
    }

    /// What computes nothing: special registers, the monitor, and what ends the straight way.
    fn control(&mut self, effect: &Effect) -> Result<(), Interrupted> {
        let halt = match *effect {
            Effect::ReadSpecial(rd, special) => {
                let value = self.registers.read_special(special);
                self.registers.set(rd, value);
                return Ok(());
            }
            Effect::WriteSpecial { rn, special, mask } => {
                let value = self.registers.get(rn);
                self.registers.write_special(special, mask, value);
                return Ok(());
            }
            Effect::MaskExceptions {
                value,
                primask,
                faultmask,
            } => {
                for (register, named) in [(PRIMASK, primask), (FAULTMASK, faultmask)] {
                    if named {
                        self.registers.special[register] = value;
                    }
                }
                return Ok(());
            }
            Effect::ClearExclusive => {
                self.exclusive = false;
                return Ok(());
            }
            Effect::Breakpoint(number) => Halt::Breakpoint(number),
            Effect::SupervisorCall => Halt::Exception(SUPERVISOR_CALL),
            Effect::Barrier => Halt::Refetch,
            Effect::Unknown(encoding) => Halt::Fault(Reason::Unknown(encoding)),
            // `execute` and the two after it have taken all others.
            _ => Halt::Undecoded,
        };
        Err(self.interrupt(halt))
    }

    /// Everything that goes elsewhere, but for loads of the PC.
    #[inline(always)]
    fn branch(&mut self, effect: &Effect, after: u32) -> Result<u32, Interrupted> {
        let registers = &mut self.registers;
        match *effect {
            Effect::BranchConditional(condition, target) if registers.holds(condition) => {
                Ok(target)
            }
            Effect::CompareBranch(rn, nonzero, target)
                if (registers.get(rn) != 0) == (nonzero == NonZero::Set) =>
            {
                Ok(target)
            }
            Effect::Branch(target) => Ok(target),
            Effect::BranchLink(target) => {
                registers.set(Register::LR, after | 1);
                Ok(target)
            }
            Effect::BranchLinkRegister(rm) => {
                let target = registers.get(rm);
                registers.set(Register::LR, after | 1);
                self.exchange(target)
            }
            Effect::BranchRegister(kind, rm) => {
                let value = registers.get(rm);
                match kind {
                    Indirect::Exchange => self.exchange(value),
                    Indirect::Move => Ok(value & !1),
                    Indirect::Add => Ok(registers.get(Register::PC).wrapping_add(value) & !1),
                }
            }
            Effect::TableBranch(access, r) => self.table_branch(access, r),
            _ => Ok(after),
        }
    }

    fn table_branch(&mut self, access: Access, r: Operands) -> Result<u32, Interrupted> {
        let (base, index) = self.registers.operands(r);
        let scaled = match access {
            Access::Byte => index,
            _ => index << 1,
        };
        self.access = base.wrapping_add(scaled);
        let entry = self.read(access, self.access)?;
        let pc = self.registers.get(Register::PC);
        Ok(pc.wrapping_add(2 * entry))
    }

    /// BXWritePC, A2.3.1.
    #[inline(always)]
    pub(super) fn exchange(&mut self, target: u32) -> Result<u32, Interrupted> {
        if target & 1 == 0 {
            return Err(self.interrupt(Halt::Fault(Reason::NotThumb(target))));
        }
        Ok(target & !1)
    }

    /// Leaves the loop for what is kept aside: results of single operations must fit two registers of
    /// the host, since every simulated instruction has one.
    #[cold]
    pub(super) fn interrupt(&mut self, halt: Halt) -> Interrupted {
        self.halt = Some(halt);
        Interrupted
    }

    /// The value of an access that went well.
    #[inline(always)]
    pub(super) fn check<T>(&mut self, result: Result<T, BusError>) -> Result<T, Interrupted> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.interrupt(Halt::Fault(error.into()))),
        }
    }
}

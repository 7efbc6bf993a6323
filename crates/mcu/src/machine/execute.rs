//! One effect: computing here, memory in `transfer`.

use super::arithmetic::{shift_with_carry, unary};
use super::{BusError, Halt, Interrupted, Machine, Monitor, Reason, dsp, products};
use crate::instruction::{Access, Effect, Indirect, Long, NonZero, Register, Sign};

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
            Effect::DataRegister {
                alu,
                flags,
                rd,
                rn,
                rm,
            } => {
                let operands = (registers.get(rn), registers.get(rm));
                registers.alu(alu, flags, rd, operands, registers.carry);
            }
            Effect::DataImmediate {
                alu,
                flags,
                rd,
                rn,
                carry,
                value,
            } => {
                let operands = (registers.get(rn), value);
                registers.alu(alu, flags, rd, operands, registers.immediate_carry(carry));
            }
            Effect::DataShifted {
                alu,
                flags,
                rd,
                rn,
                rm,
                shift,
                amount,
            } => {
                let (value, carry) =
                    shift_with_carry(registers.get(rm), shift, u32::from(amount), registers.carry);
                registers.alu(alu, flags, rd, (registers.get(rn), value), carry);
            }
            Effect::MultiplyLong { .. } => self.multiply_long(effect),
            Effect::Load { .. }
            | Effect::LoadRegister { .. }
            | Effect::LoadLiteral { .. }
            | Effect::LoadDouble { .. }
            | Effect::LoadMultiple { .. }
            | Effect::LoadExclusive { .. } => return self.load(effect, after),
            Effect::Store { .. }
            | Effect::StoreRegister { .. }
            | Effect::StoreDouble { .. }
            | Effect::StoreMultiple { .. }
            | Effect::StoreExclusive { .. } => self.store(effect)?,
            Effect::Branch { .. }
            | Effect::BranchConditional { .. }
            | Effect::CompareBranch { .. }
            | Effect::BranchLink { .. }
            | Effect::BranchLinkRegister { .. }
            | Effect::BranchRegister { .. }
            | Effect::TableBranch { .. } => return self.branch(effect, after),
            Effect::If | Effect::Nop => {}
            _ => self.compute(effect)?,
        }
        Ok(after)
    }

    #[inline(always)]
    fn multiply_long(&mut self, effect: &Effect) {
        let Effect::MultiplyLong {
            long,
            low,
            high,
            rn,
            rm,
        } = *effect
        else {
            return; // `execute` has seen to that.
        };
        let registers = &mut self.registers;
        let (n, m) = (registers.get(rn), registers.get(rm));
        self.operands = match long {
            Long::Smull | Long::Smlal => magnitudes(n, m),
            _ => (n, m),
        };
        let result = products::long(long, n, m, registers.get(high), registers.get(low));
        registers.set(low, result as u32);
        registers.set(high, (result >> 32) as u32);
    }

    /// What is neither the plainest arithmetic nor memory nor a branch.
    fn compute(&mut self, effect: &Effect) -> Result<(), Interrupted> {
        let registers = &mut self.registers;
        match *effect {
            Effect::ShiftRegister {
                shift,
                flags,
                rd,
                rn,
                rm,
            } => {
                let operands = (registers.get(rn), registers.get(rm));
                registers.shift_register(shift, flags, rd, operands);
            }
            Effect::MoveTop { rd, value } => {
                let low = registers.get(rd) & 0xffff;
                registers.set(rd, u32::from(value) << 16 | low);
            }
            Effect::Multiply {
                multiply,
                flags,
                rd,
                rn,
                rm,
                ra,
            } => {
                let operands = (registers.get(rn), registers.get(rm));
                registers.multiply(multiply, flags, rd, operands, ra);
            }
            Effect::Divide { sign, rd, rn, rm } => {
                let (n, m) = (registers.get(rn), registers.get(rm));
                self.operands = match sign {
                    Sign::Signed => magnitudes(n, m),
                    Sign::Unsigned => (n, m),
                };
                registers.set(rd, products::divide(sign, n, m));
            }
            Effect::Extend {
                extend,
                rd,
                rn,
                rm,
                rotation,
            } => {
                let addend = registers.addend(rn);
                let value = dsp::extend(extend, registers.get(rm), rotation, addend);
                registers.set(rd, value);
            }
            Effect::Unary {
                unary: which,
                rd,
                rm,
            } => {
                registers.set(rd, unary(which, registers.get(rm)));
            }
            Effect::BitField {
                field,
                rd,
                rn,
                lsb,
                width,
            } => {
                registers.bit_field(field, rd, rn, (lsb, width));
            }
            _ => return self.compute_dsp(effect),
        }
        Ok(())
    }

    /// The DSP extension, and what is no computation at all.
    fn compute_dsp(&mut self, effect: &Effect) -> Result<(), Interrupted> {
        let registers = &mut self.registers;
        match *effect {
            Effect::MultiplyLongDsp {
                long,
                low,
                high,
                rn,
                rm,
            } => {
                let (n, m) = (registers.get(rn), registers.get(rm));
                let result =
                    products::long_dsp(long, n, m, registers.get(high), registers.get(low));
                registers.set(low, result as u32);
                registers.set(high, (result >> 32) as u32);
            }
            Effect::Saturating {
                saturating,
                rd,
                rn,
                rm,
            } => {
                let result = registers.saturating(saturating, registers.get(rn), registers.get(rm));
                registers.set(rd, result);
            }
            Effect::Saturate {
                sign,
                rd,
                rn,
                bits,
                shift,
                amount,
            } => {
                let result = registers.saturate(sign, bits, registers.get(rn), (shift, amount));
                registers.set(rd, result);
            }
            Effect::Saturate16 { sign, rd, rn, bits } => {
                let result = registers.saturate16(sign, bits, registers.get(rn));
                registers.set(rd, result);
            }
            Effect::Parallel {
                lanes,
                kind,
                rd,
                rn,
                rm,
            } => {
                let result = registers.parallel(lanes, kind, registers.get(rn), registers.get(rm));
                registers.set(rd, result);
            }
            Effect::Select { rd, rn, rm } => {
                registers.set(rd, registers.select(registers.get(rn), registers.get(rm)));
            }
            Effect::Pack {
                rd,
                rn,
                rm,
                shift,
                amount,
            } => {
                let result = dsp::pack(registers.get(rn), registers.get(rm), shift, amount);
                registers.set(rd, result);
            }
            _ => return self.control(effect),
        }
        Ok(())
    }

    /// What computes nothing: special registers, the monitor, and what ends the straight way.
    fn control(&mut self, effect: &Effect) -> Result<(), Interrupted> {
        let halt = match *effect {
            Effect::ReadSpecial { rd, special } => {
                let value = self.read_special(special);
                self.registers.set(rd, value);
                return Ok(());
            }
            Effect::WriteSpecial { rn, special, mask } => {
                self.write_special(special, mask, rn);
                return Ok(());
            }
            Effect::ClearExclusive => {
                self.monitor = Monitor::Open;
                return Ok(());
            }
            Effect::Breakpoint { number } => Halt::Breakpoint(number),
            Effect::Barrier => Halt::Refetch,
            Effect::Unknown { encoding } => Halt::Fault(Reason::Unknown(encoding)),
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
            Effect::BranchConditional { condition, target } if registers.holds(condition) => {
                Ok(target)
            }
            Effect::CompareBranch {
                rn,
                nonzero,
                target,
            } if (registers.get(rn) != 0) == (nonzero == NonZero::Set) => Ok(target),
            Effect::Branch { target } => Ok(target),
            Effect::BranchLink { target } => {
                registers.set(Register::LR, after | 1);
                Ok(target)
            }
            Effect::BranchLinkRegister { rm } => {
                let target = registers.get(rm);
                registers.set(Register::LR, after | 1);
                self.exchange(target)
            }
            Effect::BranchRegister { rm, kind } => {
                let value = registers.get(rm);
                match kind {
                    Indirect::Exchange => self.exchange(value),
                    Indirect::Move => Ok(value & !1),
                    Indirect::Add => Ok(registers.get(Register::PC).wrapping_add(value) & !1),
                }
            }
            Effect::TableBranch { rn, rm, access } => self.table_branch(rn, rm, access),
            _ => Ok(after),
        }
    }

    fn table_branch(
        &mut self,
        rn: Register,
        rm: Register,
        access: Access,
    ) -> Result<u32, Interrupted> {
        let (base, index) = (self.registers.get(rn), self.registers.get(rm));
        let scaled = match access {
            Access::Byte => index,
            _ => index << 1,
        };
        self.access = base.wrapping_add(scaled);
        let entry = self.read(access, self.access);
        let entry = self.check(entry)?;
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

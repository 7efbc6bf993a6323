//! What executes each instruction: computing and branches here, memory in `transfer`.
//!
//! The plain ones have a function for each of their forms, chosen once, so that nothing is decided while they execute.

use strum::VariantArray as _;

use super::arithmetic::{self, shift_with_carry, unary};
use super::block::Operation;
use super::exceptions::SUPERVISOR_CALL;
use super::registers::{FAULTMASK, PRIMASK};
use super::{BusError, Halt, Interrupted, Reason, SimulatedMachine, transfer};
use crate::instruction::{
    Alu, Condition, Core, Effect, Flags, Indirect, Long, Register, Shift, Sign,
};

/// Result of an instruction or a part of it: simply going on, or an interruption.
pub(super) type Done<T = ()> = Result<T, Interrupted>;

/// Executes an operation of the effect that it was chosen for.
pub(super) type Handler = fn(&mut SimulatedMachine, &Operation) -> Done;

/// Chooses among a function's forms by the variant of an enumeration, the number of which is its parameter.
macro_rules! form {
    ($of:expr, $enum:ident: $($variant:ident)+ => $function:ident $parameters:tt) => {
        match $of {
            $($enum::$variant => form!(@ $function, $enum::$variant, $parameters),)+
        }
    };
    (@ $function:ident, $variant:path, [$($parameter:expr),*]) => {
        $function::<{ $variant as u8 } $(, { $parameter })*>
    };
}
pub(super) use form;

/// The same by ALU operation and whether it sets flags.
macro_rules! by_alu {
    ($alu:expr, $flags:expr, $function:ident $(, $parameter:expr)?) => {
        match $flags {
            Flags::Keep => form!($alu, Alu: And Bic Orr Orn Eor Add Adc Sub Sbc Rsb Mov Mvn Tst Teq Cmp Cmn
                => $function [false $(, $parameter)?]),
            Flags::Set => form!($alu, Alu: And Bic Orr Orn Eor Add Adc Sub Sbc Rsb Mov Mvn Tst Teq Cmp Cmn
                => $function [true $(, $parameter)?]),
        }
    };
}

macro_rules! by_condition {
    ($condition:expr, $function:ident) => {
        form!($condition, Condition: Eq Ne Cs Cc Mi Pl Vs Vc Hi Ls Ge Lt Gt Le Al => $function [])
    };
}

/// Declares one: of which effect, and what it does before it goes on.
macro_rules! executes {
    ($visibility:vis $name:ident $(<$($parameter:ident: $type:ty),+>)?, $effect:pat, |$machine:ident, $operation:ident| $body:block) => {
        $visibility fn $name$(<$(const $parameter: $type),+>)?($machine: &mut SimulatedMachine, $operation: &Operation) -> Done {
            if let $effect = $operation.effect $body
            $operation.go_on($machine)
        }
    };
}
pub(super) use executes;

/// Returns the function that executes an effect.
pub(super) fn handler(effect: &Effect) -> Handler {
    match *effect {
        Effect::DataRegister(alu, flags, _) => by_alu!(alu, flags, data_register),
        Effect::DataImmediate(alu, flags, ..) => by_alu!(alu, flags, data_immediate),
        Effect::DataShifted(alu, flags, _, (shift, _)) => match shift {
            Shift::Lsl => by_alu!(alu, flags, data_shifted, Shift::Lsl as u8),
            Shift::Lsr => by_alu!(alu, flags, data_shifted, Shift::Lsr as u8),
            Shift::Asr => by_alu!(alu, flags, data_shifted, Shift::Asr as u8),
            Shift::Ror => by_alu!(alu, flags, data_shifted, Shift::Ror as u8),
            Shift::Rrx => by_alu!(alu, flags, data_shifted, Shift::Rrx as u8),
        },
        Effect::MultiplyLong(long, ..) => {
            form!(long, Long: Umull Smull Umlal Smlal Umaal => multiply_long [])
        }
        Effect::Branch(_) => branch,
        Effect::BranchConditional(condition, _) => by_condition!(condition, branch_if),
        Effect::CompareBranch { .. } => compare_branch,
        Effect::BranchLink(_) => branch_link,
        Effect::BranchRegister(..) | Effect::BranchLinkRegister(_) => branch_register,
        Effect::TableBranch(..) => table_branch,
        Effect::If | Effect::Nop => nop,
        Effect::Float(_) => super::float::execute,
        _ => transfer::handler(effect).unwrap_or(compute),
    }
}

/// Returns the function that skips an instruction of an IT block unless its condition holds.
pub(super) fn unless(condition: Condition) -> Handler {
    by_condition!(condition, skip_unless)
}

fn skip_unless<const CONDITION: u8>(machine: &mut SimulatedMachine, operation: &Operation) -> Done {
    if machine.registers.holds(Condition::new(CONDITION as u32)) {
        return operation.go_on(machine);
    }
    machine.noted.skip(operation.index);
    match &operation.next {
        Some(skipped) => skipped.go_on(machine),
        None => Ok(()),
    }
}

// What R15 reads as, for those that read it.
executes! { pub(super) set_pc, Effect::Branch(pc), |machine, operation| {
    machine.registers.set(Register::PC, pc);
} }

fn nop(machine: &mut SimulatedMachine, operation: &Operation) -> Done {
    operation.go_on(machine)
}

executes! { data_register<ALU: u8, SET: bool>, Effect::DataRegister(_, _, r), |machine, operation| {
    let registers = &mut machine.registers;
    let (values, carry) = (registers.operands(r), registers.carry);
    registers.alu(Alu::VARIANTS[ALU as usize], SET, r.d, values, carry);
} }

executes! { data_immediate<ALU: u8, SET: bool>, Effect::DataImmediate(_, _, r, carry, value), |machine, operation| {
    let registers = &mut machine.registers;
    let (n, carry) = (registers.get(r.n), carry.unwrap_or(registers.carry));
    registers.alu(Alu::VARIANTS[ALU as usize], SET, r.d, (n, value), carry);
} }

executes! { data_shifted<ALU: u8, SET: bool, SHIFT: u8>, Effect::DataShifted(_, _, r, (_, amount)), |machine, operation| {
    let (registers, shift) = (&mut machine.registers, Shift::VARIANTS[SHIFT as usize]);
    let (n, m) = registers.operands(r);
    let (value, carry) = shift_with_carry(m, shift, u32::from(amount), registers.carry);
    registers.alu(Alu::VARIANTS[ALU as usize], SET, r.d, (n, value), carry);
} }

const fn magnitudes(n: u32, m: u32) -> (u32, u32) {
    (
        n.cast_signed().unsigned_abs(),
        m.cast_signed().unsigned_abs(),
    )
}

executes! { multiply_long<LONG: u8>, Effect::MultiplyLong(_, r, low), |machine, operation| {
    let (registers, long) = (&mut machine.registers, Long::VARIANTS[LONG as usize]);
    let (n, m) = (registers.get(r.n), registers.get(r.m));
    let (a, b) = match long {
        Long::Smull | Long::Smlal => magnitudes(n, m),
        _ => (n, m),
    };
    machine.noted.put(operation.index, a, b);
    let result = arithmetic::long(long, n, m, registers.get(r.d), registers.get(low));
    registers.set(low, result as u32);
    registers.set(r.d, (result >> 32) as u32);
} }

/// Executes effects that are neither the plainest arithmetic nor memory nor a branch.
fn compute(machine: &mut SimulatedMachine, operation: &Operation) -> Done {
    let registers = &mut machine.registers;
    match operation.effect {
        Effect::ShiftRegister(shift, flags, r) => registers.shift_register(shift, flags, r),
        Effect::MoveTop(d, value) => {
            let low = registers.get(d) & 0xffff;
            registers.set(d, u32::from(value) << 16 | low);
        }
        Effect::Multiply(multiply, flags, r, ra) => registers.multiply(multiply, flags, r, ra),
        Effect::Divide(sign, r) => {
            let (n, m) = registers.operands(r);
            let (a, b) = match sign {
                Sign::Signed => magnitudes(n, m),
                Sign::Unsigned => (n, m),
            };
            machine.noted.put(operation.index, a, b);
            registers.set(r.d, arithmetic::divide(sign, n, m));
        }
        Effect::Extend(extend, r, rotation) => {
            let addend = registers.get_or_zero(r.n);
            let value = arithmetic::extend(extend, registers.get(r.m), rotation, addend);
            registers.set(r.d, value);
        }
        Effect::Unary(which, r) => registers.set(r.d, unary(which, registers.get(r.m))),
        Effect::BitField(field, r, place) => registers.bit_field(field, r, place),
        _ => return compute_dsp(machine, operation),
    }
    operation.go_on(machine)
}

/// The DSP extension, and saturation.
fn compute_dsp(machine: &mut SimulatedMachine, operation: &Operation) -> Done {
    let registers = &mut machine.registers;
    match operation.effect {
        Effect::MultiplyLongDsp(long, r, rd_low) => {
            let (n, m) = registers.operands(r);
            let (high, low) = (registers.get(r.d), registers.get(rd_low));
            let result = arithmetic::long_dsp(long, n, m, high, low);
            registers.set(rd_low, result as u32);
            registers.set(r.d, (result >> 32) as u32);
        }
        Effect::Saturating(saturating, r) => registers.saturating(saturating, r),
        Effect::Saturate(sign, r, bits, shift) => registers.saturate(sign, bits, r, shift),
        Effect::Saturate16(sign, r, bits) => registers.saturate16(sign, bits, r),
        Effect::Parallel(lanes, sign, lane, r) => registers.parallel(lanes, sign, lane, r),
        Effect::Select(r) => registers.select(r),
        Effect::Pack(r, (shift, amount)) => {
            let (n, m) = registers.operands(r);
            registers.set(r.d, arithmetic::pack(n, m, shift, amount));
        }
        _ => return control(machine, operation),
    }
    operation.go_on(machine)
}

/// Executes effects that compute nothing: special registers, the monitor, and ends of blocks.
fn control(machine: &mut SimulatedMachine, operation: &Operation) -> Done {
    let registers = &mut machine.registers;
    let halt = match operation.effect {
        Effect::ReadSpecial(rd, special) => {
            registers.set(rd, registers.read_special(special));
            return operation.go_on(machine);
        }
        Effect::WriteSpecial { rn, special, mask } => {
            let value = registers.get(rn) & machine.devices.system.special(special);
            registers.write_special(special, mask, value);
            return operation.go_on(machine);
        }
        Effect::MaskExceptions {
            value,
            primask,
            faultmask,
        } => {
            for (register, named) in [(PRIMASK, primask), (FAULTMASK, faultmask)] {
                if named {
                    registers.special[register] = value;
                }
            }
            return operation.go_on(machine);
        }
        Effect::ClearExclusive => {
            machine.exclusive = false;
            return operation.go_on(machine);
        }
        Effect::Breakpoint(number) => Halt::Breakpoint(number),
        Effect::SupervisorCall => Halt::Exception(SUPERVISOR_CALL),
        Effect::Barrier => Halt::Refetch,
        Effect::Unknown(encoding) => Halt::Fault(match machine.core() {
            Core::CortexM0Plus => Reason::Baseline(encoding),
            _ => Reason::Unknown(encoding),
        }),
        _ => Halt::Fault(Reason::NoCode),
    };
    machine.noted.at = operation.index;
    Err(machine.interrupt(halt))
}

executes! { branch, Effect::Branch(target), |machine, operation| {
    machine.next = target;
} }

executes! { branch_if<CONDITION: u8>, Effect::BranchConditional(_, target), |machine, operation| {
    if machine.registers.holds(Condition::new(CONDITION as u32)) {
        machine.next = target;
    }
} }

executes! { compare_branch, Effect::CompareBranch { rn, nonzero, target }, |machine, operation| {
    if (machine.registers.get(rn) != 0) == nonzero {
        machine.next = target;
    }
} }

// It ends its block, so that what is next is what follows it.
executes! { branch_link, Effect::BranchLink(target), |machine, operation| {
    machine.registers.set(Register::LR, machine.next | 1);
    machine.next = target;
} }

fn branch_register(machine: &mut SimulatedMachine, operation: &Operation) -> Done {
    machine.noted.at = operation.index;
    let registers = &mut machine.registers;
    match operation.effect {
        Effect::BranchLinkRegister(rm) => {
            let target = registers.get(rm);
            registers.set(Register::LR, machine.next | 1);
            return machine.exchange(target);
        }
        Effect::BranchRegister(Indirect::Exchange, rm) => {
            let target = registers.get(rm);
            return machine.exchange(target);
        }
        Effect::BranchRegister(Indirect::Move, rm) => machine.next = registers.get(rm) & !1,
        Effect::BranchRegister(Indirect::Add, rm) => {
            let pc = registers.get(Register::PC);
            machine.next = pc.wrapping_add(registers.get(rm)) & !1;
        }
        _ => {}
    }
    Ok(())
}

executes! { table_branch, Effect::TableBranch(access, r), |machine, operation| {
    let (base, index) = machine.registers.operands(r);
    let address = base.wrapping_add(index.wrapping_mul(access.bytes().into()));
    machine.noted.put(operation.index, address, 0);
    let entry = machine.read(access, address)?;
    machine.next = machine.registers.get(Register::PC).wrapping_add(2 * entry);
} }

impl SimulatedMachine {
    /// BXWritePC, A2.3.1.
    #[inline(always)]
    pub(super) fn exchange(&mut self, target: u32) -> Done {
        if target & 1 == 0 {
            return Err(self.interrupt(Halt::Fault(Reason::NotThumb(target))));
        }
        self.next = target & !1;
        Ok(())
    }

    /// Leaves the straight way for what is kept aside.
    #[cold]
    pub(super) fn interrupt(&mut self, halt: Halt) -> Interrupted {
        self.halt = Some(halt);
        Interrupted
    }

    /// The value of an access that went well.
    #[inline(always)]
    pub(super) fn check<T>(&mut self, result: Result<T, BusError>) -> Done<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.interrupt(Halt::Fault(error.into()))),
        }
    }
}

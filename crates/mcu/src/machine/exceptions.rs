//! Entering and leaving exceptions (B1.5.4 to B1.5.8): supervisor calls, PendSV and SysTick by their priorities. Faults end
//! the program instead.

use super::fpscr::Fpscr;
use super::registers::{BASEPRI, CONTROL, FAULTMASK, FLOAT_CONTEXT, IPSR, PRIMASK};
use super::{Reason, SimulatedMachine};
use crate::instruction::Register;

pub(super) const SUPERVISOR_CALL: u32 = 11;
pub(super) const PENDSV: u32 = 14;
pub(super) const SYSTICK: u32 = 15;

/// The lowest value of LR that leaves an exception.
const RETURN: u32 = 0xffff_ffe0;
/// Bits of it: without floating-point registers, to the process stack.
const BASIC: u32 = 0x10;
const PROCESS: u32 = 4;
/// Bit of the saved xPSR: the stack was moved by four bytes.
const MOVED: u32 = 1 << 9;
/// Core registers that are saved, before PC and xPSR.
const SAVED: [u32; 6] = [0, 1, 2, 3, 12, 14];
/// Words that are saved of the core, and with S0 to S15, FPSCR and a word for alignment.
const FRAME: u32 = 8;
const FLOAT_FRAME: u32 = FRAME + 16 + 2;
/// Code outside of exceptions gives way to every one.
const LEAST_URGENT: i32 = 256;
/// CONTROL.SPSEL
const ON_PROCESS_STACK: u32 = 2;

impl SimulatedMachine {
    /// Returns true if that is no address but says how to leave the exception.
    pub(super) const fn leaves_exception(&self) -> bool {
        self.pc >= RETURN && self.registers.special[IPSR] != 0
    }

    /// Returns the priority that an exception must exceed (ExecutionPriority, B1.5.4).
    fn execution_priority(&self) -> i32 {
        let special = &self.registers.special;
        let handled = self.devices.handled();
        let active = handled.map_or(LEAST_URGENT, |(priority, _)| priority);
        let base = match special[BASEPRI] {
            0 => active,
            base => active.min(base.cast_signed()),
        };
        match (special[FAULTMASK] & 1, special[PRIMASK] & 1) {
            (1, _) => -1,
            (_, 1) => base.min(0),
            _ => base,
        }
    }

    /// The exception to be taken at that time, if there is one.
    pub(super) fn due_exception(&self, now: u64) -> Option<u32> {
        let (priority, number) = self.devices.pending(now)?;
        (priority < self.execution_priority()).then_some(number)
    }

    /// Returns true if a supervisor call can be taken; otherwise it escalates to a fault.
    pub(super) fn takes_calls(&self) -> bool {
        self.devices.priority(SUPERVISOR_CALL) < self.execution_priority()
    }

    /// Saves registers and goes on with the handler. Of floats they are saved at once, though in the time of lazy saving.
    pub(super) fn enter_exception(&mut self, number: u32) -> Result<(), Reason> {
        let registers = &mut self.registers;
        let mut code = match (registers.special[IPSR], registers.is_on_process_stack()) {
            (0, false) => 0xffff_fff9,
            (0, true) => 0xffff_fffd,
            _ => 0xffff_fff1,
        };
        let stack = registers.get(Register::SP);
        let moved = if stack & 4 == 0 { 0 } else { MOVED };
        let mut words = SAVED
            .map(|number| registers.get(Register::new(number)))
            .to_vec();
        words.extend([
            self.pc,
            registers.apsr() | registers.special[IPSR] | moved | 1 << 24,
        ]);
        if registers.special[CONTROL] & FLOAT_CONTEXT != 0 {
            code &= !BASIC;
            words.extend(&registers.floats[..16]);
            words.extend([registers.fpscr.value(), 0]);
        }
        let bottom = stack.wrapping_sub(4 * words.len() as u32) & !7;
        registers.set(Register::SP, bottom);
        registers.set(Register::LR, code);
        registers.use_process_stack(false);
        registers.special[IPSR] = number;
        registers.special[CONTROL] &= !(ON_PROCESS_STACK | FLOAT_CONTEXT);
        for (offset, word) in (0..).step_by(4).zip(words) {
            self.memory
                .write(bottom.wrapping_add(offset), &word.to_le_bytes())?;
        }
        self.exclusive = false;
        self.devices.taken(number);
        let handler = self
            .memory
            .word(self.devices.vectors().wrapping_add(4 * number))?;
        if handler & 1 == 0 {
            return Err(Reason::NotThumb(handler));
        }
        self.pc = handler & !1;
        Ok(())
    }

    /// Takes the registers back, as the PC says.
    pub(super) fn leave_exception(&mut self) -> Result<(), Reason> {
        let code = self.pc;
        let registers = &mut self.registers;
        self.devices.left(registers.special[IPSR]);
        registers.use_process_stack(code & PROCESS != 0);
        let stack = registers.get(Register::SP);
        let word = |index: u32| self.memory.word(stack.wrapping_add(4 * index));
        for (index, number) in (0..).zip(SAVED) {
            registers.set(Register::new(number), word(index)?);
        }
        let (pc, status) = (word(6)?, word(7)?);
        registers.set_apsr(status, 3);
        registers.special[IPSR] = status & 0x1ff;
        // CONTROL.SPSEL is the bit below.
        let (mut frame, mut context) = (FRAME, (code & PROCESS) >> 1);
        if code & BASIC == 0 {
            (frame, context) = (FLOAT_FRAME, context | FLOAT_CONTEXT);
            for (index, number) in (FRAME..).zip(0..16) {
                *registers.float(number) = word(index)?;
            }
            registers.fpscr = Fpscr::new(word(FRAME + 16)?);
        }
        let kept = registers.special[CONTROL] & !(ON_PROCESS_STACK | FLOAT_CONTEXT);
        registers.special[CONTROL] = kept | context;
        let moved = if status & MOVED == 0 { 0 } else { 4 };
        registers.set(Register::SP, stack.wrapping_add(4 * frame) | moved);
        self.exclusive = false;
        self.pc = pc & !1;
        Ok(())
    }
}

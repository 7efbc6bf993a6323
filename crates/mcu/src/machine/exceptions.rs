//! Entering and leaving exceptions (B1.5.6 to B1.5.8): supervisor calls and SysTick. They do not nest, and faults
//! end the program instead.

use super::registers::{CONTROL, IPSR};
use super::{Machine, Reason};
use crate::instruction::Register;

pub(super) const SUPERVISOR_CALL: u32 = 11;

/// The lowest value of LR that leaves an exception.
const RETURN: u32 = 0xffff_ffe0;
/// Bits of it: to thread mode, to the process stack.
const THREAD: u32 = 8;
const PROCESS: u32 = 4;
/// Of the saved xPSR: the stack was moved by four bytes.
const MOVED: u32 = 1 << 9;

impl Machine {
    /// Whether that is no address but says how to leave the exception.
    pub(super) const fn leaves_exception(&self) -> bool {
        self.pc >= RETURN && self.registers.special[IPSR] != 0
    }

    /// Saves registers and goes on with the handler.
    pub(super) fn enter_exception(&mut self, number: u32) -> Result<(), Reason> {
        let registers = &mut self.registers;
        let mut code = 0xffff_fff1;
        if registers.special[IPSR] == 0 {
            code |= THREAD
                | if registers.is_on_process_stack() {
                    PROCESS
                } else {
                    0
                };
        }
        let saved = [0, 1, 2, 3, 12, 14].map(|number| registers.get(Register::new(number)));
        let mut words = saved.to_vec();
        let stack = registers.get(Register::SP);
        let moved = if stack & 4 == 0 { 0 } else { MOVED };
        words.extend([
            self.pc,
            registers.apsr() | registers.special[IPSR] | moved | 1 << 24,
        ]);
        let bottom = stack.wrapping_sub(4 * words.len() as u32) & !7;
        registers.set(Register::SP, bottom);
        registers.set(Register::LR, code);
        registers.use_process_stack(false);
        registers.special[IPSR] = number;
        registers.special[CONTROL] &= !2;
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
        registers.special[IPSR] = 0;
        registers.use_process_stack(code & PROCESS != 0);
        let process = if code & PROCESS != 0 { 2 } else { 0 };
        registers.special[CONTROL] = registers.special[CONTROL] & !2 | process;
        let stack = registers.get(Register::SP);
        let word = |index: u32| self.memory.word(stack.wrapping_add(4 * index));
        for (index, number) in (0..).zip([0, 1, 2, 3, 12, 14]) {
            registers.set(Register::new(number), word(index)?);
        }
        let (pc, status) = (word(6)?, word(7)?);
        registers.set_apsr(status, 3);
        registers.special[IPSR] = status & 0x1ff;
        let moved = if status & MOVED == 0 { 0 } else { 4 };
        registers.set(Register::SP, stack.wrapping_add(8 * 4) | moved);
        self.exclusive = false;
        self.pc = pc & !1;
        Ok(())
    }
}

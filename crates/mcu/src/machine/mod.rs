//! The machine: registers, memory, decoded code, and the loop that executes.

mod arithmetic;
mod devices;
mod exceptions;
mod execute;
mod memory;
mod registers;
mod semihosting;
mod transfer;

pub use devices::Stub;
pub use memory::{BusError, Layout, Memory};
pub use registers::Registers;

use crate::instruction::{Condition, Instruction, Register};
use crate::timing::{Outcome, Retired, Timing};
use devices::Devices;
use memory::Code;

/// How execution ended.
#[derive(Debug, Clone, PartialEq, Eq, strum::Display)]
pub enum Stop {
    /// The program said so by semihosting, with this code (0 for success).
    #[strum(to_string = "code {0}")]
    Exit(u32),
    /// It has written as much as [`Machine::take_output`] should take away before it goes on.
    #[strum(to_string = "output to be taken")]
    Output,
    /// As many instructions were executed as were allowed.
    #[strum(to_string = "no end in sight")]
    Limit,
    /// It could not go on.
    #[strum(to_string = "a fault {0}")]
    Fault(Fault),
}

/// Why execution could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("at {address:#010x}: {reason}")]
pub struct Fault {
    /// The instruction's address.
    pub address: u32,
    /// What was wrong.
    pub reason: Reason,
}

/// What was wrong with an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A load or store.
    #[error("{0}")]
    Bus(#[from] BusError),
    /// Not simulated, or no instruction at all. 16-bit encodings stand in the low half.
    #[error(
        "the encoding {0:#x} is not simulated (no floating point, coprocessors or undefined instructions, and no DSP \
         extension on a Cortex-M3)"
    )]
    Unknown(u32),
    /// There is no memory to fetch from.
    #[error("there is no code")]
    NoCode,
    /// A branch to an even address asks for the ARM state, which the core has not.
    #[error("a branch to {0:#010x} with bit 0 clear leaves the Thumb state")]
    NotThumb(u32),
    /// SVC where it cannot be taken.
    #[error("a supervisor call while exceptions are masked or handled")]
    Masked,
    /// A load or store by a stack pointer that has left RAM.
    #[error("{0}: the stack pointer has left RAM (a stack overflow)")]
    Stack(BusError),
    /// SYS_WRITE of more than there is.
    #[error("SYS_WRITE of {length} bytes at {address:#010x} reaches beyond memory")]
    Written {
        /// Where they begin.
        address: u32,
        /// How many.
        length: u32,
    },
    /// A semihosting operation that is not provided.
    #[error("semihosting operation {0:#04x} is not provided")]
    Semihosting(u32),
}

/// An instruction did not simply go on: the machine holds why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interrupted;

/// Why an instruction did not simply go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    /// `BKPT`
    Breakpoint(u8),
    /// The program asked for the end.
    Exit(u32),
    /// A register that has to know the time.
    Device,
    /// An exception of that number.
    Exception(u32),
    /// ISB: what follows is fetched as it now stands in memory.
    Refetch,
    /// It has to be decoded first.
    Undecoded,
    /// It cannot go on.
    Fault(Reason),
}

/// A simulated core with its memory.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Core registers and flags.
    pub registers: Registers,
    /// Flash and RAM.
    pub memory: Memory,
    code: Code,
    pc: u32,
    executed: u64,
    /// First address of the last load or store: for the timing model.
    access: u32,
    /// Magnitudes of the last long product's or division's operands, likewise.
    operands: (u32, u32),
    /// The state of the local exclusive monitor (A3.4.1), since a load-exclusive.
    exclusive: bool,
    halt: Option<Halt>,
    devices: Devices,
    /// The time, while an instruction is executed that asks a register for it.
    now: Option<u64>,
    output: Vec<u8>,
    /// Bytes that the program has read of what semihosting can do.
    features_read: u32,
    /// Cycles a second: what the program's clock tells.
    hertz: u64,
}

impl Machine {
    /// A machine that will begin at `entry` with this stack pointer. Code in flash is at the alias
    /// that `entry` names.
    pub fn new(memory: Memory, entry: u32, stack: u32) -> Self {
        let layout = memory.layout();
        let aliased = entry.wrapping_sub(layout.flash_base) >= layout.flash_size;
        let code = Code::new(&memory, if aliased { 0 } else { layout.flash_base });
        let mut registers = Registers::default();
        registers.set(Register::SP, stack);
        registers.set(Register::LR, 0xffff_ffff);
        Self {
            registers,
            memory,
            code,
            pc: entry & !1,
            executed: 0,
            access: 0,
            operands: (0, 0),
            exclusive: false,
            halt: None,
            devices: Devices::default(),
            now: None,
            output: Vec::new(),
            features_read: 0,
            hertz: 1_000_000,
        }
    }

    /// The same at another clock frequency than 1 MHz.
    pub const fn at(mut self, hertz: u64) -> Self {
        self.hertz = hertz;
        self
    }

    /// The same with these registers besides those of the core, which calls itself `cpuid`. To be said before it runs.
    pub fn with_registers(mut self, stubs: &[Stub], cpuid: u32) -> Self {
        let vectors = self.devices.vectors();
        self.devices = Devices::new(stubs, cpuid);
        self.devices.set_vectors(vectors);
        self
    }

    /// The same with the vector table there, as VTOR says after a reset.
    pub fn with_vectors(mut self, address: u32) -> Self {
        self.devices.set_vectors(address);
        self
    }

    /// The same without the DSP extension, as a Cortex-M3 is. To be said before it runs.
    pub fn without_dsp(mut self) -> Self {
        self.code.lacks_dsp = true;
        self
    }

    /// Instructions retired so far.
    pub const fn executed(&self) -> u64 {
        self.executed
    }

    /// The address of the next instruction.
    pub const fn pc(&self) -> u32 {
        self.pc
    }

    /// What the program wrote by semihosting and nobody has taken.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Takes it away.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Executes until the program ends, something is wrong, or `limit` further instructions are done.
    pub fn run<T: Timing>(&mut self, timing: &mut T, limit: u64) -> Stop {
        let end = self.executed.saturating_add(limit);
        loop {
            let waiting = self.devices.pending(self.time(timing));
            if let Some(number) = waiting.filter(|_| !self.registers.masks_exceptions())
                && let Err(reason) = self.enter(number, timing)
            {
                return self.fault(reason);
            }
            let until = end.min(self.executed.saturating_add(self.stretch(timing)));
            // Apart from the machine, so that an instruction can be borrowed while it executes.
            let mut code = std::mem::take(&mut self.code);
            let pause = self.run_decoded(&code, timing, until);
            let stop = match pause {
                Pause::Undecoded if code.decode(self.pc, &mut self.memory).is_some() => None,
                Pause::Undecoded if self.leaves_exception() => {
                    timing.exception();
                    self.leave_exception()
                        .err()
                        .map(|reason| self.fault(reason))
                }
                Pause::Undecoded => Some(self.fault(Reason::NoCode)),
                Pause::Exception(_) if self.registers.masks_exceptions() => {
                    Some(self.fault(Reason::Masked))
                }
                Pause::Exception(number) => {
                    let entered = self.enter(number, timing);
                    entered.err().map(|reason| self.fault(reason))
                }
                Pause::Look => None,
                Pause::Stop(Stop::Limit) if self.executed < end => None,
                Pause::Stale => {
                    code.forget_ram();
                    None
                }
                Pause::Stop(stop) => Some(stop),
            };
            self.code = code;
            if let Some(stop) = stop {
                return stop;
            }
        }
    }

    /// Cycles so far; instructions where nothing is timed.
    fn time<T: Timing>(&self, timing: &T) -> u64 {
        timing.now().unwrap_or(self.executed)
    }

    fn enter<T: Timing>(&mut self, exception: u32, timing: &mut T) -> Result<(), Reason> {
        timing.exception();
        self.enter_exception(exception)
    }

    const fn fault(&self, reason: Reason) -> Stop {
        let address = self.pc;
        Stop::Fault(Fault { address, reason })
    }

    /// Instructions to go before an exception may have to be taken. Few take more than sixteen cycles, so that SysTick is
    /// neared in steps, the last of them one instruction.
    fn stretch<T: Timing>(&self, timing: &T) -> u64 {
        let now = self.time(timing);
        match self.devices.until_tick(now) {
            _ if self.devices.pending(now).is_some() => 1,
            Some(left) => (left / 16).max(1),
            None => u64::MAX,
        }
    }

    /// Executes what is decoded, until `end` instructions have been retired in all. A function of its own,
    /// so that its registers are not shared with whatever calls it.
    #[inline(never)]
    fn run_decoded<T: Timing>(&mut self, code: &Code, timing: &mut T, end: u64) -> Pause {
        let (mut pc, mut executed) = (self.pc, self.executed);
        let pause = loop {
            if executed >= end {
                break Pause::Stop(Stop::Limit);
            }
            let Some(instruction) = code.at(pc) else {
                break Pause::Undecoded;
            };
            if let Ok(next) = self.step(instruction, pc, timing) {
                executed += 1;
                let straight = next == pc.wrapping_add(u32::from(instruction.facts.size));
                pc = next;
                if !straight && self.memory.take_stale() {
                    break Pause::Stale;
                }
                continue;
            }
            match self.interrupted(instruction, pc, timing) {
                Halt::Breakpoint(_) => {
                    executed += 1;
                    pc = pc.wrapping_add(u32::from(instruction.facts.size));
                    if self.output.len() >= MOST_OUTPUT {
                        break Pause::Stop(Stop::Output);
                    }
                }
                Halt::Device => {
                    self.executed = executed;
                    match self.step_with_time(instruction, pc, timing) {
                        Ok(next) => {
                            executed += 1;
                            pc = next;
                            break Pause::Look;
                        }
                        Err(reason) => break Pause::fault(pc, reason),
                    }
                }
                Halt::Exception(number) => {
                    executed += 1;
                    pc = pc.wrapping_add(u32::from(instruction.facts.size));
                    break Pause::Exception(number);
                }
                Halt::Exit(code) => {
                    executed += 1;
                    break Pause::Stop(Stop::Exit(code));
                }
                Halt::Refetch => {
                    executed += 1;
                    pc = pc.wrapping_add(u32::from(instruction.facts.size));
                    if self.memory.take_stale() {
                        break Pause::Stale;
                    }
                }
                Halt::Undecoded => break Pause::Undecoded,
                Halt::Fault(reason) => {
                    let reason = self.explained(reason);
                    break Pause::fault(pc, reason);
                }
            }
        };
        self.executed = executed;
        self.pc = pc;
        pause
    }

    /// Executes one instruction; gives the address of the next.
    #[inline(always)]
    fn step<T: Timing>(
        &mut self,
        instruction: &Instruction,
        pc: u32,
        timing: &mut T,
    ) -> Result<u32, Interrupted> {
        let after = pc.wrapping_add(u32::from(instruction.facts.size));
        self.registers.set(Register::PC, pc.wrapping_add(4));
        let (next, outcome) = if instruction.facts.condition == Condition::Al
            || self.holds(instruction.facts.condition)
        {
            let next = self.execute(&instruction.effect, after)?;
            let outcome = if next == after {
                Outcome::Executed
            } else {
                Outcome::Taken
            };
            (next, outcome)
        } else {
            (after, Outcome::Skipped)
        };
        let retired = Retired {
            address: pc,
            next,
            outcome,
            access: self.access,
            operands: self.operands,
        };
        timing.retire(instruction, &retired);
        Ok(next)
    }

    /// Executes one that asks a register for the time.
    #[cold]
    fn step_with_time<T: Timing>(
        &mut self,
        instruction: &Instruction,
        pc: u32,
        timing: &mut T,
    ) -> Result<u32, Reason> {
        self.now = Some(self.time(timing));
        let done = self.step(instruction, pc, timing);
        self.now = None;
        done.map_err(|Interrupted| match self.halt.take() {
            Some(Halt::Fault(reason)) => reason,
            _ => Reason::NoCode,
        })
    }

    /// A failed access, with what it says of the stack: it grows out of RAM at the lower end.
    #[cold]
    fn explained(&self, reason: Reason) -> Reason {
        let stack = self.registers.get(Register::SP);
        match reason {
            Reason::Bus(error @ (BusError::Read(_) | BusError::Write(_)))
                if !self.memory.is_ram(stack.wrapping_sub(1)) =>
            {
                Reason::Stack(error)
            }
            other => other,
        }
    }

    /// Whether an instruction of an IT block is executed. Apart, so that those outside of one need no more
    /// than a comparison.
    #[inline(never)]
    fn holds(&self, condition: Condition) -> bool {
        self.registers.holds(condition)
    }

    /// Sees to breakpoints, and says what else there is.
    #[cold]
    fn interrupted<T: Timing>(
        &mut self,
        instruction: &Instruction,
        pc: u32,
        timing: &mut T,
    ) -> Halt {
        let halt = self.halt.take().unwrap_or(Halt::Undecoded);
        if !matches!(
            halt,
            Halt::Breakpoint(_) | Halt::Refetch | Halt::Exception(_)
        ) {
            return halt;
        }
        let retired = Retired {
            address: pc,
            next: pc.wrapping_add(u32::from(instruction.facts.size)),
            // Behind ISB the pipeline is filled anew, as behind a branch.
            outcome: match halt {
                Halt::Refetch => Outcome::Taken,
                _ => Outcome::Executed,
            },
            access: 0,
            operands: (0, 0),
        };
        timing.retire(instruction, &retired);
        let Halt::Breakpoint(number) = halt else {
            return halt;
        };
        if number != SEMIHOSTING {
            timing.marker(number);
            return Halt::Breakpoint(number);
        }
        match self.semihosting(self.time(timing)) {
            Ok(None) => Halt::Breakpoint(number),
            Ok(Some(code)) => Halt::Exit(code),
            Err(reason) => Halt::Fault(reason),
        }
    }
}

/// Why the loop is left.
enum Pause {
    /// The next instruction has to be decoded.
    Undecoded,
    /// Registers have changed that decide on exceptions.
    Look,
    /// An exception is to be taken.
    Exception(u32),
    /// Code in RAM has been written since it was decoded.
    Stale,
    /// It is over.
    Stop(Stop),
}

/// The number of semihosting's breakpoint on M-profile cores.
const SEMIHOSTING: u8 = 0xab;

impl Pause {
    const fn fault(address: u32, reason: Reason) -> Self {
        Self::Stop(Stop::Fault(Fault { address, reason }))
    }
}

/// Bytes of output that are kept at most, but for one write.
const MOST_OUTPUT: usize = 1 << 20;

//! The machine: registers, memory, decoded code, and the loop that executes.

mod arithmetic;
mod block;
mod devices;
mod exceptions;
mod execute;
mod float;
mod fpscr;
mod memory;
mod registers;
mod retired;
mod semihosting;
mod system;
mod transfer;

pub use block::CodeBlock;
pub(crate) use block::LONGEST;
pub use devices::Stub;
pub use fpscr::Fpscr;
pub use memory::{BusError, Layout, Memory};
pub use registers::Registers;
pub use retired::{Noted, Retired, Timing, Untimed};

use crate::instruction::{Core, Register};
use block::Code;
use devices::Devices;

/// End of execution.
#[derive(Debug, Clone, PartialEq, Eq, strum::Display)]
pub enum Stop {
    /// The program said so by semihosting, with this code (0 for success).
    #[strum(to_string = "code {0}")]
    Exit(u32),
    /// Output that [`SimulatedMachine::take_output`] should take before it goes on.
    #[strum(to_string = "output to be taken")]
    Output,
    /// Limit of instructions reached.
    #[strum(to_string = "no end in sight")]
    Limit,
    /// Fault: it cannot go on.
    #[strum(to_string = "a fault {0}")]
    Fault(CpuFault),
}

/// Why execution could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("at {address:#010x}: {reason}")]
pub struct CpuFault {
    /// The instruction's address.
    pub address: u32,
    /// Reason.
    pub reason: Reason,
}

/// Reason of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A load or store.
    #[error("{0}")]
    Bus(#[from] BusError),
    /// Not simulated, or no instruction at all. 16-bit encodings are in the low half.
    #[error(
        "the encoding {0:#x} is not simulated (no double or half precision, coprocessors or undefined instructions; no \
         DSP extension and no floating point on a Cortex-M3)"
    )]
    Unknown(u32),
    /// The same where there is ARMv6-M alone.
    #[error(
        "the encoding {0:#x} is no instruction of ARMv6-M, and the Cortex-M0+ has no others: compile all of the program \
         with -mcpu=cortex-m0plus"
    )]
    Baseline(u32),
    /// A floating-point instruction where CPACR does not allow it.
    #[error(
        "a floating-point instruction while the floating-point unit is off (UsageFault, NOCP): start-up code sets CP10 \
         and CP11 in CPACR, 0xe000ed88"
    )]
    FloatsOff,
    /// Another rounding in FPSCR.
    #[error("only rounding to nearest is simulated, but FPSCR or FPDSCR sets another mode")]
    Rounding,
    /// There is no memory to fetch from.
    #[error("there is no code")]
    NoCode,
    /// A branch to an even address asks for the ARM state, which the core has not.
    #[error("a branch to {0:#010x} with bit 0 clear leaves the Thumb state")]
    NotThumb(u32),
    /// SVC where it cannot be taken.
    #[error("a supervisor call while exceptions of its priority are masked or handled")]
    Masked,
    /// A load or store by a stack pointer that has left RAM.
    #[error("{0}: the stack pointer has left RAM (a stack overflow)")]
    Stack(BusError),
    /// SYS_WRITE of more than there is.
    #[error("SYS_WRITE of {length} bytes at {address:#010x} reaches beyond memory")]
    Written {
        /// First address.
        address: u32,
        /// Number of bytes.
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
    /// A register that has to know the time.
    Device,
    /// An exception of that number.
    Exception(u32),
    /// ISB: what follows is fetched as it now is in memory.
    Refetch,
    /// Fault: it cannot go on.
    Fault(Reason),
}

/// A simulated core with its memory.
#[derive(Debug, Clone)]
pub struct SimulatedMachine {
    /// Core registers and flags.
    pub registers: Registers,
    /// Flash and RAM.
    pub memory: Memory,
    code: Code,
    pc: u32,
    /// Address behind the executed block.
    next: u32,
    executed: u64,
    /// Notes on that block for the timing model.
    noted: Noted,
    /// The state of the local exclusive monitor (A3.4.1), since a load-exclusive.
    exclusive: bool,
    halt: Option<Halt>,
    devices: Devices,
    /// The time, while an instruction is executed that asks a register for it.
    now: Option<u64>,
    output: Vec<u8>,
    /// Bytes that the program has read of what semihosting can do.
    features_read: u32,
    /// Cycles per second: what the program's clock tells.
    hertz: u64,
}

impl SimulatedMachine {
    /// A machine that will begin at `entry` with this stack pointer.
    pub fn new(memory: Memory, entry: u32, stack: u32) -> Self {
        let code = Code::new(memory.layout(), entry);
        let mut registers = Registers::default();
        registers.set(Register::SP, stack);
        registers.set(Register::LR, 0xffff_ffff);
        registers.set_apsr(0, 3);
        Self {
            registers,
            memory,
            code,
            pc: entry & !1,
            next: 0,
            executed: 0,
            noted: Noted::default(),
            exclusive: false,
            halt: None,
            devices: Devices::default(),
            now: None,
            output: Vec::new(),
            features_read: 0,
            hertz: 1_000_000,
        }
    }

    /// Sets another clock frequency than 1 MHz.
    pub const fn at(mut self, hertz: u64) -> Self {
        self.hertz = hertz;
        self
    }

    /// Adds these registers to those of the core, and the number of bits of a priority. To be called before it runs.
    pub fn with_registers(mut self, stubs: &[Stub], priority_bits: Option<u8>) -> Self {
        self.devices.stubs.extend_from_slice(stubs);
        self.devices.system.priority_bits = priority_bits;
        self
    }

    /// Sets the vector table's address, as VTOR has after a reset.
    pub fn with_vectors(mut self, address: u32) -> Self {
        self.devices.set_vectors(address);
        self
    }

    /// Sets addresses at which code has another name, so that no [`CodeBlock`] goes across. To be called before it
    /// runs.
    pub fn with_boundaries(mut self, addresses: impl Iterator<Item = u32>) -> Self {
        self.code.boundaries = addresses.collect();
        self
    }

    /// Sets another core than a Cortex-M4. To be called before it runs.
    pub const fn with_core(mut self, core: Core) -> Self {
        self.code.core = core;
        self.devices.system.core = core;
        self
    }

    const fn core(&self) -> Core {
        self.devices.system.core
    }

    /// Instructions retired so far.
    pub const fn executed(&self) -> u64 {
        self.executed
    }

    /// The address of the next instruction.
    pub const fn pc(&self) -> u32 {
        self.pc
    }

    /// Returns the output by semihosting that nobody has taken.
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
            if let Some(number) = self.due_exception(self.time(timing))
                && let Err(reason) = self.enter(number, timing)
            {
                return self.fault(reason);
            }
            // One instruction where a register has asked for the time.
            let stretch = self.now.map_or_else(|| self.stretch(timing), |_| 1);
            let until = end.min(self.executed.saturating_add(stretch));
            // Apart from the machine, so that a block can be borrowed while it executes.
            let mut code = std::mem::take(&mut self.code);
            let pause = self.run_decoded(&code, timing, until);
            let undecoded = matches!(pause, Pause::Undecoded);
            self.now = self.now.filter(|_| undecoded);
            let stop = match pause {
                Pause::Undecoded if code.decode(self.pc, &mut self.memory).is_some() => None,
                Pause::Undecoded if self.leaves_exception() => {
                    timing.exception();
                    self.leave_exception()
                        .err()
                        .map(|reason| self.fault(reason))
                }
                Pause::Undecoded => Some(self.fault(Reason::NoCode)),
                Pause::Exception(_) if !self.takes_calls() => Some(self.fault(Reason::Masked)),
                Pause::Exception(number) => {
                    let entered = self.enter(number, timing);
                    entered.err().map(|reason| self.fault(reason))
                }
                Pause::Device if self.output.len() >= MOST_OUTPUT => Some(Stop::Output),
                Pause::Device => {
                    self.now = Some(self.time(timing));
                    if code.isolate(self.pc) {
                        timing.forget();
                    }
                    None
                }
                Pause::Stop(Stop::Limit) if self.executed < end => None,
                Pause::Stale => {
                    code.forget();
                    timing.forget();
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
        Stop::Fault(CpuFault { address, reason })
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
        loop {
            if self.executed >= end {
                return Pause::Stop(Stop::Limit);
            }
            let Some(block) = code.block(self.pc) else {
                return Pause::Undecoded;
            };
            let left = end - self.executed;
            let pause = if left < block.instructions.len() as u64 {
                let shortened = block.shortened(left as usize, self.core());
                self.run_block(&shortened, timing)
            } else {
                self.run_block(block, timing)
            };
            if let Some(pause) = pause {
                return pause;
            }
        }
    }

    /// Executes one to its end, or where it is left before.
    #[inline(always)]
    fn run_block<T: Timing>(&mut self, block: &CodeBlock, timing: &mut T) -> Option<Pause> {
        self.noted.skipped = 0;
        self.next = block.after;
        if block.first.run(self).is_err() {
            return self.interrupted(block, timing);
        }
        let next = self.next;
        let taken = next != block.after;
        self.retire(block, next, taken, timing);
        (taken && self.memory.take_stale()).then_some(Pause::Stale)
    }

    /// Counts and times it; it goes on at `next`.
    #[inline(always)]
    fn retire<T: Timing>(&mut self, block: &CodeBlock, next: u32, taken: bool, timing: &mut T) {
        timing.retire(&Retired {
            block,
            next,
            taken,
            noted: &self.noted,
        });
        self.executed += block.instructions.len() as u64;
        self.pc = next;
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

    /// Sees to what did not simply go on, and to those before it; says why the loop is left, if it is.
    #[cold]
    fn interrupted<T: Timing>(&mut self, block: &CodeBlock, timing: &mut T) -> Option<Pause> {
        let index = usize::from(self.noted.at);
        let halt = self.halt.take()?;
        let count = match halt {
            Halt::Breakpoint(_) | Halt::Refetch | Halt::Exception(_) => index + 1,
            Halt::Device | Halt::Fault(_) => index,
        };
        if count > 0 {
            // Behind ISB the pipeline is filled anew, as behind a branch.
            let refetches = halt == Halt::Refetch;
            let is_shorter = count < block.instructions.len();
            let shortened = is_shorter.then(|| block.shortened(count, self.core()));
            let done = shortened.as_ref().unwrap_or(block);
            self.retire(done, done.after, refetches, timing);
        }
        match halt {
            Halt::Breakpoint(SEMIHOSTING) => match self.semihosting(self.time(timing)) {
                Ok(Some(code)) => Some(Pause::Stop(Stop::Exit(code))),
                Ok(None) if self.output.len() >= MOST_OUTPUT => Some(Pause::Stop(Stop::Output)),
                Ok(None) => None,
                Err(reason) => {
                    (self.executed, self.pc) = (self.executed - 1, block.address(index));
                    Some(Pause::Stop(self.fault(reason)))
                }
            },
            Halt::Breakpoint(number) => {
                timing.marker(number);
                None
            }
            Halt::Device => Some(Pause::Device),
            Halt::Exception(number) => Some(Pause::Exception(number)),
            Halt::Refetch => self.memory.take_stale().then_some(Pause::Stale),
            Halt::Fault(reason) => {
                let reason = self.explained(reason);
                Some(Pause::Stop(self.fault(reason)))
            }
        }
    }
}

/// Why the loop is left.
enum Pause {
    /// The next instruction has to be decoded.
    Undecoded,
    /// The next instruction asks a register that has to know the time.
    Device,
    /// An exception is to be taken.
    Exception(u32),
    /// Code in RAM has been written since it was decoded.
    Stale,
    /// End.
    Stop(Stop),
}

/// The number of semihosting's breakpoint on M-profile cores.
const SEMIHOSTING: u8 = 0xab;

/// Bytes of output that are kept at most, but for one write.
const MOST_OUTPUT: usize = 1 << 20;

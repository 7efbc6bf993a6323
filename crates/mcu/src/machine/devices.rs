//! Registers outside of flash and RAM: the core's own (B3 of DDI 0403E: the System Control Space with SysTick; C1.8: the
//! cycle counter of the DWT), and stubs of the part's, by which start-up code sets clocks and flash.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::exceptions::{PENDSV, SUPERVISOR_CALL, SYSTICK};
use super::system::System;
use crate::instruction::Core;

/// Registers of a part that remember what is written, as its file describes them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stub {
    /// The first address.
    pub at: u32,
    /// Bytes from there on that are alike; a word where nothing is said.
    #[serde(default)]
    pub bytes: u32,
    /// Value after a reset.
    #[serde(default)]
    pub reset: u32,
    /// Pairs of bits: the second reads as the first was written, as "ready" follows "on".
    #[serde(default)]
    pub follow: Vec<(u8, u8)>,
    /// True if writes change nothing.
    #[serde(default)]
    pub ignored: bool,
}

const SYSTICK_CONTROL: u32 = 0xe000_e010;
const SYSTICK_RELOAD: u32 = 0xe000_e014;
const SYSTICK_VALUE: u32 = 0xe000_e018;
const CPUID: u32 = 0xe000_ed00;
const INTERRUPTS: u32 = 0xe000_ed04;
const VECTORS: u32 = 0xe000_ed08;
/// SHPR1 to SHPR3: an octet for each exception from 4 on.
const PRIORITIES: u32 = 0xe000_ed18;
const COPROCESSORS: u32 = 0xe000_ed88;
/// AIRCR, and what a write to it must have above.
const RESET_CONTROL: u32 = 0xe000_ed0c;
const RESET_KEY: u32 = 0x05fa;
/// The ITM's port for text, ITM_TER and ITM_TCR.
const PORT: u32 = 0xe000_0000;
const PORTS_ENABLED: u32 = 0xe000_0e00;
const ITM_CONTROL: u32 = 0xe000_0e80;
/// FPDSCR
pub(super) const FLOAT_DEFAULTS: u32 = 0xe000_ef3c;
const DEBUG: u32 = 0xe000_edfc;
const TRACE: u32 = 0xe000_1000;
const CYCLES: u32 = 0xe000_1004;
/// Addresses of the core's own registers.
const PRIVATE: std::ops::Range<u32> = 0xe000_0000..0xe010_0000;
/// DEMCR.TRCENA, DWT_CTRL.CYCCNTENA.
const TRACE_ENABLE: u32 = 1 << 24;
const CYCLES_ENABLE: u32 = 1;

/// Bits of ICSR: what makes PendSV and SysTick pending, and no longer so.
const PEND: [(u32, u32, u32); 2] = [(PENDSV, 1 << 28, 1 << 27), (SYSTICK, 1 << 26, 1 << 25)];

/// The registers.
#[derive(Debug, Clone, Default)]
pub(super) struct Devices {
    pub(super) system: System,
    pub(super) stubs: Vec<Stub>,
    words: BTreeMap<u32, u32>,
    /// CYCCNT when it is stopped, and the cycle at which it was zero while it counts.
    cycles: u32,
    cycles_from: Option<u64>,
    /// True if CPACR allows coprocessor 10, which is the floating-point unit.
    pub(super) floats: bool,
    tick: Tick,
    /// A bit for each exception that is pending by ICSR, and that is active.
    asked: u32,
    active: u32,
}

impl Devices {
    /// Returns the address of the vector table.
    pub(super) fn vectors(&self) -> u32 {
        self.word(VECTORS)
    }

    pub(super) fn set_vectors(&mut self, address: u32) {
        self.words.insert(VECTORS, address);
    }

    fn stub(&self, address: u32) -> Option<&Stub> {
        self.stubs
            .iter()
            .find(|stub| address.wrapping_sub(stub.at) < stub.bytes.max(4))
    }

    pub(super) fn word(&self, address: u32) -> u32 {
        let reset = || match self.stub(address) {
            Some(stub) => stub.reset,
            None => self.system.bits(address).0,
        };
        self.words.get(&address).copied().unwrap_or_else(reset)
    }

    /// Returns true if there is a register.
    pub(super) fn has(&self, address: u32) -> bool {
        PRIVATE.contains(&address) || self.stub(address).is_some()
    }

    /// Reads the word there, at that cycle.
    pub(super) fn read(&mut self, address: u32, now: u64) -> u32 {
        match address {
            CYCLES => self.cycle_count(now),
            SYSTICK_CONTROL => self.tick.read_control(now),
            SYSTICK_RELOAD => self.tick.reload,
            SYSTICK_VALUE => self.tick.value(now),
            CPUID => self.system.core.cpuid(),
            INTERRUPTS => {
                let handled = self.handled().map_or(0, |(_, exception)| exception);
                let waits = |exception| u32::from(self.is_pending(exception, now));
                let pending = PEND.map(|(exception, set, _)| waits(exception) * set);
                handled | pending[0] | pending[1]
            }
            _ => self.word(address),
        }
    }

    /// Writes the word there, at that cycle.
    pub(super) fn write(&mut self, address: u32, value: u32, now: u64) {
        match address {
            CYCLES if !self.has_trace() => {}
            CYCLES => {
                self.cycles = value;
                let from = now.wrapping_sub(u64::from(value));
                self.cycles_from = self.cycles_from.map(|_| from);
            }
            SYSTICK_CONTROL => self.tick.write_control(value, now),
            SYSTICK_RELOAD => self.tick.set_reload(value & 0xff_ffff, now),
            SYSTICK_VALUE => self.tick.restart(now),
            INTERRUPTS => self.ask(value),
            RESET_CONTROL if value >> 16 != RESET_KEY => {}
            _ => self.write_word(address, value, now),
        }
    }

    fn write_word(&mut self, address: u32, value: u32, now: u64) {
        let follow = match self.stub(address) {
            Some(stub) if stub.ignored => return,
            Some(stub) => stub.follow.iter().fold(value, |value, &(from, to)| {
                value & !(1 << (to & 31)) | (value >> (from & 31) & 1) << (to & 31)
            }),
            None => {
                let (reset, written) = self.system.bits(address);
                reset & !written | value & written
            }
        };
        let counted = self.cycle_count(now);
        self.words.insert(address, follow);
        self.floats = self.word(COPROCESSORS) >> 20 & 1 == 1;
        if address == DEBUG || address == TRACE {
            let counts = self.word(DEBUG) & TRACE_ENABLE != 0
                && self.word(TRACE) & CYCLES_ENABLE != 0
                && self.has_trace();
            self.cycles = counted;
            self.cycles_from = counts.then(|| now.wrapping_sub(u64::from(counted)));
        }
    }

    /// A Cortex-M0+ has neither ITM nor cycle counter: they read as zero.
    fn has_trace(&self) -> bool {
        self.system.core != Core::CortexM0Plus
    }

    /// Returns true if a write there is text for a debugger: port 0 of the ITM, switched on.
    pub(super) fn prints(&self, address: u32) -> bool {
        address == PORT
            && self.has_trace()
            && self.word(DEBUG) & TRACE_ENABLE != 0
            && self.word(ITM_CONTROL) & self.word(PORTS_ENABLED) & 1 == 1
    }

    const fn cycle_count(&self, now: u64) -> u32 {
        match self.cycles_from {
            Some(from) => now.wrapping_sub(from) as u32,
            None => self.cycles,
        }
    }

    /// Sets or clears what is pending, as is written to ICSR (B3.2.4).
    fn ask(&mut self, value: u32) {
        for (exception, set, clear) in PEND {
            if value & set != 0 {
                self.asked |= 1 << exception;
            } else if value & clear != 0 {
                self.asked &= !(1 << exception);
            }
        }
    }

    fn is_pending(&self, exception: u32, now: u64) -> bool {
        self.asked >> exception & 1 == 1 || exception == SYSTICK && self.tick.is_due(now)
    }

    /// SHPR
    pub(super) fn priority(&self, exception: u32) -> i32 {
        let place = (exception - 4) & 15;
        let four = self.word(PRIORITIES + place / 4 * 4);
        (four >> (8 * (place % 4)) & 0xff).cast_signed()
    }

    /// The most urgent of these exceptions: of equals that with the lower number.
    fn first(&self, is_one: impl Fn(u32) -> bool) -> Option<(i32, u32)> {
        [SUPERVISOR_CALL, PENDSV, SYSTICK]
            .into_iter()
            .filter(|exception| is_one(*exception))
            .map(|exception| (self.priority(exception), exception))
            .min()
    }

    /// The one that waits, with its priority.
    pub(super) fn pending(&self, now: u64) -> Option<(i32, u32)> {
        self.first(|exception| self.is_pending(exception, now))
    }

    /// The one that is being handled, with its priority.
    pub(super) fn handled(&self) -> Option<(i32, u32)> {
        self.first(|exception| self.active >> exception & 1 == 1)
    }

    /// Marks an exception as active.
    pub(super) const fn taken(&mut self, exception: u32) {
        self.active |= 1 << (exception & 31);
        let asked = self.asked >> (exception & 31) & 1 == 1;
        self.asked &= !(1 << (exception & 31));
        if exception == SYSTICK && !asked {
            self.tick.raised += 1;
        }
    }

    /// Marks an exception as handled.
    pub(super) const fn left(&mut self, exception: u32) {
        self.active &= !(1 << (exception & 31));
    }

    /// Cycles until SysTick raises its exception, if it will.
    pub(super) fn until_tick(&self, now: u64) -> Option<u64> {
        Some(self.tick.due()?.saturating_sub(now))
    }
}

/// SysTick: it counts down to zero, takes the reload value with the next cycle, and so on (B3.3).
#[derive(Debug, Clone, Default)]
struct Tick {
    control: u32,
    reload: u32,
    /// The value while it is stopped, and the cycle at which it was zero while it counts.
    held: u32,
    from: u64,
    /// Times that it came to zero and was read so, and that its exception was raised.
    seen: u64,
    raised: u64,
}

impl Tick {
    const ENABLE: u32 = 1;
    const INTERRUPT: u32 = 2;
    const CORE_CLOCK: u32 = 4;

    /// Cycles a step: the external reference clock is the core's by eight, as on most parts.
    const fn step(&self) -> u64 {
        if self.control & Self::CORE_CLOCK == 0 {
            8
        } else {
            1
        }
    }

    const fn period(&self) -> u64 {
        (self.reload as u64 + 1) * self.step()
    }

    const fn counts(&self) -> bool {
        self.control & Self::ENABLE != 0 && self.reload != 0
    }

    const fn zeros(&self, now: u64) -> u64 {
        if self.counts() {
            now.saturating_sub(self.from) / self.period()
        } else {
            0
        }
    }

    const fn value(&self, now: u64) -> u32 {
        if !self.counts() {
            return self.held;
        }
        match (now.saturating_sub(self.from) / self.step()) % (self.reload as u64 + 1) {
            0 => 0,
            gone => self.reload + 1 - gone as u32,
        }
    }

    fn read_control(&mut self, now: u64) -> u32 {
        let zeros = self.zeros(now);
        let flag = zeros > self.seen;
        self.seen = zeros;
        self.control | u32::from(flag) << 16
    }

    /// Goes on counting from the value that it has.
    fn go_on(&mut self, now: u64, change: impl FnOnce(&mut Self)) {
        self.held = self.value(now);
        change(self);
        let gone = match self.held.min(self.reload) {
            0 => 0,
            held => u64::from(self.reload + 1 - held),
        };
        (self.from, self.seen, self.raised) = (now.saturating_sub(gone * self.step()), 0, 0);
    }

    fn write_control(&mut self, value: u32, now: u64) {
        self.go_on(now, |tick| tick.control = value & 7);
    }

    fn set_reload(&mut self, value: u32, now: u64) {
        self.go_on(now, |tick| tick.reload = value);
    }

    const fn restart(&mut self, now: u64) {
        (self.held, self.from, self.seen, self.raised) = (0, now, 0, 0);
    }

    /// The cycle at which its exception is raised next.
    fn due(&self) -> Option<u64> {
        let raises = self.counts() && self.control & Self::INTERRUPT != 0;
        raises.then(|| self.from + (self.raised + 1) * self.period())
    }

    fn is_due(&self, now: u64) -> bool {
        self.due().is_some_and(|due| due <= now)
    }
}

//! What executing costs: a trait that is told of every retired instruction, and what the model of core and flash behind it
//! is made of. The values of each microcontroller are data (`data/*.toml`); the rules are in `core.rs` and
//! `fetch.rs`.

mod account;
mod core;
mod fetch;
mod pipeline;
mod schedule;

pub use account::{Account, CacheUse, Stall, Tally};
pub use pipeline::{Phase, Pipeline};

use serde::Deserialize;

pub use crate::machine::{Noted, Retired, Timing, Untimed};

/// Cycles of 64-bit products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongMultiply {
    /// Cortex-M3: UMULL 3 to 5, UMLAL 4 to 7 cycles, fewer where an operand is below 2¹⁶ (DDI 0337, table 3-1).
    EarlyTermination,
    /// No early termination: always 5 and 7.
    Worst,
    /// Cortex-M4: one cycle (DDI 0439, table 3-1).
    SingleCycle,
}

/// Cycles of IT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folding {
    /// No cycle behind a 16-bit instruction (DDI 0337I, table 3-1, note e).
    BehindNarrow,
    /// Always one.
    Never,
}

/// Loads that overlap with the load or the register-offset store behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// All, unless the second's address hangs on the first.
    Always,
    /// Not 32-bit instructions across a word boundary (they "might not pipeline optimally", DDI 0439,
    /// table 3-1, note b), nor those that update their base.
    Hindered,
    /// No load.
    Never,
}

/// The core, with memories that never wait. All figures are cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreTiming {
    /// MUL, which some Cortex-M0+ do a bit a cycle.
    pub multiply: u8,
    /// 64-bit products.
    pub long_multiply: LongMultiply,
    /// MLA and MLS.
    pub multiply_accumulate: u8,
    /// STR with an immediate offset.
    pub store: u8,
    /// BL, its refill apart.
    pub call: u8,
    /// MRS, MSR and barriers; where that is more than one, it includes the refill of ISB.
    pub system: u8,
    /// Entering an exception, or leaving one.
    pub exception: u8,
    /// P: the pipeline's refill after a branch, 1 to 3 (DDI 0337, 3.3.1).
    pub refill: u8,
    /// More of it where the target is a 32-bit instruction across a word boundary.
    pub unaligned_target: u8,
    /// Refill after a load of the PC and a table branch (DDI 0337I, 3.3.2).
    pub load_refill: u8,
    /// A load or store whose address the instruction before computed: there is no forwarding (3.3.2).
    pub address_dependency: u8,
    /// Cycles of IT.
    pub it: Folding,
    /// Neighboring loads that overlap.
    pub pairing: Pairing,
}

impl CoreTiming {
    /// Cortex-M3 r1 and r2 (DDI 0337I). Of the range of P the manual's older text names the usual value:
    /// "if branch taken, pipeline reloads (two cycles are added)" (DDI 0337E, table 18-1).
    pub const CORTEX_M3: Self = Self {
        multiply: 1,
        long_multiply: LongMultiply::EarlyTermination,
        multiply_accumulate: 2,
        store: 1,
        call: 1,
        system: 1,
        // DDI 0337I, 3.9; DDI 0439, 3.9. Leaving one moves as much.
        exception: 12,
        refill: 2,
        unaligned_target: 1,
        load_refill: 3,
        address_dependency: 1,
        it: Folding::BehindNarrow,
        pairing: Pairing::Always,
    };

    /// Cortex-M4 (DDI 0439, table 3-1): multiplications of one cycle, the rest as the Cortex-M3.
    pub const CORTEX_M4: Self = Self {
        long_multiply: LongMultiply::SingleCycle,
        multiply_accumulate: 1,
        ..Self::CORTEX_M3
    };

    /// Cortex-M0+ (DDI 0484C, table 3-1) with the fast multiplier: loads and stores take two cycles, POP with the PC three
    /// and one a register. What only ARMv7-M has is never asked for.
    pub const CORTEX_M0_PLUS: Self = Self {
        multiply: 1,
        long_multiply: LongMultiply::SingleCycle,
        multiply_accumulate: 1,
        store: 2,
        call: 2,
        system: 3,
        // DDI 0484C, 3.6.1: the worst latency of an interrupt.
        exception: 15,
        refill: 1,
        unaligned_target: 0,
        load_refill: 2,
        address_dependency: 0,
        it: Folding::Never,
        pairing: Pairing::Never,
    };
}

/// A cache of flash lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CacheShape {
    /// Lines in all its sets.
    pub lines: u16,
    /// Reads of the flash that fill one line; each has its own valid bit.
    pub reads_per_line: u8,
    /// Lines that an address may be in; equal to `lines` where the cache is fully associative.
    pub ways: u16,
}

/// Waits of a data read from flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ports {
    /// Wait for the instruction read under way: there is one array ("LDR Rx,\[PC,#imm\] might add a cycle because of
    /// contention with the fetch unit", DDI 0337I, 3.3.2).
    Shared,
    /// No wait for instructions.
    Apart,
    /// Shared, where the core has one bus for all (Cortex-M0+): its table already counts that code and data take
    /// turns.
    Single,
}

/// Flash and its buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlashTiming {
    /// Bytes that one read brings: a power of two, four at least.
    pub read_bytes: u8,
    /// Wait states at this clock: a read takes one cycle more than that.
    pub wait_states: u8,
    /// Reads begun ahead of the one that is executed from: the core's prefetch unit of three words
    /// and the flash's own prefetch buffer together.
    pub reads_ahead: u8,
    /// Contention of instructions and data.
    pub ports: Ports,
    /// Cache of what is fetched, if the part has one.
    pub instruction_cache: Option<CacheShape>,
    /// Cache of literals and constants, likewise.
    pub data_cache: Option<CacheShape>,
}

impl FlashTiming {
    /// The most reads ahead that the model follows.
    pub const MOST_AHEAD: u8 = 3;
    /// The most wait states: no part has a wider field for them.
    pub const MOST_WAITS: u8 = 15;

    /// Returns the mistake in the values, if there is one.
    pub fn problem(&self) -> Option<&'static str> {
        let has_shape = |cache: CacheShape| {
            (1..=255).contains(&cache.lines)
                && cache.lines.checked_rem(cache.ways) == Some(0)
                && [1, 2, 4, 8].contains(&cache.reads_per_line)
        };
        if !self.read_bytes.is_power_of_two() || self.read_bytes < 4 {
            Some("read-bytes must be a power of two, four at least")
        } else if self.wait_states > Self::MOST_WAITS {
            Some("states must be 0 to 15")
        } else if !(1..=Self::MOST_AHEAD).contains(&self.reads_ahead) {
            Some("reads-ahead must be 1 to 3")
        } else if !self.instruction_cache.is_none_or(has_shape)
            || !self.data_cache.is_none_or(has_shape)
        {
            Some(
                "a cache needs 1 to 255 lines, a multiple of its ways, and 1, 2, 4 or 8 reads per line",
            )
        } else {
            None
        }
    }
}

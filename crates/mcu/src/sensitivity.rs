//! What a prediction hangs on: each assumption varied alone.
//!
//! The variants run beside the model itself, told of the same instructions, but only for the first stretch
//! of each phase: a phase is one loop over and over, so its first millions of instructions show how a variant
//! differs. A phase's cycles under a variant are the phase's cycles times that ratio.

use crate::instruction::Instruction;
use crate::microcontroller::Microcontroller;
use crate::timing::{Folding, LongMultiply, Pairing, Pipeline, Retired, Timing};

/// Instructions of each phase that the variants follow.
const STRETCH: u64 = 2_000_000;

/// Something that the published documents leave open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// Long multiplications never end early.
    NoEarlyTermination,
    /// One cycle of refill after a branch.
    ShortRefill,
    /// Three cycles.
    LongRefill,
    /// Computed addresses are forwarded.
    AddressForwarded,
    /// IT always costs a cycle.
    NoFolding,
    /// Loads overlap only if they are narrow or aligned, and do not update their base.
    LessPairing,
    /// Only one read of flash is begun ahead.
    LessPrefetch,
    /// As many as the model follows.
    MorePrefetch,
    /// Caches have two ways, or are fully associative where two are assumed.
    OtherWays,
    /// Caches are off.
    NoCache,
    /// One wait state fewer.
    FewerWaits,
    /// One more.
    MoreWaits,
}

impl Assumption {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::NoEarlyTermination,
        Self::ShortRefill,
        Self::LongRefill,
        Self::AddressForwarded,
        Self::NoFolding,
        Self::LessPairing,
        Self::LessPrefetch,
        Self::MorePrefetch,
        Self::OtherWays,
        Self::NoCache,
        Self::FewerWaits,
        Self::MoreWaits,
    ];

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoEarlyTermination => "no early termination",
            Self::ShortRefill => "refill of 1 cycle",
            Self::LongRefill => "refill of 3 cycles",
            Self::AddressForwarded => "computed addresses forwarded",
            Self::NoFolding => "IT not folded",
            Self::LessPairing => "fewer loads overlap",
            Self::LessPrefetch => "one read ahead",
            Self::MorePrefetch => "three reads ahead",
            Self::OtherWays => "caches of other ways",
            Self::NoCache => "caches off",
            Self::FewerWaits => "one wait state fewer",
            Self::MoreWaits => "one wait state more",
        }
    }

    /// Whether the band counts it. Caches switched off are no doubt about the part but another setting of it.
    pub const fn is_doubt(self) -> bool {
        !matches!(self, Self::NoCache)
    }

    /// The model with this varied; `None` where that changes nothing.
    fn pipeline(self, mcu: &Microcontroller) -> Option<Pipeline> {
        let (mut core, mut flash) = (mcu.core.timing(), mcu.flash);
        match self {
            Self::NoEarlyTermination if core.long_multiply == LongMultiply::EarlyTermination => {
                core.long_multiply = LongMultiply::Worst;
            }
            Self::NoEarlyTermination => {}
            Self::ShortRefill => core.refill = 1,
            Self::LongRefill => core.refill = 3,
            Self::AddressForwarded => core.address_dependency = 0,
            Self::NoFolding => core.it = Folding::Never,
            Self::LessPairing => core.pairing = Pairing::Hindered,
            Self::LessPrefetch => flash.reads_ahead = 1,
            Self::MorePrefetch => flash.reads_ahead = crate::timing::FlashTiming::MOST_AHEAD,
            Self::OtherWays => {
                for cache in [&mut flash.instruction_cache, &mut flash.data_cache] {
                    if let Some(shape) = cache.as_mut().filter(|shape| shape.lines % 2 == 0) {
                        shape.ways = if shape.ways == 2 { shape.lines } else { 2 };
                    }
                }
            }
            Self::NoCache => (flash.instruction_cache, flash.data_cache) = (None, None),
            Self::FewerWaits => flash.wait_states = flash.wait_states.saturating_sub(1),
            Self::MoreWaits => flash.wait_states = flash.wait_states.saturating_add(1),
        }
        let changed = core != mcu.core.timing() || flash != mcu.flash;
        changed.then(|| Pipeline::new(core, flash, &mcu.layout))
    }
}

#[derive(Debug, Clone)]
struct Variant {
    assumption: Assumption,
    pipeline: Pipeline,
    begun: u64,
    /// Of the phases that have ended, in cycles.
    estimate: f64,
}

/// A model with its variants.
#[derive(Debug, Clone)]
pub struct Banded {
    base: Pipeline,
    variants: Vec<Variant>,
    left: u64,
    /// The model's time when the phase began, and when the stretch ended.
    begun: u64,
    stretch_end: Option<u64>,
    phase: u8,
}

impl Banded {
    /// The part's own model and every variant that differs from it.
    pub fn new(mcu: &Microcontroller) -> Self {
        let variants = Assumption::ALL
            .into_iter()
            .filter_map(|assumption| {
                Some(Variant {
                    assumption,
                    pipeline: assumption.pipeline(mcu)?,
                    begun: 0,
                    estimate: 0.0,
                })
            })
            .collect();
        Self {
            base: Pipeline::new(mcu.core.timing(), mcu.flash, &mcu.layout),
            variants,
            left: 0,
            begun: 0,
            stretch_end: None,
            phase: 0,
        }
    }

    /// The part's own model.
    pub const fn base(&self) -> &Pipeline {
        &self.base
    }

    /// The cycles of all phases that have ended, under each variation.
    pub fn estimates(&self) -> Vec<(Assumption, u64)> {
        self.variants
            .iter()
            .map(|variant| (variant.assumption, variant.estimate.round() as u64))
            .collect()
    }

    #[cold]
    fn end_phase(&mut self) {
        if self.phase == 0 {
            return;
        }
        let whole = self.base.now() - self.begun;
        let stretch = self.stretch_end.unwrap_or_else(|| self.base.now()) - self.begun;
        for variant in &mut self.variants {
            let cycles = variant.pipeline.now() - variant.begun;
            variant.estimate += whole as f64 * cycles as f64 / stretch.max(1) as f64;
        }
    }

    #[inline(never)]
    fn retire_variants(&mut self, instruction: &Instruction, retired: &Retired) {
        for variant in &mut self.variants {
            variant.pipeline.retire(instruction, retired);
        }
        self.left -= 1;
        if self.left == 0 {
            self.stretch_end = Some(self.base.now());
        }
    }
}

impl Timing for Banded {
    #[inline(always)]
    fn retire(&mut self, instruction: &Instruction, retired: &Retired) {
        self.base.retire(instruction, retired);
        if self.left != 0 {
            self.retire_variants(instruction, retired);
        }
    }

    fn marker(&mut self, number: u8) {
        self.end_phase();
        self.base.marker(number);
        self.phase = number;
        self.begun = self.base.now();
        self.stretch_end = None;
        self.left = if number == 0 { 0 } else { STRETCH };
        for variant in &mut self.variants {
            variant.begun = variant.pipeline.now();
        }
    }
}

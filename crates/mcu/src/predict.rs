//! Predictions: a kernel with its options on a microcontroller, and what they hang on: each assumption varied alone.
//!
//! The variants run beside the model itself, told of the same instructions, but only for the first stretch
//! of each phase: a phase is one loop over and over, so its first millions of instructions show how a variant
//! differs. A phase's cycles under a variant are the phase's cycles times that ratio.

use keymark_stats::{Band, Seconds};

use crate::instruction::Instruction;
use crate::kernel::{Kernel, KernelError};
use crate::microcontroller::Microcontroller;
use crate::target::Target;
use crate::timing::{
    Account, CoreTiming, FlashTiming, Folding, LongMultiply, Pairing, Phase, Pipeline, Retired,
    Timing,
};

/// What a kernel would cost.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// The part and the options.
    pub target: Target,
    /// The operation.
    pub kernel: Kernel,
    /// Where the cycles of the whole operation went.
    pub account: Account,
    /// And those of its phases.
    pub phases: Vec<Phase>,
    /// Cycles of the operation with each assumption varied alone.
    pub variations: Vec<(Assumption, u64)>,
}

impl Prediction {
    /// Runs the kernel in the simulator.
    pub fn new(target: &Target, kernel: Kernel) -> Result<Self, KernelError> {
        let mut timing = Banded::new(&target.mcu);
        kernel.run(&target.mcu, &target.options, &mut timing)?;
        let phases: Vec<Phase> = timing
            .base()
            .phases()
            .into_iter()
            .filter(|phase| phase.number != 0)
            .collect();
        let mut account = Account::default();
        for phase in &phases {
            account += &phase.account;
        }
        Ok(Self {
            target: target.clone(),
            kernel,
            account,
            phases,
            variations: timing.estimates(),
        })
    }

    /// The target, by what matters to the operation.
    pub fn name(&self) -> String {
        self.target.name_for(self.kernel)
    }

    /// Cycles of the operation.
    pub fn cycles(&self) -> u64 {
        self.account.cycles()
    }

    /// The operation's duration.
    pub fn seconds(&self) -> Seconds {
        self.target.mcu.clock.seconds(self.cycles())
    }

    /// The shortest and the longest duration with one assumption varied.
    pub fn band(&self) -> Band {
        let doubts = self
            .variations
            .iter()
            .filter(|(assumption, _)| assumption.is_doubt())
            .map(|&(_, cycles)| cycles)
            .chain([self.cycles()]);
        let (low, high) = doubts.fold((u64::MAX, 0), |(low, high), cycles| {
            (low.min(cycles), high.max(cycles))
        });
        let clock = self.target.mcu.clock;
        Band {
            low: clock.seconds(low),
            high: clock.seconds(high),
        }
    }
}

/// Instructions of each phase that the variants follow.
const STRETCH: u64 = 2_000_000;

/// Something that the published documents leave open: a row of [`ROWS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assumption(usize);

struct Row {
    name: &'static str,
    /// About the part, not how it is set up.
    is_doubt: bool,
    vary: fn(&mut CoreTiming, &mut FlashTiming),
}

const fn doubt(name: &'static str, vary: fn(&mut CoreTiming, &mut FlashTiming)) -> Row {
    Row {
        name,
        is_doubt: true,
        vary,
    }
}

const ROWS: [Row; 12] = [
    doubt("no early termination", |core, _| {
        if core.long_multiply == LongMultiply::EarlyTermination {
            core.long_multiply = LongMultiply::Worst;
        }
    }),
    doubt("refill of 1 cycle", |core, _| core.refill = 1),
    doubt("refill of 3 cycles", |core, _| core.refill = 3),
    doubt("computed addresses forwarded", |core, _| {
        core.address_dependency = 0;
    }),
    doubt("IT not folded", |core, _| core.it = Folding::Never),
    // Loads overlap only if they are narrow or aligned, and do not update their base.
    doubt("fewer loads overlap", |core, _| {
        core.pairing = Pairing::Hindered;
    }),
    doubt("one read ahead", |_, flash| flash.reads_ahead = 1),
    doubt("three reads ahead", |_, flash| {
        flash.reads_ahead = FlashTiming::MOST_AHEAD;
    }),
    // Two, or fully associative where two are assumed.
    doubt("caches of other ways", |_, flash| {
        for cache in [&mut flash.instruction_cache, &mut flash.data_cache] {
            if let Some(shape) = cache.as_mut().filter(|shape| shape.lines % 2 == 0) {
                shape.ways = if shape.ways == 2 { shape.lines } else { 2 };
            }
        }
    }),
    Row {
        name: "caches off",
        is_doubt: false,
        vary: |_, flash| (flash.instruction_cache, flash.data_cache) = (None, None),
    },
    doubt("one wait state fewer", |_, flash| {
        flash.wait_states = flash.wait_states.saturating_sub(1);
    }),
    doubt("one wait state more", |_, flash| {
        flash.wait_states = flash.wait_states.saturating_add(1);
    }),
];

impl Assumption {
    /// In words.
    pub const fn name(self) -> &'static str {
        ROWS[self.0].name
    }

    /// Whether the band counts it. Caches switched off are no doubt about the part but another setting of it.
    pub const fn is_doubt(self) -> bool {
        ROWS[self.0].is_doubt
    }

    /// The model with this varied; `None` where that changes nothing.
    fn pipeline(self, mcu: &Microcontroller) -> Option<Pipeline> {
        let (mut core, mut flash) = (mcu.core.timing(), mcu.flash);
        (ROWS[self.0].vary)(&mut core, &mut flash);
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
        let variants = (0..ROWS.len())
            .map(Assumption)
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

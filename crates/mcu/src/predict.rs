//! Predictions: a kernel with its options on a microcontroller, and what they hang on: each assumption varied alone.
//!
//! The variants run with the model itself, told of the same instructions, but only for the first stretch
//! of each phase: a phase is one loop over and over, so its first millions of instructions show how a variant
//! differs. A phase's cycles under a variant are the phase's cycles times that ratio.

use std::collections::BTreeMap;

use keymark_stats::{Band, Seconds};

use crate::Result;
use crate::kernel::Kernel;
use crate::microcontroller::{Core, Microcontroller};
use crate::target::Target;
use crate::timing::{
    Account, CoreTiming, FlashTiming, Folding, LongMultiply, Pairing, Phase, Pipeline, Ports,
    Retired, Timing,
};

/// Predicted cost of a kernel.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// The part and the options.
    pub target: Target,
    /// The operation.
    pub kernel: Kernel,
    /// Cycles of the whole operation by cause.
    pub account: Account,
    /// Cycles of its phases.
    pub phases: Vec<Phase>,
    /// Cycles of the operation with each assumption varied alone.
    pub variations: Vec<(Assumption, u64)>,
}

impl Prediction {
    /// Runs the kernel in the simulator.
    pub fn new(target: &Target, kernel: Kernel) -> Result<Self> {
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
            variations: timing.estimates(|phase| phase != 0),
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
        band(&self.target.mcu, self.cycles(), &self.variations)
    }
}

/// How much longer code may take for reasons that no manual gives. On a board with a Cortex-M3 Kyber-768 took 10 to 11 %
/// longer than the model says, and other published code up to 5 %; on a Cortex-M4 the two agree (docs/firmware.md).
const fn unexplained(core: Core) -> f64 {
    match core {
        Core::CortexM3 => 0.12,
        Core::CortexM0Plus | Core::CortexM4 => 0.0,
    }
}

/// The shortest and the longest duration of that number of cycles, with one assumption varied or as far as a core is not explained.
pub fn band(mcu: &Microcontroller, cycles: u64, variations: &[(Assumption, u64)]) -> Band {
    let doubts = variations
        .iter()
        .filter(|(assumption, _)| assumption.is_doubt());
    let most = (cycles as f64 * (1.0 + unexplained(mcu.core))).round() as u64;
    let cycles = doubts.map(|&(_, cycles)| cycles).chain([cycles, most]);
    let (low, high) = cycles.fold((u64::MAX, 0), |(low, high), cycles| {
        (low.min(cycles), high.max(cycles))
    });
    Band {
        low: mcu.clock.seconds(low),
        high: mcu.clock.seconds(high),
    }
}

/// Instructions of each phase that the variants follow.
const STRETCH: u64 = 2_000_000;

/// Something that the published documents leave open: a row of [`ROWS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assumption(usize);

struct AssumptionRow {
    name: &'static str,
    /// About the part, not how it is set up.
    is_doubt: bool,
    vary: fn(&mut CoreTiming, &mut FlashTiming),
}

const fn doubt(name: &'static str, vary: fn(&mut CoreTiming, &mut FlashTiming)) -> AssumptionRow {
    AssumptionRow {
        name,
        is_doubt: true,
        vary,
    }
}

const ROWS: [AssumptionRow; 13] = [
    doubt("no early termination", |core, _| {
        if core.long_multiply == LongMultiply::EarlyTermination {
            core.long_multiply = LongMultiply::Worst;
        }
    }),
    doubt("refill of 1 cycle", |core, _| core.refill = 1),
    doubt("refill of 3 cycles", |core, _| {
        // The Cortex-M0+'s of one is in its manual.
        if core.refill > 1 {
            core.refill = 3;
        }
    }),
    doubt("computed addresses forwarded", |core, _| {
        core.address_dependency = 0;
    }),
    doubt("IT not folded", |core, _| core.it = Folding::Never),
    // Loads overlap only if they are narrow or aligned, and do not update their base.
    doubt("fewer loads overlap", |core, _| {
        if core.pairing == Pairing::Always {
            core.pairing = Pairing::Hindered;
        }
    }),
    doubt("data next to instructions", |_, flash| {
        if flash.ports == Ports::Shared {
            flash.ports = Ports::Apart;
        }
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
    AssumptionRow {
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
    /// Returns the description of the assumption.
    pub const fn name(self) -> &'static str {
        ROWS[self.0].name
    }

    /// Returns true if the band counts it. Caches switched off are no doubt about the part but another setting of it.
    pub const fn is_doubt(self) -> bool {
        ROWS[self.0].is_doubt
    }

    /// The model with this varied; `None` where that changes nothing.
    fn pipeline(self, mcu: &Microcontroller) -> Option<Pipeline> {
        let (mut core, mut flash) = (mcu.timing, mcu.flash);
        (ROWS[self.0].vary)(&mut core, &mut flash);
        let changed = core != mcu.timing || flash != mcu.flash;
        changed.then(|| Pipeline::new(core, flash, &mcu.layout))
    }
}

#[derive(Debug, Clone)]
struct Variant {
    assumption: Assumption,
    pipeline: Pipeline,
}

/// Result of one phase.
#[derive(Debug, Clone, Default)]
struct Followed {
    /// Instructions that the variants have followed.
    instructions: u64,
    /// Cycles of the model in all, and while they did.
    whole: u64,
    stretch: u64,
    /// Cycles of each variant in that stretch.
    variants: Vec<u64>,
}

/// A model with its variants.
#[derive(Debug, Clone)]
pub struct Banded {
    base: Pipeline,
    variants: Vec<Variant>,
    /// Instructions that they still follow in this phase.
    left: u64,
    /// Beginning of the phase under way, by the model and by each variant, and the model's time when they stopped.
    begun: u64,
    variants_begun: Vec<u64>,
    stretch_end: Option<u64>,
    phase: u8,
    phases: BTreeMap<u8, Followed>,
}

impl Banded {
    /// The part's own model and every variant that differs from it, followed in marked phases.
    pub fn new(mcu: &Microcontroller) -> Self {
        Self::following(mcu, 0)
    }

    /// Also followed outside of phases.
    pub fn whole(mcu: &Microcontroller) -> Self {
        Self::following(mcu, STRETCH)
    }

    /// Follows variants for that many instructions outside of phases.
    fn following(mcu: &Microcontroller, outside: u64) -> Self {
        let variants: Vec<Variant> = (0..ROWS.len())
            .map(Assumption)
            .filter_map(|assumption| {
                Some(Variant {
                    assumption,
                    pipeline: assumption.pipeline(mcu)?,
                })
            })
            .collect();
        Self {
            base: Pipeline::new(mcu.timing, mcu.flash, &mcu.layout),
            variants_begun: vec![0; variants.len()],
            variants,
            left: outside,
            begun: 0,
            stretch_end: (outside == 0).then_some(0),
            phase: 0,
            phases: BTreeMap::from([(
                0,
                Followed {
                    instructions: STRETCH - outside,
                    ..Followed::default()
                },
            )]),
        }
    }

    /// The part's own model.
    pub const fn base(&self) -> &Pipeline {
        &self.base
    }

    /// The cycles of these phases under each variation.
    pub fn estimates(&self, of: impl Fn(u8) -> bool) -> Vec<(Assumption, u64)> {
        let mut phases = self.phases.clone();
        self.end(&mut phases);
        let of_variant = |(index, variant): (usize, &Variant)| {
            let phases = phases.iter().filter(|(number, _)| of(**number));
            let cycles = phases.map(|(_, phase)| {
                let cycles = phase.variants.get(index).copied().unwrap_or_default();
                phase.whole as f64 * cycles as f64 / phase.stretch.max(1) as f64
            });
            (variant.assumption, cycles.sum::<f64>().round() as u64)
        };
        self.variants.iter().enumerate().map(of_variant).collect()
    }

    /// Counts the stretch of the phase that ends now.
    #[cold]
    fn end(&self, phases: &mut BTreeMap<u8, Followed>) {
        let followed = phases.entry(self.phase).or_default();
        let now = self.base.now();
        followed.whole += now - self.begun;
        followed.stretch += self.stretch_end.unwrap_or(now) - self.begun;
        followed.instructions = STRETCH - self.left;
        followed.variants.resize(self.variants.len(), 0);
        let begun = self.variants.iter().zip(&self.variants_begun);
        for (cycles, (variant, begun)) in followed.variants.iter_mut().zip(begun) {
            *cycles += variant.pipeline.now() - begun;
        }
    }

    #[inline(never)]
    fn retire_variants(&mut self, retired: &Retired<'_>) {
        for variant in &mut self.variants {
            variant.pipeline.retire(retired);
        }
        self.left = self.left.saturating_sub(retired.len() as u64);
        if self.left == 0 {
            self.stretch_end = Some(self.base.now());
        }
    }
}

impl Timing for Banded {
    #[inline(always)]
    fn retire(&mut self, retired: &Retired<'_>) {
        self.base.retire(retired);
        if self.left != 0 {
            self.retire_variants(retired);
        }
    }

    fn marker(&mut self, number: u8) {
        let mut phases = std::mem::take(&mut self.phases);
        self.end(&mut phases);
        self.base.marker(number);
        let followed = phases.get(&number).map_or(0, |phase| phase.instructions);
        (self.phases, self.phase, self.left) = (phases, number, STRETCH - followed);
        self.begun = self.base.now();
        self.stretch_end = (self.left == 0).then_some(self.begun);
        for (begun, variant) in self.variants_begun.iter_mut().zip(&self.variants) {
            *begun = variant.pipeline.now();
        }
    }

    fn exception(&mut self) {
        self.base.exception();
        if self.left != 0 {
            for variant in &mut self.variants {
                variant.pipeline.exception();
            }
        }
    }

    fn forget(&mut self) {
        self.base.forget();
        for variant in &mut self.variants {
            variant.pipeline.forget();
        }
    }

    fn now(&self) -> Option<u64> {
        Some(self.base.now())
    }
}

//! Predictions: a kernel with its options on a microcontroller, and what they hang on: each assumption varied alone.
//!
//! The variants run with the model itself, told of the same instructions, but only for the first stretch
//! of each phase: a phase is one loop over and over, so its first millions of instructions show how a variant
//! differs. A phase's cycles under a variant are the phase's cycles times that ratio.

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
    pub variations: Vec<(&'static Assumption, u64)>,
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
pub fn band(mcu: &Microcontroller, cycles: u64, variations: &[(&'static Assumption, u64)]) -> Band {
    let doubts = variations
        .iter()
        .filter(|(assumption, _)| assumption.is_doubt);
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

/// Something that the published documents leave open.
#[derive(Debug)]
pub struct Assumption {
    /// Description of the assumption.
    pub name: &'static str,
    /// True if the band counts it. Caches switched off are no doubt about the part but another setting of it.
    pub is_doubt: bool,
    vary: fn(&mut CoreTiming, &mut FlashTiming),
}

const fn doubt(name: &'static str, vary: fn(&mut CoreTiming, &mut FlashTiming)) -> Assumption {
    Assumption {
        name,
        is_doubt: true,
        vary,
    }
}

static ASSUMPTIONS: [Assumption; 13] = [
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
    Assumption {
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
    /// The model with this varied; `None` where that changes nothing.
    fn pipeline(&self, mcu: &Microcontroller) -> Option<Pipeline> {
        let (mut core, mut flash) = (mcu.timing, mcu.flash);
        (self.vary)(&mut core, &mut flash);
        let changed = core != mcu.timing || flash != mcu.flash;
        changed.then(|| Pipeline::new(core, flash, &mcu.layout))
    }
}

/// The cycles of one phase's first instructions.
#[derive(Debug, Clone)]
struct Followed {
    /// Instructions that the variants have followed.
    instructions: u64,
    /// Cycles of the model while they did.
    cycles: u64,
    /// Cycles of each variant.
    variants: Vec<u64>,
}

/// A model with its variants.
#[derive(Debug, Clone)]
pub struct Banded {
    base: Pipeline,
    variants: Vec<(&'static Assumption, Pipeline)>,
    phase: u8,
    /// Instructions that the variants still follow in this phase.
    left: u64,
    /// The model's time until which they have followed it.
    until: u64,
    /// What they have followed of each phase, by its number.
    phases: Vec<Followed>,
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
        let variants: Vec<_> = ASSUMPTIONS
            .iter()
            .filter_map(|assumption| Some((assumption, assumption.pipeline(mcu)?)))
            .collect();
        let nothing = Followed {
            instructions: 0,
            cycles: 0,
            variants: vec![0; variants.len()],
        };
        let mut phases = vec![nothing; 1 << u8::BITS];
        phases[0].instructions = STRETCH - outside;
        Self {
            base: Pipeline::new(mcu.timing, mcu.flash, &mcu.layout),
            variants,
            phase: 0,
            left: outside,
            until: 0,
            phases,
        }
    }

    /// The part's own model.
    pub const fn base(&self) -> &Pipeline {
        &self.base
    }

    /// The cycles of these phases under each variation.
    pub fn estimates(&self, of: impl Fn(u8) -> bool) -> Vec<(&'static Assumption, u64)> {
        let mut phases = self.base.phases();
        phases.retain(|phase| of(phase.number));
        let cycles_of = |index: usize| {
            let cycles = phases.iter().map(|phase| {
                let followed = &self.phases[usize::from(phase.number)];
                let (whole, cycles) = (phase.account.cycles(), followed.variants[index]);
                whole as f64 * cycles as f64 / followed.cycles.max(1) as f64
            });
            cycles.sum::<f64>().round() as u64
        };
        self.variants
            .iter()
            .enumerate()
            .map(|(index, (assumption, _))| (*assumption, cycles_of(index)))
            .collect()
    }

    /// Tells the variants what the model was told.
    #[inline(never)]
    fn follow(&mut self, instructions: usize, tell: impl Fn(&mut Pipeline)) {
        let followed = &mut self.phases[usize::from(self.phase)];
        followed.instructions += instructions as u64;
        followed.cycles += self.base.now() - self.until;
        self.until = self.base.now();
        for ((_, variant), cycles) in self.variants.iter_mut().zip(&mut followed.variants) {
            let begun = variant.now();
            tell(variant);
            *cycles += variant.now() - begun;
        }
        self.left = STRETCH.saturating_sub(followed.instructions);
    }
}

impl Timing for Banded {
    #[inline(always)]
    fn retire(&mut self, retired: &Retired<'_>) {
        self.base.retire(retired);
        if self.left != 0 {
            self.follow(retired.len(), |variant| variant.retire(retired));
        }
    }

    fn marker(&mut self, number: u8) {
        self.base.marker(number);
        let followed = &self.phases[usize::from(number)];
        self.phase = number;
        self.left = STRETCH.saturating_sub(followed.instructions);
        self.until = self.base.now();
    }

    fn exception(&mut self) {
        self.base.exception();
        if self.left != 0 {
            self.follow(0, Pipeline::exception);
        }
    }

    fn forget(&mut self) {
        self.base.forget();
        for (_, variant) in &mut self.variants {
            variant.forget();
        }
    }

    fn now(&self) -> Option<u64> {
        Some(self.base.now())
    }
}

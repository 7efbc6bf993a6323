//! Predictions: a kernel with its options on a microcontroller.

use keymark_stats::{Band, Seconds};

use crate::kernel::{Kernel, KernelError};
use crate::sensitivity::{Assumption, Banded};
use crate::target::Target;
use crate::timing::{Account, Phase};

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

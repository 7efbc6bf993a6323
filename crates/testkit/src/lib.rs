//! Shared parts of keymark's tests: cases, scripted stacks, a keymark with a place of its own, a private pcscd with a
//! card in its reader.
//!
//! Integration tests only. A crate below this one is compiled a second time for its unit tests, and
//! its types are then not those of the cases and fakes in here.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

pub mod fake;
pub mod layers;
#[cfg(feature = "cards")]
pub mod pcscd;
pub mod place;
pub mod postgresql;
pub mod process;
pub mod record;
pub mod softhsm;
pub mod waiting;

use std::fmt::Display;
use std::num::NonZeroU32;

use keymark_bench::case::{
    Case, DeviceName, Load, Pacing, Parameters, Provenance, StackName, StoreKind,
};
use keymark_bench::operation::Operation;

/// A case of the algorithm, by any of its names.
///
/// What is not said otherwise: the algorithm's first operation (decryption, where it has one), in
/// software, measured, through `raw`, one worker in a closed loop, the key in the clear, 16 bytes,
/// replica 0.
pub fn case(algorithm: &str) -> CaseBuilder {
    let algorithm: keymark_bench::algorithm::Algorithm = algorithm.parse().unwrap();
    CaseBuilder(Case {
        device: DeviceName::software(),
        store: StoreKind::SOFTWARE,
        provenance: Provenance::Measured,
        algorithm,
        operation: algorithm.operations()[0],
        stack: StackName::RAW,
        load: Load::single(),
        parameters: Parameters::NONE,
        input_bytes: 16,
        replica: 0,
        strength: None,
    })
}

/// A case in the making; see [`case`] for what it begins as.
#[derive(Debug, Clone)]
pub struct CaseBuilder(Case);

impl CaseBuilder {
    /// The case.
    pub fn build(self) -> Case {
        self.0
    }

    fn with(mut self, change: impl FnOnce(&mut Case)) -> Self {
        change(&mut self.0);
        self
    }

    /// Sets the operation.
    pub fn operation(self, operation: Operation) -> Self {
        self.with(|case| case.operation = operation)
    }

    /// The device, by name.
    pub fn device(self, name: &str) -> Self {
        self.with(|case| case.device = DeviceName::new(name))
    }

    /// Sets the kind of key store.
    pub fn store(self, kind: StoreKind) -> Self {
        self.with(|case| case.store = kind)
    }

    /// Sets the provenance.
    pub fn provenance(self, provenance: Provenance) -> Self {
        self.with(|case| case.provenance = provenance)
    }

    /// Through which program.
    pub fn stack(self, stack: StackName) -> Self {
        self.with(|case| case.stack = stack)
    }

    /// Sets the parameters.
    pub fn parameters(self, parameters: Parameters) -> Self {
        self.with(|case| case.parameters = parameters)
    }

    /// Sets the number of workers.
    pub fn workers(self, workers: u32) -> Self {
        self.with(|case| case.load.workers = NonZeroU32::new(workers).unwrap())
    }

    /// An open loop with arrivals at that rate, such as `50/s`.
    pub fn rate(self, rate: &str) -> Self {
        self.with(|case| case.load.pacing = Pacing::Open(rate.parse().unwrap()))
    }

    /// Behind a passphrase that the agent has cached.
    pub fn cached(self) -> Self {
        self.parameters(Parameters::from([("protection", "cached")]))
    }

    /// Users who think for up to so long before each operation.
    pub fn think(self, longest: std::time::Duration) -> Self {
        self.with(|case| case.load.pacing = Pacing::Thinking(longest))
    }

    /// Length of the message.
    pub fn input_bytes(self, bytes: u32) -> Self {
        self.with(|case| case.input_bytes = bytes)
    }
}

/// Asserts that a text has all of these words in it.
#[track_caller]
pub fn assert_says<W: AsRef<str>>(
    text: &(impl Display + ?Sized),
    words: impl IntoIterator<Item = W>,
) {
    let text = text.to_string();
    for word in words {
        let word = word.as_ref();
        assert!(text.contains(word), "'{word}' is missing: {text}");
    }
}

/// Asserts that a text has none of these words in it.
#[track_caller]
pub fn assert_silent<W: AsRef<str>>(
    text: &(impl Display + ?Sized),
    words: impl IntoIterator<Item = W>,
) {
    let text = text.to_string();
    for word in words {
        let word = word.as_ref();
        assert!(!text.contains(word), "'{word}' is there: {text}");
    }
}

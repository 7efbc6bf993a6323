//! Shorthands for this crate's unit tests.

use std::num::NonZeroU32;

use crate::case::{Case, DeviceName, Load, Protection, Provenance, StoreKind};

/// A decryption or, where the algorithm has none, its first operation.
pub(crate) fn case(algorithm: &str, stack: &str, concurrency: u32) -> Case {
    let algorithm: crate::algorithm::Algorithm = algorithm.parse().expect("an algorithm");
    Case {
        device: DeviceName::software(),
        store: StoreKind::Software,
        provenance: Provenance::Measured,
        algorithm,
        operation: algorithm.operations()[0],
        stack: stack.parse().expect("a stack"),
        load: Load::closed(NonZeroU32::new(concurrency).expect("at least one worker")),
        protection: Protection::None,
        input_bytes: 16,
        replica: 0,
    }
}

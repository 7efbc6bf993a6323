//! What every key store has to do.

use std::sync::Arc;

use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, Input, KeyHandle, KeyRef, KeyStore, Verifiable, Verifier};

/// What a key is asked, and the check.
pub struct Exercise {
    pub inputs: Arc<[Input]>,
    pub verifier: Arc<dyn Verifier>,
}

/// The name of a capability's key.
pub fn label(capability: Capability) -> String {
    format!("{} {}", capability.algorithm, capability.operation)
}

/// Every capability.
pub fn conforms(store: &dyn KeyStore, exercise: &dyn Fn(Capability) -> Exercise) {
    checks(store, exercise, |_| true);
}

/// Those of some algorithms, where all would take minutes.
pub fn conforms_in(
    store: &dyn KeyStore,
    algorithms: &[&str],
    exercise: &dyn Fn(Capability) -> Exercise,
) {
    checks(store, exercise, |capability| {
        algorithms.contains(&capability.algorithm.name())
    });
}

fn checks(
    store: &dyn KeyStore,
    exercise: &dyn Fn(Capability) -> Exercise,
    wanted: impl Fn(&Capability) -> bool,
) {
    let identity = store.identity().unwrap();
    assert!(!identity.device.as_str().is_empty() && !identity.product.is_empty());
    assert_eq!(store.identity().unwrap(), identity, "it is the same device");
    let capabilities = store.capabilities().unwrap();
    let mut distinct = capabilities.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), capabilities.len(), "each is offered once");
    let mut tried = 0;
    for capability in capabilities.into_iter().filter(&wanted) {
        does_it(store, capability, &exercise(capability));
        lacks_what_it_does_not_offer(store, capability);
        tried += 1;
    }
    assert!(tried > 0, "there is something to try");
}

fn key(capability: Capability) -> KeyRef {
    KeyRef {
        algorithm: capability.algorithm,
        operation: capability.operation,
        label: label(capability),
    }
}

/// Two handles, each usable from a thread of its own; results belong to their inputs.
fn does_it(store: &dyn KeyStore, capability: Capability, exercise: &Exercise) {
    let handles: Vec<Box<dyn KeyHandle>> = (0..2)
        .map(|_| store.open(&key(capability)).unwrap())
        .collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = handles
            .into_iter()
            .map(|mut handle| scope.spawn(move || uses(handle.as_mut(), exercise)))
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

fn uses(handle: &mut dyn KeyHandle, exercise: &Exercise) {
    let mut output = vec![0; 20_000];
    for (number, input) in exercise.inputs.iter().enumerate().take(2) {
        handle.arm(input).unwrap();
        let performed = handle.perform(input, &mut output).unwrap();
        let length = handle.collect(performed, &mut output).unwrap();
        let verdict = |input| {
            let result = Verifiable {
                input,
                output: &output[..length],
            };
            exercise.verifier.verify(&[result]).remove(0)
        };
        assert_eq!(verdict(number), Ok(()));
        assert!(
            verdict(1 - number).is_err(),
            "the result of one input is not that of another"
        );
    }
}

/// What is not offered is refused when the key is opened, not when it is used.
fn lacks_what_it_does_not_offer(store: &dyn KeyStore, capability: Capability) {
    let handshake = Capability {
        operation: Operation::Handshake,
        ..capability
    };
    assert!(store.open(&key(handshake)).is_err());
}

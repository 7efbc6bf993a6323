//! Duties of every key store.

use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::{Input, KeyHandle, Verifiable, Verifier};
use keymark_stores::access::{Access, KeyLocator, KeyUse};
use keymark_stores::challenge::Challenge;
use keymark_stores::public_key::PublicKey;
use keymark_stores::scheme::Scheme;
use keymark_stores::store::KeyStore;
use keymark_stores::worker;

struct Exercise {
    inputs: Arc<[Input]>,
    verifier: Arc<dyn Verifier>,
}

/// Inputs made with the public key that the store gives, and the check for the form of its answers.
fn by_public_key(store: &dyn KeyStore, key: &KeyRef, scheme: Option<Scheme>) -> Exercise {
    let public = store.public_key(key).unwrap();
    let challenge = Challenge::new(&public, key.operation, scheme, 40, 0).unwrap();
    let form = store.answers(key).unwrap().form;
    Exercise {
        inputs: challenge.inputs,
        verifier: form.checked(key.algorithm, key.operation, challenge.verifier),
    }
}

/// Use of the handles of a key.
#[derive(Clone, Copy)]
pub enum Use {
    /// Each in a thread of its own, all together.
    Together,
    /// Each after the other while all are open, for a library that is not safe in threads, whose keys processes share.
    InTurn,
}

/// Every capability of the algorithms, or of all, where that does not take minutes.
pub fn conforms(store: &dyn KeyStore, algorithms: Option<&[&str]>) {
    conforms_used(store, algorithms, Use::Together);
}

pub fn conforms_used(store: &dyn KeyStore, algorithms: Option<&[&str]>, how: Use) {
    let wanted = |capability: &Capability| {
        let name = capability.algorithm.name();
        algorithms.is_none_or(|algorithms| algorithms.contains(&name))
    };
    let capabilities = store.capabilities().unwrap();
    let mut distinct = capabilities.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), capabilities.len(), "each is offered once");
    let mut tried = 0;
    for capability in capabilities.iter().copied().filter(wanted) {
        does_it(store, capability, how);
        tried += 1;
    }
    assert!(tried > 0, "there is something to try");
    lacks_what_it_does_not_offer(store, &capabilities);
}

/// Tests that the store gives the same key at every call, reached in the way that is said, by several handles, each
/// usable from a thread of its own; results belong to their inputs.
fn does_it(store: &dyn KeyStore, capability: Capability, how: Use) {
    let key = store.key(capability).unwrap();
    assert_eq!(key.capability(), capability);
    assert_eq!(store.key(capability).unwrap(), key, "it is the same key");
    let mut handles: Vec<Box<dyn KeyHandle>> = Vec::new();
    let spki = |public: PublicKey| public.spki_der().unwrap();
    let locator = match store.access(&key) {
        Ok(Access::KeyFile(test_key)) => {
            assert_eq!(test_key.algorithm, key.algorithm);
            Some(KeyLocator::Software(test_key.sealed().unwrap()))
        }
        Ok(Access::Card(card, slot)) => {
            let public = card.slot_public_key(slot, key.algorithm);
            assert_eq!(
                spki(public.unwrap()),
                spki(store.public_key(&key).unwrap()),
                "the way leads to the same key"
            );
            None
        }
        Ok(Access::Locator(locator)) => Some(locator),
        // A token in this process is reached from nowhere else.
        Ok(Access::Module(_)) | Err(_) => None,
    };
    if let Some(locator) = locator {
        // As another process does it, whose answers have to pass the same check.
        let used = KeyUse {
            capability,
            scheme: None,
            library: None,
        };
        handles.push(worker::open(&locator, used).unwrap());
    }
    let exercise = by_public_key(store, &key, None);
    let capacity = store.answers(&key).unwrap().capacity;
    handles.extend((0..2).map(|_| store.open(&key, None).unwrap()));
    if matches!(how, Use::InTurn) {
        let each = handles.iter_mut();
        return each.for_each(|handle| uses(handle.as_mut(), &exercise, capacity));
    }
    std::thread::scope(|scope| {
        let exercise = &exercise;
        let threads: Vec<_> = handles
            .into_iter()
            .map(|mut handle| scope.spawn(move || uses(handle.as_mut(), exercise, capacity)))
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

fn uses(handle: &mut dyn KeyHandle, exercise: &Exercise, capacity: usize) {
    let mut output = vec![0; capacity];
    handle.enter().unwrap();
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
    handle.leave().unwrap();
}

pub fn conforms_by_scheme(store: &dyn KeyStore, capability: Capability, scheme: Scheme) {
    let key = store.key(capability).unwrap();
    let capacity = store.answers(&key).unwrap().capacity;
    let exercise = by_public_key(store, &key, Some(scheme));
    let opened = (0..2).map(|_| store.open(&key, Some(scheme)).unwrap());
    let handles: Vec<Box<dyn KeyHandle>> = opened.collect();
    assert!(
        !matches!(store.access(&key), Ok(Access::Card(..))),
        "cards have no schemes"
    );
    for mut handle in handles {
        uses(handle.as_mut(), &exercise, capacity);
    }
    if key.operation.signs() {
        // Of the same messages: one that was hashed by the store is the same as one of its digest.
        let check = by_public_key(store, &key, None).verifier;
        let mut handle = store.open(&key, Some(scheme)).unwrap();
        let mut output = vec![0; capacity];
        handle.arm(&exercise.inputs[0]).unwrap();
        let performed = handle.perform(&exercise.inputs[0], &mut output).unwrap();
        let signature = Verifiable {
            input: 0,
            output: &output[..performed.length],
        };
        let is_usual = check.verify(&[signature]).remove(0).is_ok();
        assert_eq!(is_usual, scheme == Scheme::Hashed, "{scheme}");
    }
}

/// Tests that other capabilities are refused when the key is asked for, not when it is used: every operation of
/// every algorithm. (A key that signs may be asked to authenticate; a store need not say so.)
fn lacks_what_it_does_not_offer(store: &dyn KeyStore, offered: &[Capability]) {
    let mut refused = 0;
    for algorithm in Algorithm::all() {
        for &operation in Operation::ALL {
            let capability = Capability::new(algorithm, operation);
            let synonym = Capability {
                operation: Operation::Sign,
                ..capability
            };
            let is_synonym = operation == Operation::Authenticate && offered.contains(&synonym);
            if offered.contains(&capability) || is_synonym {
                continue;
            }
            let opened = store.key(capability).and_then(|key| store.open(&key, None));
            assert!(opened.is_err(), "{algorithm} {operation}");
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
}

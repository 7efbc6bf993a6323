//! The raw stack over OpenSSL: every algorithm and operation it offers, checked, many times over.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::sync::Arc;

use keymark_bench::algorithm::{Algorithm, Family, SlhVariant};
use keymark_bench::case::Case;
use keymark_bench::operation::Operation;
use keymark_bench::store::{KeyRef, KeyStore, Stack, Verifiable};
use keymark_stores::raw::{Generated, RawStack};
use keymark_stores::software::SoftwareStore;
use keymark_stores::test_key::TestKey;

fn case(algorithm: Algorithm, operation: Operation) -> Case {
    keymark_testkit::case(algorithm.name())
        .operation(operation)
        .concurrency(2)
        .input_bytes(40)
        .build()
}

/// Seconds a signature in a debug run; the fast variants cover the same code.
fn is_slow(algorithm: Algorithm) -> bool {
    matches!(algorithm.family(), Family::SlhDsa(_, SlhVariant::Small))
}

#[test]
fn every_offered_operation_passes_its_check_and_a_wrong_result_does_not() {
    let stack = RawStack::new(Arc::new(Generated::new(1)));
    let offered = SoftwareStore::default().capabilities().unwrap();
    assert!(offered.len() > 40, "{}", offered.len());
    for capability in offered
        .into_iter()
        .filter(|capability| !is_slow(capability.algorithm))
    {
        let case = case(capability.algorithm, capability.operation);
        let mut workload = stack
            .prepare(&case)
            .unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(workload.handles.len(), 2, "{case}");
        for handle in &mut workload.handles {
            for (input, bytes) in workload.inputs.iter().enumerate() {
                let mut output = vec![0; workload.output_capacity];
                handle.arm(bytes).unwrap();
                let performed = handle
                    .perform(bytes, &mut output)
                    .unwrap_or_else(|e| panic!("{case}: {e}"));
                output.truncate(performed.length);
                let verdicts = workload.verifier.verify(&[Verifiable {
                    input,
                    output: &output,
                }]);
                assert_eq!(verdicts, [Ok(())], "{case}");
                output[0] ^= 1;
                let verdicts = workload.verifier.verify(&[Verifiable {
                    input,
                    output: &output,
                }]);
                assert!(verdicts[0].is_err(), "{case}: a wrong result passed");
            }
        }
    }
}

#[test]
fn an_operation_that_the_key_lacks_is_refused() {
    let store = SoftwareStore::default();
    let ed25519: Algorithm = "ed25519".parse().unwrap();
    store.add("key", Arc::new(TestKey::generate(ed25519).unwrap()));
    let reference = KeyRef {
        algorithm: ed25519,
        operation: Operation::Decrypt,
        label: "key".to_owned(),
    };
    let error = store.open(&reference).err().unwrap().to_string();
    assert_eq!(error, "the OpenSSL library has no decrypt with ed25519");
    let missing = KeyRef {
        label: "other".to_owned(),
        operation: Operation::Sign,
        ..reference
    };
    assert!(
        store
            .open(&missing)
            .err()
            .unwrap()
            .to_string()
            .contains("no key called 'other'")
    );
}

#[test]
fn a_broken_ciphertext_ends_the_operation_with_the_failing_call() {
    let stack = RawStack::new(Arc::new(Generated::new(1)));
    let mut workload = stack
        .prepare(&case("mlkem768".parse().unwrap(), Operation::Decapsulate))
        .unwrap();
    let mut broken = workload.inputs[0].clone();
    broken.bytes.pop();
    let error = workload.handles[0]
        .perform(&broken, &mut [0; 64])
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("EVP_PKEY_decapsulate failed"), "{error}");
}

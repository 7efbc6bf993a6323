//! The stack `raw` on virtual cards and twins: every algorithm that the firmware has.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::sync::Arc;

use keymark_bench::case::{Case, StoreKind};
use keymark_bench::store::{Capability, Stack, Verifiable};
use keymark_stores::openpgp_card::{CardMaker, CardRawStack};
use keymark_stores::raw::Generated;
use keymark_tokens::profile::Profile;

fn case(maker: &CardMaker, capability: Capability) -> Case {
    keymark_testkit::case(capability.algorithm.name())
        .operation(capability.operation)
        .device(maker.device().as_str())
        .store(StoreKind::OpenpgpCard)
        .provenance(maker.provenance())
        .concurrency(2)
        .build()
}

fn performs(maker: &CardMaker, capability: Capability) {
    let stack = CardRawStack::made(maker.clone(), Arc::new(Generated::new(1)));
    let case = case(maker, capability);
    let mut workload = stack
        .prepare(&case)
        .unwrap_or_else(|e| panic!("{case}: {e}"));
    for handle in &mut workload.handles {
        let mut output = vec![0; workload.output_capacity];
        let input = &workload.inputs[1];
        handle.arm(input).unwrap_or_else(|e| panic!("{case}: {e}"));
        let performed = handle
            .perform(input, &mut output)
            .unwrap_or_else(|e| panic!("{case}: {e}"));
        let result = Verifiable {
            input: 1,
            output: &output[..performed.length],
        };
        assert_eq!(workload.verifier.verify(&[result]), [Ok(())], "{case}");
        output[performed.length - 1] ^= 1;
        let changed = Verifiable {
            input: 1,
            output: &output[..performed.length],
        };
        assert!(workload.verifier.verify(&[changed])[0].is_err(), "{case}");
    }
}

#[test]
fn every_capability_of_the_virtual_card_yields_right_results() {
    let maker = CardMaker::virtual_card();
    let capabilities = maker.capabilities();
    assert_eq!(capabilities.len(), 3 * 3 + 3 * 3 + 1 + 2);
    for capability in capabilities {
        performs(&maker, capability);
    }
}

#[test]
fn twins_do_what_their_profiles_say() {
    for profile in Profile::shipped().unwrap() {
        let maker = CardMaker::twin(profile.clone());
        let quick = maker
            .capabilities()
            .into_iter()
            .filter(|capability| capability.algorithm.name() != "rsa4096");
        for capability in quick {
            performs(&maker, capability);
        }
    }
}

//! The stack `raw`: every algorithm and operation that OpenSSL, the virtual card and twins offer, checked.

use std::sync::Arc;

use keymark_bench::algorithm::{Algorithm, Family, SlhVariant};
use keymark_bench::case::{Case, Parameters};
use keymark_bench::operation::Operation;
use keymark_bench::profile::{Profile, ProfileStore};
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, Performed, Stack, Workload};
use keymark_stacks::raw::RawStack;
use keymark_stores::access::Library;
use keymark_stores::device::Run;
use keymark_stores::openpgp_card::{CardMaker, VirtualCards};
use keymark_stores::software;
use keymark_stores::store::KeyStore;

use crate::suite::{keys, stack_passes};

fn case(algorithm: Algorithm, operation: Operation) -> Case {
    keymark_testkit::case(algorithm.name())
        .operation(operation)
        .workers(2)
        .input_bytes(40)
        .build()
}

/// Seconds a signature in a debug run; the fast variants cover the same code.
fn is_slow(algorithm: Algorithm) -> bool {
    matches!(algorithm.family(), Family::SlhDsa(_, SlhVariant::Small))
}

#[test]
fn every_offered_operation_passes_its_check_and_a_wrong_result_does_not() {
    let store = keys();
    let offered = store.capabilities().unwrap();
    let stack = RawStack::new(store, 1);
    assert!(offered.len() > 40, "{}", offered.len());
    for capability in offered
        .into_iter()
        .filter(|capability| !is_slow(capability.algorithm))
    {
        let case = case(capability.algorithm, capability.operation);
        stack_passes(&stack, &case).unwrap();
    }
}

/// The OpenSSL that is built in checks what another library makes, and makes what it is asked.
#[test]
fn other_libraries_do_what_they_offer_with_the_same_keys() {
    for (library, names) in [
        (
            Library::Libgcrypt,
            "rsa4096 dsa3072 elg4096 nistp521 brainpoolp512r1 secp256k1 cv25519 ed448",
        ),
        (
            Library::OpenSslSystem,
            "rsa4096 dsa3072 nistp521 cv25519 ed25519 cv448 ed448",
        ),
        (Library::RustCrypto, "rsa4096 nistp521 cv25519 ed25519"),
    ] {
        does_what_it_offers(library, names);
    }
}

/// These algorithms are among those that a library offers, and it does all of them.
fn does_what_it_offers(library: Library, names: &str) {
    let mut offered = software::load(library).unwrap().capabilities();
    for name in names.split(' ') {
        let offers = |offer: &Capability| offer.algorithm.name() == name;
        assert!(offered.iter().any(offers), "{name} of {offered:?}");
    }
    let authenticates = |name: &str| Capability {
        algorithm: name.parse().unwrap(),
        operation: Operation::Authenticate,
    };
    offered.extend(["rsa2048", "ed25519", "nistp384"].map(authenticates));
    let stack = RawStack::new(keys(), 1);
    for capability in offered {
        let case = Case {
            parameters: Parameters::from([("library", library.word())]),
            ..case(capability.algorithm, capability.operation)
        };
        stack_passes(&stack, &case).unwrap();
    }
}

fn prepared(library: Library, name: &str, operation: Operation) -> Result<Workload, String> {
    let case = Case {
        parameters: Parameters::from([("library", library.word())]),
        ..case(name.parse().unwrap(), operation)
    };
    let prepared = RawStack::new(keys(), 1).prepare(&case);
    prepared.map_err(|error| error.to_string())
}

/// A workload with a public key to be derived with, and that key off the curve.
fn off_the_curve(library: Library) -> (Workload, Input) {
    let workload = prepared(library, "nistp256", Operation::Decrypt).unwrap();
    let mut input = workload.inputs[0].clone();
    input.bytes[64] ^= 1;
    (workload, input)
}

#[test]
fn what_another_library_lacks_is_said() {
    for (library, called, name, operation) in [
        (
            Library::Libgcrypt,
            "libgcrypt",
            "mlkem768",
            Operation::Decapsulate,
        ),
        (
            Library::OpenSslSystem,
            "the system's OpenSSL",
            "mlkem768",
            Operation::Decapsulate,
        ),
        (
            Library::OpenSslSystem,
            "the system's OpenSSL",
            "elg2048",
            Operation::Decrypt,
        ),
    ] {
        let error = prepared(library, name, operation).unwrap_err();
        assert_eq!(error, format!("{called} has no {operation} with {name}"));
    }
}

#[test]
fn what_libgcrypt_refuses_ends_the_operation_with_the_failing_call() {
    let (mut workload, off_the_curve) = off_the_curve(Library::Libgcrypt);
    let handle = &mut workload.crew.handles()[0];
    handle.arm(&off_the_curve).unwrap();
    let error = handle.perform(&off_the_curve, &mut [0; 64]).unwrap_err();
    let error = error.to_string();
    assert!(error.starts_with("gcry_pk_decrypt failed: "), "{error}");
    let nothing = handle.collect(Performed::default(), &mut [0; 64]);
    assert!(nothing.is_err(), "no result of an earlier operation");
}

#[test]
fn what_the_systems_openssl_refuses_ends_the_operation_with_the_failing_call() {
    let (mut workload, off_the_curve) = off_the_curve(Library::OpenSslSystem);
    let right = workload.inputs[0].clone();
    let handle = &mut workload.crew.handles()[0];
    let unarmed = handle.perform(&right, &mut [0; 64]);
    assert!(unarmed.is_err(), "not armed");
    let error = handle.arm(&off_the_curve).unwrap_err().to_string();
    let call = "EVP_PKEY_derive_set_peer failed: ";
    assert!(error.starts_with(call), "{error}");
}

fn on_card(maker: &CardMaker, capability: Capability) -> Case {
    let identity = &maker.identity;
    keymark_testkit::case(capability.algorithm.name())
        .operation(capability.operation)
        .device(identity.device.as_str())
        .store(identity.kind)
        .provenance(identity.provenance)
        .workers(2)
        .build()
}

/// The stack raw on such cards.
fn raw_on(maker: &CardMaker) -> RawStack {
    RawStack::new(Arc::new(VirtualCards::new(maker.clone(), Run::new(1))), 1)
}

#[test]
fn every_capability_of_the_virtual_card_yields_right_results() {
    let maker = CardMaker::virtual_card();
    let (stack, capabilities) = (raw_on(&maker), maker.capabilities.clone());
    assert_eq!(capabilities.len(), 3 * 3 + 3 * 3 + 1 + 2);
    for capability in capabilities {
        stack_passes(&stack, &on_card(&maker, capability)).unwrap();
    }
}

#[test]
fn twins_do_what_their_profiles_say() {
    let shipped = Profile::shipped().unwrap().into_iter();
    for profile in shipped.filter(|profile| profile.store == ProfileStore::OpenpgpCard) {
        let maker = CardMaker::twin(profile);
        let (stack, offered) = (raw_on(&maker), maker.capabilities.clone().into_iter());
        for capability in offered.filter(|capability| capability.algorithm.name() != "rsa4096") {
            in_its_time(&stack, &maker, capability);
        }
    }
}

/// A machine that stops for a moment makes a twin refuse (rightly): what is tested here is what it yields.
fn in_its_time(stack: &RawStack, maker: &CardMaker, capability: Capability) {
    let case = on_card(maker, capability);
    let late = |passed: &Result<(), String>| matches!(passed, Err(error) if error.contains("too fast to be imitated"));
    let mut passed = stack_passes(stack, &case);
    for _ in 0..2 {
        if late(&passed) {
            passed = stack_passes(stack, &case);
        }
    }
    passed.unwrap();
}

//! The suite for every key store: the promises of the seam.

mod behind_a_module;
mod in_readers;
mod of_keymarks_own;
mod suite;

use std::sync::Arc;

use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_stores::device::Run;
use keymark_stores::openpgp_card::{CardDevice, CardMaker, VirtualCards};
use keymark_stores::scheme::Scheme;
use keymark_stores::software::SoftwareStore;
use keymark_stores::store::KeyStore;
use keymark_stores::tokens::reader::CardReader;

use crate::scripted::load;
use suite::Use;

#[test]
fn the_software_store_conforms() {
    let quick = ["cv25519", "ed25519", "nistp256", "mlkem768", "elg2048"];
    suite::conforms(&SoftwareStore::default(), Some(&quick));
}

#[test]
fn the_software_store_conforms_by_each_scheme() {
    let store = SoftwareStore::default();
    let mut tried = 0;
    for capability in store.capabilities().unwrap() {
        let name = capability.algorithm.name();
        if !["rsa1024", "nistp384"].contains(&name) {
            continue;
        }
        for scheme in Scheme::ALL.iter().filter(|scheme| scheme.is_of(capability)) {
            suite::conforms_by_scheme(&store, capability, *scheme);
            tried += 1;
        }
    }
    assert_eq!(tried, 6, "five of RSA, one of ECDSA");
    let key = store.key(Capability::new("ed25519".parse().unwrap(), Operation::Sign));
    let refused = store.open(&key.unwrap(), Some(Scheme::Pss));
    assert!(refused.is_err(), "EdDSA has one use");
}

#[test]
fn virtual_cards_conform() {
    let store = VirtualCards::new(CardMaker::virtual_card(), Run::new(0));
    suite::conforms(&store, Some(&["cv25519", "ed25519", "nistp256"]));
}

/// The path of a test, by which the test program runs it alone.
fn path_of<T>(_: T) -> &'static str {
    std::any::type_name::<T>().split_once("::").unwrap().1
}

/// A card with a key in each slot.
fn loaded() -> (CardReader, CardDevice) {
    let reader = CardMaker::virtual_card().make().unwrap();
    let keys = [
        ("nistp256", Operation::Sign),
        ("cv25519", Operation::Decrypt),
        ("ed25519", Operation::Authenticate),
    ];
    let device = load(&reader, &keys);
    (reader, device)
}

#[test]
fn a_loaded_card_conforms() {
    suite::conforms(&loaded().1, None);
}

/// A TPM in software, by the way of a real one.
#[cfg(feature = "tpm")]
#[test]
fn a_tpm_conforms() {
    use keymark_stores::device::{Looked, Wish};
    use keymark_stores::tpm;
    use keymark_stores::user::User;

    let wish = Wish::Named(vec!["swtpm-esys".to_owned()]);
    let mut looked = Looked::default();
    tpm::look(&wish, &User::of_made_device(), &mut looked).unwrap();
    let store = looked.devices[0].open(&Run::new(0)).unwrap();
    suite::conforms(store.as_ref(), Some(&["rsa2048", "nistp256", "nistp384"]));
}

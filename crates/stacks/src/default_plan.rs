//! What is measured when nobody says what: one plan for everybody.

use std::num::NonZeroU32;

use keymark_bench::algorithm::{Algorithm, Curve, Family};
use keymark_bench::case::{DeviceName, ParameterChoice, StackName, StoreKind};
use keymark_bench::operation::Operation;
use keymark_bench::plan::{AlgorithmChoice, Offer, Selection};

use crate::gnupg::{PROTECTION, Protection};
use crate::raw::LIBRARY;
use keymark_stores::access::Library;

/// Today's defaults of GnuPG, its longest keys, and what ratios are taken to.
const KEYS: [Family; 6] = [
    Family::Rsa(2048),
    Family::Rsa(4096),
    Family::Dsa(3072),
    Family::Weierstrass(Curve::NistP521),
    Family::Cv25519,
    Family::Ed25519,
];

/// What the virtual card is compared with this CPU for.
const ON_CARD: [(Family, Operation); 3] = [
    (Family::Rsa(4096), Operation::Decrypt),
    (Family::Cv25519, Operation::Decrypt),
    (Family::Ed25519, Operation::Sign),
];

/// What a token behind PKCS#11 is compared with this CPU for.
const ON_TOKEN: [(Family, Operation); 2] = [
    (Family::Rsa(2048), Operation::Sign),
    (Family::Weierstrass(Curve::NistP256), Operation::Sign),
];

/// What GnuPG does not have yet, in the library.
const POST_QUANTUM: [Family; 2] = [Family::MlKem(768), Family::MlDsa(65)];

/// What to choose between and where its time goes: few keys, so that each is known well. GnuPG's on its three layers and
/// in both libraries, alone; signatures also four and ten at once; S2K once, because it costs the same whatever the
/// key; post-quantum keys in the library; some on the virtual card, and two in SoftHSM2.
pub fn default_plan(common: &Selection, offers: &[Offer]) -> Vec<Selection> {
    let common = &Selection {
        devices: Some(vec![DeviceName::software()]),
        ..common.clone()
    };
    let offered = |stack: StackName| {
        let offers = offers
            .iter()
            .filter(move |offer| offer.stack == stack && offer.device == DeviceName::software());
        offers
            .flat_map(|offer| &offer.capabilities)
            .map(|capability| capability.algorithm)
    };
    let of = |stack: StackName, families: &[Family]| -> Vec<Algorithm> {
        let mut found: Vec<Algorithm> = offered(stack)
            .filter(|algorithm| families.contains(&algorithm.family()))
            .collect();
        found.dedup();
        found
    };
    let gnupg = of(StackName::GNUPG, &KEYS);
    let only = |stack: StackName| Some(vec![stack]);
    let mut selections = vec![Selection {
        algorithms: AlgorithmChoice::Listed(of(StackName::RAW, &POST_QUANTUM)),
        stacks: only(StackName::RAW),
        ..common.clone()
    }];
    let card = [StackName::RAW, StackName::GNUPG];
    selections.extend(on(StoreKind::OPENPGP_CARD, &card, &ON_CARD, common, offers));
    let token = [StackName::RAW];
    selections.extend(on(StoreKind::PKCS11, &token, &ON_TOKEN, common, offers));
    if gnupg.is_empty() {
        // Without GnuPG there is still the library.
        selections.push(Selection {
            algorithms: AlgorithmChoice::Listed(of(StackName::RAW, &KEYS)),
            stacks: only(StackName::RAW),
            ..common.clone()
        });
        return selections;
    }
    let listed = |algorithms: Vec<Algorithm>| AlgorithmChoice::Listed(algorithms);
    let offers_cv25519 = gnupg
        .iter()
        .copied()
        .find(|algorithm| algorithm.family() == Family::Cv25519);
    let mut signing = gnupg.clone();
    // What ratios are taken to need not be measured in parallel.
    signing.retain(|key| key.has(Operation::Sign) && key.family() != Family::Rsa(2048));
    selections.extend([
        Selection {
            algorithms: listed(gnupg.clone()),
            parameters: in_both_libraries(),
            ..common.clone()
        },
        Selection {
            algorithms: listed(signing),
            operations: Some(vec![Operation::Sign]),
            stacks: only(StackName::GNUPG),
            concurrency: [4, 10].into_iter().filter_map(NonZeroU32::new).collect(),
            ..common.clone()
        },
        Selection {
            algorithms: listed(offers_cv25519.into_iter().collect()),
            stacks: only(StackName::AGENT),
            parameters: vec![ParameterChoice {
                dimension: PROTECTION,
                words: vec![Protection::Cached.word()],
            }],
            ..common.clone()
        },
    ]);
    selections
}

/// Keys in the clear, by OpenSSL and by what gpg-agent calculates with, which its layers stand on.
fn in_both_libraries() -> Vec<ParameterChoice> {
    let openssl = LIBRARY.usual.into_iter();
    vec![ParameterChoice {
        dimension: LIBRARY,
        words: openssl.chain([Library::Libgcrypt.word()]).collect(),
    }]
}

/// Keys of devices of a kind, through those of the stacks that can reach them.
fn on(
    store: StoreKind,
    stacks: &[StackName],
    keys: &[(Family, Operation)],
    common: &Selection,
    offers: &[Offer],
) -> Vec<Selection> {
    let of_kind = offers.iter().filter(|offer| offer.store == store);
    let reached =
        of_kind.filter(|offer| stacks.contains(&offer.stack) && !offer.capabilities.is_empty());
    reached
        .flat_map(|offer| keys.iter().map(move |key| (offer, *key)))
        .filter_map(|(offer, (family, operation))| {
            Some(Selection {
                algorithms: AlgorithmChoice::Listed(vec![Algorithm::of(family)?]),
                operations: Some(vec![operation]),
                devices: Some(vec![offer.device.clone()]),
                stacks: Some(vec![offer.stack]),
                ..common.clone()
            })
        })
        .collect()
}

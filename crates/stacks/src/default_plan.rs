//! What is measured when nobody says what: one plan for everybody.

use std::num::NonZeroU32;

use keymark_bench::algorithm::{Algorithm, Curve, Family, SlhVariant};
use keymark_bench::case::{
    DeviceName, Library, LibraryChoice, ParameterChoice, Protection, StackName, StoreKind,
};
use keymark_bench::operation::Operation;
use keymark_bench::plan::{AlgorithmChoice, Offer, Selection};

/// What the virtual card is compared with this CPU for.
const ON_CARD: [Family; 5] = [
    Family::Rsa(2048),
    Family::Rsa(4096),
    Family::Cv25519,
    Family::Ed25519,
    Family::Weierstrass(Curve::NistP256),
];

/// Every algorithm of GnuPG on its three layers and in both libraries, alone and in parallel; S2K once, because it costs
/// the same whatever the key; post-quantum keys in the library, as GnuPG does not have them; some
/// on the virtual card.
#[must_use]
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
    let mut gnupg: Vec<Algorithm> = offered(StackName::GNUPG)
        .filter(|algorithm| by_default(*algorithm))
        .collect();
    gnupg.dedup();
    let workers = |number: u32| NonZeroU32::new(number).into_iter().collect();
    let only = |stack: StackName| Some(vec![stack]);
    let new_keys = offered(StackName::RAW)
        .filter(|algorithm| is_post_quantum(*algorithm))
        .collect();
    let mut selections = vec![Selection {
        algorithms: AlgorithmChoice::Listed(new_keys),
        stacks: only(StackName::RAW),
        ..common.clone()
    }];
    selections.extend(on_card(common, offers));
    if gnupg.is_empty() {
        // Without GnuPG there is still the library.
        let classical = offered(StackName::RAW).filter(|algorithm| by_default(*algorithm));
        let classical = classical.filter(|algorithm| !is_post_quantum(*algorithm));
        selections.push(Selection {
            algorithms: AlgorithmChoice::Listed(classical.collect()),
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
    selections.extend([
        Selection {
            algorithms: listed(gnupg.clone()),
            parameters: in_both_libraries(),
            ..common.clone()
        },
        Selection {
            algorithms: listed(gnupg.clone()),
            stacks: only(StackName::GNUPG),
            concurrency: workers(4),
            ..common.clone()
        },
        Selection {
            algorithms: AlgorithmChoice::Longest,
            operations: Some(vec![Operation::Sign]),
            stacks: only(StackName::GNUPG),
            concurrency: workers(10),
            ..common.clone()
        },
        Selection {
            algorithms: listed(offers_cv25519.into_iter().collect()),
            stacks: only(StackName::AGENT),
            parameters: vec![ParameterChoice::Protection(vec![Protection::Cached])],
            ..common.clone()
        },
    ]);
    selections
}

/// Keys in the clear, by OpenSSL and by what gpg-agent calculates with, which its layers stand on.
fn in_both_libraries() -> Vec<ParameterChoice> {
    let libgcrypt = LibraryChoice::Loaded(Library::Libgcrypt);
    vec![
        ParameterChoice::Protection(vec![Protection::None]),
        ParameterChoice::Library(vec![LibraryChoice::BuiltIn, libgcrypt]),
    ]
}

/// The virtual card's keys, raw and through gpg where that can reach it.
fn on_card(common: &Selection, offers: &[Offer]) -> Vec<Selection> {
    let cards = offers
        .iter()
        .filter(|offer| offer.store == StoreKind::OPENPGP_CARD);
    let stacks = [StackName::RAW, StackName::GNUPG];
    cards
        .filter(|offer| stacks.contains(&offer.stack) && !offer.capabilities.is_empty())
        .map(|offer| Selection {
            algorithms: AlgorithmChoice::Listed(
                ON_CARD
                    .iter()
                    .filter_map(|family| Algorithm::of(*family))
                    .collect(),
            ),
            operations: Some(vec![Operation::Decrypt, Operation::Sign]),
            devices: Some(vec![offer.device.clone()]),
            stacks: Some(vec![offer.stack]),
            ..common.clone()
        })
        .collect()
}

/// Left out: Elgamal groups of 3072 bits and more, which gpg takes up to a minute to find, and
/// lengths that nobody should make keys of any more.
fn by_default(algorithm: Algorithm) -> bool {
    !matches!(
        algorithm.family(),
        Family::Elgamal(3072..) | Family::Rsa(..2048) | Family::Dsa(..3072)
    )
}

const fn is_post_quantum(algorithm: Algorithm) -> bool {
    matches!(
        algorithm.family(),
        Family::MlKem(_) | Family::MlDsa(_) | Family::SlhDsa(128, SlhVariant::Fast)
    )
}

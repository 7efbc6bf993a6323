//! What is measured when nobody says what: the default plan for everybody, and the complete one.

use std::num::NonZeroU32;

use keymark_bench::algorithm::{Algorithm, Curve, Family};
use keymark_bench::case::{Dimension, ParameterChoice, StackName, StoreKind};
use keymark_bench::operation::Operation;
use keymark_bench::plan::{AlgorithmChoice, Offer, Selection};
use keymark_bench::words;
use keymark_stores::access::Library;

use crate::gnupg::{PROTECTION, Protection};
use crate::raw::LIBRARY;
use crate::ssh::{AGENT, SSH, SshAgent};

words! {
    /// A plan with a name.
    #[derive(Default)]
    pub enum NamedPlan("plan") {
        /// What a person with GnuPG, ssh and a web server asks, in 75 seconds.
        #[default]
        Default = "default",
        /// That of more keys in both libraries, in parallel, and on the virtual card.
        Complete = "complete",
    }
}

/// Keys of one kind of device through some stacks.
struct Line {
    store: StoreKind,
    stacks: &'static [StackName],
    keys: &'static [Family],
    operations: &'static [Operation],
    parameters: &'static [(Dimension, &'static [&'static str])],
    workers: &'static [u32],
}

impl Line {
    /// In memory, as usual, alone.
    const SOFTWARE: Self = Self {
        store: StoreKind::SOFTWARE,
        stacks: &[StackName::RAW],
        keys: &[],
        operations: &[Operation::Decrypt, Operation::Sign],
        parameters: &[],
        workers: &[1],
    };
}

const P256: Family = Family::Weierstrass(Curve::NistP256);
const GNUPG: &[StackName] = &[StackName::RAW, StackName::AGENT, StackName::GNUPG];
/// What GnuPG calculates with.
const LIBGCRYPT: (Dimension, &[&str]) = (LIBRARY, &[Library::Libgcrypt.word()]);
/// The one that is built in.
const OPENSSL: &str = match LIBRARY.usual {
    Some(word) => word,
    None => "",
};
const BOTH_LIBRARIES: (Dimension, &[&str]) = (LIBRARY, &[OPENSSL, Library::Libgcrypt.word()]);
/// What GnuPG does not have yet.
const POST_QUANTUM: Line = Line {
    keys: &[Family::MlKem(768), Family::MlDsa(65)],
    operations: &[Operation::Decapsulate, Operation::Sign],
    ..Line::SOFTWARE
};
/// What certificates of servers have, on a token behind PKCS#11.
const ON_TOKEN: Line = Line {
    store: StoreKind::PKCS11,
    keys: &[Family::Rsa(2048), P256],
    operations: &[Operation::Sign],
    ..Line::SOFTWARE
};

/// GnuPG's default keys of yesterday and today, its longest, and a curve of TLS, on each layer; two of them ten at once;
/// logins; what certificates cost in OpenSSL, with two of GnuPG's keys for comparison.
const DEFAULT: &[Line] = &[
    Line {
        stacks: GNUPG,
        keys: &[
            Family::Ed25519,
            Family::Cv25519,
            Family::Rsa(3072),
            Family::Rsa(4096),
            P256,
        ],
        parameters: &[LIBGCRYPT],
        ..Line::SOFTWARE
    },
    Line {
        stacks: &[StackName::GNUPG],
        keys: &[Family::Ed25519, Family::Rsa(4096)],
        operations: &[Operation::Sign],
        workers: &[10],
        ..Line::SOFTWARE
    },
    Line {
        stacks: &[SSH],
        keys: &[Family::Ed25519, Family::Rsa(3072)],
        operations: &[Operation::Authenticate],
        parameters: &[(AGENT, &[SshAgent::OpenSsh.word()])],
        ..Line::SOFTWARE
    },
    Line {
        keys: &[Family::Ed25519, P256, Family::Rsa(2048), Family::Rsa(4096)],
        operations: &[Operation::Sign],
        ..Line::SOFTWARE
    },
    ON_TOKEN,
    POST_QUANTUM,
];

const KEYS: &[Family] = &[
    Family::Rsa(2048),
    Family::Rsa(4096),
    Family::Dsa(3072),
    Family::Weierstrass(Curve::NistP521),
    Family::Cv25519,
    Family::Ed25519,
];

/// Signatures also four and ten at once; S2K once, because it costs the same whatever the key.
const COMPLETE: &[Line] = &[
    Line {
        stacks: GNUPG,
        keys: KEYS,
        parameters: &[BOTH_LIBRARIES],
        ..Line::SOFTWARE
    },
    Line {
        stacks: &[StackName::GNUPG],
        keys: &[
            Family::Rsa(4096),
            Family::Dsa(3072),
            Family::Weierstrass(Curve::NistP521),
            Family::Ed25519,
        ],
        operations: &[Operation::Sign],
        workers: &[4, 10],
        ..Line::SOFTWARE
    },
    Line {
        stacks: &[StackName::AGENT],
        keys: &[Family::Cv25519],
        parameters: &[(PROTECTION, &[Protection::Cached.word()])],
        ..Line::SOFTWARE
    },
    Line {
        store: StoreKind::OPENPGP_CARD,
        stacks: &[StackName::RAW, StackName::GNUPG],
        keys: &[Family::Rsa(4096), Family::Cv25519],
        operations: &[Operation::Decrypt],
        ..Line::SOFTWARE
    },
    Line {
        store: StoreKind::OPENPGP_CARD,
        stacks: &[StackName::RAW, StackName::GNUPG],
        keys: &[Family::Ed25519],
        operations: &[Operation::Sign],
        ..Line::SOFTWARE
    },
    ON_TOKEN,
    POST_QUANTUM,
];

impl NamedPlan {
    const fn lines(self) -> &'static [Line] {
        match self {
            Self::Default => DEFAULT,
            Self::Complete => COMPLETE,
        }
    }

    /// The stacks that it wants.
    pub fn stacks(self) -> Vec<StackName> {
        let stacks = self.lines().iter().flat_map(|line| line.stacks);
        stacks.copied().collect()
    }

    /// What of it is on offer.
    pub fn selections(self, common: &Selection, offers: &[Offer]) -> Vec<Selection> {
        let lines = self.lines().iter();
        lines
            .flat_map(|line| of_line(line, common, offers))
            .collect()
    }
}

/// One selection for each device, stack and operation: not every stack has every key.
fn of_line(line: &Line, common: &Selection, offers: &[Offer]) -> Vec<Selection> {
    let libgcrypt_is_wanted = |offer: &Offer| {
        // What lies under GnuPG's stacks concerns nobody who has no GnuPG: then it is the usual library's time.
        let layers = line.stacks.contains(&StackName::GNUPG) && offer.stack == StackName::RAW;
        !layers || offers.iter().any(|other| other.stack == StackName::GNUPG)
    };
    let mut found = Vec::new();
    let of_line = |offer: &&Offer| offer.store == line.store && line.stacks.contains(&offer.stack);
    for offer in offers.iter().filter(of_line) {
        let parameters = if libgcrypt_is_wanted(offer) {
            line.parameters
        } else {
            &[]
        };
        let parameters = parameters.iter().map(|(dimension, words)| ParameterChoice {
            dimension: *dimension,
            words: words.to_vec(),
        });
        let parameters: Vec<ParameterChoice> = parameters.collect();
        for operation in line.operations {
            let offered = |family: &Family| {
                let mut capabilities = offer.capabilities.iter();
                capabilities.any(|capability| {
                    (capability.algorithm.family(), capability.operation) == (*family, *operation)
                })
            };
            let keys = line.keys.iter().filter(|family| offered(family));
            let keys: Vec<Algorithm> = keys.filter_map(|family| Algorithm::of(*family)).collect();
            if keys.is_empty() {
                continue;
            }
            let workers = line.workers.iter().copied().filter_map(NonZeroU32::new);
            found.push(Selection {
                algorithms: AlgorithmChoice::Listed(keys),
                operations: Some(vec![*operation]),
                devices: Some(vec![offer.device.clone()]),
                stacks: Some(vec![offer.stack]),
                concurrency: workers.collect(),
                parameters: parameters.clone(),
                ..common.clone()
            });
        }
    }
    found
}

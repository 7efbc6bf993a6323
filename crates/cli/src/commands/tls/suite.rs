//! `keymark tls suite`: whole questions, as plans.

use std::num::{NonZeroU8, NonZeroU32};
use std::path::PathBuf;
use std::time::Duration;

use itertools::Itertools;
use keymark_bench::algorithm::{Algorithm, Curve, Family};
use keymark_bench::case::{Case, Load, Pacing, StackName};
use keymark_bench::operation::Operation;
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::tls::{
    APACHE, Arrangement, Balance, CADDY, Fate, Handshake, KeyExchange, NGINX, Saturating, Servers,
    TlsVersion,
};

use super::super::Outcome;
use super::run::Wanted;
use crate::args::{SuiteExtent, TlsSuite, TlsSuiteArguments};
use crate::exit::Failure;
use crate::{output, user};

/// Users at most, where the best rate is looked for.
const MOST_USERS: NonZeroU32 = NonZeroU32::new(64).unwrap();
/// Users who leave no server of two cores without work.
const SATURATING: NonZeroU32 = NonZeroU32::new(16).unwrap();
/// Users of servers whose time is not a matter of users.
const SOME_USERS: NonZeroU32 = NonZeroU32::new(8).unwrap();
/// Enough that four servers with a slow key each have somebody to serve.
const QUEUE: NonZeroU32 = NonZeroU32::new(16).unwrap();

pub(super) fn run(arguments: &TlsSuiteArguments, archive: Option<&PathBuf>) -> Outcome {
    let suite = arguments.suite;
    let user = user::of_arguments(&arguments.run.run.card);
    let or_usual = |chosen: &[String]| match chosen {
        [] => suite.devices().iter().map(ToString::to_string).collect(),
        chosen => chosen.to_vec(),
    };
    let names: Vec<String> = or_usual(&arguments.device);
    let inventory = super::devices(&names, &user)?;
    let extent = arguments.plan;
    let mut servers = match arguments.server.as_slice() {
        [] => suite.servers(extent).to_vec(),
        chosen => chosen.to_vec(),
    };
    let mut cases = Vec::new();
    for server in &servers {
        for found in &inventory.devices {
            cases.extend(suite.cases(*server, found, extent));
        }
    }
    leave_out(&mut cases, &inventory, arguments);
    if too_new(&mut cases, &servers)? && arguments.server.is_empty() && caddy_is_here() {
        servers.push(CADDY);
        for found in &inventory.devices {
            cases.extend(of(found, CADDY, hybrid(closed)));
        }
    }
    let servers = servers.as_slice();
    if cases.is_empty() {
        return Err(Failure::nothing_usable("nothing is left of the suite"));
    }
    let wanted = Wanted {
        cases,
        servers,
        inventory: &inventory,
        names: &names,
        user: &user,
        duration: arguments.duration.unwrap_or_else(|| suite.duration()),
        arguments: &arguments.run,
    };
    wanted.run(archive)
}

/// What nobody allowed, and keys that a device does not have: said, once each.
fn leave_out(cases: &mut Vec<Case>, inventory: &Inventory, arguments: &TlsSuiteArguments) {
    let all = cases.len();
    cases.retain(|case| arguments.run.allow_weak || !case.is_weak());
    if cases.len() < all {
        let number = all - cases.len();
        output::note(&format!(
            "skipping {number} cases with 80 bits of security; --allow-weak includes them"
        ));
    }
    let mut lacking = Vec::new();
    cases.retain(|case| {
        let has = inventory.devices.iter().any(|found| has(found, case));
        if !has {
            lacking.push(format!("{} on {}", case.algorithm, case.device));
        }
        has
    });
    if !lacking.is_empty() {
        let lacking = lacking.iter().sorted_unstable().dedup();
        output::note(&format!("not available: {}", lacking.format(", ")));
    }
}

/// Leaves out what the installed servers' OpenSSL is too old for, and says so; whether that was anything.
fn too_new(cases: &mut Vec<Case>, servers: &[StackName]) -> Result<bool, Failure> {
    let installed = Servers::find(servers).map_err(Failure::nothing_usable)?;
    let mut reasons = Vec::new();
    cases.retain(|case| {
        let reason = installed.too_old_for(case);
        let possible = reason.is_none();
        reasons.extend(reason);
        possible
    });
    reasons.sort_unstable();
    reasons.dedup();
    for reason in &reasons {
        let instead = if caddy_is_here() {
            ""
        } else {
            "; 'make caddy' installs a server that has it"
        };
        output::note(&format!("leaving out: {reason}{instead}"));
    }
    Ok(!reasons.is_empty())
}

/// A server with a library of its own, which has the hybrid key exchange whatever OpenSSL is here.
fn caddy_is_here() -> bool {
    Servers::find(&[CADDY]).is_ok()
}

fn has(found: &Found, case: &Case) -> bool {
    let signs = |algorithm| {
        let capabilities = found.device.capabilities().iter();
        let mut signing = capabilities.filter(|one| one.operation == Operation::Sign);
        signing.any(|one| one.algorithm == algorithm)
    };
    let other = match Arrangement::of(case) {
        Arrangement::Beside { other } => Some(other),
        Arrangement::One | Arrangement::Balanced { .. } => None,
    };
    found.identity.device == case.device && signs(case.algorithm) && other.is_none_or(signs)
}

impl TlsSuite {
    const fn devices(self) -> &'static [&'static str] {
        match self {
            Self::KeyExchange | Self::Dual => &["software"],
            // The first twin is the article's, which has no elliptic curves; the maker says what they take.
            Self::Hsm => &[
                "software",
                "softhsm",
                "twin:nitrokey-hsm",
                "twin:nitrokey-hsm-vendor",
            ],
            Self::Cluster => &["twin:nitrokey-hsm"],
        }
    }

    const fn servers(self, extent: SuiteExtent) -> &'static [StackName] {
        match (self, extent) {
            (Self::KeyExchange, SuiteExtent::Complete) | (Self::Dual, _) => &[APACHE, NGINX],
            (Self::KeyExchange, SuiteExtent::Short) | (Self::Hsm | Self::Cluster, _) => &[APACHE],
        }
    }

    const fn duration(self) -> Duration {
        match self {
            Self::KeyExchange | Self::Dual => Duration::from_secs(8),
            Self::Hsm | Self::Cluster => Duration::from_secs(30),
        }
    }

    fn cases(self, server: StackName, found: &Found, extent: SuiteExtent) -> Vec<Case> {
        let asked = match (self, extent) {
            (Self::KeyExchange, SuiteExtent::Short) => key_exchange(closed),
            (Self::KeyExchange, SuiteExtent::Complete) => key_exchange(saturated),
            (Self::Hsm, _) => hsm(),
            (Self::Cluster, _) => cluster(),
            (Self::Dual, _) => dual(),
        };
        of(found, server, asked)
    }
}

fn of(found: &Found, server: StackName, asked: Vec<Asked>) -> Vec<Case> {
    let case = |(family, handshake, load): Asked| {
        let of = (server, Algorithm::of(family)?);
        Some(super::case(&found.identity, of, handshake, load))
    };
    asked.into_iter().filter_map(case).collect()
}

/// Key of the certificate, handshake, load.
type Asked = (Family, Handshake, Load);

const P256: Family = Family::Weierstrass(Curve::NistP256);
const P384: Family = Family::Weierstrass(Curve::NistP384);

/// A handshake under enough users.
fn closed(handshake: Handshake) -> (Handshake, Load) {
    (handshake, Load::closed(SATURATING))
}

/// The same under as many users as bring the best rate.
fn saturated(handshake: Handshake) -> (Handshake, Load) {
    let search = Some(Saturating { p99: None });
    let searched = Handshake {
        search,
        ..handshake
    };
    (searched, Load::closed(MOST_USERS))
}

/// What certificates of each length and kind cost with what key exchanges.
fn key_exchange(loaded: fn(Handshake) -> (Handshake, Load)) -> Vec<Asked> {
    let in_1_2 = |exchange| Handshake::one(TlsVersion::V1_2, exchange);
    let mut asked: Vec<(Family, Handshake)> = Vec::new();
    for bits in [1024_u16, 2048, 3072, 4096] {
        let certificate = Family::Rsa(bits.into());
        let exchanges = [
            Some(KeyExchange::Rsa),
            KeyExchange::dhe(bits),
            Some(KeyExchange::EcdheP256),
        ];
        let exchanges = exchanges.into_iter().flatten();
        asked.extend(exchanges.map(|exchange| (certificate, in_1_2(exchange))));
    }
    // As many servers had it.
    let old = [2048, 3072].map(|bits| (Family::Rsa(bits), in_1_2(KeyExchange::Dhe1024)));
    asked.extend(old);
    let curves = [P256, P384, Family::Ed25519];
    asked.extend(curves.map(|certificate| (certificate, in_1_2(KeyExchange::EcdheP256))));
    let with_load = |(certificate, handshake)| {
        let (handshake, load) = loaded(handshake);
        (certificate, handshake, load)
    };
    let mut asked: Vec<Asked> = asked.into_iter().map(with_load).collect();
    asked.extend(hybrid(loaded));
    asked
}

/// TLS 1.3 with and without a key exchange that withstands quantum computers (FIPS 203).
fn hybrid(loaded: fn(Handshake) -> (Handshake, Load)) -> Vec<Asked> {
    let exchanges = [
        KeyExchange::X25519,
        KeyExchange::EcdheP256,
        KeyExchange::X25519MlKem768,
    ];
    let certificates = [Family::Rsa(2048), P256].into_iter();
    let each = certificates.flat_map(|certificate| {
        exchanges.map(|exchange| {
            let (handshake, load) = loaded(Handshake::one(TlsVersion::V1_3, exchange));
            (certificate, handshake, load)
        })
    });
    each.collect()
}

/// The article's users, and its benchmark.
fn hsm() -> Vec<Asked> {
    const DELAY: Duration = Duration::from_secs(5);
    let handshake = Handshake::one(TlsVersion::V1_3, KeyExchange::X25519);
    let users = |count| NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
    let thinking = [5, 10, 20].map(|count| Load {
        pacing: Pacing::Thinking(DELAY),
        ..Load::closed(users(count))
    });
    let loads = [thinking.as_slice(), &[Load::closed(users(60))]].concat();
    let keys = [Family::Rsa(2048), Family::Rsa(1024), P256];
    let of = |key| loads.iter().map(move |load| (key, handshake, *load));
    keys.into_iter().flat_map(of).collect()
}

/// One server and several, and the loss of one.
fn cluster() -> Vec<Asked> {
    let mut asked = Vec::new();
    for balance in [Balance::RoundRobin, Balance::LeastConnections] {
        let numbers = [
            (1, Fate::AllLive),
            (2, Fate::AllLive),
            (4, Fate::AllLive),
            (4, Fate::OneKilled),
        ];
        asked.extend(numbers.map(|(servers, fate)| {
            let arrangement = Arrangement::Balanced {
                servers: NonZeroU8::new(servers).unwrap_or(NonZeroU8::MIN),
                balance,
                fate,
            };
            let handshake = Handshake {
                arrangement,
                ..Handshake::one(TlsVersion::V1_3, KeyExchange::X25519)
            };
            (Family::Rsa(2048), handshake, Load::closed(QUEUE))
        }));
    }
    asked
}

/// Clients of TLS 1.2 that know RSA alone, and clients of TLS 1.3: each certificate by itself, and beside the other.
fn dual() -> Vec<Asked> {
    let clients = [
        (
            Family::Rsa(2048),
            P256,
            TlsVersion::V1_2,
            KeyExchange::EcdheP256,
        ),
        (
            P256,
            Family::Rsa(2048),
            TlsVersion::V1_3,
            KeyExchange::X25519,
        ),
    ];
    let each = clients
        .into_iter()
        .flat_map(|(taken, other, version, exchange)| {
            let beside = Algorithm::of(other).map(|other| Arrangement::Beside { other });
            let arrangements = [Arrangement::One].into_iter().chain(beside);
            arrangements.map(move |arrangement| {
                let handshake = Handshake {
                    arrangement,
                    ..Handshake::one(version, exchange)
                };
                (taken, handshake, Load::closed(SOME_USERS))
            })
        });
    each.collect()
}

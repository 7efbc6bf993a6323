//! `keymark tls suite`: whole questions, as plans.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::ValueEnum;
use itertools::{Itertools, iproduct};
use keymark_bench::shipped::shipped;
use keymark_bench::{Algorithm, Case, Load, Operation, Pacing, StackName};
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::tls::{
    Arrangement, CADDY, Handshake, KeyExchange, Saturating, Servers, TlsVersion, VERSION,
};
use serde::Deserialize;

use super::bench::TlsRun;
use crate::args::{SuiteExtent, TlsSuiteArguments};
use crate::exit::{Failure, Outcome};
use crate::{load, output, user};

/// Suites by name.
static SUITES: LazyLock<BTreeMap<String, TlsSuite>> =
    LazyLock::new(|| shipped(include_str!("../../../../../data/tls-suites.toml")));

/// A suite, as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsSuite {
    devices: Vec<String>,
    servers: Vec<StackName>,
    duration_s: u64,
    complete: Option<Complete>,
    cases: Vec<TlsSuiteCases>,
}

/// Extent of `--plan complete`: the best rate of up to this number of users.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Complete {
    servers: Vec<StackName>,
    users: NonZeroU32,
}

/// Cases of every certificate by every key exchange, arrangement and number of users.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsSuiteCases {
    certificates: Vec<Algorithm>,
    tls: TlsVersion,
    kex: Vec<KeyExchange>,
    #[serde(default = "alone")]
    arrangements: Vec<Arrangement>,
    users: Vec<NonZeroU32>,
    pause_s: Option<u64>,
}

fn alone() -> Vec<Arrangement> {
    vec![Arrangement::One]
}

pub(super) fn run(arguments: &TlsSuiteArguments, archive: Option<&PathBuf>) -> Outcome {
    let name = arguments.suite.to_possible_value();
    let suite = name.and_then(|name| SUITES.get(name.get_name()));
    let suite = suite.ok_or_else(|| Failure::failed("data/tls-suites.toml lacks the suite"))?;
    let is_complete = arguments.plan == SuiteExtent::Complete;
    let complete = suite.complete.as_ref().filter(|_| is_complete);
    let user = user::of_arguments(&arguments.run.run.card);
    let names = or_usual(&arguments.device, &suite.devices);
    let inventory = load::devices(&names, &user)?;
    let usual = complete.map_or(&suite.servers, |complete| &complete.servers);
    let mut servers = or_usual(&arguments.server, usual);
    let on = |server: &StackName| suite.cases(*server, &inventory, complete);
    let mut cases: Vec<Case> = servers.iter().flat_map(on).collect();
    leave_out(&mut cases, &inventory, arguments);
    if too_new(&mut cases, &servers)? && arguments.server.is_empty() && caddy_is_here() {
        servers.push(CADDY);
        let newest = |case: &Case| case.parameters.get(VERSION.name) == Some("tls1.3");
        cases.extend(on(&CADDY).into_iter().filter(newest));
    }
    if cases.is_empty() {
        return Err(Failure::nothing_usable("nothing is left of the suite"));
    }
    let run = TlsRun {
        cases,
        servers: &servers,
        inventory: &inventory,
        names: &names,
        user: &user,
        duration: arguments
            .case_time
            .unwrap_or(Duration::from_secs(suite.duration_s)),
        arguments: &arguments.run,
    };
    run.run(archive)
}

fn or_usual<T: Clone>(chosen: &[T], usual: &[T]) -> Vec<T> {
    let chosen = if chosen.is_empty() { usual } else { chosen };
    chosen.to_vec()
}

impl TlsSuite {
    fn cases(&self, server: StackName, on: &Inventory, complete: Option<&Complete>) -> Vec<Case> {
        let each = iproduct!(&on.devices, &self.cases);
        each.flat_map(|(found, cases)| {
            let asked = cases.asked(complete);
            asked.map(move |(key, handshake, load)| {
                super::case(&found.identity, (server, key), handshake, load)
            })
        })
        .collect()
    }
}

impl TlsSuiteCases {
    fn asked(
        &self,
        complete: Option<&Complete>,
    ) -> impl Iterator<Item = (Algorithm, Handshake, Load)> {
        let users = complete.map_or(self.users.clone(), |_| vec![NonZeroU32::MIN]);
        let pause = self.pause_s.map(Duration::from_secs);
        let search = complete.map(|complete| Saturating {
            most: complete.users,
            p99: None,
        });
        iproduct!(&self.certificates, &self.kex, &self.arrangements, users).map(
            move |(certificate, exchange, arrangement, users)| {
                let handshake = Handshake {
                    arrangement: *arrangement,
                    search,
                    ..Handshake::one(self.tls, *exchange)
                };
                let load = Load {
                    pacing: pause.map_or(Pacing::Closed, Pacing::Thinking),
                    ..Load::closed(users)
                };
                (*certificate, handshake, load)
            },
        )
    }
}

/// Leaves out weak cases that were not allowed and keys that a device lacks, and prints each once.
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
    for reason in reasons.iter().sorted_unstable().dedup() {
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

//! `keymark tls`

mod bench;
mod check;
mod config;
mod serve;
mod suite;

use std::path::PathBuf;
use std::time::Duration;

use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Case, Load, Operation, StackName, StoreIdentity};
use keymark_load::LoadSettings;
use keymark_stacks::tls::servers::Weak;
use keymark_stacks::tls::{Handshake, KeyExchange, TlsVersion};

use crate::args::{TlsCommand, TlsRunArguments};
use crate::exit::Outcome;

pub(super) fn run(command: &TlsCommand, archive: Option<&PathBuf>) -> Outcome {
    match command {
        TlsCommand::Bench(arguments) => match &arguments.remote.connect {
            Some(address) => bench::connect(address, arguments, archive),
            None => bench::run(arguments, archive),
        },
        TlsCommand::Check(arguments) => check::run(arguments),
        TlsCommand::Config(arguments) => config::run(arguments),
        TlsCommand::Suite(arguments) => suite::run(arguments, archive),
        TlsCommand::Serve(arguments) => serve::run(arguments),
    }
}

/// The version that was chosen, or that in which the key exchange is usual.
fn version(chosen: Option<TlsVersion>, exchange: KeyExchange) -> TlsVersion {
    chosen.unwrap_or_else(|| exchange.usual_version())
}

fn handshake(chosen: Option<TlsVersion>, exchange: KeyExchange) -> Handshake {
    Handshake::one(version(chosen, exchange), exchange)
}

/// A case of a device, with a file of 4 KiB.
fn case(
    identity: &StoreIdentity,
    (stack, algorithm): (StackName, Algorithm),
    handshake: Handshake,
    load: Load,
) -> Case {
    let capability = Capability {
        algorithm,
        operation: Operation::Handshake,
    };
    Case {
        stack,
        parameters: handshake.into(),
        load,
        input_bytes: 4096,
        strength: handshake.strength(algorithm),
        ..identity.case(capability)
    }
}

/// Settings of keymark's own client.
fn client(arguments: &TlsRunArguments, duration: Duration) -> LoadSettings {
    LoadSettings {
        threads: arguments.client_threads,
        weak: weak(arguments.allow_weak),
        ..LoadSettings::new(Load::single(), duration)
    }
}

const fn weak(allowed: bool) -> Weak {
    if allowed {
        Weak::Allowed
    } else {
        Weak::Refused
    }
}

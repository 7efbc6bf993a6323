//! A server that runs, from its configuration to its end.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::error::Error;
use keymark_load::{Certificate, Expected, Target, Timeouts, TlsVersion, Weak, probe};
use keymark_stores::places::program;
use keymark_stores::user::Pin;

use crate::tls::servers::directory::{DOCUMENT, ServerDirectory};
use crate::tls::servers::error::{Impossible, ServerError};
use crate::tls::servers::identity::Identity;
use crate::tls::servers::kind::Installed;
use crate::tls::servers::process;
use crate::tls::servers::served::{Served, on_port};
use crate::tls::servers::spec::{SecurityLevel, ServerSpec, is_weak};
use crate::tls::servers::token_trace::CallsSoFar;

/// How long a server is waited for: a token may take seconds to log in, in each worker.
const READY: Duration = Duration::from_secs(30);
/// How long one answer is: a slow token takes seconds for a signature with a long key.
const ANSWER: Timeouts = Timeouts {
    connect: Duration::from_secs(15),
    handshake: Duration::from_secs(15),
    whole: Duration::from_secs(30),
};
const DRAIN_STEP: Duration = Duration::from_millis(5);

/// A TLS server. It is gone with the value, and its private directory as well.
#[derive(Debug)]
pub struct RunningServer {
    /// Its processes.
    pub process: Served,
    /// Its program.
    pub installed: Installed,
    /// What it was asked to be.
    pub spec: ServerSpec,
}

impl RunningServer {
    /// Starts it, and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be ([`ServerError::Impossible`]), something is missing, or it does not start: with the end of its log.
    pub fn start(installed: &Installed, spec: &ServerSpec) -> Result<Self, ServerError> {
        check(installed, spec)?;
        let process = on_port(spec.port, |port| {
            let directory = ServerDirectory::make(installed, spec, port)?;
            let mut command = program::command(&installed.program);
            installed.kind.command(&mut command, &directory);
            let called = (installed.name(), installed.kind.faults());
            Served::start(command, directory, called, (port, READY), |address| {
                answers(address, spec)
            })
        })?;
        Ok(Self {
            process,
            installed: installed.clone(),
            spec: spec.clone(),
        })
    }

    /// What it serves, for clients: `/document`.
    pub fn path(&self) -> String {
        format!("/{DOCUMENT}")
    }

    /// What it has asked of its token until now; none where nothing is counted.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn calls(&self) -> Result<Option<CallsSoFar>, Error> {
        self.process.directory.traces.read()
    }

    /// Waits until no connection is open any more, those that clients have left included, and a new one is answered. A
    /// server whose key is slow works on handshakes that nobody waits for; the next load would wait behind them. Says
    /// how long it took.
    ///
    /// # Errors
    /// When connections are left after that time, or the server has ended or does not answer.
    pub fn drain(&mut self, limit: Duration) -> Result<Duration, Error> {
        let clock = MonotonicClock::new();
        let begin = clock.now();
        let deadline = begin.after(limit);
        let call = format!("draining {}", self.installed.name());
        loop {
            self.process.check()?;
            let open = process::connections(self.process.address.port());
            if open == 0 {
                break;
            }
            if clock.now() >= deadline {
                let reason = format!(
                    "{open} connections are still open after {} s",
                    limit.as_secs_f64()
                );
                return Err(Error::call(
                    call,
                    reason,
                    "give it more time, or use a new server",
                ));
            }
            std::thread::sleep(DRAIN_STEP);
        }
        answers(self.process.address, &self.spec)
            .map_err(|why| Error::call(call, why, "its log says more"))?;
        Ok(clock.now().since(begin))
    }

    /// Everything about it, for the record.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let worker = self.process.directory.worker.as_ref();
        let user = worker.filter(|_| self.installed.library.openssl.is_some());
        let user = user.map_or("as keymark", |worker| worker.name.as_str());
        describe(&self.installed, &self.spec, user)
    }
}

/// Whether it answers a new connection with its certificate and its document; why not.
fn answers(address: SocketAddr, spec: &ServerSpec) -> Result<(), String> {
    let handshakes = &spec.handshakes;
    let target = Target {
        address,
        server_name: "localhost".to_owned(),
        path: format!("/{DOCUMENT}"),
        expected: Expected {
            version: handshakes
                .versions
                .last()
                .copied()
                .unwrap_or(TlsVersion::V1_3),
            key_exchange: handshakes.exchange,
            certificate: Certificate::Any,
            body: None,
        },
    };
    let (clock, stop) = (MonotonicClock::new(), AtomicBool::new(false));
    // Weak keys are the server's business.
    let probed = probe(&target, Weak::Allowed, &ANSWER, (&clock, &stop));
    let probed = probed.map_err(|error| error.to_string())?;
    let mut own = spec.certificates.iter();
    if !own.any(|own| own.certificate.to_der().ok().as_ref() == probed.chain.first()) {
        return Err("another server answers at that port".to_owned());
    }
    match (probed.body, u64::from(spec.body)) {
        (sent, wanted) if sent == wanted => Ok(()),
        (sent, wanted) => Err(format!("it sends {sent} bytes of {wanted}")),
    }
}

/// Whether it can be what is wanted, before anything is started.
fn check(server: &Installed, spec: &ServerSpec) -> Result<(), ServerError> {
    if let (Weak::Refused, Some(weak)) = (spec.weak, spec.weaknesses().into_iter().next()) {
        return Err(Impossible::Weak(weak).into());
    }
    let tokens = spec.certificates.iter().filter_map(Identity::token);
    let mut tokens = tokens.map(|(key, way)| (&key.module, way, key.pin.as_ref().map(Pin::expose)));
    let first = tokens.next();
    if !tokens.all(|token| Some(token) == first) {
        return Err(Impossible::TwoModules.into());
    }
    if spec.certificates.iter().count() > 1 {
        server.kind.check_two(&server.version)?;
    }
    server.kind.check(server, spec)
}

fn describe(installed: &Installed, spec: &ServerSpec, user: &str) -> BTreeMap<String, String> {
    let handshakes = &spec.handshakes;
    let mut described = BTreeMap::new();
    let mut tell = |name: &str, value: String| described.insert(name.to_owned(), value);
    tell("server", installed.name().to_lowercase());
    tell("server_version", installed.version.to_string());
    if let Some((name, value)) = installed.kind.described() {
        tell(name, value.to_owned());
    }
    let library = &installed.library;
    tell(library.name, library.version.to_string());
    let words = |words: Vec<&str>, between| words.join(between);
    let versions = handshakes.versions.iter().map(|version| version.word());
    tell("protocol", words(versions.collect(), " "));
    tell("ciphers", handshakes.ciphers.to_string());
    let groups = handshakes.groups.iter().map(|exchange| exchange.word());
    tell("groups", words(groups.collect(), ":"));
    let dh = handshakes.dh.map(|dh| {
        let bits = dh.bits;
        format!("{bits} bits by openssl dhparam: exponents as long as the prime")
    });
    tell(
        "dh_parameters",
        dh.unwrap_or_else(|| "none given".to_owned()),
    );
    let level = match spec.level() {
        SecurityLevel::One => format!("1, for {}", spec.weaknesses().join(" and ")),
        SecurityLevel::Distributions => "of the distribution".to_owned(),
    };
    tell("security_level", level);
    let identities: Vec<String> = spec.certificates.iter().map(identity_words).collect();
    tell("certificates", identities.join(", "));
    // With TLS 1.3 OpenSSL sends two all the same; no server takes one.
    tell("session_tickets", "off".to_owned());
    tell("session_cache", "off".to_owned());
    tell("processes", spec.capacity.processes.to_string());
    tell("connections", spec.capacity.connections.to_string());
    tell("body_bytes", spec.body.to_string());
    tell("worker_user", user.to_owned());
    described
}

fn identity_words(identity: &Identity) -> String {
    let weak = if is_weak(identity.algorithm) {
        " (weak)"
    } else {
        ""
    };
    let location = match identity.way() {
        None => "in a file".to_owned(),
        Some(way) => format!("on a token by the {way}"),
    };
    format!("{}{weak} {location}", identity.algorithm)
}

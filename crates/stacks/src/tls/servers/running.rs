//! A program that serves, in a private directory, from its configuration to its end: a server, and what it has in common with
//! balancers.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZeroU16;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::{Clock, During as _, Error, MonotonicClock};
use keymark_load::{
    Certificate, ClientIdentity, Expected, ResumedShare, Target, Timeouts, TlsVersion, Weak, probe,
};
use keymark_stores::places::process::Process;
use keymark_stores::places::program;
use keymark_stores::user::Pin;
use nix::sys::signal::Signal;

use crate::tls::servers::directory::{DOCUMENT, ServerDirectory};
use crate::tls::servers::identity::Identity;
use crate::tls::servers::kind::InstalledServer;
use crate::tls::servers::log::{self, ServerFault};
use crate::tls::servers::process::{self, ServerProcesses};
use crate::tls::servers::spec::{ServerSpec, is_weak};
use crate::tls::servers::token::{CallsSoFar, TokenTrace};
use crate::tls::servers::{TWO_MODULES, impossible};

/// Limit until a server answers: a token may take seconds to log in, in each worker.
const READY: Duration = Duration::from_secs(30);
/// Limits of one answer: a slow token takes seconds for a signature with a long key.
const ANSWER: Timeouts = Timeouts {
    connect: Duration::from_secs(15),
    handshake: Duration::from_secs(15),
    whole: Duration::from_secs(30),
};
const DRAIN_STEP: Duration = Duration::from_millis(5);

/// A TLS server. It and its private directory are gone with the value.
#[derive(Debug)]
pub struct RunningServer {
    /// Its processes.
    pub process: Served,
    /// Its program.
    pub installed: InstalledServer,
    /// Its specification.
    pub spec: ServerSpec,
}

impl RunningServer {
    /// Starts it, and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be, something is missing, or it does not start: with the end of its log.
    pub fn start(installed: &InstalledServer, spec: &ServerSpec) -> Result<Self, Error> {
        check(installed, spec)?;
        let process = on_port(spec.port, |port| {
            let directory = ServerDirectory::make(installed, spec, port)?;
            let mut command = program::command(&installed.program);
            (installed.kind.command)(&mut command, &directory);
            let name = installed.name();
            Served::start(command, directory, name, (port, READY), |address| {
                answers(address, spec, spec.client_identity())
            })
        })?;
        if spec.client.is_some() && answers(process.address, spec, None).is_ok() {
            let call = format!("starting {}", installed.name());
            return Err(Error::call(
                call,
                "it serves clients without a certificate",
                "",
            ));
        }
        Ok(Self {
            process,
            installed: installed.clone(),
            spec: spec.clone(),
        })
    }

    /// Path of the served file: `/document`.
    pub fn path(&self) -> String {
        format!("/{DOCUMENT}")
    }

    /// Calls to its token so far; none where nothing is counted.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn calls(&self) -> Result<Option<CallsSoFar>, Error> {
        let trace = self.process.directory.trace.as_ref();
        trace.map(TokenTrace::read).transpose()
    }

    /// Waits until no connection is open any more, those that clients have left included, and a new one is answered. A
    /// server whose key is slow works on handshakes that nobody waits for; the next load would wait behind them. Returns
    /// how long it took; none when connections are left after that time, or the server has ended or does not answer.
    pub fn drain(&mut self, limit: Duration) -> Option<Duration> {
        let clock = MonotonicClock::new();
        let begin = clock.now();
        let deadline = begin.after(limit);
        let address = self.process.address;
        loop {
            // Workers may answer for a while without their master.
            self.process.check().ok()?;
            if process::connections(address.port()) == 0 {
                break;
            }
            if clock.now() >= deadline {
                return None;
            }
            std::thread::sleep(DRAIN_STEP);
        }
        answers(address, &self.spec, self.spec.client_identity()).ok()?;
        Some(clock.now().since(begin))
    }

    /// Everything about it, for the record.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let (installed, spec) = (&self.installed, &self.spec);
        let (library, handshakes) = (&installed.library, &spec.handshakes);
        let mut described = BTreeMap::new();
        let mut tell = |name: &str, value: String| described.insert(name.to_owned(), value);
        tell("server", installed.name().to_lowercase());
        tell("server_version", installed.version.to_string());
        if let Some(mpm) = installed.kind.mpm {
            tell("mpm", mpm.to_owned());
        }
        tell(library.name, library.version.to_string());
        let versions: Vec<&str> = handshakes.versions.iter().map(|one| one.word()).collect();
        tell("protocol", versions.join(" "));
        tell("ciphers", handshakes.ciphers.to_owned());
        let groups: Vec<&str> = handshakes.groups.iter().map(|one| one.word()).collect();
        tell("groups", groups.join(":"));
        let dh = handshakes.dh.map(|dh| {
            let bits = dh.bits;
            format!("{bits} bits by openssl dhparam: exponents as long as the prime")
        });
        tell(
            "dh_parameters",
            dh.unwrap_or_else(|| "none given".to_owned()),
        );
        let level = if spec.is_weakened() {
            format!("1, for {}", spec.weaknesses().join(" and "))
        } else {
            "of the distribution".to_owned()
        };
        tell("security_level", level);
        let identities: Vec<String> = spec.certificates.iter().map(identity_words).collect();
        tell("certificates", identities.join(", "));
        // With TLS 1.3 OpenSSL sends two all the same; no server takes one that has them off.
        tell("session_tickets", handshakes.tickets().to_owned());
        tell("session_cache", "off".to_owned());
        tell("processes", spec.capacity.processes.to_string());
        tell("connections", spec.capacity.connections.to_string());
        tell("body_bytes", spec.body.to_string());
        let worker = self.process.directory.worker.as_ref();
        let user = worker.filter(|_| library.openssl.is_some());
        let user = user.map_or("as keymark", |worker| worker.name.as_str());
        tell("worker_user", user.to_owned());
        described
    }
}

/// Checks whether it answers a new connection of such a client with its certificate and its document.
fn answers(
    address: SocketAddr,
    spec: &ServerSpec,
    client: Option<ClientIdentity>,
) -> Result<(), String> {
    let handshakes = &spec.handshakes;
    let target = Target {
        address,
        server_name: "localhost".to_owned(),
        path: format!("/{DOCUMENT}"),
        client,
        expected: Expected {
            version: handshakes
                .versions
                .last()
                .copied()
                .unwrap_or(TlsVersion::V1_3),
            key_exchange: handshakes.exchange,
            certificate: Certificate::Any,
            body: None,
            resumed: ResumedShare::NONE,
        },
    };
    let (clock, stop) = (MonotonicClock::new(), AtomicBool::new(false));
    // Weak keys are the server's business.
    let probed = probe(&target, Weak::Allowed, &ANSWER, (&clock, &stop));
    let probed = probed.map_err(|error| error.to_string())?;
    if !spec
        .certificates
        .iter()
        .any(|own| own.certificate.to_der().ok().as_ref() == probed.shaken.chain.first())
    {
        return Err("another server answers at that port".to_owned());
    }
    match (probed.body, u64::from(spec.body)) {
        (sent, wanted) if sent == wanted => Ok(()),
        (sent, wanted) => Err(format!("it sends {sent} bytes of {wanted}")),
    }
}

/// Checks whether it supports the request, before anything is started.
fn check(server: &InstalledServer, spec: &ServerSpec) -> Result<(), Error> {
    if let (Weak::Refused, Some(weak)) = (spec.weak, spec.weaknesses().into_iter().next()) {
        return Err(impossible(format!(
            "{weak} is weak: it has 80 bits of security or less; allow it with --allow-weak"
        )));
    }
    let tokens = spec.certificates.iter().filter_map(Identity::token);
    let mut tokens =
        tokens.map(|(key, way)| (key.module(), way, key.pin.as_ref().map(Pin::expose)));
    let first = tokens.next();
    if !tokens.all(|token| Some(token) == first) {
        return Err(impossible(TWO_MODULES));
    }
    (server.kind.check)(server, spec)
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

const STEP: Duration = Duration::from_millis(20);
/// Between a port that was free and a server at it, another program may take it.
const TRIES: usize = 4;

/// Running program. It and its private directory end with the value.
#[derive(Debug)]
pub struct Served {
    running: ServerProcesses,
    name: &'static str,
    /// Address at which it listens.
    pub address: SocketAddr,
    /// Removed last.
    pub(crate) directory: ServerDirectory,
}

impl Served {
    /// Starts a program that is configured in a directory of its own, and waits until it listens at that port of 127.0.0.1 and is
    /// ready, for so long.
    pub(crate) fn start(
        mut command: Command,
        directory: ServerDirectory,
        name: &'static str,
        (port, limit): (u16, Duration),
        ready: impl Fn(SocketAddr) -> Result<(), String>,
    ) -> Result<Self, Error> {
        if let Some(pin) = &directory.pin {
            command.stdin(pin.try_clone().during("handing the PIN over")?);
        }
        command
            .envs(directory.environment.clone())
            .env("LC_ALL", "C")
            .current_dir(directory.private.path());
        let mut served = Self {
            running: ServerProcesses::start(
                &mut command,
                directory.private.path(),
                &directory.log,
            )?,
            name,
            address: (Ipv4Addr::LOCALHOST, port).into(),
            directory,
        };
        let clock = MonotonicClock::new();
        let deadline = clock.now().after(limit);
        loop {
            if let Some(how) = served.ended() {
                return Err(served.unready("starting", &how));
            }
            // Another program at the port may take connections and never answer.
            let ready = match process::listens(served.running.number(), port) {
                true => ready(served.address),
                false => Err("it does not listen".to_owned()),
            };
            match ready {
                Ok(()) => break,
                Err(why) if clock.now() >= deadline => {
                    let seconds = limit.as_secs();
                    let how = format!("it did not answer within {seconds} s ({why})");
                    return Err(served.unready("starting", &how));
                }
                Err(_) => std::thread::sleep(STEP),
            }
        }
        Ok(served)
    }

    /// Its processes that live now, the master first.
    pub fn processes(&self) -> Vec<Process> {
        self.running.look()
    }

    /// Processor time of all its processes since they were started, in steps of 10 ms.
    pub fn cpu_time(&self) -> Duration {
        self.running.processor_time()
    }

    /// Kills it and its workers, as an accident would.
    pub fn kill(&self) {
        for process in self.processes() {
            process.signal(Signal::SIGKILL);
        }
    }

    fn ended(&mut self) -> Option<String> {
        let status = self.running.ended()?;
        Some(format!("it has ended ({status})"))
    }

    /// Checks that it still runs.
    ///
    /// # Errors
    /// When it does not: how it ended, and the end of its log.
    pub fn check(&mut self) -> Result<(), Error> {
        match self.ended() {
            None => Ok(()),
            Some(how) => Err(self.unready("serving by", &how)),
        }
    }

    /// The last lines of its log, without control characters.
    pub fn log_end(&self) -> Vec<String> {
        log::end(&self.directory.log)
    }

    /// Error with the fault in the log.
    fn unready(&self, doing: &str, how: &str) -> Error {
        let log = &self.directory.log;
        let (said, advice) = match ServerFault::in_log(&log::read(log)) {
            Some((fault, line)) => (format!("{} ({line})", fault.reason), &*fault.advice),
            None => match log::tail(log) {
                tail if tail.is_empty() => (format!("{how}; its log is empty"), ""),
                tail => (format!("{how}; its log ends: {tail}"), ""),
            },
        };
        Error::call(format!("{doing} {}", self.name), said, advice)
    }
}

/// Starts something at that port, or at one that is free: between that and a server at it, another program may take it.
pub(crate) fn on_port<T>(
    port: Option<NonZeroU16>,
    start: impl Fn(u16) -> Result<T, Error>,
) -> Result<T, Error> {
    if let Some(port) = port {
        return start(port.get());
    }
    let free = || bound(0).during("looking for a free port");
    for _ in 1..TRIES {
        let port = free()?;
        match start(port) {
            Err(_) if bound(port).is_err() => {}
            done => return done,
        }
    }
    start(free()?)
}

/// Listens for a moment at that port on loopback, or at a free one, and returns it.
fn bound(port: u16) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    Ok(listener.local_addr()?.port())
}

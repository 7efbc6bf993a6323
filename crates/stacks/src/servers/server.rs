//! A server that runs, from its configuration to its end.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command;
use std::time::Duration;

use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::error::Error;
use keymark_stores::places::process::Process;
use keymark_stores::places::program;
use nix::sys::signal::Signal;
use openssl::x509::X509;

use crate::servers::configuration::group_words;
use crate::servers::error::ServerError;
use crate::servers::identity::{Identity, KeyPlace};
use crate::servers::log::{self, Fault};
use crate::servers::place::{DOCUMENT, Place};
use crate::servers::possible;
use crate::servers::process::{self, ProcessorTime, Running};
use crate::servers::ready::{self, Expected};
use crate::servers::software::{Installed, Software};
use crate::servers::spec::{Port, SecurityLevel, ServerSpec};
use crate::servers::token_trace::CallsSoFar;

/// How long a server is waited for: a token may take seconds to log in, in each worker.
const READY: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(20);
/// Between a port that was free and a server at it, somebody else may take it.
const TRIES: usize = 4;

/// A TLS server. It is gone with the value, and its private directory as well.
#[derive(Debug)]
pub struct RunningServer {
    running: Running,
    address: SocketAddr,
    installed: Installed,
    spec: ServerSpec,
    user: String,
    /// Removed last.
    place: Place,
}

impl RunningServer {
    /// Starts it, and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be ([`ServerError::Impossible`]), something is missing, or it does not start: with the end of its log.
    pub fn start(installed: &Installed, spec: &ServerSpec) -> Result<Self, ServerError> {
        possible::check(installed, spec)?;
        let mut tries = 0;
        loop {
            tries += 1;
            let (port, may_try_again) = match spec.port {
                Port::Given(port) => (port.get(), false),
                Port::Free => (free_port()?, tries < TRIES),
            };
            match Self::at(installed, spec, port) {
                Err(Unready { fault, .. }) if may_try_again && fault == Some(Fault::PortTaken) => {}
                done => return done.map_err(|unready| unready.error),
            }
        }
    }

    fn at(installed: &Installed, spec: &ServerSpec, port: u16) -> Result<Self, Unready> {
        let place = Place::make(installed, spec, port)?;
        let mut command = command(installed, &place)?;
        let running = Running::start(&mut command, place.directory.path(), &place.log)?;
        let worker = place.worker.as_ref();
        let user = worker.map_or_else(|| "as keymark".to_owned(), |worker| worker.name.clone());
        let mut server = Self {
            running,
            address: (Ipv4Addr::LOCALHOST, port).into(),
            installed: installed.clone(),
            spec: spec.clone(),
            user,
            place,
        };
        server.wait()?;
        Ok(server)
    }

    /// Until it answers, has ended, or time is up.
    fn wait(&mut self) -> Result<(), Unready> {
        let clock = MonotonicClock::new();
        let deadline = clock.now().after(READY);
        loop {
            if let Some(status) = self.running.ended() {
                return Err(self.unready(format!("it has ended ({status})")));
            }
            // Whoever else has the port may take connections and never answer.
            let answer = if process::listens(self.running.number(), self.address.port()) {
                self.answers()
            } else {
                Err("it does not listen".to_owned())
            };
            match answer {
                // Workers that are there by now are taken down.
                Ok(()) => return Ok(self.running.look().map(drop)?),
                Err(why) if clock.now() >= deadline => {
                    let seconds = READY.as_secs();
                    return Err(
                        self.unready(format!("it did not answer within {seconds} s ({why})"))
                    );
                }
                Err(_) => std::thread::sleep(STEP),
            }
        }
    }

    /// Whether it answers a new connection with its certificate and its document; why not.
    pub(crate) fn answers(&self) -> Result<(), String> {
        let identities = self.spec.certificates.iter();
        let certificates: Vec<X509> = identities
            .map(|identity| identity.certificate.clone())
            .collect();
        let expected = Expected {
            certificates: &certificates,
            body: self.spec.body.0,
        };
        ready::answers(self.address, &expected)
    }

    fn unready(&self, how: String) -> Unready {
        unready(
            &format!("starting {}", self.installed.software),
            &how,
            self.running.log(),
        )
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it serves, for clients: `/document`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/{DOCUMENT}")
    }

    /// Its program.
    #[must_use]
    pub const fn installed(&self) -> &Installed {
        &self.installed
    }

    /// What it was asked to be.
    #[must_use]
    pub const fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    /// Its processes that live now, the master first.
    ///
    /// # Errors
    /// When those that are new cannot be taken down.
    pub fn processes(&self) -> Result<Vec<Process>, Error> {
        self.running.look()
    }

    /// Processor time of all its processes since they were started, in steps of 10 ms.
    ///
    /// # Errors
    /// When its processes cannot be taken down.
    pub fn cpu_time(&self) -> Result<ProcessorTime, Error> {
        self.running.processor_time()
    }

    /// Kills it and its workers, as an accident would.
    ///
    /// # Errors
    /// When its processes cannot be taken down.
    pub fn kill(&self) -> Result<(), Error> {
        for process in self.processes()? {
            process.signal(Signal::SIGKILL);
        }
        Ok(())
    }

    /// What it has asked of its token until now; none where nothing is counted.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn calls(&self) -> Result<Option<CallsSoFar>, Error> {
        self.place.traces.read()
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// When it does not: how it ended, and the end of its log.
    pub fn check(&mut self) -> Result<(), Error> {
        match self.running.ended() {
            None => Ok(()),
            Some(status) => {
                let call = format!("serving by {}", self.installed.software);
                let how = format!("it has ended ({status})");
                Err(unready(&call, &how, self.running.log()).error.into())
            }
        }
    }

    /// What it has written, for the record: gone with the value.
    #[must_use]
    pub fn log(&self) -> String {
        log::read(self.running.log())
    }

    /// The last lines of that, without control characters.
    #[must_use]
    pub fn log_end(&self) -> Vec<String> {
        log::end(self.running.log())
    }

    /// Ends it, and says what it has written to its end.
    #[must_use]
    pub fn stop(mut self) -> String {
        self.running.stop();
        self.log()
    }

    /// Versions of what takes part.
    #[must_use]
    pub fn versions(&self) -> BTreeMap<String, String> {
        let name = self.installed.software.to_string().to_lowercase();
        BTreeMap::from([
            (
                format!("{name}-openssl"),
                self.installed.openssl.version.to_string(),
            ),
            (name, self.installed.version.to_string()),
        ])
    }

    /// Everything about it, for the record.
    #[must_use]
    pub fn describe(&self) -> BTreeMap<String, String> {
        describe(&self.installed, &self.spec, &self.user)
    }
}

fn command(installed: &Installed, place: &Place) -> Result<Command, Error> {
    let mut command = program::command(&installed.program);
    if let Some(pin) = &place.pin {
        let pin = pin.try_clone();
        command.stdin(pin.map_err(|error| Error::call("handing the PIN over", error, ""))?);
    }
    let environment = place.environment.iter();
    command
        .envs(environment.map(|(name, value)| (name, value)))
        .env("LC_ALL", "C")
        .current_dir(place.directory.path());
    match installed.software {
        Software::Apache(_) => command
            .arg("-f")
            .arg(&place.configuration)
            .arg("-DFOREGROUND"),
        Software::Nginx => command
            .arg("-p")
            .arg(place.directory.path())
            .arg("-c")
            .arg(&place.configuration)
            // What it says before it has read its configuration.
            .arg("-e")
            .arg(&place.log),
        Software::Haproxy => command.arg("-db").arg("-f").arg(&place.configuration),
    };
    Ok(command)
}

/// One that is configured in a place of its own.
pub(crate) fn start_in(installed: &Installed, place: &Place) -> Result<Running, Error> {
    let mut command = command(installed, place)?;
    Running::start(&mut command, place.directory.path(), &place.log)
}

/// Why a server did not start, and whether that is a fault that is known.
#[derive(Debug)]
pub(crate) struct Unready {
    pub(crate) error: ServerError,
    pub(crate) fault: Option<Fault>,
}

impl<E: Into<ServerError>> From<E> for Unready {
    fn from(error: E) -> Self {
        Self {
            error: error.into(),
            fault: None,
        }
    }
}

/// With what the log says.
pub(crate) fn unready(call: &str, how: &str, log: &std::path::Path) -> Unready {
    let text = log::read(log);
    let fault = Fault::in_log(&text);
    let (said, advice) = match fault {
        Some(fault) => {
            let line = fault.line(&text).unwrap_or_default();
            (format!("{} ({line})", fault.reason()), fault.advice())
        }
        None => match log::tail(log) {
            tail if tail.is_empty() => (format!("{how}; its log is empty"), ""),
            tail => (format!("{how}; its log ends: {tail}"), ""),
        },
    };
    Unready {
        error: Error::call(call, said, advice).into(),
        fault,
    }
}

/// A port on loopback at which nobody listens.
pub(crate) fn free_port() -> Result<u16, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| Error::call("looking for a free port", error, ""))
}

fn describe(installed: &Installed, spec: &ServerSpec, user: &str) -> BTreeMap<String, String> {
    let handshakes = &spec.handshakes;
    let mut told = BTreeMap::new();
    let mut tell = |name: &str, value: String| told.insert(name.to_owned(), value);
    tell("server", installed.software.to_string().to_lowercase());
    tell("server_version", installed.version.to_string());
    if let Software::Apache(mpm) = installed.software {
        tell("mpm", mpm.name().to_owned());
    }
    tell("openssl", installed.openssl.version.to_string());
    tell("protocol", handshakes.protocol.to_string());
    tell("ciphers", handshakes.ciphers.to_string());
    tell("groups", group_words(&handshakes.groups));
    let dh = handshakes.dh.map(crate::servers::DhParameters::kind);
    tell(
        "dh_parameters",
        dh.unwrap_or_else(|| "none given".to_owned()),
    );
    let level = match spec.level() {
        SecurityLevel::One => format!("1, for {}", spec.weaknesses().join(" and ")),
        SecurityLevel::Distributions => "of the distribution".to_owned(),
    };
    tell("security_level", level);
    let words: Vec<String> = spec.certificates.iter().map(identity_words).collect();
    tell("certificates", words.join(", "));
    // With TLS 1.3 OpenSSL sends two all the same; no server takes one.
    tell("session_tickets", "off".to_owned());
    tell("session_cache", "off".to_owned());
    tell("processes", spec.capacity.processes.to_string());
    tell("connections", spec.capacity.connections.to_string());
    tell("body_bytes", spec.body.0.to_string());
    tell("worker_user", user.to_owned());
    told
}

fn identity_words(identity: &Identity) -> String {
    let weak = if possible::is_weak(identity.algorithm()) {
        " (weak)"
    } else {
        ""
    };
    let place = match identity.key_place() {
        KeyPlace::File => "in a file".to_owned(),
        KeyPlace::Token(way) => format!("on a token by the {way}"),
    };
    format!("{}{weak} {place}", identity.algorithm())
}

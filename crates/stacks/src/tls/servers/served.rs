//! A program that serves, in a private directory, from its start to its end: what servers and balancers have in common.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command;
use std::time::Duration;

use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::error::Error;
use keymark_stores::places::process::Process;
use nix::sys::signal::Signal;

use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::error::ServerError;
use crate::tls::servers::log::{self, Fault};
use crate::tls::servers::process::{self, ProcessorTime, Running};
use crate::tls::servers::spec::Port;

const STEP: Duration = Duration::from_millis(20);
/// Between a port that was free and a server at it, somebody else may take it.
const TRIES: usize = 4;

/// Its name, and its own words for what goes wrong.
type Called = (&'static str, &'static [(&'static str, Fault)]);

/// One that runs. It is gone with the value, and its private directory as well.
#[derive(Debug)]
pub struct Served {
    running: Running,
    called: Called,
    /// Where it listens.
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
        called: Called,
        (port, limit): (u16, Duration),
        ready: impl Fn(SocketAddr) -> Result<(), String>,
    ) -> Result<Self, Unready> {
        if let Some(pin) = &directory.pin {
            let pin = pin.try_clone();
            command.stdin(pin.map_err(|error| Error::call("handing the PIN over", error, ""))?);
        }
        let environment = directory.environment.iter();
        command
            .envs(environment.map(|(name, value)| (name, value)))
            .env("LC_ALL", "C")
            .current_dir(directory.private.path());
        let mut served = Self {
            running: Running::start(&mut command, directory.private.path(), &directory.log)?,
            called,
            address: (Ipv4Addr::LOCALHOST, port).into(),
            directory,
        };
        let clock = MonotonicClock::new();
        let deadline = clock.now().after(limit);
        loop {
            if let Some(how) = served.ended() {
                return Err(served.unready("starting", &how));
            }
            // Whoever else has the port may take connections and never answer.
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
        // Workers that are there by now are taken down.
        served.processes()?;
        Ok(served)
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

    fn ended(&mut self) -> Option<String> {
        let status = self.running.ended()?;
        Some(format!("it has ended ({status})"))
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// When it does not: how it ended, and the end of its log.
    pub fn check(&mut self) -> Result<(), Error> {
        match self.ended() {
            None => Ok(()),
            Some(how) => Err(self.unready("serving by", &how).error.into()),
        }
    }

    /// What it has written, for the record: gone with the value.
    pub fn log(&self) -> String {
        log::read(self.running.log())
    }

    /// The last lines of that, without control characters.
    pub fn log_end(&self) -> Vec<String> {
        log::end(self.running.log())
    }

    /// Ends it, and says what it has written to its end.
    pub fn stop(mut self) -> String {
        self.running.stop();
        self.log()
    }

    /// With what the log says.
    fn unready(&self, doing: &str, how: &str) -> Unready {
        let (name, words) = self.called;
        let log = self.running.log();
        let told = Fault::in_log(&log::read(log), words);
        let fault = told.as_ref().map(|(fault, _)| *fault);
        let (said, advice) = match told {
            Some((fault, line)) => {
                let (reason, advice) = fault.told();
                (format!("{reason} ({line})"), advice)
            }
            None => match log::tail(log) {
                tail if tail.is_empty() => (format!("{how}; its log is empty"), ""),
                tail => (format!("{how}; its log ends: {tail}"), ""),
            },
        };
        Unready {
            error: Error::call(format!("{doing} {name}"), said, advice).into(),
            fault,
        }
    }
}

/// Starts something at that port, or at one that is free: between that and a server at it, somebody else may take it.
pub(crate) fn on_port<T>(
    port: Port,
    mut start: impl FnMut(u16) -> Result<T, Unready>,
) -> Result<T, ServerError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let (port, may_try_again) = match port {
            Port::Given(port) => (port.get(), false),
            Port::Free => (free_port()?, tries < TRIES),
        };
        match start(port) {
            Err(Unready { fault, .. }) if may_try_again && fault == Some(Fault::PortTaken) => {}
            done => return done.map_err(|unready| unready.error),
        }
    }
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

/// A port on loopback at which nobody listens.
fn free_port() -> Result<u16, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| Error::call("looking for a free port", error, ""))
}

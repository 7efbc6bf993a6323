//! keymark, started once more, for what may crash, hang or print: libraries of others. Both ends talk through a
//! socket that is nobody's standard output, and what the process prints is kept for when it fails.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use keymark_bench::worker;
use keymark_bench::{Clock as _, During as _, Error, MonotonicClock, Timestamp};
use keymark_native::cryptoki::under_way::Watched;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, dup2_stdin, dup2_stdout};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::program::{OutputEnd, is_readable};
use crate::store::once_each;
use crate::user::Notice;

/// Interval at which a silent process is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Time after which a call that has not returned is told, once.
const LONG: Duration = Duration::from_secs(10);
/// Time for an operation under way when the user ends the run, if none has taken longer before.
const GRACE: Duration = Duration::from_secs(1);
/// Bytes that are kept of the end of a process's output.
const KEPT: usize = 2_000;
/// Characters of its output in a message.
const TOLD: usize = 200;

/// Effect of the user's wish to end on a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndPolicy {
    /// The wait is broken off if it takes long.
    BreaksOff,
    /// The wait is finished: changes to a token are being undone.
    Finishes,
}

/// Event that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// An answer, which takes as long as it takes from the question on.
    Answer,
    /// Work, in which each call by itself may take its time, and there may be pauses between them.
    Work,
}

/// keymark's end. The process ends with it.
#[derive(derive_more::Debug)]
#[debug("KeymarkProcess({name})")]
pub struct KeymarkProcess {
    /// Name of the process in messages.
    name: String,
    child: Child,
    socket: UnixStream,
    printed: OutputEnd,
    /// Memory that shows the calls of a process that does not answer.
    watch: Option<Watched>,
    /// Last call of each thread that was seen, and when it was seen first.
    seen: Vec<(u64, Timestamp)>,
    clock: MonotonicClock,
    /// The longest call that was seen to return.
    longest: Duration,
}

impl KeymarkProcess {
    /// Starts `command`, which calls [`accept`]. What it is watched by it finds as that file.
    pub fn start(
        mut command: Command,
        name: impl Into<String>,
        watch: Option<(Watched, File)>,
    ) -> Result<Self, Error> {
        let name = name.into();
        let failed = |error: io::Error| {
            let call = format!("starting another keymark for {name}");
            Error::call(call, error, "")
        };
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        let (prints, to) = io::pipe().map_err(failed)?;
        let (watch, shared) = watch.unzip();
        let output = match shared {
            Some(file) => Stdio::from(file),
            None => Stdio::from(to.try_clone().map_err(failed)?),
        };
        let printed = OutputEnd::of(Some(prints), KEPT).map_err(failed)?;
        let child = command
            .stdin(OwnedFd::from(theirs))
            .stdout(output)
            .stderr(to)
            // Ctrl-C is keymark's to hear, and all that a library starts ends with it.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        // The writing ends are the process's alone from here on.
        drop(command);
        Ok(Self {
            name,
            child,
            socket,
            printed,
            watch,
            seen: Vec::new(),
            clock: MonotonicClock::new(),
            longest: Duration::ZERO,
        })
    }

    /// Sends a message.
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), Error> {
        let sent = worker::write(&mut self.socket, message);
        sent.map_err(|_| self.ended())
    }

    /// Its next message. An answer, or a call within work, is waited for at most `limit`, and not longer than is
    /// decent once the user has ended the run.
    pub fn receive<T: DeserializeOwned>(
        &mut self,
        awaited: Awaited,
        limit: Option<Duration>,
        (notice, ending): (&dyn Notice, EndPolicy),
    ) -> Result<T, Error> {
        self.wait(awaited, limit, notice, ending)?;
        let message = worker::read(&mut self.socket);
        message.map_err(|_| self.ended())
    }

    /// Waits until there is something to read, or its end.
    fn wait(
        &mut self,
        awaited: Awaited,
        limit: Option<Duration>,
        notice: &dyn Notice,
        ending: EndPolicy,
    ) -> Result<(), Error> {
        let begin = self.clock.now();
        let (mut told, mut interrupted, mut before) = (false, false, Duration::ZERO);
        while !is_readable(&self.socket, LOOK).during("poll")? {
            if ending == EndPolicy::BreaksOff && notice.has_ended() && !interrupted {
                interrupted = true;
                if let Some(watch) = &self.watch {
                    watch.interrupt();
                }
            }
            let (call, in_call) = self.calls().first().copied().unwrap_or_default();
            let since = match awaited {
                Awaited::Answer => self.clock.now().since(begin),
                Awaited::Work => in_call,
            };
            if since >= LONG && !told {
                told = true;
                let seconds = LONG.as_secs();
                let call = if call.is_empty() { "keymark" } else { call };
                notice.warn(&format!(
                    "{} has not answered {call} for {seconds} s",
                    self.name
                ));
            }
            let patience = GRACE.max(self.longest * 2);
            let over = |limit| since >= limit;
            if limit.is_some_and(over) || (interrupted && over(patience)) {
                return Err(self.given_up(call, since));
            }
            if since < before {
                // What was under way at the last look has returned.
                self.longest = self.longest.max(before);
            }
            before = since;
        }
        Ok(())
    }

    /// The calls of its threads that have not returned, and for how long they are known not to have, longest first.
    fn calls(&mut self) -> Vec<(&'static str, Duration)> {
        let now = self.clock.now();
        let threads = self
            .watch
            .as_ref()
            .map(Watched::threads)
            .unwrap_or_default();
        self.seen.resize(threads.len(), (0, now));
        let under_way = threads.into_iter().zip(&mut self.seen);
        let under_way = under_way.filter_map(|((number, call), seen)| {
            if seen.0 != number {
                *seen = (number, now);
            }
            Some((call?, now.since(seen.1)))
        });
        let mut under_way: Vec<_> = under_way.collect();
        under_way.sort_by_key(|(_, since)| Reverse(*since));
        under_way
    }

    fn given_up(&mut self, call: &str, since: Duration) -> Error {
        self.kill();
        let reason = format!(
            "it has not answered for {:.0} s, and was ended{}",
            since.as_secs_f64(),
            self.said()
        );
        let advice = "does the device behind it work, or wait for a touch or a PIN? --case-time allows more time";
        Error::call(self.in_words(call), reason, advice)
    }

    /// Why nothing more comes.
    fn ended(&mut self) -> Error {
        // Of several threads nobody knows which one ended it.
        let calls = once_each(self.calls().into_iter().map(|(call, _)| call));
        let call = self.in_words(&calls.join(" or "));
        let reason = format!("{}{}", fate(self.waited_for()), self.said());
        Error::call(call, reason, "report it to its maker")
    }

    /// The call, and whose it is.
    fn in_words(&self, call: &str) -> String {
        match call {
            "" => format!("using {}", self.name),
            call => format!("{call} of {}", self.name),
        }
    }

    fn waited_for(&mut self) -> Option<ExitStatus> {
        /// A process that dumps its memory takes its time.
        const LOOKS: u32 = 100;
        for _ in 0..LOOKS {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(LOOK);
        }
        None
    }

    /// The end of what it has printed, in one line.
    fn said(&self) -> String {
        let printed = self.printed.end();
        let text = String::from_utf8_lossy(&printed);
        let lines: Vec<&str> = text.split_whitespace().collect();
        let line = lines.join(" ");
        let from = line.char_indices().rev().nth(TOLD - 1);
        let end = from.map_or(line.as_str(), |(from, _)| &line[from..]);
        match end {
            "" => String::new(),
            end => format!("; the last it printed: {end}"),
        }
    }

    /// Ends it, and all that it has started.
    pub fn kill(&mut self) {
        if let Ok(number) = i32::try_from(self.child.id()) {
            // One that has ended and was not waited for still has its number.
            let _ = killpg(Pid::from_raw(number), Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for KeymarkProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn fate(status: Option<ExitStatus>) -> String {
    let Some(status) = status else {
        return "it no longer answers".to_owned();
    };
    match (status.signal().map(Signal::try_from), status.code()) {
        (Some(Ok(Signal::SIGKILL)), _) => "it was killed".to_owned(),
        (Some(Ok(signal)), _) => format!("it crashed ({signal})"),
        (_, Some(code)) => format!("it ended its process (exit status: {code})"),
        _ => format!("it ended its process ({status})"),
    }
}

/// Called first of all in the process: takes the socket to keymark out of the way of everything that reads from standard
/// input or prints to standard output, and has the kernel end the process with keymark. Returns the socket, and the file
/// that keymark watches the process by, where it does.
pub fn accept() -> io::Result<(UnixStream, File)> {
    set_pdeathsig(Signal::SIGKILL)?;
    let own = |handle: &dyn AsFd| handle.as_fd().try_clone_to_owned();
    let socket = UnixStream::from(own(&io::stdin())?);
    socket.peer_addr()?;
    let shared = File::from(own(&io::stdout())?);
    dup2_stdin(File::open("/dev/null")?)?;
    io::stdout().flush()?;
    dup2_stdout(io::stderr())?;
    Ok((socket, shared))
}

//! The program that is traced, until it ends or keymark is told to end.

use std::io::IsTerminal;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use keymark_stacks::process::Process;
use nix::sys::signal::Signal;
use signal_hook::SigId;
use signal_hook::iterator::Signals;
use signal_hook::low_level::unregister;

use super::now_ns;
use crate::exit::{Exit, Failure};
use crate::signals::{self, SIGNALS};

/// What a program has to end by itself, after a signal.
const GRACE: Duration = Duration::from_secs(2);

/// A program that has ended.
pub(super) struct Ended {
    /// When it was started, on the clock of the trace's records.
    pub(super) begin_ns: u64,
    /// When it ended.
    pub(super) end_ns: u64,
    /// What keymark's exit status becomes.
    pub(super) exit: Exit,
}

/// What happens while a program runs.
enum Event {
    Ended(std::io::Result<ExitStatus>, u64),
    Signalled(Signal),
}

/// Ctrl-C, TERM and HUP end keymark in good order from here on; until there is a program, a second one ends
/// it at once.
pub(super) struct ForwardedSignals {
    already: Arc<AtomicBool>,
    at_once: Vec<SigId>,
}

impl ForwardedSignals {
    pub(super) fn listen() -> Result<Self, Failure> {
        let (already, at_once) = signals::listen()?;
        Ok(Self { already, at_once })
    }

    /// Runs the program, unless keymark was told to end before. What keymark is told, the program is told.
    pub(super) fn run(self, command: &mut Command) -> Result<Option<Ended>, Failure> {
        let mut signals = Signals::new(SIGNALS).map_err(signals::uncaught)?;
        for second in self.at_once {
            unregister(second);
        }
        if self.already.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let handle = signals.handle();
        let begin_ns = now_ns();
        let program = command.get_program().display().to_string();
        let mut child = command
            .spawn()
            .map_err(|error| Failure::usage(format!("{program}: {error}")))?;
        let mut tree = Tree {
            root: child.id(),
            members: Vec::new(),
        };
        let (tell, events) = channel();
        let ended = tell.clone();
        let waiting = std::thread::spawn(move || {
            let status = child.wait();
            // Nobody listens any more only if keymark is ending.
            let _ = ended.send(Event::Ended(status, now_ns()));
        });
        let listening = std::thread::spawn(move || {
            for number in signals.forever() {
                let signal = Signal::try_from(number).unwrap_or(Signal::SIGTERM);
                if tell.send(Event::Signalled(signal)).is_err() {
                    return;
                }
            }
        });
        let (status, end_ns, told) = until_ended(&events, &mut tree)?;
        handle.close();
        let _ = (waiting.join(), listening.join());
        Ok(Some(Ended {
            begin_ns,
            end_ns,
            exit: match told {
                Some(_) => Exit::Interrupted,
                None => Exit::of_child(status),
            },
        }))
    }
}

/// Waits for the program's end. The first signal is handed on and the program has time to end; then, or at
/// the second, it is killed.
fn until_ended(
    events: &Receiver<Event>,
    tree: &mut Tree,
) -> Result<(ExitStatus, u64, Option<Signal>), Failure> {
    let lost = || Failure::failed("the program's end was not reported");
    let mut told = None;
    loop {
        let event = match told {
            None => events.recv().map_err(|_| lost())?,
            Some(_) => match events.recv_timeout(GRACE) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => {
                    tree.signal(Signal::SIGKILL);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(lost()),
            },
        };
        match event {
            Event::Ended(status, end_ns) => {
                // What the program had started is not to outlive it, if it was told to end.
                if told.is_some() {
                    tree.signal(Signal::SIGKILL);
                }
                let failed = |error| Failure::failed(format!("waiting for the program: {error}"));
                return Ok((status.map_err(failed)?, end_ns, told));
            }
            Event::Signalled(_) if told.is_some() => tree.signal(Signal::SIGKILL),
            Event::Signalled(signal) => {
                tree.hand_on(signal);
                told = Some(signal);
            }
        }
    }
}

/// The program, and what it has started when keymark was told to end.
struct Tree {
    root: u32,
    members: Vec<Process>,
}

impl Tree {
    /// Tells all of them what keymark was told. Of Ctrl-C the terminal has told them already.
    fn hand_on(&mut self, signal: Signal) {
        self.members = Process::with_descendants(self.root);
        let by_terminal = signal == Signal::SIGINT && std::io::stdin().is_terminal();
        if !by_terminal {
            self.signal(signal);
        }
    }

    fn signal(&self, signal: Signal) {
        for member in &self.members {
            member.signal(signal);
        }
    }
}

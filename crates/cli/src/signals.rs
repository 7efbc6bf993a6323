//! Ctrl-C, TERM and HUP: the first ends keymark in good order, the second at once. While keymark waits for a program, that
//! is told what keymark is told.

use std::io::{self, IsTerminal as _};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use nix::sys::signal::{SigSet, Signal};
use signal_hook::consts::{SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::{SigId, flag};

use crate::exit::Failure;

pub const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

static TOLD: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Returns whether the first signal has come.
pub fn told() -> bool {
    TOLD.get().is_some_and(|told| told.load(Ordering::Relaxed))
}

/// A flag that the first of them sets, and what ends keymark at the second.
pub type Listening = (Arc<AtomicBool>, Vec<SigId>);

/// Listens for signals from now on.
pub fn listen() -> Result<Listening, Failure> {
    let told = Arc::clone(TOLD.get_or_init(Arc::default));
    let mut listeners = Vec::new();
    for signal in SIGNALS {
        let second = flag::register_conditional_shutdown(signal, 130, Arc::clone(&told));
        listeners.push(second.map_err(uncaught)?);
        listeners.push(flag::register(signal, Arc::clone(&told)).map_err(uncaught)?);
    }
    Ok((told, listeners))
}

pub fn uncaught(error: io::Error) -> Failure {
    Failure::failed(format!("cannot catch signals: {error}"))
}

/// Returns a function that waits for a signal; earlier ones count.
pub fn until_told() -> Result<impl FnOnce() + Send, Failure> {
    let mut signals = Signals::new(SIGNALS).map_err(uncaught)?;
    Ok(move || {
        let _ = signals.forever().next();
    })
}

/// Returns the signals for keymark while programs run, with SIGCHLD and SIGALRM.
pub fn to_hand_on() -> Result<Signals, Failure> {
    // The program that started keymark may have blocked it.
    let _ = SigSet::from(Signal::SIGCHLD).thread_unblock();
    Signals::new(SIGNALS.iter().chain(&[SIGCHLD, SIGALRM])).map_err(uncaught)
}

/// Waits for a program's end. `hand_on` is given each signal for keymark meanwhile.
pub fn until_ended(
    child: &mut Child,
    signals: &mut Signals,
    mut hand_on: impl FnMut(Signal),
) -> io::Result<ExitStatus> {
    loop {
        for signal in signals.wait().filter(|number| *number != SIGCHLD) {
            hand_on(Signal::try_from(signal)?);
        }
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
    }
}

/// Returns whether the terminal has sent the signal to child processes already (Ctrl-C).
pub fn is_by_terminal(signal: Signal) -> bool {
    signal == Signal::SIGINT && io::stdin().is_terminal()
}

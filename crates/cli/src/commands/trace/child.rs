//! The program that is traced, until it ends or keymark is told to end.

use std::process::Command;
use std::sync::atomic::Ordering;

use keymark_stacks::process::Process;
use nix::sys::signal::Signal;
use nix::unistd::alarm;
use signal_hook::low_level::unregister;

use super::now_ns;
use crate::exit::{Exit, Failure};
use crate::signals::{self, Listening};

/// Seconds that a program has to end by itself, after a signal.
const GRACE_S: u32 = 2;

/// A program that has ended.
pub(super) struct Ended {
    /// Time when it was started, on the clock of the trace's records.
    pub(super) begin_ns: u64,
    /// Time when it ended.
    pub(super) end_ns: u64,
    /// Exit status that keymark ends with.
    pub(super) exit: Exit,
}

/// Runs the program, unless keymark was told to end before. What keymark is told, the program is told with all that
/// it has started, and has time to end; then, or at the second signal, they are killed. Until there is a program, a
/// second one ends keymark at once.
pub(super) fn run(
    command: &mut Command,
    (already, at_once): Listening,
) -> Result<Option<Ended>, Failure> {
    let mut signals = signals::to_hand_on()?;
    for second in at_once {
        unregister(second);
    }
    if already.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let begin_ns = now_ns();
    let program = command.get_program().display().to_string();
    let mut child = command
        .spawn()
        .map_err(|error| Failure::usage(format!("{program}: {error}")))?;
    let root = child.id();
    let mut told: Option<Vec<Process>> = None;
    let status = signals::until_ended(&mut child, &mut signals, |signal| {
        match &told {
            Some(tree) => tell(tree, Signal::SIGKILL),
            None => {
                let tree = told.insert(Process::with_descendants(root));
                if !signals::is_by_terminal(signal) {
                    tell(tree, signal);
                }
            }
        }
        alarm::set(GRACE_S);
    });
    let end_ns = now_ns();
    let status = status.map_err(|error| format!("waiting for the program: {error}"))?;
    let exit = match told {
        Some(tree) => {
            // What the program had started is not to outlive it.
            tell(&tree, Signal::SIGKILL);
            Exit::Interrupted
        }
        None => Exit::of_child(status),
    };
    Ok(Some(Ended {
        begin_ns,
        end_ns,
        exit,
    }))
}

fn tell(tree: &[Process], signal: Signal) {
    for process in tree {
        process.signal(signal);
    }
}

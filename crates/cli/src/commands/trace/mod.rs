//! `keymark trace`

mod pkcs11;
mod tables;

use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use self::tables::Trace;
use itertools::Itertools;
use keymark_bench::{DeviceName, Error, Provenance};
use keymark_report::{Document, Section};
use keymark_shim_protocol::trace::{TraceReader, TracedCall};
use keymark_stacks::card_holder::Borrowed;
use keymark_stacks::gnupg::card_home::{PinEntry, TracedCard};
use keymark_stacks::inventory::Inventory;
use keymark_stacks::process::Process;
use keymark_stores::device::Wish;
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::alarm;
use signal_hook::low_level::unregister;

use crate::args::TraceArguments;
use crate::documents::abilities;
use crate::exit::{Exit, Failure, Outcome};
use crate::signals::{self, Listening};
use crate::{leftovers, output, user};

pub(super) fn run(arguments: &TraceArguments) -> Outcome {
    let signals = signals::listen()?;
    if let Some(module) = &arguments.pkcs11 {
        return pkcs11::run(arguments, module, signals);
    }
    leftovers::tell();
    let wish = arguments
        .device
        .as_ref()
        .map_or(Wish::Inserted, |name| Wish::Named(vec![name.clone()]));
    // Given back when the traced home is gone.
    let (_borrowed, card, origin) = card(arguments, &wish).map_err(Failure::nothing_usable)?;
    let (exit, traced) = measure(arguments, &card, &origin, signals)?;
    // The agent is gone before the user reads that all is done.
    drop(card);
    if let Some(traced) = traced {
        output::document(&traced);
    }
    Ok(exit)
}

/// The card that is traced.
struct Origin {
    device: DeviceName,
    provenance: Provenance,
}

/// A home for the only card there is.
fn card(
    arguments: &TraceArguments,
    wish: &Wish,
) -> Result<(Option<Borrowed>, TracedCard, Origin), Error> {
    let failed = |reason: String, advice: &str| Error::call("looking for a card", reason, advice);
    let mut inventory = Inventory::look(Some(&[]), wish, &user::of_tracing(&arguments.pins))?;
    match inventory.devices.as_slice() {
        [found] => {
            let origin = Origin {
                device: found.identity.device.clone(),
                provenance: found.identity.provenance,
            };
            if let Some(limits) = abilities::limits(&found.identity, found.device.capabilities()) {
                output::note(&limits);
            }
            let token: Vec<_> = found.device.token().into_iter().collect();
            user::pins_fit(&arguments.pins, &token).map_err(|reason| failed(reason, ""))?;
            let entry = if arguments.pins.is_given() {
                PinEntry::Before
            } else {
                PinEntry::Pinentry
            };
            let card = TracedCard::new(found.device.as_ref(), arguments.algorithm, entry)?;
            Ok((inventory.borrowed.take(), card, origin))
        }
        [] => {
            let occupied = inventory.occupied.first().map(ToString::to_string);
            let unseen = inventory.unseen.as_ref().map(ToString::to_string);
            let why = unseen.or(occupied);
            let why = why.unwrap_or_else(|| "no card in any reader".to_owned());
            Err(failed(why, "--device virtual traces a virtual card"))
        }
        _ => {
            let names = inventory.names();
            let reason = format!("expected one card, found {}", names.iter().format(", "));
            Err(failed(reason, "name one card with --device"))
        }
    }
}

/// Runs the program and says what its trace shows; nothing if keymark was told to end before.
fn measure(
    arguments: &TraceArguments,
    card: &TracedCard,
    origin: &Origin,
    signals: Listening,
) -> Result<(Exit, Option<Document>), Failure> {
    let [program, rest @ ..] = arguments.command.as_slice() else {
        return Err(Failure::usage("no program to trace"));
    };
    let mut command = Command::new(program);
    command.args(rest).env("GNUPGHOME", card.home().path());
    if let Ok(socket) = card.home().ssh_socket() {
        command.env("SSH_AUTH_SOCK", socket);
    }
    // The card has the PIN, the program is not to have it.
    for variable in user::of_tracing(&arguments.pins).pins.variables() {
        command.env_remove(variable);
    }
    let mut reader = TraceReader::new(card.trace());
    // Not the program's doing, but the first use that every program pays for once.
    let ready = reader.read()?;
    let Some(ended) = traced(&mut command, signals)? else {
        return Ok((Exit::Interrupted, None));
    };
    let records = reader.read()?;
    let trace = Trace::of(&records, ended.begin_ns, ended.end_ns);
    let mut of_program = Vec::new();
    let verdict = match trace.kinds.as_slice() {
        [] => tables::nothing_asked(&trace),
        _ => tables::verdict(&trace),
    };
    if !trace.kinds.is_empty() {
        if arguments.apdu {
            of_program.push(tables::list(&records, ended.begin_ns, origin));
        }
        of_program.push(tables::commands(&trace, origin));
        of_program.push(tables::breakdown(&trace, origin));
    }
    let mut sections = vec![first_use(&ready, origin)];
    if !of_program.is_empty() {
        sections.push(Section::headed("the program", of_program));
    }
    let document = Document {
        answers: vec![verdict],
        ..Document::of(sections)
    };
    Ok((ended.exit, Some(document)))
}

fn first_use(records: &[TracedCall], origin: &Origin) -> Section {
    let begin = records.iter().map(|record| record.begin_ns).min();
    let end = records.iter().map(|record| record.end_ns).max();
    let trace = Trace::of(records, begin.unwrap_or(0), end.unwrap_or(0));
    let pin = if trace.verified { ", PIN" } else { "" };
    Section::headed(
        format!("first use, before the program: selection, key lookup{pin}"),
        vec![tables::commands(&trace, origin), tables::together(&trace)],
    )
}

/// The clock of the trace's records.
fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Seconds that a program has to end by itself, after a signal.
const GRACE_S: u32 = 2;

/// A program that has ended.
struct Ended {
    /// Time when it was started, on the clock of the trace's records.
    begin_ns: u64,
    /// Time when it ended.
    end_ns: u64,
    /// Exit status that keymark ends with.
    exit: Exit,
}

/// Runs the program, unless keymark was told to end before. What keymark is told, the program is told with all that
/// it has started, and has time to end; then, or at the second signal, they are killed. Until there is a program, a
/// second one ends keymark at once.
fn traced(command: &mut Command, (already, at_once): Listening) -> Result<Option<Ended>, Failure> {
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
            Some(tree) => signal_all(tree, Signal::SIGKILL),
            None => {
                let tree = told.insert(Process::with_descendants(root));
                if !signals::is_by_terminal(signal) {
                    signal_all(tree, signal);
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
            signal_all(&tree, Signal::SIGKILL);
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

fn signal_all(tree: &[Process], signal: Signal) {
    for process in tree {
        process.signal(signal);
    }
}

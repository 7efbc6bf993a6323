//! `keymark trace`

use std::process::Command;
use std::time::Duration;

use keymark_report::trace::{self, Trace};
use keymark_report::units;
use keymark_shim_protocol::trace::{Reader, Record};
use keymark_stacks::private_dir;
use keymark_stats::Seconds;
use nix::time::{ClockId, clock_gettime};

use super::Outcome;
use crate::args::TraceArguments;
use crate::devices::{CardChoice, Inventory, TracedCard, Wish};
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) fn run(arguments: &TraceArguments) -> Outcome {
    let _ = private_dir::sweep();
    let wish = arguments
        .device
        .as_ref()
        .map_or(Wish::Inserted, |name| Wish::Named(vec![name.clone()]));
    let inventory = Inventory::look(|_| true, &wish, &CardChoice::of_pinentry())
        .map_err(Failure::nothing_usable)?;
    let card = inventory
        .trace(arguments.algorithm)
        .map_err(Failure::nothing_usable)?;
    let (status, traced) = measure(arguments, &card)?;
    output::print(&traced);
    Ok(status)
}

/// Runs the program and says what its trace shows.
fn measure(arguments: &TraceArguments, card: &TracedCard) -> Result<(Exit, String), Failure> {
    let [program, rest @ ..] = arguments.command.as_slice() else {
        return Err(Failure::usage("there is no program to trace"));
    };
    let mut command = Command::new(program);
    command.args(rest).env("GNUPGHOME", card.home().path());
    if let Some(socket) = card.ssh_socket() {
        command.env("SSH_AUTH_SOCK", socket);
    }
    let mut reader = Reader::new(card.trace());
    // Not the program's doing, but the first use that every program pays for once.
    let ready = reader.read().map_err(Failure::failed)?;
    let begin = now_ns();
    let status = command
        .status()
        .map_err(|error| Failure::usage(format!("{}: {error}", program.display())))?;
    let end = now_ns();
    let records = reader.read().map_err(Failure::failed)?;
    let trace = Trace::of(&records, begin, end);
    let mut text = String::from("first use, before the program: selection, key lookup, PIN\n");
    text.push_str(&first_use(&ready));
    text.push_str("\nthe program\n");
    if arguments.apdu {
        text.push_str(&trace::list(&records, begin));
        text.push('\n');
    }
    text.push_str(&trace.commands());
    text.push('\n');
    text.push_str(&trace.breakdown());
    Ok((Exit::of_child(status), text))
}

/// What making the home ready asked of the card, from its first call to its last.
fn first_use(records: &[Record]) -> String {
    let begin = records.iter().map(|record| record.begin_ns).min();
    let end = records.iter().map(|record| record.end_ns).max();
    let trace = Trace::of(records, begin.unwrap_or(0), end.unwrap_or(0));
    let time = |time: Duration| units::duration(Seconds(time.as_secs_f64()));
    format!(
        "{}together {}, of which between the calls {}\n",
        trace.commands(),
        time(trace.whole),
        time(trace.between)
    )
}

/// The clock of the trace's records.
fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

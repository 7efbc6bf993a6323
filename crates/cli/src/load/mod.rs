//! The frame of runs that load servers and services: devices, plan, whom one may load, who watches, what is saved.

mod view;

use std::fmt::Display;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::runner::Observer;
use keymark_bench::{
    Case, Clock, Load, Pacing, Rate, Record, RunState, Settings, StopRule, Worker,
};
use keymark_report::units;
use keymark_stacks::inventory::Inventory;
use keymark_stacks::tls::{self, Address, Client, Measuring, Remote, Timeouts, Watch};
use keymark_stores::device::{Run, Wish};
use keymark_stores::journal::Journals;
use keymark_stores::user::User;

use self::view::View;
use crate::args::RunArguments;
use crate::exit::{Exit, Failure};
use crate::frame::{self, Frame};
use crate::output;

/// About what starting and draining a server takes.
const AROUND: Duration = Duration::from_millis(500);
/// About as many loads, of a quarter of the time each, find the best rate over users.
const SEARCH: u32 = 10;

/// The devices of that names, none of them missing.
pub(crate) fn devices(names: &[String], user: &User) -> Result<Inventory, Failure> {
    let inventory = Inventory::look(Some(&[]), &Wish::Named(names.to_vec()), user);
    let inventory = inventory.map_err(Failure::nothing_usable)?;
    if let Some(unknown) = inventory.unknown.first() {
        return Err(Failure::usage(keymark_stores::registry::unknown(unknown)));
    }
    Ok(inventory)
}

/// Loads by so many at once, or by arrivals at a rate.
pub(crate) fn loads(
    users: &[NonZeroU32],
    rate: Option<Rate>,
    delay: Option<Duration>,
) -> Vec<Load> {
    let load = |concurrency, pacing| Load {
        concurrency,
        worker: Worker::Thread,
        pacing,
    };
    let pacing = delay.map_or(Pacing::Closed, Pacing::Thinking);
    match rate {
        Some(rate) => vec![load(NonZeroU32::MIN, Pacing::Open(rate))],
        None => users.iter().map(|users| load(*users, pacing)).collect(),
    }
}

/// Where a server is that runs already. A load on somebody else's is an attack.
pub(crate) fn own(address: &Address, confirmed: bool) -> Result<Vec<SocketAddr>, Failure> {
    let addresses = address.resolve().map_err(Failure::nothing_usable)?;
    if confirmed || Remote::is_loopback(&addresses) {
        return Ok(addresses);
    }
    Err(Failure::usage(format!(
        "{address} is not this machine, and loading somebody else's server is an attack; confirm with \
         --i-own-this-server that it is yours"
    )))
}

/// Refuses a load too short for a rate: a second passes before it counts, and a whole one has to be left.
pub(crate) fn long_enough(duration: Duration) -> Result<(), Failure> {
    const LEAST: Duration = Duration::from_secs(2);
    if duration >= LEAST {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--duration {} is too short: the first second is not counted, and one more has to remain; the least is {}",
        units::time(duration),
        units::time(LEAST)
    )))
}

pub(crate) fn settings(duration: Duration, arguments: &RunArguments) -> Settings {
    Settings {
        stop: StopRule::For(duration),
        time_limit: None,
        warmup: 0,
        seed: arguments.seed(),
        ..Settings::default()
    }
}

pub(crate) fn dry_run(cases: &[Case], duration: Duration) {
    frame::print_cases(cases);
    let mut all = Duration::ZERO;
    for case in cases {
        let searching = match case.parameters.get(tls::SEARCH.name) {
            Some(_) => Measuring::step(duration) * SEARCH,
            None => Duration::ZERO,
        };
        all += searching + duration + AROUND;
    }
    let all = units::time(all);
    output::line(&format!("about {all}, including starting the servers"));
}

/// How devices are opened for a run.
pub(crate) fn opening(record: &Record) -> Run {
    let mut opening = Run::new(record.plan.settings.seed);
    let journals = Journals::of_user().ok();
    opening.journals = journals.map(|journals| (journals, record.id.to_string()));
    opening
}

/// A client of services: it gives up after ten seconds.
pub(crate) fn client<'a>(
    duration: Duration,
    clock: &'a dyn Clock,
    interrupt: &'a AtomicBool,
) -> Client<'a> {
    const PATIENCE: Duration = Duration::from_secs(10);
    Client {
        settings: keymark_load::Settings {
            timeouts: Timeouts {
                connect: PATIENCE,
                handshake: PATIENCE,
                whole: PATIENCE,
            },
            ..keymark_load::Settings::new(Load::single(), duration)
        },
        clock,
        interrupt,
    }
}

/// Measures the cases of a record, saves and shows them. `run` fills in the cases, and returns what it could not undo.
pub(crate) fn measured<E: Display>(
    record: Record,
    interrupt: &AtomicBool,
    (arguments, archive): (&RunArguments, Option<&PathBuf>),
    run: impl FnOnce(&mut Record, &mut dyn Observer, &mut dyn Watch) -> Vec<E>,
) -> Exit {
    let frame = Frame {
        archive,
        arguments,
        report: false,
    };
    frame.run(record, interrupt, |record, observers| {
        let mut view = View::new(record.cases.len());
        let kept = run(record, observers, &mut view);
        view.finish();
        record.state = if interrupt.load(Ordering::Relaxed) {
            RunState::Interrupted
        } else {
            RunState::Finished
        };
        kept
    })
}

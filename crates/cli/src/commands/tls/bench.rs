//! `keymark tls bench`

use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keymark_bench::case::{Case, Load, Pacing, Parameters, Worker};
use keymark_bench::clock::MonotonicClock;
use keymark_bench::environment::Environment;
use keymark_bench::operation::Operation;
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::{CaseRecord, Record, RunId, RunState, SCHEMA};
use keymark_bench::runner::Observer;
use keymark_bench::stop::StopRule;
use keymark_load::Progress;
use keymark_report::{units, visible};
use keymark_servers::Port;
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::private_dir;
use keymark_stacks::tls::{Keys, Measuring, Servers, Starting, Watch};
use keymark_stats::Seconds;
use keymark_stores::device::Run;
use keymark_stores::journal::Journals;

use super::super::saving::{self, BeingSaved, Saving, Told};
use super::super::{Outcome, again, show};
use crate::args::TlsBenchArguments;
use crate::exit::{Exit, Failure};
use crate::observers::JsonStream;
use crate::{output, signals, user};

/// About what starting and draining a server takes.
const AROUND: Duration = Duration::from_millis(500);

pub(super) fn run(arguments: &TlsBenchArguments, archive: Option<&PathBuf>) -> Outcome {
    let _ = private_dir::sweep();
    let user = user::of_arguments(&arguments.card);
    let inventory = super::devices(&arguments.device, &user)?;
    let servers = Servers::find(&arguments.server).map_err(Failure::nothing_usable)?;
    let plan = plan(arguments, &inventory);
    if arguments.dry_run {
        dry_run(&plan, arguments.duration);
        return Ok(Exit::Fine);
    }
    let (interrupt, _) = signals::listen()?;
    let mut record = head(&plan, &inventory, &servers);
    let mut opening = Run::new(plan.settings.seed);
    let journals = Journals::of_user().ok();
    opening.journals = journals.map(|journals| (journals, record.id.to_string()));
    let keys = |found: &Found| Keys::of(found.device.as_ref(), &opening);
    let keys: Result<Vec<Keys>, _> = inventory.devices.iter().map(keys).collect();
    let keys = keys.map_err(Failure::nothing_usable)?;
    let clock = MonotonicClock::new();
    let measuring = Measuring {
        keys: &keys,
        starting: Starting {
            servers: &servers,
            weak: super::weak(arguments.allow_weak),
            way: arguments.openssl.map(Into::into),
            processes: arguments.server_processes,
            port: Port::Free,
        },
        duration: arguments.duration,
        threads: arguments.client_threads,
        clock: &clock,
        interrupt: &interrupt,
    };
    let mut saving = (!arguments.no_save).then(|| Saving::open(archive));
    let saved = measure(&mut record, &measuring, saving.as_mut(), arguments);
    let kept: Vec<_> = keys
        .iter()
        .filter_map(|keys| keys.restore().err())
        .collect();
    if !arguments.json {
        show::print(&record, &arguments.tables);
    }
    let exit = saving::conclude(&record, saved, Told::of(arguments.json, arguments.no_save));
    for error in &kept {
        output::error(&error.to_string());
    }
    Ok(if kept.is_empty() { exit } else { Exit::Failed })
}

/// Every server with every device, certificate and key exchange, under every load.
fn plan(arguments: &TlsBenchArguments, inventory: &Inventory) -> Plan {
    let pacing = match (arguments.rate, arguments.delay) {
        (Some(rate), _) => Pacing::Open(rate),
        (None, Some(delay)) => Pacing::Thinking(delay),
        (None, None) => Pacing::Closed,
    };
    let users = match arguments.rate {
        Some(_) => vec![std::num::NonZeroU32::MIN],
        None => arguments.users.clone(),
    };
    let mut cases = Vec::new();
    for stack in &arguments.server {
        for found in &inventory.devices {
            for algorithm in &arguments.algorithm {
                for kex in &arguments.kex {
                    cases.extend(users.iter().map(|users| Case {
                        device: found.identity.device.clone(),
                        store: found.identity.kind,
                        provenance: found.identity.provenance,
                        algorithm: *algorithm,
                        operation: Operation::Handshake,
                        stack: *stack,
                        parameters: Parameters::Tls {
                            version: super::version(arguments.tls, *kex),
                            key_exchange: *kex,
                        },
                        load: Load {
                            concurrency: *users,
                            worker: Worker::Thread,
                            pacing,
                        },
                        input_bytes: arguments.body,
                        replica: 0,
                    }));
                }
            }
        }
    }
    Plan {
        cases,
        settings: Settings {
            stop: StopRule::For(arguments.duration),
            order: keymark_bench::plan::Order::Sequential,
            time_limit: None,
            warmup: 0,
            seed: arguments
                .seed
                .unwrap_or_else(super::super::bench::fresh_seed),
            ..Settings::default()
        },
    }
}

fn dry_run(plan: &Plan, duration: Duration) {
    output::heading(&format!("{} cases", plan.cases.len()));
    for case in &plan.cases {
        output::line(&format!("  {case}"));
    }
    let number = u32::try_from(plan.cases.len()).unwrap_or(u32::MAX);
    let all = (duration + AROUND).saturating_mul(number);
    let all = units::duration(Seconds(all.as_secs_f64()));
    output::line(&format!("about {all}, with starting the servers"));
}

fn head(plan: &Plan, inventory: &Inventory, servers: &Servers) -> Record {
    let now = jiff::Timestamp::now();
    let mut environment = Environment::capture(env!("KEYMARK_VERSION"));
    environment.command = again::typed();
    environment.versions.extend(servers.versions());
    let devices = inventory.devices.iter();
    Record {
        schema: SCHEMA,
        id: RunId::fresh(now),
        started: now,
        state: RunState::Unfinished,
        series: None,
        plan: plan.clone(),
        environment,
        harness: None,
        stores: devices.map(|found| found.identity.clone()).collect(),
        cases: plan.cases.iter().cloned().map(CaseRecord::new).collect(),
    }
}

fn measure(
    record: &mut Record,
    measuring: &Measuring<'_>,
    saving: Option<&mut Saving>,
    arguments: &TlsBenchArguments,
) -> Result<(), String> {
    let (plan, devices) = (record.plan.clone(), record.stores.clone());
    let mut saving = saving.map(|saving| saving.begin(record));
    let mut stream = arguments
        .json
        .then(|| JsonStream::new(&plan, &devices, measuring.interrupt));
    let mut view = View::new(plan.cases.len());
    {
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(saving.as_mut().and_then(BeingSaved::observer));
        observers.extend(stream.as_mut().map(|stream| stream as &mut dyn Observer));
        record.cases = measuring.run(&plan, &mut observers, &mut view);
    }
    view.bar.finish_and_clear();
    record.state = if measuring
        .interrupt
        .load(std::sync::atomic::Ordering::Relaxed)
    {
        RunState::Interrupted
    } else {
        RunState::Finished
    };
    saving.map_or(Ok(()), |saving| saving.finish(record.state))
}

/// A line on the terminal: rate, failures, p99, time left.
struct View {
    bar: ProgressBar,
    cases: usize,
    last: Option<String>,
    number: usize,
}

impl View {
    fn new(cases: usize) -> Self {
        // indicatif draws nothing where stderr is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            cases,
            last: None,
            number: 0,
        }
    }
}

impl Watch for View {
    fn progress(&mut self, case: &Case, progress: &Progress) {
        let name = case.to_string();
        if self.last.as_ref() != Some(&name) {
            self.number += 1;
        }
        let p99 = progress.p99.unwrap_or_default();
        self.bar.set_message(format!(
            "{} of {}: {}: {}, {} failed, p99 {}, {:.0} s left",
            self.number,
            self.cases,
            visible::visible(&name),
            units::rate(progress.rate),
            progress.failed,
            units::duration(Seconds(p99.as_secs_f64())),
            progress.left.as_secs_f64()
        ));
        self.last = Some(name);
    }
}

//! How and on what a run was measured, in lines.

use keymark_bench::case::Provenance;
use keymark_bench::environment::{Environment, View};
use keymark_bench::plan::{Order, Settings};
use keymark_bench::record::{Record, RunState};
use keymark_bench::stop::StopRule;
use keymark_stats::{MachineSpeed, Seconds};

use crate::units;

/// The conditions of a run, and how many of the lines everybody has to read.
pub(crate) fn head(record: &Record, speed: Option<&MachineSpeed>) -> (Vec<String>, usize) {
    if record.state == RunState::Published {
        let stated = "published figures, as their source states them";
        return (vec![stated.to_owned()], 1);
    }
    let environment = &record.environment;
    let mut stores = record.stores.iter();
    if stores.clone().next().is_some()
        && stores.all(|store| store.provenance == Provenance::Predicted)
    {
        let own = format!("predicted by keymark {}", environment.keymark);
        let basis = "no device was measured; this computer's speed does not matter";
        return (vec![own, basis.to_owned()], 2);
    }
    let mut lines = vec![machine(environment).join(", ")];
    lines.extend(unfinished(record.state).map(str::to_owned));
    let in_brief = lines.len();
    lines.extend([
        versions(environment).join(", "),
        settings(&record.plan.settings),
    ]);
    let twins = record
        .stores
        .iter()
        .filter(|store| store.provenance == Provenance::Twin);
    lines.extend(twins.map(|twin| format!("{}: {}", twin.device, twin.product)));
    if let Some(harness) = record.harness {
        let ns = |nanoseconds: u64| units::duration(Seconds(nanoseconds as f64 * 1e-9));
        lines.push(format!(
            "timer overhead: {} per sample (resolution {}); {} between two samples",
            ns(harness.clock_reading_ns),
            ns(harness.clock_resolution_ns),
            ns(harness.loop_ns)
        ));
    }
    lines.extend(speed.map(machine_speed));
    match environment.view {
        View::None => {}
        View::Terminal => lines.push("progress display: on".to_owned()),
    }
    (lines, in_brief)
}

/// What a run that did not come to its end says of itself.
const fn unfinished(state: RunState) -> Option<&'static str> {
    match state {
        RunState::Interrupted => Some("ended early, before everything was measured"),
        RunState::Unfinished => {
            Some("unfinished: keymark was killed; figures until then are shown")
        }
        RunState::Finished | RunState::Published => None,
    }
}

/// Runs on machines that differ in this, or that were as uneven, compare badly.
fn machine_speed(speed: &MachineSpeed) -> String {
    let MachineSpeed {
        mean, p5, p95, n, ..
    } = speed;
    let off = |time: Seconds| (time.0 / mean.value.0 - 1.0) * 100.0;
    format!(
        "machine speed: {} for a fixed calculation, 90 % of {n} checks within {:+.0} % to {:+.0} %",
        units::duration(mean.value),
        off(*p5),
        off(*p95),
    )
}

/// Processor, cores, system.
fn machine(environment: &Environment) -> Vec<String> {
    let processor = environment.cpu_model.clone();
    let mut machine = vec![processor.unwrap_or_else(|| "unknown processor".to_owned())];
    machine.push(units::counted(environment.cores, "core"));
    let virtualization = environment.virtualization.as_ref();
    machine.extend(virtualization.map(|name| format!("virtual machine ({name})")));
    machine.extend(environment.os.clone());
    let kernel = environment.kernel.as_ref();
    machine.extend(kernel.map(|kernel| format!("Linux {kernel}")));
    machine
}

/// Programs and libraries, keymark last.
fn versions(environment: &Environment) -> Vec<String> {
    let versions = environment.versions.iter().map(|(name, version)| {
        if version.to_lowercase().starts_with(name.as_str()) {
            version.clone()
        } else {
            format!("{name} {version}")
        }
    });
    let own = format!("keymark {}", environment.keymark);
    versions.chain([own]).collect()
}

fn settings(settings: &Settings) -> String {
    format!("{}, seed {}", stop_and_order(settings), settings.seed)
}

/// When cases end, and in which order they are measured.
pub(crate) fn stop_and_order(settings: &Settings) -> String {
    let stop = match settings.stop {
        StopRule::Runs(runs) => format!("{runs} operations of each case"),
        StopRule::Precision { target, .. } => format!(
            "until the mean is known to ±{} %",
            target.fraction() * 100.0
        ),
        StopRule::For(length) => format!("{} a case", units::chosen(length)),
    };
    let order = match settings.order {
        Order::Interleaved => "interleaved",
        Order::Sequential => "sequential",
    };
    format!("{stop}, {order}")
}

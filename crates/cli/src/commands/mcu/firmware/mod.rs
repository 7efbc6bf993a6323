//! `keymark mcu run` and `keymark mcu compare`: programs of one's own.

mod budget;
mod compare;
mod kept;
mod listing;
mod simulate;

pub(super) use compare::run as compare;

use std::collections::BTreeMap;
use std::path::PathBuf;

use keymark_mcu::profiler::Spent;
use keymark_mcu::timing::{Phase, Stall};
use keymark_report::formats::ci::{Test, suite};
use keymark_report::units;
use keymark_report::{Document, TableOf};
use serde_json::{Value, json};

use super::count;
use crate::args::{FirmwareArguments, FirmwareFormat};
use crate::exit::{Exit, Failure, Outcome};
use crate::file;
use crate::output;
use listing::Annotated;
use simulate::{Echo, FirmwareRun};

pub(super) fn run(arguments: &FirmwareArguments, archive: Option<&PathBuf>) -> Outcome {
    let (path, phases) = (&arguments.elf, &arguments.phase);
    let echo = match arguments.format {
        FirmwareFormat::Text => Echo::Print,
        FirmwareFormat::Json | FirmwareFormat::Junit => Echo::Keep,
    };
    let run = FirmwareRun::new(path, &arguments.mcu, arguments.limit, phases, echo)?;
    let mut judged = budget::judge(&run, &arguments.budget, arguments.fail_above)?;
    let annotated = arguments.annotate.as_deref();
    let annotated = annotated.map(|wanted| listing::annotate(path, &run, wanted));
    let annotated = annotated.transpose()?;
    if arguments.format == FirmwareFormat::Json {
        let mut report = report(&run, &judged);
        report["annotated"] = json!(annotated);
        output::print_json(&report);
    } else if arguments.format == FirmwareFormat::Text {
        output::document(&Document {
            answers: vec![verdict(&run)],
            ..Document::of(Vec::new())
        });
        output::paragraph(&format!(
            "{} on {} at {}",
            path.display(),
            run.mcu.name,
            run.mcu.clock
        ));
        print_phases(&run);
        print_functions(&run, arguments.top);
        annotated.iter().for_each(Annotated::print);
    }
    if let Some(folded) = &arguments.folded {
        let lines = run.profiler.folded(|number| run.phase_name(number));
        file::put(Some(folded), &(lines.join("\n") + "\n"))?;
    }
    judged.insert(
        0,
        Test {
            class: format!("keymark.mcu.{}", run.mcu.name),
            name: "end".to_owned(),
            failure: run.problem(),
        },
    );
    let kept = kept::keep(&[&run], archive);
    finish(&judged, arguments.format, kept)
}

/// `Predicted: 1.23 s on stm32f103, 86 % of it in bignum_mul.`
fn verdict(run: &FirmwareRun) -> String {
    let whole = run.cycles();
    let time = units::duration(run.mcu.clock.seconds(whole));
    let functions = run.profiler.flat();
    let most = functions.first().map(|(name, spent)| {
        let share = 100.0 * spent.cycles as f64 / whole.max(1) as f64;
        format!(", {share:.0} % of it in {name}")
    });
    let (mcu, most) = (&run.mcu.name, most.unwrap_or_default());
    format!("Predicted: {time} on {mcu}{most}.")
}

/// Prints the tests where that is asked for, and fails by them.
fn finish(tests: &[Test], format: FirmwareFormat, otherwise: Exit) -> Outcome {
    if format == FirmwareFormat::Junit {
        output::print(&suite("mcu", tests).map_err(Failure::failed)?);
    }
    let failures = tests.iter().filter_map(|test| test.failure.clone());
    let failures: Vec<String> = failures.collect();
    match failures.is_empty() {
        true => Ok(otherwise),
        false => Err(Failure::failed(failures.join("\n"))),
    }
}

fn report(run: &FirmwareRun, judged: &[Test]) -> Value {
    let clock = run.mcu.clock;
    let phase = |(name, phase): (String, Phase)| {
        let band = run.band(&phase);
        let account = phase.account;
        let stalls = Stall::ALL
            .iter()
            .map(|&stall| (stall, account.stall(stall)));
        json!({
            "phase": phase.number,
            "name": name,
            "count": phase.count,
            "cycles": account.cycles(),
            "minimum": phase.shortest,
            "maximum": phase.longest,
            "instructions": account.instructions(),
            "seconds": clock.seconds(account.cycles()),
            "low_s": band.low,
            "high_s": band.high,
            "stalls": stalls.collect::<BTreeMap<_, _>>(),
        })
    };
    let function = |(function, spent): (String, Spent)| {
        json!({
            "function": function,
            "cycles": spent.cycles,
            "inclusive": spent.inclusive,
            "instructions": spent.instructions,
            "calls": spent.calls,
        })
    };
    let budget = |test: &Test| json!({ "budget": test.name, "failure": test.failure });
    json!({
        "mcu": run.mcu.name,
        "clock_mhz": clock.0,
        "provenance": "predicted",
        "end": run.ending,
        // Over all phases.
        "cycles": run.cycles(),
        "instructions": run.executed,
        "seconds": clock.seconds(run.cycles()),
        "phases": run.phases().into_iter().map(phase).collect::<Vec<_>>(),
        "functions": run.profiler.flat().into_iter().map(function).collect::<Vec<_>>(),
        "budgets": judged.iter().map(budget).collect::<Vec<_>>(),
        // What the program wrote through semihosting.
        "output": String::from_utf8_lossy(&run.written),
        "output_cut": run.is_cut,
    })
}

fn print_phases(run: &FirmwareRun) {
    let clock = run.mcu.clock;
    let mut table = TableOf::new(run.phases())
        .name("phase", |(name, _)| name.clone())
        .value("times", |(_, phase)| phase.count)
        .value("time", |(_, phase)| clock.seconds(phase.account.cycles()))
        .value("band", |(_, phase)| {
            let band = run.band(phase);
            [band.low, band.high].map(units::duration).join(" to ")
        })
        .value("cycles", |(_, phase)| count(phase.account.cycles()))
        .value("least", |(_, phase)| count(phase.shortest))
        .value("most", |(_, phase)| count(phase.longest))
        .value("instructions", |(_, phase)| {
            count(phase.account.instructions())
        })
        .value("cycles an instruction", |(_, phase)| {
            let instructions = phase.account.instructions().max(1);
            format!("{:.2}", phase.account.cycles() as f64 / instructions as f64)
        });
    // A column that most programs have nothing in.
    let floats = run
        .phases()
        .iter()
        .any(|(_, phase)| phase.account.stall(Stall::Float) > 0);
    let shown = |stall: &&Stall| **stall != Stall::Float || floats;
    for &stall in Stall::ALL.iter().filter(shown) {
        table = table.value(stall.name(), |(_, phase)| count(phase.account.stall(stall)));
    }
    output::table(table);
}

fn print_functions(run: &FirmwareRun, top: usize) {
    let all = run.cycles().max(1) as f64;
    output::line("");
    let table = TableOf::new(run.profiler.flat().into_iter().take(top))
        .name("function", |(name, _)| name.clone())
        .value("share", |(_, spent)| {
            format!("{:.1} %", 100.0 * spent.cycles as f64 / all)
        })
        .value("cycles", |(_, spent)| count(spent.cycles))
        .value("with callees", |(_, spent)| count(spent.inclusive))
        .value("instructions", |(_, spent)| count(spent.instructions))
        .value("calls", |(_, spent)| spent.calls);
    output::table(table);
}

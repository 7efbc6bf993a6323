//! `keymark mcu run` and `keymark mcu compare`: programs of one's own.

mod compare;
mod listing;
mod simulate;

use std::collections::BTreeMap;
use std::path::PathBuf;

use keymark_bench::store::Capability;
use keymark_bench::{PublishedMean, Settings};
use keymark_mcu::profiler::Spent;
use keymark_mcu::timing::{Phase, Stall};
use keymark_report::formats::ci::{Test, suite};
use keymark_report::{Document, TableOf, units};
use keymark_stats::{Band, Seconds};
use serde_json::{Value, json};

use self::listing::Annotated;
use self::simulate::{Echo, FirmwareRun};
use super::count;
use super::record::{Figure, figure, of_figures};
use crate::args::{Budget, FirmwareArguments, FirmwareFormat};
use crate::exit::{Exit, Failure, Outcome};
use crate::{file, frame, output};

pub(super) use compare::run as compare;

pub(super) fn run(arguments: &FirmwareArguments, archive: Option<&PathBuf>) -> Outcome {
    let (path, phases) = (&arguments.elf, &arguments.phase);
    let echo = match arguments.format {
        FirmwareFormat::Text => Echo::Print,
        FirmwareFormat::Json | FirmwareFormat::Junit => Echo::Keep,
    };
    let run = FirmwareRun::new(path, &arguments.mcu, arguments.limit, phases, echo)?;
    let mut judged = judge(&run, &arguments.budget, arguments.fail_above)?;
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
    let kept = keep(&[&run], archive);
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

/// Returns the cycles of a budget's subject: the longest stretch of a phase, a function with its callees, or the
/// whole.
fn cycles(run: &FirmwareRun, name: &str) -> Option<u64> {
    let phases = run.phases();
    let phase = phases.iter().find(|(known, _)| known == name);
    let longest = phase.map(|(_, phase)| phase.longest);
    longest.or_else(|| match name {
        "total" => Some(run.cycles()),
        name => {
            let mut functions = run.profiler.flat().into_iter();
            functions
                .find(|(known, _)| known == name)
                .map(|(_, spent)| spent.inclusive)
        }
    })
}

/// A test for each budget; more by this share is still fine.
fn judge(run: &FirmwareRun, budgets: &[Budget], above: f64) -> Result<Vec<Test>, Failure> {
    let test = |budget: &Budget| {
        let name = &budget.name;
        let taken = cycles(run, name).ok_or_else(|| {
            let phases = run.phases();
            let phases: Vec<&str> = phases.iter().map(|(name, _)| name.as_str()).collect();
            Failure::usage(format!(
                "--budget {name}: no such phase or function was executed; phases are {}",
                phases.join(", ")
            ))
        })?;
        let most = budget.cycles as f64 * (1.0 + above);
        Ok(Test {
            class: format!("keymark.mcu.{}", run.mcu.name),
            name: format!("budget {name}"),
            failure: (taken as f64 > most).then(|| {
                format!(
                    "{name} takes {taken} cycles, more than its budget of {}",
                    budget.cycles
                )
            }),
        })
    };
    budgets.iter().map(test).collect()
}

/// Keeps these runs as one, unless none of them has such a phase, or one did not end well.
fn keep(runs: &[&FirmwareRun], archive: Option<&PathBuf>) -> Exit {
    let figures: Vec<Figure> = runs.iter().flat_map(|run| figures(run)).collect();
    if figures.is_empty() || runs.iter().any(|run| run.problem().is_some()) {
        return Exit::Fine;
    }
    frame::keep(&of_figures(figures, Settings::default().tolerance), archive)
}

/// The means of these phases' stretches.
fn figures(run: &FirmwareRun) -> impl Iterator<Item = Figure> {
    let phases = run.phases().into_iter();
    phases.filter_map(|(name, phase)| {
        let (band, count, mcu) = (run.band(&phase), phase.count.max(1), &run.mcu);
        let (cycles, program) = (phase.account.cycles(), &run.program);
        let each = |all: Seconds| Seconds(all.0 / count as f64);
        let (low, high) = (each(band.low), each(band.high));
        let published = PublishedMean {
            note: format!(
                "{} cycles at {}, the mean of {count} in {program}",
                cycles / count,
                mcu.clock
            ),
            band: Some(Band { low, high }),
            ..PublishedMean::from(each(mcu.clock.seconds(cycles)))
        };
        let device = format!("{}:{program}", mcu.name);
        Some(figure(device, mcu, capability(&name)?, published))
    })
}

/// `ed25519_sign`
fn capability(phase: &str) -> Option<Capability> {
    let (algorithm, operation) = phase.rsplit_once('_')?;
    Some(Capability {
        algorithm: algorithm.parse().ok()?,
        operation: operation.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::capability;

    #[test]
    fn a_phase_says_what_it_computes() {
        let found = capability("ed25519_sign").unwrap();
        let words = format!("{} {}", found.algorithm, found.operation);
        assert_eq!(words, "ed25519 sign");
        for other in "hash ed25519 ed25519_ ed25519_hash sign_ed25519".split(' ') {
            assert!(capability(other).is_none(), "{other}");
        }
    }
}

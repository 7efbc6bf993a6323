//! `keymark bench --repeat` and `--against`: several runs of a plan, each in a process of its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use keymark_bench::record::{Record, RunState};
use keymark_bench::series::{InSeries, SeriesId, Side, Step, schedule};
use keymark_report::archive::Archive;
use keymark_report::units;
use keymark_stats::Seconds;

use super::child::{ForwardedSignals, Measured, Program};
use super::{Outcome, selection};
use crate::args::{BenchArguments, SeriesArguments};
use crate::documents::{self, comparison};
use crate::exit::{Exit, Failure};
use crate::{archive, frame, output, rerun};

/// What is being made.
struct Series<'a> {
    arguments: &'a SeriesArguments,
    steps: Vec<Step>,
    this: (SeriesId, Program),
    other: Option<(SeriesId, Program)>,
    archive: Archive,
    signals: ForwardedSignals,
}

/// The runs that were made, by side, and how making them ended.
struct Made {
    this: Vec<Record>,
    other: Vec<Record>,
    exit: Exit,
}

pub(super) fn run(arguments: &BenchArguments, archive: Option<&PathBuf>) -> Outcome {
    let mut series = Series::of(arguments, archive)?;
    let made = series.make()?;
    let alternating = series.other.is_some();
    let finished = |runs: &[Record]| -> Vec<Record> {
        let mut finished = runs.to_vec();
        finished.retain(|run| run.state == RunState::Finished);
        finished
    };
    let (this, other) = (finished(&made.this), finished(&made.other));
    // It may have ended before there was anything to show.
    if alternating && !this.is_empty() && !other.is_empty() {
        series.show_comparison(&other, &this, arguments)?;
    } else if !alternating && !this.is_empty() {
        documents::print_series(&this, arguments.run.json, &arguments.run.shown.tables);
    }
    series.conclude(&made);
    if arguments.report {
        frame::report(this.last().map(|run| &run.id), archive);
    }
    Ok(made.exit)
}

/// What a dry run says of a series besides its plan.
pub(super) fn foresee(arguments: &SeriesArguments) {
    if !arguments.is_wanted() {
        return;
    }
    output::line(&format!(
        "that {} times{}, with pauses of {} between",
        arguments.runs_in_all(),
        if arguments.against.is_some() {
            ", by the two programs in turn"
        } else {
            ""
        },
        range(arguments.pause)
    ));
}

/// Pauses as they are drawn.
fn range(pause: Duration) -> String {
    let text = |factor| units::duration(Seconds(pause.as_secs_f64() * factor));
    format!("{} to {}", text(0.5), text(1.5))
}

impl<'a> Series<'a> {
    fn of(arguments: &'a BenchArguments, archive: Option<&PathBuf>) -> Result<Self, Failure> {
        let own = std::env::current_exe().map_err(|error| {
            Failure::failed(format!("cannot find keymark's own program: {error}"))
        })?;
        let mut common = of_one_run(std::env::args_os().skip(1));
        if let Some(limit) = selection::time_limit(arguments) {
            common.extend([
                "--total-time".into(),
                format!("{}ns", limit.as_nanos()).into(),
            ]);
        }
        let series = &arguments.series;
        let now = jiff::Timestamp::now();
        let against = series.against.as_ref().map(|path| {
            let program = Program {
                path: path.clone(),
                arguments: common.clone(),
            };
            (SeriesId::fresh(now, Some('a')), program)
        });
        let sides: &[Side] = match against {
            Some(_) => &[Side::Other, Side::This],
            None => &[Side::This],
        };
        let this = SeriesId::fresh(now, against.as_ref().map(|_| 'b'));
        Ok(Self {
            arguments: series,
            steps: schedule(series.runs(), sides, series.pause, arguments.run.seed()),
            this: (
                this,
                Program {
                    path: own,
                    arguments: common,
                },
            ),
            other: against,
            // A series that cannot be kept cannot be compared.
            archive: archive::open(archive).map_err(Failure::failed)?,
            signals: ForwardedSignals::listen()?,
        })
    }

    /// Every run, into the archive one by one; fewer, if keymark is told to end or a run cannot be made.
    fn make(&mut self) -> Result<Made, Failure> {
        let mut made = Made {
            this: Vec::new(),
            other: Vec::new(),
            exit: Exit::Fine,
        };
        for step in self.steps.clone() {
            if self.signals.wait(step.pause) {
                made.exit = Exit::Interrupted;
                break;
            }
            self.announce(&step);
            let Some((_, program)) = self.side(step.side) else {
                continue;
            };
            let Measured { record, exit } = program.measure(step.seed, &self.signals)?;
            if let Some(record) = record {
                let record = self.placed(&step, record);
                self.archive.insert(&record).map_err(Failure::failed)?;
                match step.side {
                    Side::This => made.this.push(record),
                    Side::Other => made.other.push(record),
                }
            } else if matches!(exit, Exit::Usage | Exit::NothingUsable) {
                return Err(self.refused(&step, exit));
            } else if exit != Exit::Interrupted {
                output::error(&format!(
                    "{} ended without making a run",
                    program.path.display()
                ));
                made.exit = Exit::Failed;
            }
            match exit {
                Exit::Interrupted => {
                    made.exit = Exit::Interrupted;
                    break;
                }
                Exit::Fine => {}
                Exit::Failed | Exit::Usage | Exit::NothingUsable | Exit::Child(_) => {
                    made.exit = Exit::Failed;
                }
            }
        }
        Ok(made)
    }

    fn side(&self, side: Side) -> Option<&(SeriesId, Program)> {
        match side {
            Side::This => Some(&self.this),
            Side::Other => self.other.as_ref(),
        }
    }

    fn announce(&self, step: &Step) {
        let whose = match (step.side, &self.other) {
            (Side::Other, Some((_, program))) => format!(" of {}", program.path.display()),
            (_, Some(_)) => " of this keymark".to_owned(),
            (_, None) => String::new(),
        };
        output::note(&format!(
            "run {} of {}{whose}",
            step.number + 1,
            self.arguments.runs()
        ));
    }

    /// The record with its place in the series.
    fn placed(&self, step: &Step, record: Record) -> Record {
        let (this, other) = (&self.this.0, self.other.as_ref().map(|(id, _)| id));
        let (id, against) = match (step.side, other) {
            (Side::Other, Some(other)) => (other, Some(this)),
            (Side::Other | Side::This, other) => (this, other),
        };
        Record {
            series: Some(InSeries {
                id: id.clone(),
                number: step.number,
                runs: self.arguments.runs(),
                pause: step.pause,
                against: against.cloned(),
            }),
            ..record
        }
    }

    /// A program that cannot measure this plan has said why.
    fn refused(&self, step: &Step, exit: Exit) -> Failure {
        let program = self
            .side(step.side)
            .map(|(_, program)| program.path.display());
        Failure {
            message: match program {
                Some(program) => format!("no series: {program} cannot make its runs"),
                None => "no series can be made".to_owned(),
            },
            exit,
        }
    }

    fn show_comparison(
        &self,
        other: &[Record],
        this: &[Record],
        arguments: &BenchArguments,
    ) -> Result<(), Failure> {
        let compared = comparison::between(other, this, &self.archive)?;
        if compared.pairs.is_empty() {
            output::warning("the two have no case in common, so nothing can be compared");
        } else {
            comparison::print(
                &compared,
                &[],
                arguments.run.json,
                &arguments.run.shown.tables,
            );
        }
        Ok(())
    }

    fn conclude(&self, made: &Made) {
        let (this, runs) = (&self.this.0, made.this.len());
        let text = match &self.other {
            Some((other, program)) if !made.other.is_empty() => format!(
                "saved as two series:\n  {other} of {}\n  {this} of this keymark\n\
                 'keymark compare series:{other} series:{this}' compares them again",
                program.path.display()
            ),
            _ if runs > 0 => format!(
                "saved as series {this} of {runs} runs; after a change make another, then\n'keymark compare \
                 series:last~1 series:last' compares the two"
            ),
            _ => "nothing was measured".to_owned(),
        };
        output::note(&text);
    }
}

/// Options that a run is given anew, or has no use for, each with a value.
const WITH_VALUE: [&str; 6] = [
    "--repeat",
    "--against",
    "--pause",
    "--seed",
    "--archive",
    "--total-time",
];
/// The same, without one.
const ALONE: [&str; 3] = ["--json", "--wide", "--report"];

/// What is left of the arguments, the program's name excluded.
fn of_one_run(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    rerun::without(arguments, &WITH_VALUE, &ALONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_a_series_is_left_out_and_the_rest_stays() {
        let line = "--archive a.sqlite3 bench --repeat 5 --algorithm rsa2048 --seed=7 --against ./old --json \
                    --runs 10 --pause=2s --parameter agent=openssh --wide --report --total-time 9s";
        let left = of_one_run(line.split_whitespace().map(OsString::from));
        let expected = "bench --algorithm rsa2048 --runs 10 --parameter agent=openssh";
        assert_eq!(left, expected.split(' ').collect::<Vec<_>>());
    }
}

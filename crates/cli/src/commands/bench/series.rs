//! `keymark bench --repeat` and `--against`: several runs of a plan, each in a process of its own.

use std::path::PathBuf;

use keymark_bench::series::{InSeries, ScheduledRun, SeriesId, Side, schedule};
use keymark_bench::{Record, RunState};
use keymark_records::archive::{Archive, Identity};
use keymark_report::compare;

use super::child::{ForwardedSignals, Program};
use super::planning;
use crate::args::{BenchArguments, FormatArguments, SeriesArguments};
use crate::documents::{self, comparison};
use crate::exit::{Exit, Failure, Outcome};
use crate::saving::Saving;
use crate::{archive, frame, output, rerun};

struct Series<'a> {
    arguments: &'a SeriesArguments,
    steps: Vec<ScheduledRun>,
    this: Turns,
    other: Option<Turns>,
    archive: Archive,
    named: Option<&'a PathBuf>,
    identity: Identity,
    signals: ForwardedSignals,
}

/// Program with the runs that it has made.
struct Turns {
    id: SeriesId,
    program: Program,
    runs: Vec<Record>,
}

impl Turns {
    fn side(&self, program: &str) -> compare::Side {
        let is_finished = |run: &&Record| run.state == RunState::Finished;
        compare::Side {
            name: format!("series:{} ({program})", self.id),
            runs: self.runs.iter().filter(is_finished).cloned().collect(),
        }
    }
}

/// Makes the runs, and shows them together.
pub(super) fn run_series(arguments: &BenchArguments, archive: Option<&PathBuf>) -> Outcome {
    let mut series = Series::of(arguments, archive)?;
    let exit = series.make()?;
    series.conclude(exit, arguments)
}

impl<'a> Series<'a> {
    fn of(arguments: &'a BenchArguments, archive: Option<&'a PathBuf>) -> Result<Self, Failure> {
        let own = std::env::current_exe();
        let own = own.map_err(|error| format!("cannot find keymark's own program: {error}"))?;
        let mut common = rerun::without(std::env::args_os().skip(1), &WITH_VALUE, &ALONE);
        if let Some(limit) = planning::time_limit(arguments) {
            common.extend(["--time".into(), format!("{}ns", limit.as_nanos()).into()]);
        }
        let series = &arguments.series;
        let now = jiff::Timestamp::now();
        let turns = |path: &PathBuf, mark| Turns {
            id: SeriesId::fresh(now, mark),
            program: Program {
                path: path.clone(),
                arguments: common.clone(),
            },
            runs: Vec::new(),
        };
        let against = series.against.as_ref().map(|path| turns(path, Some('a')));
        let sides: &[Side] = match against {
            Some(_) => &[Side::Other, Side::This],
            None => &[Side::This],
        };
        Ok(Self {
            arguments: series,
            steps: schedule(series.runs(), sides, series.pause, arguments.run.seed()),
            this: turns(&own, against.as_ref().map(|_| 'b')),
            other: against,
            // A series that cannot be kept cannot be compared.
            archive: archive::open(archive)?,
            named: archive,
            identity: arguments.run.identity.wanted(),
            signals: ForwardedSignals::listen()?,
        })
    }

    /// Every run, into the archive one by one; fewer, if keymark is told to end or a run cannot be made.
    fn make(&mut self) -> Outcome {
        let mut made = Exit::Fine;
        for step in std::mem::take(&mut self.steps) {
            if self.signals.wait(step.pause) {
                return Ok(Exit::Interrupted);
            }
            let exit = self.turn(&step)?;
            if exit == Exit::Interrupted {
                return Ok(exit);
            }
            if exit != Exit::Fine {
                made = Exit::Failed;
            }
        }
        Ok(made)
    }

    /// One run of the program whose turn it is.
    fn turn(&mut self, step: &ScheduledRun) -> Outcome {
        let (turns, against, whose) = match (step.side, &mut self.other) {
            (Side::Other, Some(other)) => {
                let whose = format!(" of {}", other.program.path.display());
                (other, Some(&self.this.id), whose)
            }
            (_, Some(other)) => {
                let whose = " of this keymark".to_owned();
                (&mut self.this, Some(&other.id), whose)
            }
            (_, None) => (&mut self.this, None, String::new()),
        };
        let runs = self.arguments.runs();
        output::note(&format!("run {} of {runs}{whose}", step.number + 1));
        let (record, exit) = turns.program.measure(step.seed, &mut self.signals)?;
        let Some(mut record) = record else {
            return Ok(exit);
        };
        record.series = Some(InSeries {
            id: turns.id.clone(),
            number: step.number,
            runs,
            pause: step.pause,
            against: against.cloned(),
        });
        let saved = Saving::open(self.named, &record.id, self.identity).insert(&record);
        turns.runs.push(record);
        Ok(match saved {
            Err(error) => {
                output::error(&format!("cannot save the run: {error}"));
                if exit == Exit::Fine {
                    Exit::Failed
                } else {
                    exit
                }
            }
            Ok(()) => exit,
        })
    }

    /// Shows what was measured, if anything was, and writes it to the user's file.
    fn conclude(&self, exit: Exit, arguments: &BenchArguments) -> Outcome {
        let run = &arguments.run;
        let (id, this) = (&self.this.id, self.this.side("this keymark"));
        let measured = this.runs.len();
        if measured > 0 {
            match &self.other {
                None => documents::print_series(&this.runs, run.form.is_json()),
                Some(other) => self.show_comparison(other, this.clone(), run.form)?,
            }
        }
        output::note(&match &self.other {
            Some(other) if !other.runs.is_empty() => format!(
                "saved as two series:\n  {} of {}\n  {id} of this keymark\n\
                 'keymark compare series:{} series:{id}' compares them again",
                other.id,
                other.program.path.display(),
                other.id
            ),
            _ if measured > 0 => format!(
                "saved as series {id} of {measured} runs. Make your change, run this again, then:\n\
                 keymark compare series:last~1 series:last"
            ),
            _ => "nothing was measured".to_owned(),
        });
        let written = measured == 0 || frame::write(&this.runs, Some(&id.to_string()), run);
        Ok(if written { exit } else { Exit::Failed })
    }

    /// Compares the two programs, if both have finished a run.
    fn show_comparison(
        &self,
        other: &Turns,
        this: compare::Side,
        form: FormatArguments,
    ) -> Result<(), Failure> {
        let other = other.side(&other.program.path.display().to_string());
        if other.runs.is_empty() {
            return Ok(());
        }
        let compared = comparison::of(&[other, this], &self.archive)?;
        if compared.pairs.is_empty() {
            output::warning("the two have no case in common, so nothing can be compared");
        } else {
            comparison::print(&compared, &[], form.is_json());
        }
        Ok(())
    }
}

/// Options that a run is given anew, or has no use for, each with a value.
const WITH_VALUE: [&str; 10] = [
    "--repeat",
    "--against",
    "--pause",
    "--seed",
    "--archive",
    "--time",
    "--format",
    "--output",
    "-o",
    "--color",
];
/// Options without a value.
const ALONE: [&str; 3] = ["--quiet", "-q", "--identify"];

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn what_makes_a_series_is_left_out_and_the_rest_stays() {
        let line = "--archive a.sqlite3 bench --repeat 5 --algorithm rsa2048 --seed=7 --against ./old --format json \
                    --samples 10 --pause=2s --parameter agent=openssh -o run.html -orun.svg --time 9s";
        let left = rerun::without(
            line.split_whitespace().map(OsString::from),
            &WITH_VALUE,
            &ALONE,
        );
        let expected = "bench --algorithm rsa2048 --samples 10 --parameter agent=openssh";
        assert_eq!(left, expected.split(' ').collect::<Vec<_>>());
    }
}

//! Run of a program until its end or the limit.

use std::path::Path;

use keymark_bench::{Clock, MonotonicClock};
use keymark_mcu::machine::Stop;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::predict::{Banded, band};
use keymark_mcu::profiler::Profiler;
use keymark_mcu::timing::Phase;
use keymark_stats::Band;
use serde::Serialize;

use crate::args::{Limit, PhaseName};
use crate::exit::Failure;
use crate::view::bar;
use crate::{output, parts};

/// Instructions between two looks at the clock.
const SLICE: u64 = 2_000_000;
/// Bytes of output that are kept for a report.
const MOST_KEPT: usize = 1 << 20;

/// A program with what it took.
pub(super) struct FirmwareRun {
    pub(super) mcu: Microcontroller,
    /// The file's name.
    pub(super) program: String,
    pub(super) profiler: Profiler,
    /// Output, up to a limit.
    pub(super) written: Vec<u8>,
    pub(super) is_cut: bool,
    pub(super) executed: u64,
    pub(super) ending: ProgramEnding,
    names: Vec<PhaseName>,
}

/// End of a program.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "ending", rename_all = "kebab-case")]
pub(super) enum ProgramEnding {
    Exit {
        exit_code: u32,
    },
    /// Fault: the program cannot go on.
    Fault {
        address: u32,
        place: String,
        reason: String,
    },
    /// Limit reached before the end.
    Limit {
        address: u32,
        place: String,
    },
}

/// Treatment of output as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Echo {
    Print,
    Keep,
}

impl FirmwareRun {
    /// Runs that file on that part.
    pub(super) fn new(
        path: &Path,
        mcu: &str,
        limit: Limit,
        phases: &[PhaseName],
        echo: Echo,
    ) -> Result<Self, Failure> {
        let mcu = parts::part(mcu).map_err(Failure::usage)?;
        let in_file = |error: String| Failure::failed(format!("{}: {error}", path.display()));
        let image = parts::image(path, &mcu.layout).map_err(in_file)?;
        let machine = mcu.load(&image);
        let mut machine = machine.map_err(|error| in_file(error.to_string()))?;
        for (address, bytes) in machine.memory.apart() {
            output::note(&format!(
                "{bytes} bytes at {address:#010x} are outside the flash and RAM of {}. The program finds plain memory \
                 there.",
                mcu.name
            ));
        }
        let mut profiler = Profiler::new(Banded::whole(&mcu), &image);
        let (mut written, mut is_cut) = (Vec::new(), false);
        let (clock, bar) = (MonotonicClock::new(), bar("{spinner} {msg} {elapsed}"));
        let begun = clock.now();
        let stop = loop {
            let left = match limit {
                Limit::Instructions(most) => SLICE.min(most - machine.executed()),
                Limit::Time(most) if clock.now().since(begun) >= most => 0,
                Limit::Time(_) => SLICE,
            };
            let stop = machine.run(&mut profiler, left);
            let output = machine.take_output();
            if echo == Echo::Print && !output.is_empty() {
                bar.suspend(|| output::print(&String::from_utf8_lossy(&output)));
            }
            let room = MOST_KEPT - written.len();
            is_cut |= output.len() > room;
            written.extend(output.into_iter().take(room));
            if left == 0 || !matches!(stop, Stop::Limit | Stop::Output) || output::is_gone() {
                break stop;
            }
            bar.set_message(format!("{} instructions", super::count(machine.executed())));
            bar.tick();
        };
        bar.finish_and_clear();
        let ending = match stop {
            Stop::Exit(exit_code) => ProgramEnding::Exit { exit_code },
            Stop::Fault(fault) => ProgramEnding::Fault {
                address: fault.address,
                place: image.place(fault.address),
                reason: fault.reason.to_string(),
            },
            Stop::Limit | Stop::Output => ProgramEnding::Limit {
                address: machine.pc(),
                place: image.place(machine.pc()),
            },
        };
        let from_symbols = image.phase_names().map(|(number, name)| PhaseName {
            number,
            name: name.to_owned(),
        });
        let names = phases.iter().cloned().chain(from_symbols).collect();
        let program = path.file_name().unwrap_or_default();
        Ok(Self {
            program: program.to_string_lossy().into_owned(),
            executed: machine.executed(),
            mcu,
            profiler,
            written,
            is_cut,
            ending,
            names,
        })
    }

    /// Returns the name of a phase.
    pub(super) fn phase_name(&self, number: u8) -> String {
        let named = self.names.iter().find(|name| name.number == number);
        match (named, number) {
            (Some(named), _) => named.name.clone(),
            (None, 0) => "outside".to_owned(),
            (None, number) => number.to_string(),
        }
    }

    /// The number of the phase of that name.
    pub(super) fn phase_number(&self, name: &str) -> Option<u8> {
        let phases = self.profiler.pipeline().phases().into_iter();
        phases
            .map(|phase| phase.number)
            .find(|number| self.phase_name(*number) == name)
    }

    /// The phases with their names.
    pub(super) fn phases(&self) -> Vec<(String, Phase)> {
        let phases = self.profiler.pipeline().phases().into_iter();
        phases
            .map(|phase| (self.phase_name(phase.number), phase))
            .collect()
    }

    /// The time of a phase, with what its assumptions leave open.
    pub(super) fn band(&self, phase: &Phase) -> Band {
        let timing = self.profiler.timing();
        let variations = timing.estimates(|number| number == phase.number);
        band(&self.mcu, phase.account.cycles(), &variations)
    }

    /// Cycles in all.
    pub(super) fn cycles(&self) -> u64 {
        self.profiler.pipeline().now()
    }

    /// Returns the problem with the end, if there is one.
    pub(super) fn problem(&self) -> Option<String> {
        let executed = self.executed;
        match &self.ending {
            ProgramEnding::Exit { exit_code: 0 } => None,
            ProgramEnding::Exit { exit_code } => Some(format!(
                "the program ended with code {exit_code} after {executed} instructions"
            )),
            ProgramEnding::Limit { place, .. } => Some(format!(
                "no end after {executed} instructions, now at {place}: the program may be in an endless loop; otherwise \
                 raise --time"
            )),
            ProgramEnding::Fault {
                address,
                place,
                reason,
            } => Some(format!(
                "the program stopped after {executed} instructions in {place}, at {address:#010x}: {reason}"
            )),
        }
    }
}

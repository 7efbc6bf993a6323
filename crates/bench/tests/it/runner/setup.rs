//! Plans, scripts, and the run of one under the other.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::case::{Case, CaseId, DeviceName, StackName};
use keymark_bench::clock::{Clock, Harness, ManualClock};
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::{Measured, Observer, Runner, Stacks};
use keymark_bench::sample::Block;
use keymark_bench::stop::{Precision, StopRule, Stopped};
use keymark_bench::workload::Stack;
use keymark_testkit::fake::{self, FakeStack, Script, ScriptedStep};

pub const MS: Duration = Duration::from_millis(1);

pub fn case(algorithm: &str) -> Case {
    fake::case(algorithm).build()
}

pub fn by_four(algorithm: &str) -> Case {
    fake::case(algorithm).workers(4).build()
}

fn settings(stop: StopRule) -> Settings {
    Settings {
        stop,
        time_limit: None,
        ..Settings::default()
    }
}

pub fn runs(number: u32) -> Settings {
    settings(StopRule::Runs(NonZeroU32::new(number).unwrap()))
}

pub fn precision(percent: &str, max_time: Option<Duration>) -> Settings {
    let target: Precision = percent.parse().unwrap();
    settings(StopRule::Precision { target, max_time })
}

pub fn plan(cases: &[Case], settings: Settings) -> Plan {
    Plan {
        cases: cases.to_vec(),
        settings,
    }
}

/// Runs the plan with a script for each case until the flag is set.
pub fn drive(
    plan: &Plan,
    script: impl Fn(&Case) -> Script + Send + Sync + 'static,
    interrupt: &AtomicBool,
    observer: &mut dyn Observer,
) -> Measured {
    let (clock, stack) = scripted(script);
    drive_on(&stack, clock.as_ref(), plan, interrupt, observer)
}

/// Runs the plan to its end, and keeps what an observer is told.
pub fn run(
    plan: &Plan,
    script: impl Fn(&Case) -> Script + Send + Sync + 'static,
) -> (Measured, Listener) {
    let mut listener = Listener::default();
    let measured = drive(plan, script, &AtomicBool::new(false), &mut listener);
    (measured, listener)
}

/// A stack that follows the script, and the clock that it moves.
pub fn scripted(
    script: impl Fn(&Case) -> Script + Send + Sync + 'static,
) -> (Arc<ManualClock>, FakeStack) {
    let clock = Arc::new(ManualClock::default());
    let stack = FakeStack::new(StackName::RAW, Arc::clone(&clock), Box::new(script));
    (clock, stack)
}

/// Runs the plan on a stack of the fake device.
pub fn drive_on(
    stack: &dyn Stack,
    clock: &dyn Clock,
    plan: &Plan,
    interrupt: &AtomicBool,
    observer: &mut dyn Observer,
) -> Measured {
    let named = (DeviceName::new(fake::DEVICE), StackName::RAW);
    let stacks: Stacks<'_> = [(named, stack)].into();
    let runner = Runner {
        clock,
        reference: || (),
        interrupt,
    };
    runner.run(plan, &stacks, observer)
}

/// Operations that take these times, over and over.
pub fn takes(times: impl IntoIterator<Item = Duration>) -> Script {
    Script::Steps(times.into_iter().map(ScriptedStep::Take).collect())
}

pub fn steady(_: &Case) -> Script {
    takes([MS])
}

/// Latencies differ by a tenth, so that the mean has an interval.
pub fn jittery(_: &Case) -> Script {
    takes([95, 104, 99, 101, 92, 107].map(|hundredths| MS * hundredths / 100))
}

pub fn stopped(record: &CaseRecord) -> Stopped {
    record.ending.as_ref().unwrap().stopped
}

/// Interrupts the run from within, after a number of blocks.
pub struct Interrupting<'a> {
    after: usize,
    pub blocks: usize,
    flag: &'a AtomicBool,
}

impl<'a> Interrupting<'a> {
    pub fn after(after: usize, flag: &'a AtomicBool) -> Self {
        Self {
            after,
            blocks: 0,
            flag,
        }
    }
}

impl Observer for Interrupting<'_> {
    fn block(&mut self, _: CaseId, _: &Block) {
        self.blocks += 1;
        if self.blocks == self.after {
            self.flag.store(true, Ordering::Relaxed);
        }
    }
}

/// What an observer is told.
#[derive(Debug, PartialEq)]
pub enum Told {
    Preparing(CaseId),
    Measuring(usize),
    Block(CaseId, Block),
    Finished(CaseId, Box<CaseRecord>),
}

/// Everything that an observer is told, in its order.
#[derive(Debug, Default)]
pub struct Listener(pub Vec<Told>);

impl Observer for Listener {
    fn preparing(&mut self, id: CaseId, _: &Case) {
        self.0.push(Told::Preparing(id));
    }
    fn measuring(&mut self, _: &Harness, ready: usize) {
        self.0.push(Told::Measuring(ready));
    }
    fn block(&mut self, id: CaseId, block: &Block) {
        self.0.push(Told::Block(id, block.clone()));
    }
    fn finished(&mut self, id: CaseId, record: &CaseRecord) {
        self.0.push(Told::Finished(id, Box::new(record.clone())));
    }
}

impl Listener {
    pub fn blocks(&self) -> Vec<(CaseId, &Block)> {
        let blocks = self.0.iter().filter_map(|told| {
            let Told::Block(id, block) = told else {
                return None;
            };
            Some((*id, block))
        });
        blocks.collect()
    }

    pub fn finished(&self) -> Vec<CaseId> {
        let finished = self.0.iter().filter_map(|told| {
            let Told::Finished(id, _) = told else {
                return None;
            };
            Some(*id)
        });
        finished.collect()
    }
}

//! Observer that prints a stream of JSON objects.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use itertools::Itertools;
use keymark_bench::runner::Observer;
use keymark_bench::{Block, CaseId, CaseRecord, Plan, StoreIdentity};
use keymark_report::analysis::{Latencies, MachineState, Row, row_of};
use keymark_report::table::FlatRow;
use keymark_stats::MachineSpeed;

use crate::output;

/// Prints a JSON object per finished case, as soon as its baseline is finished. A reader that leaves
pub(crate) struct JsonStream<'a> {
    plan: &'a Plan,
    devices: &'a [StoreIdentity],
    interrupt: &'a AtomicBool,
    records: Vec<CaseRecord>,
    /// Times of the reference around each block so far, in nanoseconds.
    references: Vec<u64>,
    waiting: Vec<usize>,
}

impl<'a> JsonStream<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        devices: &'a [StoreIdentity],
        interrupt: &'a AtomicBool,
    ) -> Self {
        Self {
            plan,
            devices,
            interrupt,
            records: plan.cases.iter().cloned().map(CaseRecord::new).collect(),
            references: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Returns whether the baseline of the case has ended.
    fn is_complete(&self, index: usize) -> bool {
        let baseline = self.plan.baseline(index);
        baseline.is_none_or(|baseline| self.records[baseline].ending.is_some())
    }

    /// Analyses a case and its baseline by the machine's speed so far.
    fn row(&self, index: usize, machine: &MachineState) -> Row {
        let seed = self.plan.settings.seed;
        let both = [Some(index), self.plan.baseline(index)]
            .into_iter()
            .flatten();
        let of = |index: usize| (index, Latencies::of(&self.records[index], machine, seed));
        let latencies: BTreeMap<usize, Latencies> = both.unique().map(of).collect();
        let latencies = |index: usize| &latencies[&index];
        row_of(self.plan, &self.records, index, latencies, machine)
    }
}

impl Observer for JsonStream<'_> {
    fn block(&mut self, _: CaseId, block: &Block) {
        self.references.extend(block.reference_ns);
    }

    fn finished(&mut self, id: CaseId, record: &CaseRecord) {
        let index = id.0 as usize;
        self.records[index] = record.clone();
        self.waiting.push(index);
        let (complete, waiting) = self
            .waiting
            .iter()
            .partition(|index| self.is_complete(**index));
        self.waiting = waiting;
        let complete: Vec<usize> = complete;
        let speed = MachineSpeed::of(&self.references, self.plan.settings.seed);
        let machine = MachineState::of(speed, &self.records);
        for index in complete {
            let row = self.row(index, &machine);
            output::print_json(&FlatRow::from(&row.on(self.devices)));
        }
        if output::is_gone() {
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

//! `keymark mcu compare`

use std::collections::BTreeMap;

use itertools::Itertools;
use keymark_report::formats::ci::Test;
use serde::Serialize;

use super::finish;
use super::simulate::{Echo, Run};
use crate::args::FirmwareComparison;
use crate::commands::Outcome;
use crate::observers::print_json;
use crate::output::{self, Table};

/// What is compared, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Total,
    Phase,
    /// Itself, without those that it calls.
    Function,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Total => "whole",
            Self::Phase => "phase",
            Self::Function => "function",
        }
    }
}

/// Cycles of one thing on one part; `None` where it is not there.
#[derive(Debug, Clone, Serialize)]
struct Row {
    mcu: String,
    kind: Kind,
    name: String,
    before: Option<u64>,
    after: Option<u64>,
}

impl Row {
    fn difference(&self) -> i64 {
        self.after.unwrap_or(0).cast_signed() - self.before.unwrap_or(0).cast_signed()
    }

    /// After by before.
    fn ratio(&self) -> Option<f64> {
        let before = self.before.filter(|before| *before > 0)?;
        Some(self.after? as f64 / before as f64)
    }

    fn change(&self) -> String {
        match (self.ratio(), self.before) {
            (Some(ratio), _) => format!("{:+.2} %", 100.0 * (ratio - 1.0)),
            (None, None) => "new".to_owned(),
            (None, Some(_)) => "gone".to_owned(),
        }
    }
}

pub(in crate::commands::mcu) fn run(arguments: &FirmwareComparison) -> Outcome {
    let (mut rows, mut tests) = (Vec::new(), Vec::new());
    for mcu in &arguments.mcu {
        let run = |path| Run::new(path, mcu, arguments.limit, &arguments.phase, Echo::Keep);
        let (before, after) = (run(&arguments.before)?, run(&arguments.after)?);
        for (run, which) in [(&before, "before"), (&after, "after")] {
            tests.push(Test {
                class: format!("keymark.mcu.{mcu}"),
                name: format!("end {which}"),
                failure: run
                    .problem()
                    .map(|problem| format!("{which} on {mcu}: {problem}")),
            });
        }
        if before.written != after.written {
            output::warning(&format!("on {mcu} the two programs write different things"));
        }
        rows.extend(differences(&before, &after));
    }
    if let Some(above) = arguments.fail_above {
        let judged = rows.iter().filter(|row| row.kind != Kind::Function);
        tests.extend(judged.map(|row| judge(row, above)));
    }
    if arguments.json {
        rows.iter().for_each(print_json);
    } else if !arguments.junit {
        print(&rows, arguments.top);
    }
    finish(&tests, arguments.junit)
}

fn differences(before: &Run, after: &Run) -> Vec<Row> {
    let row = |kind, name: String, (before_cycles, after_cycles)| Row {
        mcu: before.mcu.name.clone(),
        kind,
        name,
        before: before_cycles,
        after: after_cycles,
    };
    let total = (Some(before.cycles()), Some(after.cycles()));
    let mut rows = vec![row(Kind::Total, "total".to_owned(), total)];
    let phases = |run: &Run| {
        let phases = run.phases().into_iter();
        phases
            .map(|(name, phase)| (name, phase.account.cycles()))
            .collect()
    };
    let functions = |run: &Run| {
        let functions = run.profiler.flat().into_iter();
        functions
            .map(|(name, spent)| (name, spent.cycles))
            .collect()
    };
    for (name, cycles) in joined(phases(before), phases(after)) {
        rows.push(row(Kind::Phase, name, cycles));
    }
    let functions = joined(functions(before), functions(after)).into_iter();
    let functions = functions.map(|(name, cycles)| row(Kind::Function, name, cycles));
    let by_change = |row: &Row| std::cmp::Reverse(row.difference().unsigned_abs());
    rows.extend(functions.sorted_by_key(by_change));
    rows
}

type Both = (Option<u64>, Option<u64>);

fn joined(before: Vec<(String, u64)>, after: Vec<(String, u64)>) -> BTreeMap<String, Both> {
    let mut both: BTreeMap<String, Both> = BTreeMap::new();
    for (name, cycles) in before {
        both.entry(name).or_default().0 = Some(cycles);
    }
    for (name, cycles) in after {
        both.entry(name).or_default().1 = Some(cycles);
    }
    both
}

fn judge(row: &Row, above: f64) -> Test {
    let slower = row.ratio().is_some_and(|ratio| ratio > 1.0 + above);
    Test {
        class: format!("keymark.mcu.{}", row.mcu),
        name: row.name.clone(),
        failure: slower.then(|| {
            format!(
                "{} on {} takes {} cycles more",
                row.name,
                row.mcu,
                row.change()
            )
        }),
    }
}

fn print(rows: &[Row], top: usize) {
    output::heading("cycles before and after (predicted)");
    let parts = rows.iter().map(|row| &row.mcu).unique();
    let shown = parts.flat_map(|mcu| {
        let functions = rows.iter().filter(move |row| row.mcu == *mcu);
        let whole = functions.clone().filter(|row| row.kind != Kind::Function);
        let functions = functions.filter(|row| row.kind == Kind::Function && row.difference() != 0);
        whole.chain(functions.take(top))
    });
    let cycles =
        |cycles: Option<u64>| cycles.map_or_else(|| "-".to_owned(), |cycles| cycles.to_string());
    Table::of(shown)
        .column("mcu", |row| row.mcu.clone())
        .column("of", |row| row.kind.name().to_owned())
        .column("name", |row| row.name.clone())
        .column("before", |row| cycles(row.before))
        .column("after", |row| cycles(row.after))
        .column("difference", |row| format!("{:+}", row.difference()))
        .column("change", |row| row.change())
        .print(3);
}

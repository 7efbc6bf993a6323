//! `keymark mcu compare`

use std::collections::BTreeMap;

use keymark_report::TableOf;
use keymark_report::formats::ci::Test;
use serde::Serialize;

use super::finish;
use super::simulate::{Echo, Run};
use crate::args::FirmwareComparison;
use crate::commands::Outcome;
use crate::observers::print_json;
use crate::output;

/// Functions in the table of one part; --json has all.
const MOST_FUNCTIONS: usize = 20;

/// What rows are of.
const WHOLE: &str = "whole";
const PHASE: &str = "phase";
const FUNCTION: &str = "function";

/// Cycles before and after.
type Both = (Option<u64>, Option<u64>);

/// Cycles of one thing on one part; `None` where it is not there.
#[derive(Debug, Clone, Serialize)]
struct Row {
    mcu: String,
    of: &'static str,
    name: String,
    before: Option<u64>,
    after: Option<u64>,
}

impl Row {
    fn difference(&self) -> i64 {
        self.after.unwrap_or(0).cast_signed() - self.before.unwrap_or(0).cast_signed()
    }

    /// How much longer it takes, as a share.
    fn change(&self) -> Option<f64> {
        let before = self.before.filter(|before| *before > 0)?;
        Some(self.after? as f64 / before as f64 - 1.0)
    }

    fn change_in_words(&self) -> String {
        let change = self.change();
        change.map_or_else(
            || "-".to_owned(),
            |change| format!("{:+.2} %", 100.0 * change),
        )
    }
}

pub(in crate::commands::mcu) fn run(arguments: &FirmwareComparison) -> Outcome {
    let (mut rows, mut tests) = (Vec::new(), Vec::new());
    let test = |mcu: &str, name: &str, failure| Test {
        class: format!("keymark.mcu.{mcu}"),
        name: name.to_owned(),
        failure,
    };
    for mcu in &arguments.mcu {
        let run = |path| Run::new(path, mcu, arguments.limit, &arguments.phase, Echo::Keep);
        let (before, after) = (run(&arguments.before)?, run(&arguments.after)?);
        tests.push(test(mcu, "end before", before.problem()));
        tests.push(test(mcu, "end after", after.problem()));
        if before.written != after.written {
            output::warning(&format!("on {mcu} the two programs write different things"));
        }
        rows.extend(differences(&before, &after));
    }
    if let Some(above) = arguments.fail_above {
        for row in rows.iter().filter(|row| row.of != FUNCTION) {
            let slower = row.change().is_some_and(|change| change > above);
            let (name, mcu, change) = (&row.name, &row.mcu, row.change_in_words());
            let failure = slower.then(|| format!("{name} on {mcu} takes {change} cycles"));
            tests.push(test(mcu, name, failure));
        }
    }
    if arguments.json {
        rows.iter().for_each(print_json);
    } else if !arguments.junit {
        print(&rows);
    }
    finish(&tests, arguments.junit)
}

/// The whole, phases, and functions, those that changed most first.
fn differences(before: &Run, after: &Run) -> Vec<Row> {
    let mut both: BTreeMap<(&str, String), Both> = BTreeMap::new();
    for (of, name, cycles) in figures(before) {
        both.entry((of, name)).or_default().0 = Some(cycles);
    }
    for (of, name, cycles) in figures(after) {
        both.entry((of, name)).or_default().1 = Some(cycles);
    }
    let row = |((of, name), (before_cycles, after_cycles))| Row {
        mcu: before.mcu.name.clone(),
        of,
        name,
        before: before_cycles,
        after: after_cycles,
    };
    let mut rows: Vec<Row> = both.into_iter().map(row).collect();
    let order = [WHOLE, PHASE, FUNCTION];
    rows.sort_by_key(|row| {
        let place = order.iter().position(|of| *of == row.of);
        let changed = if row.of == FUNCTION {
            row.difference().unsigned_abs()
        } else {
            0
        };
        (place, std::cmp::Reverse(changed))
    });
    rows
}

fn figures(run: &Run) -> Vec<(&'static str, String, u64)> {
    let phases = run.phases().into_iter();
    let phases = phases.map(|(name, phase)| (PHASE, name, phase.account.cycles()));
    let functions = run.profiler.flat().into_iter();
    let functions = functions.map(|(name, spent)| (FUNCTION, name, spent.cycles));
    let whole = (WHOLE, "total".to_owned(), run.cycles());
    std::iter::once(whole)
        .chain(phases)
        .chain(functions)
        .collect()
}

fn print(rows: &[Row]) {
    output::heading("cycles before and after (predicted)");
    let shown = rows.chunk_by(|a, b| a.mcu == b.mcu).flat_map(|part| {
        let whole = part.iter().filter(|row| row.of != FUNCTION);
        let changed = |row: &&Row| row.of == FUNCTION && row.difference() != 0;
        whole.chain(part.iter().filter(changed).take(MOST_FUNCTIONS))
    });
    let table = TableOf::plain(shown)
        .name("mcu", |row| row.mcu.as_str())
        .name("of", |row| row.of)
        .name("name", |row| row.name.as_str())
        .value("before", |row| row.before)
        .value("after", |row| row.after)
        .value("difference", |row| format!("{:+}", row.difference()))
        .value("change", |row| row.change_in_words());
    output::table(table);
}

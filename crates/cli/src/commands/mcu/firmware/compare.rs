//! `keymark mcu compare`

use std::collections::BTreeMap;
use std::path::PathBuf;

use keymark_report::TableOf;
use keymark_report::formats::ci::Test;
use serde::Serialize;

use super::simulate::{Echo, FirmwareRun};
use super::{finish, keep};
use crate::args::{FirmwareComparison, FirmwareFormat};
use crate::exit::{Exit, Outcome};
use crate::output;

/// Functions in the table of one part; --format json has all.
const MOST_FUNCTIONS: usize = 20;

/// Row of the whole program.
const WHOLE: &str = "whole";
const PHASE: &str = "phase";
const FUNCTION: &str = "function";

/// Cycles before and after.
type Both = (Option<u64>, Option<u64>);

/// Cycles of one thing on one part; `None` where it is not there.
#[derive(Debug, Clone, Serialize)]
struct ChangeRow {
    mcu: String,
    of: &'static str,
    name: String,
    before: Option<u64>,
    after: Option<u64>,
    /// Least and greatest change of the whole or a phase with one assumption varied, as shares.
    change_low: Option<f64>,
    change_high: Option<f64>,
}

impl ChangeRow {
    fn difference(&self) -> i64 {
        self.after.unwrap_or(0).cast_signed() - self.before.unwrap_or(0).cast_signed()
    }

    /// Returns the change as a share.
    fn change(&self) -> Option<f64> {
        let before = self.before.filter(|before| *before > 0)?;
        Some(self.after? as f64 / before as f64 - 1.0)
    }

    /// Both programs with the same assumption varied, which is why that is narrower than the bands of both.
    fn change_band(&self, before: &FirmwareRun, after: &FirmwareRun) -> Option<(f64, f64)> {
        let own = self.change()?;
        let variations = |run: &FirmwareRun| {
            let number = run.phase_number(&self.name);
            let is_whole = self.of == WHOLE;
            let timing = run.profiler.timing();
            timing.estimates(|phase| is_whole || Some(phase) == number)
        };
        let both = variations(before).into_iter().zip(variations(after));
        let doubts = both.filter(|((assumption, _), _)| assumption.is_doubt);
        let changes = doubts.map(|((_, before), (_, after))| after as f64 / before as f64 - 1.0);
        Some(changes.fold((own, own), |(low, high), change| {
            (low.min(change), high.max(change))
        }))
    }

    fn band(&self) -> Option<String> {
        let band = [self.change_low, self.change_high];
        self.change_low.map(|_| band.map(percent).join(" to "))
    }
}

fn percent(change: Option<f64>) -> String {
    change.map_or_else(
        || "-".to_owned(),
        |change| format!("{:+.2} %", 100.0 * change),
    )
}

pub(in crate::commands::mcu) fn run(
    arguments: &FirmwareComparison,
    archive: Option<&PathBuf>,
) -> Outcome {
    let (mut rows, mut tests, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    let test = |mcu: &str, name: &str, failure| Test {
        class: format!("keymark.mcu.{mcu}"),
        name: name.to_owned(),
        failure,
    };
    for mcu in &arguments.mcu {
        let run = |path| FirmwareRun::new(path, mcu, arguments.limit, &arguments.phase, Echo::Keep);
        let (before, after) = (run(&arguments.before)?, run(&arguments.after)?);
        tests.push(test(mcu, "end before", before.problem()));
        tests.push(test(mcu, "end after", after.problem()));
        if before.written != after.written {
            output::warning(&format!("on {mcu} the two programs write different things"));
        }
        rows.extend(differences(&before, &after));
        runs.push((before, after));
    }
    let (before, after): (Vec<_>, Vec<_>) = runs.iter().map(|(a, b)| (a, b)).unzip();
    let kept = [before, after].map(|runs| keep(&runs, archive));
    if let Some(above) = arguments.fail_above {
        for row in rows.iter().filter(|row| row.of != FUNCTION) {
            let slower = row.change().is_some_and(|change| change > above);
            let (name, mcu, change) = (&row.name, &row.mcu, percent(row.change()));
            let failure = slower.then(|| format!("{name} on {mcu} takes {change} cycles"));
            tests.push(test(mcu, name, failure));
        }
    }
    match arguments.format {
        FirmwareFormat::Text => print(&rows),
        FirmwareFormat::Json => rows.iter().for_each(output::print_json),
        FirmwareFormat::Junit => {}
    }
    let otherwise = kept.into_iter().find(|kept| *kept != Exit::Fine);
    finish(&tests, arguments.format, otherwise.unwrap_or(Exit::Fine))
}

/// The whole, phases, and functions, those that changed most first.
fn differences(before: &FirmwareRun, after: &FirmwareRun) -> Vec<ChangeRow> {
    let mut both: BTreeMap<(&str, String), Both> = BTreeMap::new();
    for (of, name, cycles) in figures(before) {
        *both.entry((of, name)).or_default().0.get_or_insert(0) += cycles;
    }
    for (of, name, cycles) in figures(after) {
        *both.entry((of, name)).or_default().1.get_or_insert(0) += cycles;
    }
    let row = |((of, name), (before_cycles, after_cycles))| ChangeRow {
        mcu: before.mcu.name.clone(),
        of,
        name,
        before: before_cycles,
        after: after_cycles,
        change_low: None,
        change_high: None,
    };
    let mut rows: Vec<ChangeRow> = both.into_iter().map(row).collect();
    for row in rows.iter_mut().filter(|row| row.of != FUNCTION) {
        (row.change_low, row.change_high) = row.change_band(before, after).unzip();
    }
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

fn figures(run: &FirmwareRun) -> Vec<(&'static str, String, u64)> {
    let phases = run.phases().into_iter();
    let phases = phases.map(|(name, phase)| (PHASE, name, phase.account.cycles()));
    let functions = run.profiler.flat().into_iter();
    let functions = functions.map(|(name, spent)| (FUNCTION, in_source(&name), spent.cycles));
    let whole = (WHOLE, "total".to_owned(), run.cycles());
    std::iter::once(whole)
        .chain(phases)
        .chain(functions)
        .collect()
}

/// A function's name in its source: which clones GCC makes of it differs from one build to the next.
fn in_source(name: &str) -> String {
    const CLONES: [&str; 4] = [".constprop.", ".isra.", ".part.", ".lto_priv."];
    let clone = CLONES.iter().filter_map(|mark| name.find(mark)).min();
    name[..clone.unwrap_or(name.len())].to_owned()
}

fn print(rows: &[ChangeRow]) {
    output::heading("cycles before and after (predicted)");
    let shown = rows.chunk_by(|a, b| a.mcu == b.mcu).flat_map(|part| {
        let whole = part.iter().filter(|row| row.of != FUNCTION);
        let changed = |row: &&ChangeRow| row.of == FUNCTION && row.difference() != 0;
        whole.chain(part.iter().filter(changed).take(MOST_FUNCTIONS))
    });
    let table = TableOf::new(shown)
        .name("mcu", |row| row.mcu.as_str())
        .name("of", |row| row.of)
        .name("name", |row| row.name.as_str())
        .value("before", |row| row.before)
        .value("after", |row| row.after)
        .value("difference", |row| format!("{:+}", row.difference()))
        .value("change", |row| percent(row.change()))
        .value("band", |row| row.band());
    output::table(table);
}

#[cfg(test)]
mod tests {
    use super::in_source;

    #[test]
    fn clones_of_a_function_are_that_function() {
        for name in ["compress", "compress.constprop.0", "compress.isra.0.part.1"] {
            assert_eq!(in_source(name), "compress");
        }
        assert_eq!(in_source("aead::seal(int)"), "aead::seal(int)");
    }
}

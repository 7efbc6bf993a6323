//! Parts of the time of operations, as stacked bars: of a family's layers by subtraction, or as measured on the way.

use itertools::Itertools;
use keymark_bench::{Part, Parts, Provenance};
use keymark_stats::Seconds;

use super::names::{Hues, apart, left_out};
use super::{
    AnalyzedRun, COMPARABLE, PictureKind, ROWS, about, capital, drawable, fill, framed, is_drawn,
};
use crate::analysis::{Breakdown, FamilyBreakdown, Layer, Path, Row};
use crate::charts::{Bar, Chart, Group, Mark, Panel, RowText, Scale, Spacing};
use crate::grouped;
use crate::units::{self, Bare, Unit};
use crate::visible::visible;

/// Name of the part that such steps make.
const UNRESOLVED: &str = "too small to measure";
/// A bar longer than the longest of the whole program by this factor leaves the others no room.
const BEYOND: f64 = 4.0;

type WhichParts = fn(&Parts) -> bool;

/// Tables of parts with the titles of their pictures: parts that were measured on the way, and those outside the
/// operations.
pub(crate) const PARTS: [(&str, &str, WhichParts); 2] = [
    (
        "where the time goes, by process (processor time of the programs, time of the PC/SC calls)",
        "where the time of an operation goes, by process",
        |parts| !parts.0.contains_key(&Part::ProgramStart),
    ),
    (
        "where the time goes with one process for each operation (each part is measured separately; the rest was \
         not measured)",
        "where the time of an operation goes with one process each",
        |parts| parts.0.contains_key(&Part::ProgramStart),
    ),
];

/// Operation with its parts from the first to the last.
struct Stack {
    label: String,
    provenance: Provenance,
    parts: Vec<(String, f64)>,
    whole: f64,
    /// The whole, as in tables.
    written: String,
}

pub(super) fn charts(runs: &[AnalyzedRun<'_>]) -> Vec<Chart> {
    let families = runs.iter().flat_map(|run| &run.analysis.breakdowns);
    let families = grouped(families, |family| family.layers.family);
    let of_families = families.iter().filter_map(|(_, of)| of_families(of));
    let rows = || runs.iter().flat_map(|run| &run.analysis.rows);
    let of_parts = PARTS
        .iter()
        .filter_map(|(_, title, wanted)| of_parts(rows(), title, wanted));
    of_families.chain(of_parts).collect()
}

/// Tells if a family has that many bars whose lengths can be compared.
pub(super) fn comparable(runs: &[AnalyzedRun<'_>], least: usize) -> bool {
    let mut families = runs.iter().flat_map(|run| &run.analysis.breakdowns);
    families.any(|family| {
        let (stacks, _) = stacks(&[family]);
        let lengths = stacks.iter().map(|stack| stack.whole);
        let ends = lengths.minmax_by(f64::total_cmp).into_option();
        stacks.len() >= least && ends.is_some_and(|(short, long)| long <= short * COMPARABLE)
    })
}

/// Draws a family's layers: a bar for each way to the key, as long as was measured.
pub(crate) fn of_family(family: &FamilyBreakdown) -> Option<Chart> {
    of_families(&[family])
}

fn of_families(families: &[&FamilyBreakdown]) -> Option<Chart> {
    let title = format!("where the time goes in {}", families.first()?.layers.family);
    let (stacks, notes) = stacks(families);
    let whole = families.first()?.layers.whole.as_ref();
    let usual = whole.map(|whole| format!("software {}", whole.point.stack));
    draw(&title, &stacks, &notes, usual.as_ref())
}

/// Draws the wanted parts, as measured on the way.
pub(crate) fn of_parts<'r>(
    rows: impl IntoIterator<Item = &'r Row>,
    title: &str,
    wanted: impl Fn(&Parts) -> bool,
) -> Option<Chart> {
    let stacks = rows.into_iter().filter_map(|row| {
        let measured = row.parts.as_ref().filter(|parts| wanted(parts))?;
        // Others are no part of an operation's time, or of all of it.
        let parts = Part::ALL
            .iter()
            .filter(|part| !matches!(part, Part::Verify | Part::Worker));
        let parts = parts.filter_map(|part| {
            let time = measured.0.get(part)?.mean_s.0;
            (time > 0.0).then(|| (part.word().to_owned(), time))
        });
        let parts = parts.collect_vec();
        let whole = parts.iter().map(|(_, time)| time).sum();
        (parts.len() > 1).then(|| Stack {
            label: row.case.to_string(),
            provenance: row.case.provenance,
            whole,
            written: units::duration(Seconds(whole)),
            parts,
        })
    });
    draw(title, &stacks.collect_vec(), &[], None)
}

/// Bars of a family in one run or several, and notes on what they do not show.
fn stacks<'f>(families: &[&'f FamilyBreakdown]) -> (Vec<Stack>, Vec<String>) {
    let is_whole = |family: &FamilyBreakdown, path: &Path| {
        let whole = family.layers.whole.as_ref();
        whole.is_none_or(|whole| whole.point == path.end)
    };
    let lines = families.iter().flat_map(|family| {
        let paths = move |of: &'f Breakdown| of.paths.iter().map(move |path| (*family, of, path));
        family.breakdowns.iter().flat_map(paths)
    });
    let lines = lines.collect_vec();
    let wholes = lines
        .iter()
        .filter(|(family, _, path)| is_whole(family, path));
    let lengths = wholes.map(|(.., path)| path.whole.value.0);
    let longest = lengths.fold(0.0, f64::max);
    let (near, far): (Vec<_>, Vec<_>) = lines.into_iter().partition(|(family, _, path)| {
        is_whole(family, path) || path.whole.value.0 <= BEYOND * longest
    });
    let beyond = far.iter().map(|(_, of, path)| {
        let (label, time) = (label(of, path), units::duration(path.whole.value));
        format!("{}: {time}, beyond this picture.", capital(&label))
    });
    let notes = beyond.collect_vec();
    let stacks = near
        .iter()
        .map(|(family, of, path)| stack(family, of, path));
    (stacks.collect(), notes)
}

/// `rsa4096 decrypt software gpg`
fn label(of: &Breakdown, path: &Path) -> String {
    let besides = path.end.parameters.pairs();
    let besides: String = besides.map(|(_, word)| format!(" {word}")).collect();
    let (key, operation, device) = (of.algorithm, of.operation, &of.device);
    format!("{key} {operation} {device} {}{besides}", path.end.stack)
}

fn stack(family: &FamilyBreakdown, of: &Breakdown, path: &Path) -> Stack {
    let mut parts = vec![(path.bottom.clone(), path.key.value.0)];
    for place in &path.steps {
        if let Some(Some(Layer::Adds(time))) = of.steps.get(*place) {
            let heading = family.layers.steps[*place].heading;
            parts.push((heading.trim_start_matches("+ ").to_owned(), time.value.0));
        }
    }
    // Every other part is what the table says, so that the rest belongs to steps too small to measure.
    let rest = path.whole.value.0 - parts.iter().map(|(_, time)| time).sum::<f64>();
    if rest > 0.0 {
        parts.push((UNRESOLVED.to_owned(), rest));
    } else if let Some((_, last)) = parts.last_mut() {
        // A step was measured as less than nothing: the last part gives way, and the bar is as long as the mean.
        *last += rest;
    }
    Stack {
        label: label(of, path),
        provenance: of.provenance,
        parts,
        whole: path.whole.value.0,
        written: Unit::Seconds.brief(&path.whole.map(|time| time.0), Bare::Uncertain),
    }
}

/// Draws bars. Words that all of them have are a heading, unless they are the usual ones.
fn draw(title: &str, stacks: &[Stack], notes: &[String], usual: Option<&String>) -> Option<Chart> {
    let sound = |time: f64| time.is_finite() && time >= 0.0;
    let (shown, all) = drawable(stacks, ROWS, |stack| {
        is_drawn(stack.whole) && stack.parts.iter().all(|(_, time)| sound(*time))
    })?;
    let names = shown.iter().flat_map(|stack| &stack.parts);
    let names = Hues::of(names.map(|(name, _)| name.as_str()));
    let rows = shown.iter().enumerate();
    let marks = rows.flat_map(|(row, stack)| bars(stack, row, &names));
    let marks = marks.collect();
    let (common, labels) = apart(shown.iter().map(|stack| stack.label.as_str()));
    let rows = shown.iter().zip(labels).map(|(stack, label)| RowText {
        label,
        value: stack.written.clone(),
    });
    let group = Group {
        heading: common.filter(|common| usual != Some(common)),
        rows: rows.collect(),
    };
    let notes = notes.iter().map(|note| visible(note).into_owned());
    let notes = notes.chain(left_out(shown.len(), all, "operations"));
    let parts = shown.iter().map(|stack| (stack.provenance, said(stack)));
    let scale = Scale::new("time of an operation", Unit::Seconds, Spacing::FromZero);
    Some(Chart {
        panels: vec![Panel::rows(vec![group], marks)],
        keys: names.keys(),
        notes: notes.collect(),
        ..framed(PictureKind::Layers, title, parts, ROWS, scale)
    })
}

fn bars(stack: &Stack, row: usize, names: &Hues) -> Vec<Mark> {
    let mut to = 0.0;
    let bars = stack.parts.iter().map(|(name, time)| {
        let from = to;
        to += time;
        let label = units::duration(Seconds(*time));
        let text = format!(
            "{}, {}: {label}, {} of {}",
            visible(&stack.label),
            visible(name),
            units::percent(time / stack.whole),
            units::duration(Seconds(stack.whole))
        );
        Mark::Bar(Bar {
            from,
            to,
            y: row as f64,
            series: names.number(name),
            fill: fill(stack.provenance),
            label,
            about: about(&stack.label, text),
        })
    });
    bars.collect()
}

fn said(stack: &Stack) -> String {
    let parts = stack.parts.iter().map(|(name, time)| {
        let time = units::duration(Seconds(*time));
        format!("{} {time}", visible(name))
    });
    let (label, kind) = (visible(&stack.label), stack.provenance);
    format!("{label}, {kind}: {}", parts.format(", "))
}

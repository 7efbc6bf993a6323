//! Parts of the time of operations.

use keymark_bench::{Part, Parts};
use keymark_stats::Seconds;

use super::Row;
use crate::analysis::{Breakdown, FamilyBreakdown, Layer, Path};
use crate::units;
use crate::{Figure, Plot, Stack, StackPart, Subject};

/// Name of the steps too small to measure.
const UNTOLD: &str = "steps too small to measure are a part of their own";
/// The part of a bar that belongs to such steps.
const UNRESOLVED: &str = "too small to measure";
/// A bar that takes so many times the longest of the whole program's leaves them no room.
const BEYOND: f64 = 4.0;

/// Returns a family's layers by subtraction: a bar is one way to the key, as long as it was measured.
pub(in crate::analysis) fn of_breakdown(family: &FamilyBreakdown) -> Option<Figure> {
    let is_whole = |path: &Path| {
        let whole = family.layers.whole.as_ref();
        whole.is_none_or(|whole| whole.point == path.end)
    };
    let paths = || {
        family
            .breakdowns
            .iter()
            .flat_map(|of| of.paths.iter().map(move |path| (of, path)))
    };
    let wholes = paths().filter(|(_, path)| is_whole(path));
    let longest = wholes
        .map(|(_, path)| path.whole.value.0)
        .fold(0.0, f64::max);
    let (near, far): (Vec<_>, Vec<_>) =
        paths().partition(|(_, path)| is_whole(path) || path.whole.value.0 <= BEYOND * longest);
    let left_out = far.iter().map(|(of, path)| {
        let time = units::duration(path.whole.value);
        format!("{}: {time}, beyond this picture", label(of, path))
    });
    let mut left_out: Vec<String> = left_out.collect();
    let mut near_steps = near
        .iter()
        .flat_map(|(of, path)| path.steps.iter().map(|step| of.steps.get(*step)));
    if near_steps.any(|step| matches!(step, Some(Some(Layer::AtMost(_))))) {
        left_out.push(UNTOLD.to_owned());
    }
    let stacks = near.iter().map(|(of, path)| stack(family, of, path));
    let stacks: Vec<Stack> = stacks.collect();
    (!stacks.is_empty()).then(|| Plot::Layers { stacks, left_out }.titled(title(family)))
}

/// Returns the title of a family's picture.
pub(crate) fn title(family: &FamilyBreakdown) -> String {
    format!("where the time goes in {}", family.layers.family)
}

/// `rsa4096 decrypt software gnupg`
fn label(of: &Breakdown, path: &Path) -> String {
    let besides = path.end.parameters.pairs();
    let besides: String = besides.map(|(_, word)| format!(" {word}")).collect();
    let (key, operation, device) = (of.algorithm, of.operation, &of.device);
    format!("{key} {operation} {device} {}{besides}", path.end.stack)
}

fn stack(family: &FamilyBreakdown, of: &Breakdown, path: &Path) -> Stack {
    let mut parts = vec![StackPart {
        name: path.bottom.clone(),
        time: path.key.value,
    }];
    for place in &path.steps {
        let heading = family.layers.steps[*place].heading;
        if let Some(Some(Layer::Adds(time))) = of.steps.get(*place) {
            parts.push(StackPart {
                name: heading.trim_start_matches("+ ").to_owned(),
                time: time.value,
            });
        }
    }
    // Every other part is what the table says, so that the rest is what no step is known to take.
    let told: f64 = parts.iter().map(|part| part.time.0).sum();
    let rest = path.whole.value.0 - told;
    if rest > 0.0 {
        parts.push(StackPart {
            name: UNRESOLVED.to_owned(),
            time: Seconds(rest),
        });
    } else if let Some(last) = parts.last_mut() {
        // A step was measured as less than nothing: what stands on it gives way, and the bar is as long as the mean.
        last.time.0 += rest;
    }
    Stack {
        of: Subject::new(of.device.clone(), of.provenance, label(of, path)),
        sum: path.whole.value,
        parts,
    }
}

/// Returns the parts measured on the way, of the wanted rows.
pub(in crate::analysis) fn of_parts(
    rows: &[Row],
    title: &str,
    wanted: impl Fn(&Parts) -> bool,
) -> Option<Figure> {
    let stacks = rows.iter().filter_map(|row| {
        let parts = row.parts.as_ref().filter(|parts| wanted(parts))?;
        let parts = Part::ALL.iter().filter_map(|part| {
            // They are no part of an operation's time, or of all of it.
            if matches!(part, Part::Verify | Part::Worker) {
                return None;
            }
            let time = parts.0.get(part)?.mean_s;
            (time.0 > 0.0).then(|| StackPart {
                name: part.word().to_owned(),
                time,
            })
        });
        let parts: Vec<StackPart> = parts.collect();
        (parts.len() > 1).then(|| Stack {
            of: Subject::of(&row.case),
            sum: Seconds(parts.iter().map(|part| part.time.0).sum()),
            parts,
        })
    });
    let stacks: Vec<Stack> = stacks.collect();
    let left_out = Vec::new();
    (!stacks.is_empty()).then(|| Plot::Layers { stacks, left_out }.titled(title))
}

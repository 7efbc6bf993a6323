//! What the time of operations is made of.

use keymark_bench::parts::{Part, Parts};
use keymark_stats::Seconds;

use super::Row;
use crate::analysis::{Breakdown, FamilyBreakdown, Layer};
use crate::document::{Figure, Stack, StackPart, Subject};
use crate::units;

/// By subtraction, of a family's layers.
pub(in crate::analysis) fn of_breakdown(family: &FamilyBreakdown) -> Option<Figure> {
    let stacks = family
        .breakdowns
        .iter()
        .filter_map(|breakdown| stack(family, breakdown));
    let stacks: Vec<Stack> = stacks.collect();
    (!stacks.is_empty()).then(|| Figure::Layers {
        title: format!("where the time goes in {}", family.layers.family),
        stacks,
    })
}

fn stack(family: &FamilyBreakdown, breakdown: &Breakdown) -> Option<Stack> {
    let base = breakdown.base?;
    let mut parts = vec![StackPart {
        name: family.layers.base.heading.to_owned(),
        time: base.value,
    }];
    let mut left_out = Vec::new();
    let label = format!(
        "{} {} {}",
        breakdown.algorithm, breakdown.operation, breakdown.device
    );
    for (step, layer) in family.layers.steps.iter().zip(&breakdown.steps) {
        let name = step.heading;
        match layer {
            Some(Layer::Adds(time)) => parts.push(StackPart {
                name: name.to_owned(),
                time: time.value,
            }),
            Some(Layer::AtMost(most)) => {
                left_out.push(format!(
                    "{label}: {name} adds at most {}",
                    units::duration(*most)
                ));
            }
            Some(Layer::Less(time)) => left_out.push(format!(
                "{label}: with {name} it takes {} less than without",
                units::duration(Seconds(-time.value.0))
            )),
            None => {}
        }
    }
    let several = parts.len() + left_out.len() > 1;
    several.then(|| Stack {
        of: Subject {
            device: breakdown.device.clone(),
            provenance: breakdown.provenance,
            label,
        },
        sum: sum(&parts),
        parts,
        left_out,
    })
}

/// As measured on the way, of the rows whose parts are wanted.
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
            sum: sum(&parts),
            parts,
            left_out: Vec::new(),
        })
    });
    let stacks: Vec<Stack> = stacks.collect();
    (!stacks.is_empty()).then(|| Figure::Layers {
        title: title.to_owned(),
        stacks,
    })
}

fn sum(parts: &[StackPart]) -> Seconds {
    Seconds(parts.iter().map(|part| part.time.0).sum())
}

//! Throughput over the number of workers.

use keymark_stats::{PerSecond, Ratio, Usl};

use crate::analysis::{Bounds, Scaling};
use crate::document::{Figure, Subject, ThroughputCurve};
use crate::grouped::grouped;

/// Points of a law.
const POINTS: u32 = 40;

/// More curves than this in one picture are not told apart.
const CURVES: usize = 8;

/// One of all, or one for each algorithm and operation if they are too many for that.
pub(in crate::analysis) fn throughput(scaling: &[Scaling]) -> Vec<Figure> {
    let shown: Vec<&Scaling> = scaling
        .iter()
        .filter(|group| group.levels.len() > 1)
        .collect();
    let title = "throughput of several workers";
    if (1..=CURVES).contains(&shown.len()) {
        return vec![Figure::Throughput {
            title: title.to_owned(),
            curves: shown.into_iter().map(curve).collect(),
        }];
    }
    let groups = grouped(shown, |group| (group.case.algorithm, group.case.operation));
    let figure = |((algorithm, operation), groups): (_, Vec<&Scaling>)| Figure::Throughput {
        title: format!("{title}: {algorithm} {operation}"),
        curves: groups.into_iter().map(curve).collect(),
    };
    groups.into_iter().map(figure).collect()
}

fn curve(group: &Scaling) -> ThroughputCurve {
    let mut bounds: Vec<(String, Ratio)> = Vec::new();
    if let Some(found) = &group.bounds {
        let server = found.by_server().zip(found.server.as_ref());
        bounds.extend(server.map(|(bound, (server, _))| (server.name.to_owned(), bound)));
        bounds.push(("cores".to_owned(), Bounds::by_cores(found)));
    }
    let fits = group.law.as_ref().ok().filter(|law| !law.rejected());
    ThroughputCurve {
        of: Subject::labelled(
            &group.case,
            format!(
                "{} {} {} {}",
                group.case.algorithm,
                group.case.operation,
                group.case.device,
                group.way()
            ),
        ),
        levels: group.levels.clone(),
        gains: group.gains.clone(),
        bounds,
        law: fits.map(|law| points(law, group)).unwrap_or_default(),
    }
}

fn points(law: &Usl, group: &Scaling) -> Vec<(f64, PerSecond)> {
    let ends = group.levels.first().zip(group.levels.last());
    let Some((first, last)) = ends.map(|(first, last)| (f64::from(first.0), f64::from(last.0)))
    else {
        return Vec::new();
    };
    let at = |number: u32| first * (last / first).powf(f64::from(number) / f64::from(POINTS));
    (0..=POINTS)
        .map(|number| (at(number), law.throughput(at(number))))
        .collect()
}

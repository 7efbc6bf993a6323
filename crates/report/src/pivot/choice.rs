//! Which axes become columns where nobody says.
//!
//! 1. Only axes that vary count. If only keys do, there is one column.
//! 2. Where cases form a grid, the columns are the axis with the fewest values; of equals the one along which a reader
//!    compares first: device, program, its parameters, load. The other axes label rows.
//! 3. Cases that form none (a key through gpg, another through ssh) have a column for each place where some were
//!    measured, if there are at most eight; else the axis is taken that leaves the fewest cells empty.

use std::collections::HashSet;

use keymark_bench::case::Case;

use super::Axis;

/// The least share of cells with a figure in what counts as a grid.
const FILLED: f64 = 0.8;
/// The most columns of a table of places.
const PLACES: usize = 8;

/// The axes of the columns; none if nothing varies but keys.
pub(super) fn columns(cases: &[&Case]) -> Vec<Axis> {
    let varying = Axis::varying(cases);
    let size = |axis: &Axis| axis.values(cases).len();
    let filled = |axis: &Axis| filled(axis, &varying, cases);
    // The first of equals is taken, which is what a reader compares along.
    let grid = varying.iter().filter(|axis| filled(axis) >= FILLED);
    if let Some(axis) = grid.min_by_key(|axis| size(axis)) {
        return vec![axis.clone()];
    }
    match varying.as_slice() {
        [] => Vec::new(),
        _ if places(&varying, cases) <= PLACES => varying,
        [first, others @ ..] => {
            let better = |best, axis| {
                if filled(axis) > filled(best) {
                    axis
                } else {
                    best
                }
            };
            vec![others.iter().fold(first, better).clone()]
        }
    }
}

/// How many combinations of what varies there are.
fn places(varying: &[Axis], cases: &[&Case]) -> usize {
    let place = |case: &&Case| varying.iter().map(|axis| axis.of(case)).collect();
    let places: HashSet<Vec<String>> = cases.iter().map(place).collect();
    places.len()
}

/// Share of cells with a figure where this axis has the columns.
fn filled(axis: &Axis, varying: &[Axis], cases: &[&Case]) -> f64 {
    let row = |case: &Case| {
        let others = varying.iter().filter(|other| *other != axis);
        let labels: Vec<String> = others.map(|other| other.of(case)).collect();
        (case.algorithm, case.operation, labels)
    };
    let rows: HashSet<_> = cases.iter().map(|case| row(case)).collect();
    let cells: HashSet<_> = cases
        .iter()
        .map(|case| (row(case), axis.of(case)))
        .collect();
    cells.len() as f64 / (rows.len() * axis.values(cases).len()) as f64
}

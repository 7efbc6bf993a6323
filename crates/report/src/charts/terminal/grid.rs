//! Lines, dots and columns over two scales, as text.

use unicode_width::UnicodeWidthStr;

use super::{Signs, right, series_mark, ticks, written};
use crate::charts::chart::{Along, Chart, Mark, Panel, Path, Scale};
use crate::charts::scale::{self, Placed, Tick};

/// Lines of a panel that is a picture by itself, and of one of several.
const LINES: usize = 14;
const FEW_LINES: usize = 7;

/// Signs, line by line.
struct Grid(Vec<Vec<char>>);

impl Grid {
    fn set(&mut self, (x, y): (f64, f64), sign: char) {
        let row = self.0.get_mut(y.round().max(0.0) as usize);
        if let Some(cell) = row.and_then(|row| row.get_mut(x.round().max(0.0) as usize)) {
            *cell = sign;
        }
    }
}

pub(super) fn draw(
    chart: &Chart,
    panel: &Panel,
    scale: &Scale,
    signs: Signs,
    width: usize,
) -> Vec<String> {
    let panel = &without_intervals(panel);
    let height = if chart.panels.len() > 1 {
        FEW_LINES
    } else {
        LINES
    };
    let y = scale::of_panel(panel, scale, ((height - 1) as f64, 0.0));
    let labels: Vec<Tick> = y.columns(scale, |_| 2.0);
    let names = labels.iter().filter_map(|tick| tick.label.as_deref());
    let names = names
        .map(|label| written(label, signs).width())
        .max()
        .unwrap_or(0);
    let length = width.saturating_sub(names + 2).max(10);
    let x = scale::of_chart(chart, (0.0, (length - 1) as f64));
    let mut grid = Grid(vec![vec![' '; length]; height]);
    let several = chart.keys.len() > 1;
    // What is told apart by its sign lies above lines.
    let dots = |mark: &&Mark| matches!(mark, Mark::Dot(_));
    let marks = panel.marks.iter().filter(|mark| !dots(mark));
    for mark in marks.chain(panel.marks.iter().filter(dots)) {
        draw_mark(&mut grid, mark, (&x, &y), signs, several);
    }
    let bar = signs.either('│', '|');
    let named = |line: usize| {
        let mut here = labels
            .iter()
            .filter(|tick| tick.at.round() as usize == line);
        here.find_map(|tick| tick.label.clone()).unwrap_or_default()
    };
    let rows = grid.0.iter().enumerate().map(|(line, row)| {
        let row: String = row.iter().collect();
        format!("{} {bar}{row}", right(&written(&named(line), signs), names))
    });
    let mut lines = Vec::new();
    if !scale.label.is_empty() {
        lines.push(scale.label.clone());
    }
    lines.extend(rows);
    lines.extend(ticks(chart, names + 2, length));
    lines
}

/// They have no room among letters, and would squeeze what has.
fn without_intervals(panel: &Panel) -> Panel {
    let mut panel = panel.clone();
    for mark in &mut panel.marks {
        if let Mark::Dot(dot) = mark {
            dot.reach = None;
        }
    }
    panel
}

fn draw_mark(
    grid: &mut Grid,
    mark: &Mark,
    (x, y): (&Placed, &Placed),
    signs: Signs,
    several: bool,
) {
    let place = |at: (f64, f64)| Some((x.at(at.0)?, y.at(at.1)?));
    match mark {
        Mark::Dot(dot) => {
            let sign = if several {
                series_mark(dot.series)
            } else {
                super::mark(dot.fill, signs)
            };
            if let Some(at) = place((dot.x, dot.y)) {
                grid.set(at, sign);
            }
        }
        Mark::Line(line) => {
            let sign = match line.path {
                Path::Fitted => signs.either('·', '.'),
                Path::Straight => signs.either('∙', '.'),
            };
            let points: Vec<(f64, f64)> = line.points.iter().filter_map(|at| place(*at)).collect();
            for ends in points.windows(2) {
                if let [from, to] = ends {
                    between(grid, *from, *to, sign);
                }
            }
        }
        Mark::Column(column) => {
            let sign = super::column_mark(column.fill, signs);
            let (from, to) = (x.at(column.from), x.at(column.to));
            if let (Some(from), Some(to), Some(head), Some(foot)) =
                (from, to, y.at(column.height), y.at(0.0))
            {
                let columns =
                    from.round() as usize..(to.round() as usize).max(from.round() as usize + 1);
                for column in columns {
                    for line in head.round() as usize..=foot.round() as usize {
                        grid.set((column as f64, line as f64), sign);
                    }
                }
            }
        }
        Mark::Rule(rule) => reference(grid, rule.along, rule.at, (x, y), signs),
        Mark::Bar(_) => {}
    }
}

fn reference(grid: &mut Grid, along: Along, at: f64, (x, y): (&Placed, &Placed), signs: Signs) {
    let (upright, level) = signs.either(('┊', '┄'), ('!', '-'));
    let (height, width) = (grid.0.len(), grid.0.first().map_or(0, Vec::len));
    match along {
        Along::X => {
            if let Some(at) = x.at(at) {
                (0..height).for_each(|line| grid.set((at, line as f64), upright));
            }
        }
        Along::Y => {
            if let Some(at) = y.at(at) {
                (0..width).for_each(|column| grid.set((column as f64, at), level));
            }
        }
    }
}

fn between(grid: &mut Grid, from: (f64, f64), to: (f64, f64), sign: char) {
    let steps = (to.0 - from.0)
        .abs()
        .max((to.1 - from.1).abs())
        .ceil()
        .max(1.0);
    for step in 0..=steps as usize {
        let part = step as f64 / steps;
        let at = (
            from.0 + (to.0 - from.0) * part,
            from.1 + (to.1 - from.1) * part,
        );
        grid.set(at, sign);
    }
}

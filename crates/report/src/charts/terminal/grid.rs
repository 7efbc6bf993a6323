//! Marks over two axes, as text.

use unicode_width::UnicodeWidthStr;

use super::{Signs, bar_mark, column_mark, right, series_mark, ticks, written};
use crate::charts::chart::{Along, Chart, Interval, Mark, Panel, Path, Rule, Scale};
use crate::charts::scale::{self, Placed, Tick};

/// Lines of a panel that is a picture by itself, and of one of several.
const LINES: usize = 14;
const FEW_LINES: usize = 7;

/// Signs, line by line, and what says where they have their places.
pub(super) struct Drawing<'a> {
    pub lines: Vec<Vec<char>>,
    pub x: &'a Placed,
    pub y: &'a dyn Fn(f64) -> Option<f64>,
    pub signs: Signs,
    /// Tells if dots have the letters of their series.
    pub lettered: bool,
    /// Tells if y counts rows.
    pub in_rows: bool,
}

/// Lines, dots and columns over two scales.
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
    let mut names = vec![String::new(); height];
    for Tick { at, label } in y.ticks(scale, 3.0, |_| 2.0) {
        if let Some((name, label)) = names.get_mut(at.round() as usize).zip(label) {
            *name = written(&label, signs);
        }
    }
    let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let length = width.saturating_sub(widest + 2).max(10);
    let x = scale::of_chart(chart, (0.0, (length - 1) as f64));
    let drawing = Drawing {
        lines: vec![vec![' '; length]; height],
        x: &x,
        y: &|value| y.at(value),
        signs,
        lettered: chart.keys.len() > 1,
        in_rows: false,
    };
    let bar = signs.either('│', '|');
    let rows = names.iter().zip(drawing.of(panel));
    let rows = rows.map(|(name, row)| format!("{} {bar}{row}", right(name, widest)));
    let mut lines = Vec::new();
    if !scale.label.is_empty() {
        lines.push(scale.label.clone());
    }
    lines.extend(rows);
    lines.extend(ticks(chart, widest + 2, length));
    lines
}

/// Removes intervals: they have no room among letters, and would squeeze the other marks.
fn without_intervals(panel: &Panel) -> Panel {
    let mut panel = panel.clone();
    panel
        .marks
        .iter_mut()
        .filter_map(Mark::try_as_dot_mut)
        .for_each(|dot| dot.interval = None);
    panel
}

impl Drawing<'_> {
    /// The lines with the panel's marks.
    pub(super) fn of(mut self, panel: &Panel) -> Vec<String> {
        // What is told apart by its sign lies above lines.
        let dots = |mark: &&Mark| matches!(mark, Mark::Dot(_));
        let marks = panel.marks.iter().filter(|mark| !dots(mark));
        for mark in marks.chain(panel.marks.iter().filter(dots)) {
            self.draw(mark);
        }
        self.lines.iter().map(String::from_iter).collect()
    }

    fn set(&mut self, (x, y): (f64, f64), sign: char) {
        let row = self.lines.get_mut(y.round().max(0.0) as usize);
        if let Some(cell) = row.and_then(|row| row.get_mut(x.round().max(0.0) as usize)) {
            *cell = sign;
        }
    }

    fn draw(&mut self, mark: &Mark) {
        let (x, y, signs) = (self.x, self.y, self.signs);
        let place = |at: (f64, f64)| Some((x.at(at.0)?, y(at.1)?));
        match mark {
            Mark::Dot(dot) => {
                let sign = if self.lettered {
                    series_mark(dot.series)
                } else {
                    super::mark(dot.fill, signs)
                };
                if let (Some(interval), Some(line)) = (dot.interval, y(dot.y)) {
                    self.interval(interval, dot.x, line);
                }
                if let Some(at) = place((dot.x, dot.y)) {
                    self.set(at, sign);
                }
            }
            Mark::Line(line) => {
                let sign = match line.path {
                    Path::Fitted => signs.either('·', '.'),
                    Path::Straight => signs.either('∙', '.'),
                };
                let points: Vec<_> = line.points.iter().filter_map(|at| place(*at)).collect();
                for ends in points.windows(2) {
                    if let [from, to] = ends {
                        self.between(*from, *to, sign);
                    }
                }
            }
            Mark::Bar(bar) => {
                let (head, sign) = (y(bar.y), bar_mark(bar.series, signs));
                if self.in_rows {
                    self.area((bar.from, bar.to), head.zip(head), sign);
                } else {
                    let sign = column_mark(bar.fill, signs);
                    self.area((bar.from, bar.to), head.zip(y(0.0)), sign);
                }
            }
            Mark::Rule(rule) => self.reference(rule),
        }
    }

    /// Fills an area between two values and two lines.
    fn area(&mut self, (from, to): (f64, f64), lines: Option<(f64, f64)>, sign: char) {
        let ends = self.x.at(from).zip(self.x.at(to));
        if let (Some((from, to)), Some((head, foot))) = (ends, lines) {
            let (from, to) = (from.round() as usize, to.round() as usize);
            for column in from..to.max(from + 1) {
                for line in head.round() as usize..=foot.round() as usize {
                    self.set((column as f64, line as f64), sign);
                }
            }
        }
    }

    /// The bounds of a figure in its line.
    fn interval(&mut self, interval: Interval, x: f64, line: f64) {
        let (between, begin, end) = self.signs.either(('─', '├', '┤'), ('-', '|', '|'));
        let (first, last) = self.x.ends();
        let here = self.x.at(x).unwrap_or(first);
        let place = |(at, is_held): (f64, bool), sign: char, arrow: char| {
            if is_held {
                (at.round(), sign)
            } else {
                (at.max(0.0).floor(), arrow)
            }
        };
        let low = place(self.x.bound(interval.low, first, here - 2.0), begin, '<');
        let high = place(self.x.bound(interval.high, last, here + 2.0), end, '>');
        self.between((low.0, line), (high.0, line), between);
        self.set((low.0, line), low.1);
        self.set((high.0, line), high.1);
    }

    fn reference(&mut self, rule: &Rule) {
        let (upright, level) = self.signs.either(('┊', '┄'), ('!', '-'));
        let (height, width) = (self.lines.len(), self.lines.first().map_or(0, Vec::len));
        match rule.along {
            Along::X => {
                if let Some(at) = self.x.at(rule.at) {
                    (0..height).for_each(|line| self.set((at, line as f64), upright));
                }
            }
            Along::Y => {
                if let Some(at) = (self.y)(rule.at) {
                    (0..width).for_each(|column| self.set((column as f64, at), level));
                }
            }
        }
    }

    fn between(&mut self, from: (f64, f64), to: (f64, f64), sign: char) {
        let (across, down) = (to.0 - from.0, to.1 - from.1);
        let steps = across.abs().max(down.abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            self.set((from.0 + across * part, from.1 + down * part), sign);
        }
    }
}

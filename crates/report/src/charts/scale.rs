//! Places of values on an axis, places of ticks, and values as text.

use itertools::Itertools;
use keymark_stats::Seconds;

use super::chart::{Along, Axis, Chart, Mark, Panel, Scale, Spacing};
use crate::units::{self, Unit};

/// Intervals may widen an axis beyond the figures by this factor; what goes farther is open.
const BEYOND: f64 = 10.0;

/// A scale that knows its place on paper.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    spacing: Spacing,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// A tick with its text; minor ones have none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub label: Option<String>,
}

/// Figures of a mark that a scale has to show.
fn figures(mark: &Mark, along: Along) -> Vec<f64> {
    match (mark, along) {
        (Mark::Dot(dot), Along::X) => vec![dot.x],
        (Mark::Dot(dot), Along::Y) => vec![dot.y],
        (Mark::Bar(bar), Along::X) => vec![bar.from, bar.to],
        (Mark::Bar(bar), Along::Y) => vec![0.0, bar.y],
        (Mark::Line(line), Along::X) => line.points.iter().map(|point| point.0).collect(),
        (Mark::Line(line), Along::Y) => line.points.iter().map(|point| point.1).collect(),
        (Mark::Rule(rule), along) if rule.along == along => vec![rule.at],
        (Mark::Rule(_), _) => Vec::new(),
    }
}

/// Bounds of the figures.
fn bounds(marks: &[Mark]) -> impl Iterator<Item = f64> {
    let dots = marks
        .iter()
        .filter_map(|mark| mark.try_as_dot_ref()?.interval);
    dots.flat_map(|interval| interval.low.into_iter().chain(interval.high))
}

/// Places the scale of x, which all panels share, between two places.
pub(crate) fn of_chart(chart: &Chart, places: (f64, f64)) -> Placed {
    let rows = chart
        .panels
        .iter()
        .filter(|panel| matches!(panel.y, Axis::Rows(_)));
    let bounds = rows.flat_map(|panel| bounds(&panel.marks));
    let figures = chart.marks().flat_map(|mark| figures(mark, Along::X));
    Placed::new(&chart.x, figures, bounds, places)
}

/// Places a scale of y between two places.
pub(crate) fn of_panel(panel: &Panel, scale: &Scale, places: (f64, f64)) -> Placed {
    let figures = panel.marks.iter().flat_map(|mark| figures(mark, Along::Y));
    Placed::new(scale, figures, bounds(&panel.marks), places)
}

/// Ends of a scale that shows these figures and bounds.
fn domain(
    spacing: Spacing,
    figures: impl Iterator<Item = f64>,
    beyond: impl Iterator<Item = f64>,
) -> (f64, f64) {
    let logarithmic = spacing == Spacing::Logarithmic;
    let usable = |value: &f64| value.is_finite() && (*value > 0.0 || !logarithmic);
    let Some((low, high)) = ends(figures.filter(usable)) else {
        return if logarithmic { (0.1, 1.0) } else { (0.0, 1.0) };
    };
    let room = if logarithmic {
        (low / BEYOND, high * BEYOND)
    } else {
        let room = ((high - low) * BEYOND).max(high.abs().max(low.abs()));
        (low - room, high + room)
    };
    let held = beyond.filter(usable);
    let held = held.map(|end| end.clamp(room.0, room.1));
    let zero = (spacing == Spacing::FromZero).then_some(0.0);
    let (low, high) = ends(held.chain(zero).chain([low, high])).unwrap_or((low, high));
    if logarithmic {
        let (low, high) = if high > low * 1.000_001 {
            (low, high)
        } else {
            (low / 2.0, high * 2.0)
        };
        return (rounded_down(low * 0.999), rounded_up(high * 1.001));
    }
    let (low, high) = widened(low, high);
    let step = step(high - low, 5.0);
    let down = (low / step + 1e-9).floor() * step;
    (down, (high / step - 1e-9).ceil() * step)
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.minmax_by(f64::total_cmp).into_option()
}

/// Gives equal values an axis.
fn widened(low: f64, high: f64) -> (f64, f64) {
    if high - low > low.abs().max(high.abs()) * 1e-12 {
        (low, high)
    } else if low == 0.0 {
        (0.0, 1.0)
    } else {
        (low - low.abs() * 0.05, high + high.abs() * 0.05)
    }
}

/// 1, 2 or 5 and a power of ten.
fn step(span: f64, count: f64) -> f64 {
    let step = rounded_up(span / count.max(1.0));
    if step.is_finite() && step > 0.0 {
        step
    } else {
        f64::MIN_POSITIVE
    }
}

fn rounded_down(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let mut found = [5.0, 2.0, 1.0].into_iter().map(|digit| digit * power);
    let found = found.find(|round| *round <= value);
    found.filter(|round| *round > 0.0).unwrap_or(value)
}

fn rounded_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let mut found = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power);
    let found = found.find(|round| *round >= value);
    found.filter(|round| round.is_finite()).unwrap_or(value)
}

impl Placed {
    fn new(
        scale: &Scale,
        figures: impl Iterator<Item = f64>,
        beyond: impl Iterator<Item = f64>,
        (from, to): (f64, f64),
    ) -> Self {
        let spacing = scale.spacing;
        let (low, high) = domain(spacing, figures, beyond);
        Self {
            spacing,
            low,
            high,
            from,
            to,
        }
    }

    /// Returns the place of a value, or the end of the axis beyond which it is; none for a value without a place.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        let part = match self.spacing {
            Spacing::Linear | Spacing::FromZero if value.is_finite() => {
                // Halves: the span of absurd values is no number.
                (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
            }
            Spacing::Logarithmic if value.is_finite() && value > 0.0 => {
                (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
            }
            Spacing::Linear | Spacing::FromZero | Spacing::Logarithmic => return None,
        };
        let place = self.from + part.clamp(0.0, 1.0) * (self.to - self.from);
        place.is_finite().then_some(place)
    }

    /// Tells if a value is on the axis, and not beyond one of its ends.
    pub(crate) fn holds(&self, value: f64) -> bool {
        let slack = (self.high - self.low).abs() * 1e-9;
        value >= self.low - slack && value <= self.high + slack
    }

    /// Returns the place of a bound, and whether the axis holds it. A bound beyond the axis is at `end`, a missing one at
    /// `open`.
    pub(crate) fn bound(&self, bound: Option<f64>, end: f64, open: f64) -> (f64, bool) {
        let held = bound.filter(|bound| self.holds(*bound));
        match held.and_then(|bound| self.at(bound)) {
            Some(at) => (at, true),
            None => (bound.map_or(open, |_| end), false),
        }
    }

    /// The ends on paper.
    pub(crate) const fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    fn length(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// Ticks about so far apart, those that are named among them as far as their text needs, which is `room(label)`.
    pub(crate) fn ticks(&self, scale: &Scale, apart: f64, room: impl Fn(&str) -> f64) -> Vec<Tick> {
        let candidates = if scale.ticks.is_empty() {
            match self.spacing {
                Spacing::Linear | Spacing::FromZero => self.linear(scale, apart),
                Spacing::Logarithmic => self.logarithmic(scale, apart),
            }
        } else {
            let held = scale.ticks.iter().filter(|value| self.holds(**value));
            held.map(|value| (*value, Some(label(scale.unit, *value))))
                .collect()
        };
        let mut ticks: Vec<Tick> = Vec::new();
        let mut last: Option<(f64, f64)> = None;
        for (value, label) in candidates {
            let Some(at) = self.at(value) else { continue };
            let label = label.filter(|label| {
                let half = room(label) / 2.0;
                let free = last.is_none_or(|(before, width)| (at - before).abs() >= half + width);
                if free {
                    last = Some((at, half));
                }
                free
            });
            ticks.push(Tick { at, label });
        }
        ticks
    }

    fn linear(&self, scale: &Scale, apart: f64) -> Vec<(f64, Option<String>)> {
        let count = (self.length() / apart).clamp(2.0, 10.0);
        // There are no halves of things.
        let least = if scale.unit == Unit::Count { 1.0 } else { 0.0 };
        let step = step(self.high - self.low, count).max(least);
        let first = (self.low / step - 1e-6).ceil();
        (0..40)
            .map(|number| (first + f64::from(number)) * step)
            .take_while(|value| self.holds(*value))
            // Not −0.
            .map(|value| if value.abs() < step / 2.0 { 0.0 } else { value })
            .map(|value| (value, Some(stepped(scale.unit, value, step))))
            .collect()
    }

    /// Powers of ten are named; 2 and 5 as well on short axes, and the rest is between.
    fn logarithmic(&self, scale: &Scale, apart: f64) -> Vec<(f64, Option<String>)> {
        let (low, high) = (self.low.log10(), self.high.log10());
        let decades = high - low;
        if decades < 0.5 {
            return self.linear(scale, apart);
        }
        let every = (decades / 10.0).ceil().max(1.0) as usize;
        let digits = if every == 1 { 1..=9 } else { 1..=1 };
        let named: &[u32] = if decades < 3.2 { &[1, 2, 5] } else { &[1] };
        let decades = (low.floor() as i32..=high.ceil() as i32).step_by(every);
        let ticks = decades
            .cartesian_product(digits)
            .filter_map(|(decade, digit)| {
                let value = f64::from(digit) * 10_f64.powi(decade);
                let label = named.contains(&digit).then(|| label(scale.unit, value));
                self.holds(value).then_some((value, label))
            });
        ticks.collect()
    }
}

/// A chosen tick's value with its digits.
fn label(unit: Unit, value: f64) -> String {
    stepped(unit, value, value.abs() / 100.0)
}

/// A tick's value, with the digits that differ from those of the next one, `step` away.
fn stepped(unit: Unit, value: f64, step: f64) -> String {
    match unit {
        Unit::Seconds => seconds(value, step),
        Unit::PerSecond => format!("{}/s", large(value, step)),
        Unit::Times => format!("×{}", large(value, step)),
        Unit::Share => format!("{} %", plain(value * 100.0, step * 100.0)),
        Unit::Change if value == 0.0 => "0 %".to_owned(),
        Unit::Change => {
            let sign = if value > 0.0 { "+" } else { "−" };
            format!("{sign}{} %", plain(value.abs() * 100.0, step * 100.0))
        }
        Unit::Count | Unit::Ratio => large(value, step),
    }
}

fn seconds(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0 s".to_owned();
    }
    let (divisor, unit) = units::unit(Seconds(value));
    format!("{} {unit}", large(value / divisor, step / divisor))
}

/// Writes thousands with `k` and millions with `M`.
fn large(value: f64, step: f64) -> String {
    match value.abs() {
        size if (1e6..1e9).contains(&size) => format!("{}M", plain(value / 1e6, step / 1e6)),
        size if (1e4..1e6).contains(&size) => format!("{}k", plain(value / 1e3, step / 1e3)),
        _ => plain(value, step),
    }
}

/// Writes as many decimals as a step needs, without zeros at their end.
fn plain(value: f64, step: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    let wanted = if step > 0.0 {
        (-(step.log10() - 1e-9).floor()).clamp(0.0, 6.0)
    } else {
        0.0
    };
    let text = format!("{value:.*}", wanted as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::chart::{About, Dot, Fill, Group, Interval};
    use crate::charts::metrics::{Weight, width};

    /// A chart of rows with these figures.
    fn chart(spacing: Spacing, figures: &[(f64, Option<f64>, Option<f64>)]) -> Chart {
        let dot = |(x, low, high): &(f64, Option<f64>, Option<f64>)| {
            Mark::Dot(Dot {
                x: *x,
                y: 0.0,
                interval: Some(Interval {
                    low: *low,
                    high: *high,
                }),
                series: 0,
                fill: Fill::Solid,
                about: About::default(),
            })
        };
        let groups: Vec<Group> = Vec::new();
        Chart {
            kind: "",
            title: String::new(),
            summary: String::new(),
            x: Scale::new("", Unit::Seconds, spacing),
            panels: vec![Panel::rows(groups, figures.iter().map(dot).collect())],
            keys: Vec::new(),
            fills: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn axis(values: &[f64], spacing: Spacing) -> (Scale, Placed) {
        let figures: Vec<_> = values.iter().map(|value| (*value, None, None)).collect();
        let chart = chart(spacing, &figures);
        let placed = of_chart(&chart, (0.0, 600.0));
        (chart.x, placed)
    }

    fn ticks(scale: &Scale, placed: &Placed) -> Vec<Tick> {
        placed.ticks(scale, 60.0, |label| {
            width(label, 11.0, Weight::Regular) + 14.0
        })
    }

    fn labels(values: &[f64], spacing: Spacing) -> Vec<String> {
        let (scale, placed) = axis(values, spacing);
        let ticks = ticks(&scale, &placed);
        ticks.into_iter().filter_map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_apart() {
        let published = labels(&[0.016, 8.218], Spacing::Logarithmic);
        assert_eq!(
            published,
            [
                "10 ms", "20 ms", "50 ms", "100 ms", "200 ms", "500 ms", "1 s", "2 s", "5 s",
                "10 s"
            ]
        );
        let wide = labels(&[1e-7, 10.0], Spacing::Logarithmic);
        assert!(wide.contains(&"1 ms".to_owned()), "{wide:?}");
        assert_eq!(
            labels(&[0.0, 0.021], Spacing::Linear),
            ["0 s", "5 ms", "10 ms", "15 ms", "20 ms", "25 ms"]
        );
    }

    #[test]
    fn an_interval_does_not_run_away_with_the_axis() {
        let figures = [(1.0, Some(1e-9), None), (2.0, None, Some(3.0))];
        let placed = of_chart(&chart(Spacing::Logarithmic, &figures), (0.0, 100.0));
        assert!(!placed.holds(0.01) && placed.holds(0.1));
        assert_eq!(placed.at(1e-9), Some(0.0));
    }

    #[test]
    fn units_suit_the_size() {
        let cases = [
            (Unit::Seconds, 0.0075, 0.0005, "7.5 ms"),
            (Unit::Seconds, 2.0, 1.0, "2 s"),
            (Unit::Seconds, 1e-7, 1e-7, "100 ns"),
            (Unit::Seconds, 1.00005, 0.00005, "1.00005 s"),
            (Unit::PerSecond, 25_000.0, 5_000.0, "25k/s"),
            (Unit::Times, 1.5, 0.5, "×1.5"),
            (Unit::Share, 0.25, 0.25, "25 %"),
            (Unit::Change, -0.05, 0.05, "−5 %"),
            (Unit::Seconds, 1e300, 1e300, "1e300 s"),
        ];
        for (unit, value, step, text) in cases {
            assert_eq!(stepped(unit, value, step), text);
        }
    }
}

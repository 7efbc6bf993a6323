//! Where values are on an axis, where ticks stand, and how values are written.

use itertools::Itertools;

use super::chart::{Along, Bounds, Chart, Mark, Panel, Scale, Spacing};

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

/// The figures of a mark that a scale has to show.
fn figures(mark: &Mark, along: Along) -> Vec<f64> {
    let pick = |x: f64, y: f64| match along {
        Along::X => x,
        Along::Y => y,
    };
    match mark {
        Mark::Dot(dot) => vec![pick(dot.x, dot.y)],
        Mark::Bar(bar) if along == Along::X => vec![bar.from, bar.to],
        Mark::Line(line) => line.points.iter().map(|&(x, y)| pick(x, y)).collect(),
        Mark::Column(column) => match along {
            Along::X => vec![column.from, column.to],
            Along::Y => vec![0.0, column.height],
        },
        Mark::Rule(rule) if rule.along == along => vec![rule.at],
        Mark::Bar(_) | Mark::Rule(_) => Vec::new(),
    }
}

/// A scale of x, which all panels share, between two places.
pub(crate) fn of_chart(chart: &Chart, places: (f64, f64)) -> Placed {
    let marks = chart.panels.iter().flat_map(|panel| &panel.marks);
    placed(&chart.x, marks, Along::X, places)
}

/// A scale of y between two places.
pub(crate) fn of_panel(panel: &Panel, scale: &Scale, places: (f64, f64)) -> Placed {
    placed(scale, panel.marks.iter(), Along::Y, places)
}

fn placed<'m>(
    scale: &Scale,
    marks: impl Iterator<Item = &'m Mark> + Clone,
    along: Along,
    (from, to): (f64, f64),
) -> Placed {
    let figures = marks.clone().flat_map(|mark| figures(mark, along));
    let reaches = marks.filter_map(|mark| mark.try_as_dot_ref()?.reach);
    let reaches = reaches.filter(|reach| reach.along == along);
    let ends = reaches.flat_map(|reach| reach.low.into_iter().chain(reach.high));
    let (low, high) = domain(scale, figures, ends);
    Placed {
        spacing: scale.spacing,
        low,
        high,
        from,
        to,
    }
}

/// From where to where a scale goes that shows these figures, and ends of intervals.
fn domain(
    scale: &Scale,
    figures: impl Iterator<Item = f64>,
    beyond: impl Iterator<Item = f64>,
) -> (f64, f64) {
    if let Bounds::Fixed(low, high) = scale.bounds {
        return widened(scale.spacing, low, high);
    }
    let usable =
        |value: &f64| value.is_finite() && (*value > 0.0 || scale.spacing == Spacing::Linear);
    let Some((low, high)) = ends(figures.filter(usable)) else {
        return match scale.spacing {
            Spacing::Linear => (0.0, 1.0),
            Spacing::Logarithmic => (0.1, 1.0),
        };
    };
    let room = match scale.spacing {
        Spacing::Linear => {
            let room = ((high - low) * BEYOND).max(high.abs().max(low.abs()));
            (low - room, high + room)
        }
        Spacing::Logarithmic => (low / BEYOND, high * BEYOND),
    };
    let held = beyond.filter(usable);
    let held = held.map(|end| end.clamp(room.0, room.1));
    let (mut low, mut high) = ends(held.chain([low, high])).unwrap_or((low, high));
    if scale.bounds == Bounds::FromZero {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    (low, high) = widened(scale.spacing, low, high);
    match scale.spacing {
        Spacing::Logarithmic => (rounded_down(low * 0.999), rounded_up(high * 1.001)),
        Spacing::Linear => {
            let step = step(high - low, 5.0);
            let down = (low / step + 1e-9).floor() * step;
            (down, (high / step - 1e-9).ceil() * step)
        }
    }
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.minmax_by(f64::total_cmp).into_option()
}

/// Equal values have an axis, too.
fn widened(spacing: Spacing, low: f64, high: f64) -> (f64, f64) {
    match spacing {
        Spacing::Linear if high - low > low.abs().max(high.abs()) * 1e-12 => (low, high),
        Spacing::Linear if low == 0.0 => (0.0, 1.0),
        Spacing::Linear => (low - low.abs() * 0.05, high + high.abs() * 0.05),
        Spacing::Logarithmic if high > low * 1.000_001 => (low, high),
        Spacing::Logarithmic => (low / 2.0, high * 2.0),
    }
}

/// 1, 2 or 5 and a power of ten.
fn step(span: f64, count: f64) -> f64 {
    let rough = span / count.max(1.0);
    let power = 10_f64.powf(rough.log10().floor());
    let digit = rough / power;
    let round = match digit {
        d if d <= 1.0 => 1.0,
        d if d <= 2.0 => 2.0,
        d if d <= 5.0 => 5.0,
        _ => 10.0,
    };
    let step = round * power;
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
    /// Where a value is; at the end of the axis if it is beyond. None of what has no place.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        let part = match self.spacing {
            Spacing::Linear if value.is_finite() => {
                // Halves: the span of absurd values is no number.
                (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
            }
            Spacing::Logarithmic if value.is_finite() && value > 0.0 => {
                (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
            }
            Spacing::Linear | Spacing::Logarithmic => return None,
        };
        let place = self.from + part.clamp(0.0, 1.0) * (self.to - self.from);
        place.is_finite().then_some(place)
    }

    /// Whether a value is on the axis, and not beyond one of its ends.
    pub(crate) fn holds(&self, value: f64) -> bool {
        let slack = (self.high - self.low).abs() * 1e-9;
        value >= self.low - slack && value <= self.high + slack
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
                Spacing::Linear => self.linear(scale, apart),
                Spacing::Logarithmic => self.logarithmic(scale, apart),
            }
        } else {
            let held = scale.ticks.iter().filter(|value| self.holds(**value));
            held.map(|value| (*value, Some(scale.unit.write(*value))))
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
        let step = step(
            self.high - self.low,
            (self.length() / apart).clamp(2.0, 10.0),
        );
        let first = (self.low / step - 1e-6).ceil();
        (0..40)
            .map(|number| (first + f64::from(number)) * step)
            .take_while(|value| self.holds(*value))
            // Not −0.
            .map(|value| if value.abs() < step / 2.0 { 0.0 } else { value })
            .map(|value| (value, Some(scale.unit.stepped(value, step))))
            .collect()
    }

    /// Powers of ten are named; 2 and 5 as well on short axes, and the rest is between.
    fn logarithmic(&self, scale: &Scale, apart: f64) -> Vec<(f64, Option<String>)> {
        let (low, high) = (self.low.log10().floor(), self.high.log10().ceil());
        let decades = self.high.log10() - self.low.log10();
        let every = (decades / 10.0).ceil().max(1.0) as usize;
        let named: &[u32] = match decades {
            short if short < 3.2 => &[1, 2, 5],
            _ => &[1],
        };
        if decades < 0.5 {
            return self.linear(scale, apart);
        }
        let mut ticks = Vec::new();
        for decade in (low as i32..=high as i32).step_by(every) {
            let digits = if every == 1 { 1..=9 } else { 1..=1 };
            for digit in digits {
                let value = f64::from(digit) * 10_f64.powi(decade);
                if !self.holds(value) {
                    continue;
                }
                let label = named.contains(&digit).then(|| scale.unit.write(value));
                ticks.push((value, label));
            }
        }
        ticks
    }
}

/// What a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Time: `2 s`, `7.5 ms`.
    Seconds,
    /// A rate: `100/s`.
    PerSecond,
    /// How many times as much: `×2`.
    Times,
    /// A share of a whole that is 1: `50 %`.
    Share,
    /// How far off a whole that is 0: `+5 %`.
    Change,
    /// Things, as they are.
    Count,
    /// Bits: `112`.
    Bits,
}

impl Unit {
    /// A value to so many significant digits, for a label.
    pub(crate) fn write(self, value: f64) -> String {
        self.stepped(value, value.abs() / 100.0)
    }

    /// A tick's value, with the digits that tell it from the next one, `step` away.
    pub(crate) fn stepped(self, value: f64, step: f64) -> String {
        match self {
            Self::Seconds => seconds(value, step),
            Self::PerSecond => format!("{}/s", large(value, step)),
            Self::Times => format!("×{}", large(value, step)),
            Self::Share => format!("{} %", plain(value * 100.0, step * 100.0)),
            Self::Change if value == 0.0 => "0 %".to_owned(),
            Self::Change => {
                let sign = if value > 0.0 { "+" } else { "−" };
                format!("{sign}{} %", plain(value.abs() * 100.0, step * 100.0))
            }
            Self::Count => large(value, step),
            Self::Bits => plain(value, step),
        }
    }
}

fn seconds(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0 s".to_owned();
    }
    let (divisor, unit) = match value.abs() {
        size if size >= 0.999_95 => (1.0, "s"),
        size if size >= 0.999_95e-3 => (1e-3, "ms"),
        size if size >= 0.999_95e-6 => (1e-6, "µs"),
        _ => (1e-9, "ns"),
    };
    format!("{} {unit}", large(value / divisor, step / divisor))
}

/// With `k` and `M` for thousands and millions.
fn large(value: f64, step: f64) -> String {
    match value.abs() {
        size if (1e6..1e9).contains(&size) => format!("{}M", plain(value / 1e6, step / 1e6)),
        size if (1e4..1e6).contains(&size) => format!("{}k", plain(value / 1e3, step / 1e3)),
        _ => plain(value, step),
    }
}

/// With as many decimals as a step needs, and no zeros at the end of them.
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
    use crate::charts::chart::{About, Dot, Fill, Reach};
    use crate::charts::metrics::{Weight, width};

    fn dot(x: f64, low: Option<f64>, high: Option<f64>) -> Mark {
        let along = Along::X;
        Mark::Dot(Dot {
            reach: Some(Reach { along, low, high }),
            ..Dot::new((x, 0.0), 0, Fill::Solid, About::default())
        })
    }

    fn axis(values: &[f64], spacing: Spacing) -> (Scale, Placed) {
        let scale = Scale::new("", Unit::Seconds, spacing);
        let marks: Vec<Mark> = values.iter().map(|value| dot(*value, None, None)).collect();
        let placed = placed(&scale, marks.iter(), Along::X, (0.0, 600.0));
        (scale, placed)
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
    fn absurd_and_equal_values_have_an_axis() {
        for values in [
            &[][..],
            &[1.0],
            &[0.0, 0.0],
            &[5.0, 5.0, 5.0],
            &[1e-300, 1e300],
            &[f64::NAN, f64::INFINITY, -1.0, 2.0],
            &[f64::MIN, f64::MAX],
            &[f64::MIN_POSITIVE],
        ] {
            for spacing in [Spacing::Linear, Spacing::Logarithmic] {
                let (scale, placed) = axis(values, spacing);
                let ticks = ticks(&scale, &placed);
                assert!(ticks.len() < 100, "{values:?} {}", ticks.len());
                for value in values.iter().chain([&1.0, &-1.0, &f64::MAX]) {
                    let at = placed.at(*value);
                    assert!(
                        at.is_none_or(|at| (0.0..=600.0).contains(&at)),
                        "{values:?} {at:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_interval_does_not_run_away_with_the_axis() {
        let scale = Scale::new("", Unit::Seconds, Spacing::Logarithmic);
        let marks = [dot(1.0, Some(1e-9), None), dot(2.0, None, Some(3.0))];
        let placed = placed(&scale, marks.iter(), Along::X, (0.0, 100.0));
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
            (Unit::Bits, 112.0, 1.0, "112"),
            (Unit::Seconds, 1e300, 1e300, "1e300 s"),
        ];
        for (unit, value, step, text) in cases {
            assert_eq!(unit.stepped(value, step), text);
        }
    }
}

//! How values of an axis are written.

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

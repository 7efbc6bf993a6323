//! Inks, and what shows without them how a figure was had. Colors are in the picture as they are: `var()` and `@media`
//! are ignored by many programs that show SVG.

use std::collections::BTreeSet;

use derive_more::Display;

use crate::charts::chart::Fill;

/// Inks of a picture, and the patterns that it needs.
pub(super) struct Paint {
    pub theme: Theme,
    pub palette: &'static Palette,
    /// Identifiers of this picture begin with it.
    pub prefix: String,
    pub patterns: BTreeSet<Pattern>,
}

/// A fill that is no color, in an ink on the ground.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    pub fill: Fill,
    pub surface: Surface,
    pub ink: &'static str,
    pub id: String,
}

/// Filled shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display)]
#[display(rename_all = "lowercase")]
pub(super) enum Surface {
    /// A dot: narrow lines, and one half on the left.
    Dot,
    /// A bar: wider lines, and the upper half.
    Bar,
}

impl Paint {
    pub(super) fn new(theme: Theme, prefix: String) -> Self {
        Self {
            theme,
            palette: theme.palette(),
            prefix,
            patterns: BTreeSet::new(),
        }
    }

    /// Fill of a surface in that ink.
    pub(super) fn fill(&mut self, fill: Fill, surface: Surface, ink: &'static str) -> String {
        let (ground, prefix) = (self.palette.ground, &self.prefix);
        let word = match fill {
            Fill::Solid => return ink.to_owned(),
            Fill::Dotted | Fill::Hollow => return ground.to_owned(),
            Fill::Half => "half",
            Fill::Hatched => "hatch",
        };
        let id = format!("{prefix}-{word}-{surface}-{}-{}", &ink[1..], &ground[1..]);
        let url = format!("url(#{id})");
        self.patterns.insert(Pattern {
            fill,
            surface,
            ink,
            id,
        });
        url
    }

    /// Dashes of a mark's outline.
    pub(super) const fn outline(fill: Fill) -> Option<&'static str> {
        match fill {
            Fill::Dotted => Some("1.6 2"),
            Fill::Solid | Fill::Half | Fill::Hatched | Fill::Hollow => None,
        }
    }

    /// Dashes of a line.
    pub(super) const fn dashes(fill: Fill) -> Option<&'static str> {
        match fill {
            Fill::Solid => None,
            Fill::Half => Some("10 3"),
            Fill::Hatched => Some("7 3 2 3"),
            Fill::Dotted => Some("1.5 3"),
            Fill::Hollow => Some("4 4"),
        }
    }
}

/// Dark on light, or light on dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    #[default]
    Light,
    Dark,
}

/// Colors of a theme.
pub(crate) struct Palette {
    pub ground: &'static str,
    pub text: &'static str,
    pub muted: &'static str,
    pub grid: &'static str,
    pub axis: &'static str,
    /// Color of references.
    pub rule: &'static str,
    /// Colors of series, by their number; each has a contrast of 3 to the ground, and the first six differ with any
    /// kind of color blindness (after Okabe & Ito 2008, darkened or lightened).
    pub series: [&'static str; 8],
}

impl Theme {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) const fn palette(self) -> &'static Palette {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }
}

/// Colors of the light theme, each with its replacement in the dark one: a page that shows a light picture by a style
/// of its own turns it dark.
pub fn light_and_dark() -> impl Iterator<Item = (&'static str, &'static str)> {
    let colours = |of: &'static Palette| {
        let plain = [of.ground, of.text, of.muted, of.grid, of.axis, of.rule];
        plain.into_iter().chain(of.series)
    };
    colours(&LIGHT).zip(colours(&DARK))
}

impl Palette {
    pub(crate) fn series(&self, number: usize) -> &'static str {
        self.series[number % self.series.len()]
    }
}

const LIGHT: Palette = Palette {
    ground: "#ffffff",
    text: "#1b1f24",
    muted: "#57606a",
    grid: "#e4e7eb",
    axis: "#8c959f",
    rule: "#a4261d",
    series: [
        "#0f62a8", "#c2500a", "#0b7a5b", "#a23f83", "#7a6200", "#2f8fc4", "#5b3fa0", "#6a6f76",
    ],
};

const DARK: Palette = Palette {
    ground: "#14181d",
    text: "#e6e9ed",
    muted: "#a3adb8",
    grid: "#2a313a",
    axis: "#6b7683",
    rule: "#ff8f84",
    series: [
        "#6cb6ff", "#ff9a57", "#45cfa3", "#f09ad6", "#dcc04b", "#8fdcff", "#b9a3ff", "#b6bec8",
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2.2).
    fn luminance([red, green, blue]: [u8; 3]) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn of(colour: &str) -> f64 {
        let channel = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
        luminance([channel(1), channel(3), channel(5)])
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (of(a), of(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn everything_stands_out_from_its_ground() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = theme.palette();
            for text in [palette.text, palette.muted, palette.rule] {
                assert!(contrast(text, palette.ground) >= 4.5, "{theme:?} {text}");
            }
            for mark in palette.series {
                assert!(contrast(mark, palette.ground) >= 3.0, "{theme:?} {mark}");
            }
        }
    }
}

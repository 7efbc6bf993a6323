//! Inks, and what shows without them how a figure was had.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::charts::chart::Fill;
use crate::charts::theme::{Palette, Theme};
use crate::xml::Xml;

/// What is painted with, and which patterns were needed.
pub(super) struct Paint {
    pub palette: &'static Palette,
    prefix: String,
    used: RefCell<BTreeSet<Pattern>>,
}

/// A fill that is no colour, in an ink on a ground.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    fill: Fill,
    surface: Surface,
    ink: String,
    ground: String,
}

/// What is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Surface {
    /// A dot: narrow lines, and one half on the left.
    Dot,
    /// A bar: wider lines, and the upper half.
    Bar,
}

impl Surface {
    const fn word(self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::Bar => "bar",
        }
    }
}

impl Paint {
    pub(super) fn new(theme: Theme, prefix: &str) -> Self {
        Self {
            palette: theme.palette(),
            prefix: prefix.to_owned(),
            used: RefCell::default(),
        }
    }

    /// An identifier of this picture's own.
    pub(super) fn id(&self, word: &str) -> String {
        format!("{}-{word}", self.prefix)
    }

    /// What a surface of that ink is filled with.
    pub(super) fn fill(&self, fill: Fill, surface: Surface, ink: &str) -> String {
        let ground = self.palette.ground;
        match fill {
            Fill::Solid => return ink.to_owned(),
            Fill::Dotted | Fill::Hollow => return ground.to_owned(),
            Fill::Half | Fill::Hatched => {}
        }
        let pattern = Pattern {
            fill,
            surface,
            ink: ink.to_owned(),
            ground: ground.to_owned(),
        };
        let url = format!("url(#{})", self.pattern(&pattern));
        self.used.borrow_mut().insert(pattern);
        url
    }

    /// How the outline of a mark is broken.
    pub(super) const fn outline(fill: Fill) -> Option<&'static str> {
        match fill {
            Fill::Dotted => Some("1.6 2"),
            Fill::Solid | Fill::Half | Fill::Hatched | Fill::Hollow => None,
        }
    }

    /// How a line is broken.
    pub(super) const fn dashes(fill: Fill) -> Option<&'static str> {
        match fill {
            Fill::Solid => None,
            Fill::Half => Some("10 3"),
            Fill::Hatched => Some("7 3 2 3"),
            Fill::Dotted => Some("1.5 3"),
            Fill::Hollow => Some("4 4"),
        }
    }

    fn pattern(&self, pattern: &Pattern) -> String {
        let Pattern {
            fill,
            surface,
            ink,
            ground,
        } = pattern;
        let word = match fill {
            Fill::Half => "half",
            Fill::Solid | Fill::Hatched | Fill::Dotted | Fill::Hollow => "hatch",
        };
        let [ink, ground] = [ink, ground].map(|colour| colour.trim_start_matches('#'));
        self.id(&format!("{word}-{}-{ink}-{ground}", surface.word()))
    }

    pub(super) fn definitions(&self, out: &mut Xml) {
        let used = self.used.borrow();
        if used.is_empty() {
            return;
        }
        out.tag("defs").open();
        for pattern in used.iter() {
            match pattern.fill {
                Fill::Half => self.half(out, pattern),
                Fill::Hatched => self.hatch(out, pattern),
                Fill::Solid | Fill::Dotted | Fill::Hollow => {}
            }
        }
        out.close("defs");
    }

    fn half(&self, out: &mut Xml, pattern: &Pattern) {
        let (x2, y2) = match pattern.surface {
            Surface::Dot => ("1", "0"),
            Surface::Bar => ("0", "1"),
        };
        let id = self.pattern(pattern);
        let tag = out.tag("linearGradient").attr("id", &id);
        let tag = tag.attr("x1", "0").attr("y1", "0");
        tag.attr("x2", x2).attr("y2", y2).open();
        for colour in [&pattern.ink, &pattern.ground] {
            let stop = out.tag("stop").attr("offset", "0.5");
            stop.attr("stop-color", colour).end();
        }
        out.close("linearGradient");
    }

    fn hatch(&self, out: &mut Xml, pattern: &Pattern) {
        let (size, width) = match pattern.surface {
            Surface::Dot => ("3.2", "1.5"),
            Surface::Bar => ("6", "2.6"),
        };
        out.tag("pattern")
            .attr("id", &self.pattern(pattern))
            .attr("width", size)
            .attr("height", size)
            .attr("patternUnits", "userSpaceOnUse")
            .attr("patternTransform", "rotate(45)")
            .open();
        let ground = out.tag("rect").attr("width", size).attr("height", size);
        ground.attr("fill", &pattern.ground).end();
        let line = out.tag("rect").attr("width", width).attr("height", size);
        line.attr("fill", &pattern.ink).end();
        out.close("pattern");
    }
}

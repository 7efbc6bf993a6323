//! Pictures in a page. They have the colours of the light theme, which the page's style changes for the dark one.
//!
//! Each stands there twice, of which the style shows the one that there is room for: in a narrow window the text of the
//! other could not be read.

use std::collections::HashSet;

use crate::charts::svg::{self, Breadth};
use crate::charts::{Theme, light_and_dark};

use crate::document::Figure;
use crate::pictures;

/// Pictures of a page, whose identifiers are told apart: two runs may have the same picture.
#[derive(Default)]
pub(super) struct Pictures {
    used: HashSet<String>,
}

impl Pictures {
    /// The picture, or that there is too little for one.
    pub(super) fn html(&mut self, figure: &Figure) -> String {
        let Some(chart) = pictures::chart(figure) else {
            return format!("<p class=\"note\">{}</p>", sentence(pictures::NOT_ENOUGH));
        };
        // Nothing in it is text that has not been escaped.
        let forms = [(Breadth::Page, "wide"), (Breadth::Narrow, "narrow")];
        let forms = forms.map(|(breadth, class)| {
            let drawn = self.unique(svg::draw_within(&chart, Theme::Light, breadth));
            format!("<div class=\"{class}\">{drawn}</div>")
        });
        format!("<figure>{}</figure>", forms.concat())
    }

    fn unique(&mut self, svg: String) -> String {
        let named = svg.split_once("aria-labelledby=\"");
        let Some((prefix, _)) = named.and_then(|(_, rest)| rest.split_once("-title")) else {
            return svg;
        };
        let mut own = prefix.to_owned();
        while !self.used.insert(own.clone()) {
            own.push('x');
        }
        if own == prefix {
            return svg;
        }
        svg.replace(&format!("{prefix}-"), &format!("{own}-"))
    }
}

/// The style that turns pictures dark.
pub(super) fn dark() -> String {
    let mut rules = String::from("@media screen and (prefers-color-scheme: dark) {\n");
    for (light, dark) in light_and_dark() {
        for ink in ["fill", "stroke", "stop-color"] {
            rules += &format!("figure svg [{ink}=\"{light}\"] {{ {ink}: {dark}; }}\n");
        }
    }
    rules + "}\n"
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

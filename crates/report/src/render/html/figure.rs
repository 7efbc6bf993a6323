//! Pictures in a page: one for each theme, of which the style shows one. Their marks bear their figures, which the
//! script shows; the titles that they have for that are other programs' names for them, too.

use std::collections::HashSet;

use keymark_charts::{Theme, svg};

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
        let mut drawn = |theme| self.unique(svg::draw(&chart, theme));
        let (light, dark) = (drawn(Theme::Light), drawn(Theme::Dark));
        format!(
            "<figure><div class=\"scroll light\" tabindex=\"0\" role=\"group\" aria-label=\"picture\">{light}</div>\
             <div class=\"scroll dark\" tabindex=\"0\" role=\"group\" aria-label=\"picture\">{dark}</div></figure>"
        )
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

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

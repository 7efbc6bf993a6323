//! The document as LaTeX: tables that an article takes in, with the package booktabs.

use std::fmt;

use askama::Template;
use askama::filters::Escaper;

use super::Format;
use crate::visible::visible;
use crate::{Align, Block, Document};

/// Tables longer than this do not fit a page.
const PAGE: usize = 45;

pub(crate) static FORMAT: Format = Format {
    word: "latex",
    about: "Tables for an article, with booktabs",
    endings: &["tex", "latex"],
    write: |exported, out| Ok(out.write_all(render(&exported.document())?.as_bytes())?),
};

#[derive(Template)]
#[template(path = "report.tex")]
struct Report<'a> {
    document: &'a Document,
}

/// Comments with title and conditions, then sections; the warnings are notes at the end.
///
/// # Errors
/// None: a template writes to memory.
pub fn render(document: &Document) -> askama::Result<String> {
    Report { document }.render()
}

/// All that stands in the template.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latex;

impl Escaper for Latex {
    fn write_escaped_str<W: fmt::Write>(&self, mut to: W, text: &str) -> fmt::Result {
        to.write_str(&escaped(text))
    }
}

/// What LaTeX takes for a command, a comment or mathematics; signs that its usual fonts lack.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in visible(text).chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            // A bracket behind a line's end would be its option.
            '[' => out.push_str("{[}"),
            ']' => out.push_str("{]}"),
            '-' => out.push_str("{-}"),
            '\'' => out.push_str("\\textquotesingle{}"),
            '`' => out.push_str("\\textasciigrave{}"),
            '≤' => out.push_str("$\\leq$"),
            '≥' => out.push_str("$\\geq$"),
            '×' => out.push_str("$\\times$"),
            '±' => out.push_str("$\\pm$"),
            'µ' => out.push_str("\\textmu{}"),
            'σ' => out.push_str("$\\sigma$"),
            'κ' => out.push_str("$\\kappa$"),
            '–' => out.push_str("--"),
            '…' => out.push_str("\\dots{}"),
            // No engine has every sign, and pdflatex stops at one that it lacks.
            c if c.is_ascii() || ('\u{a0}'..='\u{17f}').contains(&c) => out.push(c),
            c => out.push_str(&format!("U+{:04X}", u32::from(c))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_a_command() {
        assert_eq!(
            escaped("\\input{/etc/passwd} 50% $x_1^2 & #~<b>[2]"),
            "\\textbackslash{}input\\{/etc/passwd\\} 50\\% \\$x\\_1\\textasciicircum{}2 \\& \
             \\#\\textasciitilde{}\\textless{}b\\textgreater{}{[}2{]}"
        );
        assert_eq!(escaped("7.9 µs (1–2) 鍵"), "7.9 \\textmu{}s (1--2) U+9375");
    }
}

//! The document as LaTeX: tables that an article takes in, with the package booktabs.

use std::fmt::Write;

use super::{Format, cell};
use crate::document::{Align, Block, Document, Section, Table};
use crate::visible::visible;

/// Tables longer than this do not fit a page.
const PAGE: usize = 45;

pub(crate) static FORMAT: Format = Format {
    word: "latex",
    about: "Tables for an article, with booktabs",
    endings: &["tex", "latex"],
    write: |exported, out| Ok(out.write_all(render(&exported.document()).as_bytes())?),
};

/// Comments with title and conditions, then sections; the warnings are notes at the end.
pub fn render(document: &Document) -> String {
    let mut text = String::from(
        "% keymark report\n% \\usepackage{booktabs,longtable,textcomp}, and UTF-8 as LaTeX has it since 2018\n",
    );
    let comments = document.title.iter().chain(&document.head);
    for line in comments {
        // Nothing that ends a line is left in it.
        line_of(&mut text, &format!("% {}", visible(line)));
    }
    if let Some(title) = &document.title {
        line_of(&mut text, &format!("\\section*{{{}}}", escaped(title)));
    }
    for statement in &document.answers {
        line_of(&mut text, &format!("{}\n", escaped(&statement.text)));
    }
    for section in document.told() {
        self::section(&mut text, section);
    }
    let mut notes: Vec<String> = document
        .warnings
        .iter()
        .map(|warning| escaped(&warning.text))
        .collect();
    let commands = document
        .conditions
        .iter()
        .flat_map(|conditions| &conditions.commands);
    notes.extend(commands.map(|rerun| format!("\\texttt{{{}}}", escaped(&rerun.command))));
    if !notes.is_empty() {
        line_of(&mut text, "\\subsection*{Notes}\n\\begin{itemize}");
        for note in notes {
            line_of(&mut text, &format!("\\item {note}"));
        }
        line_of(&mut text, "\\end{itemize}");
    }
    text
}

fn section(text: &mut String, section: &Section) {
    if let Some(heading) = &section.heading {
        line_of(text, &format!("\\subsection*{{{}}}", escaped(heading)));
    }
    for block in &section.blocks {
        match block {
            Block::Table(table) => self::table(text, table),
            Block::Remark(remark) => line_of(text, &format!("{}\n", escaped(&remark.text))),
            Block::Figure(_) => {}
        }
    }
}

fn table(text: &mut String, table: &Table) {
    let sides = table.columns.iter().map(|column| match column.align {
        Align::Left => 'l',
        Align::Right => 'r',
    });
    let sides: String = sides.collect();
    let long = table.rows.len() > PAGE;
    let environment = if long { "longtable" } else { "tabular" };
    if !long {
        line_of(text, "\\begin{center}");
    }
    line_of(
        text,
        &format!("\\begin{{{environment}}}{{{sides}}}\n\\toprule"),
    );
    let names: Vec<String> = table
        .columns
        .iter()
        .map(|column| escaped(&column.name))
        .collect();
    line_of(text, &format!("{} \\\\\n\\midrule", names.join(" & ")));
    if long {
        line_of(text, "\\endhead");
    }
    for row in &table.rows {
        let cells = (0..table.columns.len()).map(|column| table.cell(row, column));
        let cells: Vec<String> = cells.map(|cell| escaped(&cell::words(&cell))).collect();
        line_of(text, &format!("{} \\\\", cells.join(" & ")));
    }
    line_of(text, &format!("\\bottomrule\n\\end{{{environment}}}"));
    if !long {
        line_of(text, "\\end{center}");
    }
}

fn line_of(text: &mut String, line: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
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
            c => {
                let _ = write!(out, "U+{:04X}", u32::from(c));
            }
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

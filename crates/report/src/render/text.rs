//! The document on a terminal. Headings are styled; the caller strips that where it is not wanted.

use anstyle::{AnsiColor, Style};
use itertools::Itertools;
use unicode_width::UnicodeWidthStr;

use super::layout::{GAP, Layout};
use super::{Width, filled, widths};
use crate::document::ScreenForm;
use crate::verdict::{REASONS, UsageLine, Verdict};
use crate::visible::{visible, words, wrapped};
use crate::{Block, Document, Section, Table};

/// Style of headings.
pub const HEADING: Style = Style::new().bold();
/// Labels below the figures.
const WHY: &str = "Why";
const SURE: &str = "Sure?";
const NEXT: &str = "Next";
/// Typical half width of the intervals, in tenths of a per cent of the mean, beyond which figures are doubtful.
const DOUBTFUL: u32 = 50;
/// Indent of further lines of a message.
const HANGING: &str = "  ";

/// Title, verdict, conditions and sections. The warnings are left to the caller, who has a place for them.
pub fn render(document: &Document, width: Width) -> String {
    illustrated(document, None, width)
}

/// Signs of the parts of a bar: the key, its agent, the program.
const PARTS: [(char, AnsiColor); 3] = [
    ('█', AnsiColor::BrightBlue),
    ('░', AnsiColor::Yellow),
    ('▒', AnsiColor::Green),
];

/// Colors the parts of bars as in the report.
fn colored(picture: &str) -> String {
    let color = |sign: &char| PARTS.iter().find(|(part, _)| part == sign);
    let pieces = picture.chars().chunk_by(color);
    let pieces = pieces.into_iter().map(|(part, signs)| {
        let signs: String = signs.collect();
        part.map_or(signs.clone(), |(_, color)| {
            let style = color.on_default();
            format!("{style}{signs}{style:#}")
        })
    });
    pieces.collect()
}

/// Writes the document with a picture between the verdict and the first table.
pub fn illustrated(document: &Document, picture: Option<&str>, width: Width) -> String {
    let mut text = String::new();
    if let Some(title) = &document.title {
        text.push_str(&heading(title, width));
    }
    if let Some(verdict) = &document.verdict {
        text.push_str(&self::verdict(verdict, width));
    }
    for (place, answer) in document.answers.iter().enumerate() {
        text.push_str(&match place {
            0 => heading(answer, width),
            _ => item(answer, width),
        });
    }
    let indent = match document.form {
        ScreenForm::Brief => "",
        ScreenForm::Long => "  ",
    };
    for line in &document.head {
        text.push_str(&paragraph(line, width, indent));
    }
    if let Some(picture) = picture {
        text.push('\n');
        text.push_str(&colored(picture));
    }
    for section in document.told() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&self::section(section, width));
    }
    if let Some(verdict) = &document.verdict {
        text.push_str(&grounds(verdict, document.form, width));
    }
    text
}

/// The verdict: its first sentence in bold, and a line for each use of a key.
fn verdict(verdict: &Verdict, width: Width) -> String {
    let mut text = heading(&verdict.headline(), width);
    let lines = verdict.lines();
    let widest = |of: fn(&UsageLine) -> &String| {
        let widths = lines.iter().map(|line| of(line).width());
        widths.max().unwrap_or(0)
    };
    let (name, keys) = (widest(|line| &line.name), widest(|line| &line.keys));
    for line in &lines {
        let figures = match keys {
            0 => line.figures.clone(),
            _ => format!("{:keys$}  {}", line.keys, line.figures),
        };
        text.push_str(&entry(2, &line.name, name + 1, &figures, width));
    }
    text
}

/// Reasons, certainty and commands that lead on, below the figures. The long form has all reasons.
fn grounds(verdict: &Verdict, form: ScreenForm, width: Width) -> String {
    let mut reasons = verdict.because();
    if form == ScreenForm::Brief {
        reasons.truncate(REASONS);
    }
    let next = match form {
        ScreenForm::Brief => verdict.next.join("  ·  "),
        ScreenForm::Long => String::new(),
    };
    let labels = [WHY].into_iter().chain(std::iter::repeat(""));
    let lines = labels.zip(reasons);
    let lines = lines.chain(verdict.certainty().map(|text| (SURE, text)));
    let lines = lines.chain((!next.is_empty()).then_some((NEXT, next)));
    let text = lines.map(|(label, text)| entry(0, label, SURE.len() + 1, &visible(&text), width));
    let text: String = text.collect();
    let is_doubtful = verdict.certainty.as_ref().is_some_and(|certainty| {
        certainty.failed > 0 || certainty.typical_permille > Some(DOUBTFUL)
    });
    if is_doubtful {
        let style = AnsiColor::Yellow.on_default();
        return text.replacen(SURE, &format!("{style}{SURE}{style:#}"), 1);
    }
    text
}

fn section(section: &Section, width: Width) -> String {
    let mut text = String::new();
    if let Some(title) = &section.heading {
        text.push_str(&heading(title, width));
    }
    let mut after_table = false;
    for block in &section.blocks {
        match block {
            Block::Table(table) => {
                if after_table {
                    text.push('\n');
                }
                text.push_str(&self::table(table, width));
            }
            Block::Remark(remark) => text.push_str(&paragraph(&remark.text, width, "")),
            Block::Picture(_) => {}
        }
        after_table = matches!(block, Block::Table(_));
    }
    text
}

/// A table: what all rows share, the rows, how many columns are left out.
pub fn table(table: &Table, width: Width) -> String {
    let layout = Layout::fit(table, width);
    let mut text = String::new();
    if let Some(line) = layout.above() {
        text.push_str(&paragraph(&line, width, ""));
    }
    let (align, rows) = layout.drawn();
    let widths = widths(&rows);
    for row in rows {
        let height = row.iter().map(|cell| cell.lines().count()).max();
        for number in 0..height.unwrap_or(0).max(1) {
            let cells = row.iter().zip(&widths).zip(&align);
            let cells = cells.map(|((cell, width), align)| {
                filled(cell.lines().nth(number).unwrap_or_default(), *width, *align)
            });
            text.push_str(cells.format(&" ".repeat(GAP)).to_string().trim_end());
            text.push('\n');
        }
    }
    if let Some(line) = layout.below() {
        text.push_str(&paragraph(&line, width, ""));
    }
    text
}

fn heading(text: &str, width: Width) -> String {
    paragraph(text, width, "")
        .lines()
        .fold(String::new(), |text, line| {
            text + &format!("{HEADING}{line}{HEADING:#}\n")
        })
}

/// Words, broken between them where a line is full. They may be from outside.
fn paragraph(text: &str, width: Width, indent: &str) -> String {
    lines(&visible(text), width, indent).join("\n") + "\n"
}

/// A sentence among others.
fn item(text: &str, width: Width) -> String {
    format!("• {}\n", hanging(&visible(text), width))
}

/// Lines of which all but the first are set in.
fn hanging(text: &str, width: Width) -> String {
    let text = lines(text, width, HANGING).join("\n");
    text.trim_start().to_owned()
}

/// A name and its text, which is broken under itself where a line is full.
pub fn entry(indent: usize, name: &str, column: usize, value: &str, width: Width) -> String {
    let label = format!("{:indent$}{name:<column$} ", "");
    let hanging = " ".repeat(indent + column + 1);
    let lines = lines(value, width, &hanging);
    let text = lines.join("\n") + "\n";
    // A name that is too long for its column takes the line.
    if name.width() > column && lines.len() > 1 {
        format!("{}\n{text}", label.trim_end())
    } else {
        label + text.strip_prefix(&hanging).unwrap_or(&text)
    }
}

/// A message behind what kind it is of: broken between words where a line is full, its further lines set in.
pub fn message(label: &str, text: &str, width: Width) -> String {
    let whole = match label {
        "" => text.to_owned(),
        label => format!("{label} {text}"),
    };
    if width == Width::Unlimited {
        return whole;
    }
    let mut broken = whole.lines().map(|line| hanging(line.trim_start(), width));
    broken.join(&format!("\n{HANGING}"))
}

/// Lines that are set in so far; a word that is too long for any has one to itself.
fn lines(text: &str, width: Width, indent: &str) -> Vec<String> {
    match width {
        Width::Unlimited => vec![format!("{indent}{text}")],
        Width::Columns(limit) => wrapped(text, usize::from(limit), indent, words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_broken_under_itself() {
        let narrow = Width::Columns(12);
        assert_eq!(
            entry(1, "ab", 4, "one two", narrow),
            " ab   one\n      two\n"
        );
        assert_eq!(
            entry(1, "abcdef", 4, "one two", narrow),
            " abcdef\n      one\n      two\n"
        );
        assert_eq!(
            entry(1, "ab", 4, "one two", Width::Unlimited),
            " ab   one two\n"
        );
    }

    #[test]
    fn a_message_is_set_in_behind_its_first_line() {
        let narrow = |text| message("error:", text, Width::Columns(14));
        assert_eq!(narrow("one two three"), "error: one\n  two three");
        assert_eq!(narrow("one\n  two\nthree"), "error: one\n  two\n  three");
        let wide = message("error:", "one\n  two", Width::Unlimited);
        assert_eq!(wide, "error: one\n  two");
    }

    #[test]
    fn lines_are_broken_between_words_and_a_long_word_stays_whole() {
        let broken = |text, limit| lines(text, Width::Columns(limit), "");
        assert_eq!(broken("one two three", 7), ["one two", "three"]);
        assert_eq!(
            broken("a-very-long-word and", 5),
            ["a-very-long-word", "and"]
        );
        assert_eq!(
            paragraph("µs µs µs", Width::Columns(7), "  "),
            "  µs µs\n  µs\n"
        );
    }
}

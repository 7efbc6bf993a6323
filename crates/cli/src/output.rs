//! Output to the terminal: colors only there, as wide as it is, and a closed pipe is no failure.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use anstyle::{AnsiColor, Style};
use itertools::Itertools;
use keymark_report::render::Width;
use keymark_report::render::text::{self, HEADING};
use keymark_report::visible::{json, message, visible, visible_lines};
use keymark_report::{Align, Document, Priority, TableOf};
use keymark_stores::user::terminal::alone;

use crate::exit::Exit;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// Whether notes and progress are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// State of stdout.
static STDOUT: AtomicU8 = AtomicU8::new(OPEN);
const OPEN: u8 = 0;
/// Its reader has seen enough (`| head`).
const CLOSED: u8 = 1;
/// State of a stdout that could not be written (a full disk).
const LOST: u8 = 2;

/// Text for stdout, as it may be from outside; nothing more once that is gone.
///
/// Nobody is stopped here: who works for long asks [`is_gone`], so that what it started ends in good order.
pub(crate) fn print(text: &str) {
    print_styled(&visible_lines(text));
}

/// Text whose control characters are keymark's own.
fn print_styled(text: &str) {
    if is_gone() {
        return;
    }
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(closed) if closed.kind() == io::ErrorKind::BrokenPipe => {
            STDOUT.store(CLOSED, Ordering::Relaxed);
        }
        Err(lost) => {
            STDOUT.store(LOST, Ordering::Relaxed);
            error(&format!("cannot write to stdout: {lost}"));
        }
    }
}

/// Prints help that was asked for.
pub(crate) fn help(text: &clap::builder::StyledStr) {
    print_styled(&text.ansi().to_string());
}

/// Returns whether stdout has no reader any more.
pub(crate) fn is_gone() -> bool {
    STDOUT.load(Ordering::Relaxed) != OPEN
}

/// Returns the status of a command whose stdout may have gone: who has seen enough and thereby ended a run got what it
/// wanted, but output that was lost does not pass for success.
pub(crate) fn ending(exit: Exit) -> Exit {
    match (STDOUT.load(Ordering::Relaxed), exit) {
        (CLOSED, Exit::Interrupted) => Exit::Fine,
        (LOST, _) => Exit::Failed,
        (_, exit) => exit,
    }
}

/// A line for stdout.
pub(crate) fn line(text: &str) {
    print_styled(&format!("{}\n", visible(text)));
}

/// A JSON object in one line of stdout.
pub(crate) fn print_json(value: &impl serde::Serialize) {
    match json(value) {
        Ok(text) => line(&text),
        Err(refused) => error(&format!("cannot write JSON: {refused}")),
    }
}

/// Lines for stdout, broken between words where the terminal ends.
pub(crate) fn paragraph(text: &str) {
    for line in visible_lines(text).lines() {
        print_styled(&format!("{}\n", text::message("", line, room())));
    }
}

/// A heading for stdout.
pub(crate) fn heading(text: &str) {
    print_styled(&format!("{HEADING}{}{HEADING:#}\n", visible(text)));
}

/// A report on stdout, its warnings on stderr.
pub(crate) fn document(document: &Document) {
    illustrated(document, None);
}

/// Prints a document with a picture below its answers.
pub(crate) fn illustrated(document: &Document, picture: Option<&str>) {
    print_styled(&text::illustrated(document, picture, room()));
    for remark in &document.warnings {
        warning(&visible(&remark.text));
    }
}

/// Prints a name and its text on stdout.
pub(crate) fn entry(indent: usize, name: &str, column: usize, value: &str) {
    print(&text::entry(indent, name, column, value, room()));
}

/// Prints a table on stdout, as wide as the terminal: figures without room are left out from the right.
pub(crate) fn table<T>(table: TableOf<T>) {
    let mut table = table.table();
    let figures = table
        .columns
        .iter_mut()
        .filter(|column| column.align == Align::Right);
    for column in figures
        .skip(1)
        .filter(|column| column.priority == Priority::Always)
    {
        column.priority = Priority::Rank(u8::MAX);
    }
    print(&text::table(&table, room()));
}

/// Columns of the terminal on which a person looks at stdout.
pub(crate) fn looked_at() -> Option<usize> {
    match room() {
        Width::Columns(columns) if io::stdout().is_terminal() => Some(usize::from(columns)),
        Width::Columns(_) | Width::Unlimited => None,
    }
}

/// Returns the width by `COLUMNS`, else by the terminal. Files and pipes are unlimited.
pub(crate) fn room() -> Width {
    columns(terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0))
}

fn beside() -> Width {
    columns(terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0))
}

fn columns(seen: Option<u16>) -> Width {
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    match said.or(seen) {
        Some(columns) if columns > 0 => Width::Columns(columns),
        _ => Width::Unlimited,
    }
}

/// An error on stderr.
pub(crate) fn error(text: &str) {
    say("error:", ERROR, text);
}

/// A warning on stderr.
pub(crate) fn warning(text: &str) {
    say("warning:", WARNING, text);
}

/// Lets notes and progress be left out.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Something worth knowing, on stderr.
pub(crate) fn note(text: &str) {
    if is_quiet() {
        return;
    }
    let text = message(text);
    let lines = text.lines().map(|line| text::message("", line, beside()));
    // Nothing can be done about a stderr that is gone.
    let lines = lines.format("\n").to_string();
    let _ = alone(|| writeln!(io::stderr(), "{lines}"));
}

/// Asks the user at a terminal to agree to an irreversible step.
pub(crate) fn agrees(to: &str) -> bool {
    if !io::stdin().is_terminal() {
        return false;
    }
    let to = message(to);
    alone(|| {
        let _ = write!(io::stderr(), "{to}\nType 'yes' to continue: ");
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "yes"
    })
}

fn say(label: &str, style: Style, text: &str) {
    let text = message(text);
    // So that no text from outside passes for a message of keymark's.
    let text = text.replace('\n', "\n  ").replace("\n    ", "\n  ");
    let text = text::message(label, &text, beside());
    let text = text.strip_prefix(label).unwrap_or(&text);
    let _ = alone(|| writeln!(anstream::stderr(), "{style}{label}{style:#}{text}"));
}

//! What goes to the terminal: colours only there, and a closed pipe is no failure.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU8, Ordering};

use anstyle::{AnsiColor, Style};

use crate::exit::Exit;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default();
const HEADING: Style = Style::new().bold();

/// What became of stdout.
static STDOUT: AtomicU8 = AtomicU8::new(OPEN);
const OPEN: u8 = 0;
/// Its reader has seen enough (`| head`).
const CLOSED: u8 = 1;
/// It could not be written (a full disk).
const LOST: u8 = 2;

/// Text for stdout; nothing more once that is gone.
///
/// Nobody is stopped here: who works for long asks [`is_gone`], so that what it started ends in good order.
pub(crate) fn print(text: &str) {
    if is_gone() {
        return;
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(closed) if closed.kind() == io::ErrorKind::BrokenPipe => {
            STDOUT.store(CLOSED, Ordering::Relaxed);
        }
        Err(lost) => {
            STDOUT.store(LOST, Ordering::Relaxed);
            error(&format!("stdout cannot be written: {lost}"));
        }
    }
}

/// Whether nobody reads what is printed any more.
pub(crate) fn is_gone() -> bool {
    STDOUT.load(Ordering::Relaxed) != OPEN
}

/// How a command went whose stdout may have gone: who has seen enough and thereby ended a run got what it
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
    print(&format!("{text}\n"));
}

/// A heading for stdout.
pub(crate) fn heading(text: &str) {
    line(&styled(text, HEADING, io::stdout().is_terminal()));
}

/// An error on stderr.
pub(crate) fn error(text: &str) {
    say("error:", ERROR, text);
}

/// A warning on stderr.
pub(crate) fn warning(text: &str) {
    say("warning:", WARNING, text);
}

/// Something worth knowing, on stderr.
pub(crate) fn note(text: &str) {
    // Nothing can be done about a stderr that is gone.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Whether the user, at a terminal, agrees to what cannot be undone.
pub(crate) fn agrees(to: &str) -> bool {
    if !io::stdin().is_terminal() {
        return false;
    }
    let _ = write!(io::stderr(), "{to}\nType 'yes' to go on: ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "yes"
}

fn say(label: &str, style: Style, text: &str) {
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let _ = writeln!(io::stderr(), "{} {text}", styled(label, style, colour));
}

fn styled(text: &str, style: Style, colour: bool) -> String {
    if colour && std::env::var_os("NO_COLOR").is_none() {
        format!("{}{text}{}", style.render(), style.render_reset())
    } else {
        text.to_owned()
    }
}

//! What goes to the terminal: colours only there, and a closed pipe is no failure.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default();
const HEADING: Style = Style::new().bold();

/// Text for stdout. A reader that has seen enough (`| head`) ends keymark quietly; output that is
/// lost (a full disk) does not pass for success.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Ok(()) => {}
        Err(closed) if closed.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(lost) => {
            error(&format!("stdout cannot be written: {lost}"));
            std::process::exit(1);
        }
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

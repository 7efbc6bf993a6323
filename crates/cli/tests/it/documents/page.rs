//! The commands of a page, as its reader would type them.

use std::fmt;
use std::path::{Path, PathBuf};

/// Fenced blocks whose every line is typed.
const SCRIPTS: &str = "sh";
/// Fenced blocks with typed lines behind a prompt, and output below them.
const SESSIONS: [&str; 2] = ["console", "text"];
const PROMPT: &str = "$ ";
const FENCE: &str = "```";
/// Mark of lines that a session leaves out.
const LEFT_OUT: &str = "…";

/// Command of one or more lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its page, from the root of the repository.
    pub page: String,
    /// First line, from 1.
    pub line: usize,
    pub text: String,
    /// Lines that the page shows below it.
    pub printed: Vec<String>,
    /// True if the page leaves lines out.
    pub abridged: bool,
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.page, self.line, self.text)
    }
}

/// README.md and what is in docs.
pub fn pages() -> Vec<PathBuf> {
    let root = root();
    let docs = std::fs::read_dir(root.join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = docs
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        // Each of its blocks is run with a served token, by tests/it/pkcs11/twins.rs.
        .filter(|path| !path.ends_with("your-program.md"))
        .collect();
    pages.push(root.join("README.md"));
    pages.sort();
    pages
}

/// The root of the repository.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

pub fn commands(page: &Path) -> Vec<Command> {
    let name = page.strip_prefix(root()).unwrap_or(page);
    of_text(
        &name.display().to_string(),
        &std::fs::read_to_string(page).unwrap(),
    )
}

fn of_text(page: &str, text: &str) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let mut block = None;
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(kind) = line.trim_start().strip_prefix(FENCE) {
            block = if block.is_some() { None } else { Some(kind) };
            goes_on = false;
            continue;
        }
        let typed = match block {
            Some(SCRIPTS) => Some(line).filter(|line| !line.trim().is_empty()),
            Some(kind) if SESSIONS.contains(&kind) => line.strip_prefix(PROMPT),
            _ => continue,
        };
        match (commands.last_mut(), typed) {
            (Some(last), _) if goes_on => last.text = format!("{}\n{line}", last.text),
            (_, Some(typed)) => commands.push(Command {
                page: page.to_owned(),
                line: number,
                text: typed.to_owned(),
                printed: Vec::new(),
                abridged: false,
            }),
            (Some(last), None) if line == LEFT_OUT => last.abridged = true,
            (Some(last), None) => last.printed.push(line.to_owned()),
            _ => {}
        }
        goes_on = commands
            .last()
            .is_some_and(|last| is_open(&last.text) && last.printed.is_empty());
    }
    commands
}

/// Replaces what a page shows below some commands, each with its output.
pub fn renew(page: &Path, renewed: &[(Command, String)]) {
    let text = std::fs::read_to_string(page).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    for (command, output) in renewed.iter().rev() {
        let from = command.line - 1 + command.text.lines().count();
        lines.splice(from..from + command.printed.len(), output.lines());
    }
    std::fs::write(page, format!("{}\n", lines.join("\n"))).unwrap();
}

/// Returns whether a shell would read on. In pages only double quotes go over several lines.
fn is_open(text: &str) -> bool {
    text.ends_with('\\') || text.matches('"').count() % 2 == 1
}

#[test]
fn commands_are_found_with_what_they_print() {
    let page = "text\n```sh\na --b \\\n  c\n\nd \"e\nf\" # g\n```\n    $ no\n```text\n$ h\none\n…\n\ntwo\n$ i\n```\n```toml\nj = 1\n```\n";
    let found: Vec<_> = of_text("p", page)
        .into_iter()
        .map(|command| {
            let abridged = if command.abridged { "…" } else { "" };
            let printed = command.printed.join("|") + abridged;
            (command.line, command.text, printed)
        })
        .collect();
    let expected = [
        (3, "a --b \\\n  c", ""),
        (6, "d \"e\nf\" # g", ""),
        (11, "h", "one||two…"),
        (16, "i", ""),
    ];
    let expected =
        expected.map(|(line, text, printed)| (line, text.to_owned(), printed.to_owned()));
    assert_eq!(found, expected);
}

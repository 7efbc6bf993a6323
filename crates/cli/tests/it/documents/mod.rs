//! README.md and docs/*.md: every command there is run, or listed in `exceptions.rs` with the reason why
//! not. Measurements have few runs.

mod exceptions;
mod page;
mod reader;

use std::path::Path;
use std::sync::Mutex;

use exceptions::{Exception, Instead, before, exceptions};
use keymark_testkit::place::said;
use page::{Command, commands, pages, renew};
use reader::Reader;

/// Beginnings of commands that print the same everywhere, with what sets the width at which a page shows them: simulations,
/// statements and published figures.
const SAME_EVERYWHERE: [(&str, &str); 3] = [
    ("keymark mcu", ""),
    ("keymark strength", "COLUMNS=100 "),
    ("keymark advise hsm", "COLUMNS=100 "),
];

/// The entry for a command; of several the most exact.
fn exception(command: &Command) -> Option<Exception> {
    let fitting = exceptions().filter(|exception| command.text.starts_with(exception.begins));
    fitting.max_by_key(|exception| exception.begins.len())
}

fn faults(page: &Path) -> Vec<String> {
    let commands = commands(page);
    let reader = Reader::new();
    let of_page = |page: &str| commands.first().is_some_and(|first| first.page == page);
    for (_, script) in before().filter(|(page, _)| of_page(page)) {
        let output = reader.types(script, &Instead::MayEndWith(Vec::new()));
        if !output.status.success() {
            return vec![format!("{page:?}, before its commands: {}", said(&output))];
        }
    }
    let mut renewed = Vec::new();
    let faulty = commands
        .iter()
        .filter_map(|command| fault(&reader, command, &mut renewed))
        .collect();
    if !renewed.is_empty() {
        renew(page, &renewed);
    }
    faulty
}

/// Types a command; with `KEYMARK_WRITE_DOCUMENTS` its output is to be written into the page, if the page leaves nothing out.
fn fault(
    reader: &Reader,
    command: &Command,
    renewed: &mut Vec<(Command, String)>,
) -> Option<String> {
    let excepted = exception(command).map(|exception| exception.instead);
    let instead = excepted.unwrap_or(Instead::MayEndWith(Vec::new()));
    let others = match &instead {
        Instead::Nothing => return None,
        Instead::Plan => &[][..],
        Instead::MayEndWith(others) => others,
    };
    let is_of = |(begins, _): &(&str, &str)| command.text.starts_with(begins);
    let same_everywhere = SAME_EVERYWHERE.into_iter().find(is_of);
    let width = same_everywhere.map_or("", |(_, width)| width);
    let output = reader.types(&format!("{width}{}", command.text), &instead);
    // One that has another status, and has done what it was asked, has printed something.
    let other = |status: i32| others.contains(&status) && !output.stdout.is_empty();
    let status = output.status.code();
    let fine = status.is_some_and(|status| status == 0 || other(status));
    let said = said(&output);
    if !fine {
        return Some(format!("{command}\n  ended with {status:?}:\n{said}"));
    }
    // A page may cut columns on the right.
    let shown = command.printed.iter();
    let shown = shown.filter(|_| same_everywhere.is_some());
    let untrue = |shown: &&String| !said.lines().any(|line| line.starts_with(shown.trim_end()));
    let untrue: Vec<&str> = shown.filter(untrue).map(String::as_str).collect();
    let untrue = untrue.join("\n");
    let is_whole = !command.abridged && !untrue.is_empty();
    if is_whole && std::env::var_os("KEYMARK_WRITE_DOCUMENTS").is_some() {
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        renewed.push((command.clone(), printed));
        return None;
    }
    (!untrue.is_empty()).then(|| format!("{command}\n  does not print:\n{untrue}\n  but:\n{said}"))
}

#[test]
fn what_the_pages_say_can_be_typed() {
    let waiting = Mutex::new(pages());
    let faulty = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().unwrap().get();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(page) = waiting.lock().unwrap().pop() else {
                        return;
                    };
                    let found = faults(&page);
                    faulty.lock().unwrap().extend(found);
                }
            });
        }
    });
    let faulty = faulty.into_inner().unwrap();
    assert!(faulty.is_empty(), "{}", faulty.join("\n\n"));
}

#[test]
fn every_exception_is_one_of_a_command_that_is_there() {
    let all: Vec<Command> = pages().iter().flat_map(|page| commands(page)).collect();
    for Exception { begins, why, .. } in exceptions() {
        let used = all
            .iter()
            .any(|command| exception(command).is_some_and(|exception| exception.begins == begins));
        assert!(used, "no page has '{begins}' any more");
        assert!(!why.is_empty(), "'{begins}' has no reason");
    }
    for (page, _) in before() {
        assert!(all.iter().any(|command| command.page == page), "{page}");
    }
}

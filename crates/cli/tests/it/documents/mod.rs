//! README.md and docs/*.md: every command that stands there is run, or stands in `exceptions.rs` with the reason why
//! not. Measurements have few runs.

mod exceptions;
mod page;
mod reader;

use std::path::Path;
use std::sync::Mutex;

use exceptions::{Exception, Instead, before, exceptions};
use keymark_testkit::place::{objects, said, text as text_of};
use page::{Command, commands, pages};
use reader::Reader;

/// The entry for a command; of several the most exact.
fn exception(command: &Command) -> Option<Exception> {
    let fitting = exceptions().filter(|exception| command.text.starts_with(exception.begins));
    fitting.max_by_key(|exception| exception.begins.len())
}

/// What is wrong with a page.
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
    commands
        .iter()
        .filter_map(|command| fault(&reader, command))
        .collect()
}

fn fault(reader: &Reader, command: &Command) -> Option<String> {
    let excepted = exception(command).map(|exception| exception.instead);
    let instead = excepted.unwrap_or(Instead::MayEndWith(Vec::new()));
    let others = match &instead {
        Instead::Nothing => return None,
        Instead::Plan => &[][..],
        Instead::MayEndWith(others) => others,
    };
    let output = reader.types(&command.text, &instead);
    // One that has another status, and has done what it was asked, has printed something.
    let other = |status: i32| others.contains(&status) && !output.stdout.is_empty();
    let status = output.status.code();
    let fine = status.is_some_and(|status| status == 0 || other(status));
    let said = said(&output);
    if !fine {
        return Some(format!("{command}\n  ended with {status:?}:\n{said}"));
    }
    // Where only the plan is made nothing is measured that could be answered.
    let is_planned = matches!(instead, Instead::Plan);
    let unsound = unsound(&text_of(&output.stdout), &command.printed);
    if let Some(unsound) = unsound.filter(|_| !is_planned) {
        return Some(format!("{command}\n  {unsound}:\n{said}"));
    }
    // A simulation prints the same everywhere. A page may cut columns on the right.
    let same_everywhere = command.text.starts_with("keymark mcu");
    let shown = command.printed.iter().filter(|_| same_everywhere);
    let untrue = |shown: &&String| !said.lines().any(|line| line.starts_with(shown.trim_end()));
    let untrue: Vec<&str> = shown.filter(untrue).map(String::as_str).collect();
    let untrue = untrue.join("\n");
    (!untrue.is_empty()).then(|| format!("{command}\n  does not print:\n{untrue}\n  but:\n{said}"))
}

/// What is wrong with the answer of a run or of a comparison: it has a few sentences, of which one of a run's says how
/// certain the others are. Where the page shows an answer, there is one.
fn unsound(printed: &str, shown: &[String]) -> Option<&'static str> {
    let answers = printed.lines().filter(|line| line.starts_with("• "));
    let answers: Vec<&str> = answers.collect();
    let shows = shown.iter().any(|line| line.starts_with("• "));
    let is_run = printed.starts_with("run ");
    // More may follow, where a command has two parts.
    let ends = ["• How certain: ", "• This run has no"];
    let mut sentences = answers.iter();
    let is_certain = sentences.any(|line| ends.iter().any(|end| line.starts_with(end)));
    match answers.as_slice() {
        [] if shows || is_run => Some("has no answer"),
        several if several.len() > 6 => Some("has more sentences than anybody reads"),
        some if some.iter().any(|line| !line.ends_with('.')) => Some("ends no sentence"),
        _ if is_run && !is_certain => Some("does not say how certain it is"),
        _ => None,
    }
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

#[test]
fn the_archives_query_gives_the_means_that_are_shown() {
    let output = page::root().join("docs/output.md");
    let mut typed_there = commands(&output).into_iter().map(|command| command.text);
    let query = typed_there.find(|text| text.starts_with("sqlite3 "));
    let reader = Reader::new();
    let typed = |text: &str| {
        let output = reader.types(text, &Instead::MayEndWith(Vec::new()));
        assert!(output.status.success(), "{text}: {}", said(&output));
        text_of(&output.stdout)
    };
    typed(
        "keymark bench --algorithm ed25519,rsa2048 --stack raw --library openssl,libgcrypt --concurrency 1,2",
    );
    let asked = typed(&query.expect("a query in docs/output.md"));
    let asked: Vec<Vec<&str>> = asked
        .lines()
        .map(|line| line.split('|').collect())
        .collect();
    let column = |name: &str| asked[0].iter().position(|column| *column == name).unwrap();
    let (n, mean) = (column("count(*)"), column("avg(latency_s)"));
    let shown = objects(&typed("keymark show --json"));
    assert_eq!(asked.len() - 1, shown.len());
    let mut means: Vec<(u64, f64)> = shown
        .iter()
        .map(|row| {
            let mean = row["raw_mean_s"].as_f64().or(row["mean_s"].as_f64());
            (row["n"].as_u64().unwrap(), mean.unwrap())
        })
        .collect();
    for row in &asked[1..] {
        let (n, mean): (u64, f64) = (row[n].parse().unwrap(), row[mean].parse().unwrap());
        let same = |(others, other): &(u64, f64)| *others == n && (other / mean - 1.0).abs() < 1e-9;
        let found = means.iter().position(same);
        means.remove(found.unwrap_or_else(|| panic!("{row:?} is none of {means:?}")));
    }
}

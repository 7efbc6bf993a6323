//! The command that makes a run again.

use std::collections::BTreeSet;
use std::ffi::OsString;

use itertools::Itertools;
use keymark_bench::{Case, Operation, Order, Record, Settings, StopRule, Worker};
use keymark_report::Rerun;
use keymark_stacks::registry;

/// What says where results go, or is recorded by itself, with a value.
const WITH_VALUE: [&str; 3] = ["--archive", "--machine", "--seed"];
/// The same, without one.
const ALONE: [&str; 4] = ["--json", "--no-save", "--report", "--identify"];

/// The arguments that this keymark was given, as they are recorded. PINs are never among them.
pub(crate) fn typed() -> Vec<String> {
    let left = without(std::env::args_os().skip(1), &WITH_VALUE, &ALONE);
    let text = |argument: OsString| argument.to_string_lossy().into_owned();
    left.into_iter().map(text).collect()
}

/// How the run is made again; `None` for what was not run.
pub(crate) fn of(record: &Record) -> Option<Rerun> {
    if !record.is_of_a_run() {
        return None;
    }
    let own = &record.environment;
    let seed = record.plan.settings.seed.to_string();
    let (arguments, remark) = if own.command.is_empty() {
        let remark = "This run's command was not recorded; this one measures the same cases, and perhaps others.";
        (of_plan(record)?, remark.to_owned())
    } else {
        let remark = format!(
            "With keymark {} and the versions above, on the same machine, plan and random numbers are the same; \
             times differ.",
            own.keymark
        );
        (own.command.clone(), remark)
    };
    let words = ["keymark".to_owned()].into_iter().chain(arguments);
    let words = words.chain(["--seed".to_owned(), seed]);
    Some(Rerun {
        run: record.id.to_string(),
        command: words.map(|word| quoted(&word)).join(" "),
        remark: Some(remark),
    })
}

/// The arguments without some options, of which the first have values of their own.
pub(crate) fn without(
    arguments: impl IntoIterator<Item = OsString>,
    with_value: &[&str],
    alone: &[&str],
) -> Vec<OsString> {
    let mut left = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy().into_owned();
        let (name, value) = text
            .split_once('=')
            .map_or((&*text, None), |(name, value)| (name, Some(value)));
        if with_value.contains(&name) {
            if value.is_none() {
                arguments.next();
            }
        } else if !alone.contains(&name) {
            left.push(argument);
        }
    }
    left
}

/// A selection that holds all cases of the plan, if `keymark bench` made it.
fn of_plan(record: &Record) -> Option<Vec<String>> {
    let cases = &record.plan.cases;
    let is_handshake = |case: &Case| case.operation == Operation::Handshake;
    if cases.iter().any(is_handshake) {
        return None;
    }
    let mut arguments = vec!["bench".to_owned()];
    let mut list = |option: &str, values: Vec<String>| {
        if !values.is_empty() {
            arguments.extend([option.to_owned(), values.iter().unique().join(",")]);
        }
    };
    let each = |value: fn(&Case) -> String| -> Vec<String> { cases.iter().map(value).collect() };
    list("--device", each(|case| case.device.to_string()));
    list("--algorithm", each(|case| case.algorithm.to_string()));
    list("--operation", each(|case| case.operation.to_string()));
    list("--stack", each(|case| case.stack.to_string()));
    let workers = |wanted: Worker| {
        let with = cases.iter().filter(|case| case.load.worker == wanted);
        with.map(|case| case.concurrency().to_string()).collect()
    };
    list("--concurrency", workers(Worker::Thread));
    list("--processes", workers(Worker::Process));
    let mut rates = cases.iter().filter_map(|case| case.load.pacing.rate());
    let rate = rates.next().map(|rate| format!("{}/s", rate.per_second()));
    list("--rate", Vec::from_iter(rate));
    for dimension in registry::dimensions() {
        let has = |case: &Case| registry::dimensions_of(case.stack).contains(&dimension);
        let its = cases.iter().filter(|case| has(case));
        let words: BTreeSet<&str> = its
            .filter_map(|case| case.parameters.get(dimension.name).or(dimension.usual))
            .collect();
        if words.iter().any(|word| Some(*word) != dimension.usual) {
            let choice = format!("{}={}", dimension.name, words.iter().format(","));
            arguments.extend(["--parameter".to_owned(), choice]);
        }
    }
    arguments.extend(how(&record.plan.settings));
    Some(arguments)
}

/// When a case is done, and in which order.
fn how(settings: &Settings) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut set = |option: &str, value: Option<String>| {
        if let Some(value) = value {
            arguments.extend([option.to_owned(), value]);
        }
    };
    let time = |time: std::time::Duration| format!("{}ns", time.as_nanos());
    match settings.stop {
        StopRule::Runs(runs) => set("--runs", Some(runs.to_string())),
        StopRule::Precision { target, max_time } => {
            set(
                "--precision",
                Some(format!("{}%", target.fraction() * 100.0)),
            );
            set("--max-time", max_time.map(time));
        }
        StopRule::For(_) => {}
    }
    set("--total-time", settings.time_limit.map(time));
    match settings.order {
        Order::Interleaved => {}
        Order::Sequential => arguments.push("--sequential".to_owned()),
    }
    arguments
}

/// As a shell takes it for one word. `shlex` would quote each comma too, and commands are full of them.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+:,./%~@".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('~') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_each_word_as_it_was() {
        for word in [
            "a b",
            "it's",
            "$HOME",
            "",
            "*",
            "pkcs11:token=my%20token;object=web",
            "~",
            "a\nb",
            "ä",
        ] {
            let echo = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("sh")
                .args(["-c", &echo])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
        assert_eq!(quoted("--runs=10"), "--runs=10");
    }
}

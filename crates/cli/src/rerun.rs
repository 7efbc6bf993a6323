//! The command that makes a run again.

use std::ffi::OsString;

use itertools::Itertools;
use keymark_bench::Record;
use keymark_report::Rerun;

/// Options with a value that are not part of a recorded command.
const WITH_VALUE: [&str; 7] = [
    "--archive",
    "--color",
    "--format",
    "--machine",
    "--output",
    "-o",
    "--seed",
];
/// Options without a value.
const ALONE: [&str; 4] = ["--identify", "--no-save", "--quiet", "-q"];

/// The arguments that this keymark was given, as they are recorded. PINs are never among them.
pub(crate) fn typed() -> Vec<String> {
    let left = without(std::env::args_os().skip(1), &WITH_VALUE, &ALONE);
    let text = |argument: OsString| argument.to_string_lossy().into_owned();
    left.into_iter().map(text).collect()
}

/// Returns the command that makes the run again, if the record has it.
pub(crate) fn of(record: &Record) -> Option<Rerun> {
    let own = &record.environment;
    if own.command.is_empty() || !record.is_of_a_run() {
        return None;
    }
    let seed = record.plan.settings.seed.to_string();
    let arguments = own.command.iter().map(|word| quoted(word)).join(" ");
    let remark = format!(
        "With keymark {} and the versions above, on the same machine, plan and random numbers are the same; times \
         differ.",
        own.keymark
    );
    Some(Rerun {
        run: record.id.to_string(),
        command: format!("keymark {arguments} --seed {seed}"),
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
        // `-ofile`
        let is_attached =
            |name: &&str| name.len() == 2 && text.len() > 2 && text.starts_with(*name);
        if with_value.iter().any(is_attached) {
            continue;
        }
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

/// Quotes a word for a shell. `shlex` would quote each comma too, and commands are full of them.
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
        assert_eq!(quoted("--samples=10"), "--samples=10");
    }
}

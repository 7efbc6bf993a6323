//! The command line of one run of a series: that of the series, without what makes it one.

use std::ffi::{OsStr, OsString};

/// Options that a run is given anew, or has no use for, each with a value.
const WITH_VALUE: [&str; 6] = [
    "--repeat",
    "--against",
    "--pause",
    "--seed",
    "--archive",
    "--total-time",
];
/// The same, without one.
const ALONE: [&str; 3] = ["--json", "--wide", "--report"];

/// What is left of the arguments, the program's name excluded.
pub(super) fn of_one_run(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    without(arguments, &WITH_VALUE, &ALONE)
}

/// The arguments without some options, of which the first have values of their own.
pub(in crate::commands) fn without(
    arguments: impl IntoIterator<Item = OsString>,
    with_value: &[&str],
    alone: &[&str],
) -> Vec<OsString> {
    let mut left = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let is = |option: &&str| argument == OsStr::new(option);
        if alone.iter().any(is) {
            continue;
        }
        if with_value.iter().any(is) {
            arguments.next();
            continue;
        }
        let text = argument.to_string_lossy();
        let name = text.split_once('=').map(|(name, _)| name);
        let known = |name: &str| with_value.contains(&name) || alone.contains(&name);
        if !name.is_some_and(known) {
            left.push(argument);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_a_series_is_left_out_and_the_rest_stays() {
        let line = "--archive a.sqlite3 bench --repeat 5 --algorithm rsa2048 --seed=7 --against ./old --json \
                    --runs 10 --pause=2s --parameter agent=openssh --wide --report --total-time 9s";
        let left = of_one_run(line.split_whitespace().map(OsString::from));
        let expected = "bench --algorithm rsa2048 --runs 10 --parameter agent=openssh";
        assert_eq!(left, expected.split(' ').collect::<Vec<_>>());
    }
}

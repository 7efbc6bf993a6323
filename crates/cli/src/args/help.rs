//! Help: commands in groups, three examples and the usual options with `-h`, everything with `--help`.

use clap::{Command, CommandFactory};
use itertools::Itertools;

use super::Arguments;

/// Examples below the help of each command.
const BELOW_HELP: &str = include_str!("examples.md");
/// Examples with `-h`.
const EXAMPLES: usize = 3;

/// Options that every command has.
const OF_ALL: &str = "Every command has --archive ARCHIVE, --color WHEN, --quiet";

/// Commands by what people want of them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Measure", &["bench", "tls", "service", "trace", "mcu"]),
    ("Read", &["show", "runs", "compare", "export", "published"]),
    ("Decide", &["advise", "strength", "audit", "capacity"]),
    ("Share", &["import", "share", "site", "push"]),
    ("Set up", &["devices", "twin", "completions", "man"]),
];

/// Commands with more options than a screen has lines, and the options that `-h` shows of them.
const USUAL: [(&[&str], &[&str]); 5] = [
    (
        &["bench"],
        &[
            "algorithm",
            "operation",
            "device",
            "stack",
            "workers",
            "samples",
            "time",
            "repeat",
            "output",
            "long",
        ],
    ),
    (
        &["tls", "bench"],
        &[
            "server",
            "device",
            "algorithm",
            "kex",
            "workers",
            "users",
            "think",
            "saturate",
            "connect",
            "case_time",
            "output",
            "long",
        ],
    ),
    (
        &["tls", "suite"],
        &[
            "suite",
            "plan",
            "server",
            "device",
            "case_time",
            "allow_weak",
            "dry_run",
        ],
    ),
    (
        &["service", "bench"],
        &[
            "service",
            "device",
            "algorithm",
            "workers",
            "connect",
            "case_time",
            "output",
            "long",
        ],
    ),
    (&["service", "suite"], &["suite", "case_time", "dry_run"]),
];

/// The command line's definition with examples and groups.
pub fn command() -> Command {
    let mut all = Arguments::command();
    let parts = BELOW_HELP.split("## keymark");
    for (name, text) in parts.filter_map(|part| part.split_once('\n')) {
        let words: Vec<&str> = name.split_whitespace().collect();
        change(&mut all, &words, |command| {
            let command = command.after_long_help(text.trim().to_owned());
            match brief(text) {
                brief if brief.is_empty() => command,
                brief => command.after_help(brief),
            }
        });
    }
    for (name, usual) in USUAL {
        change(&mut all, name, |command| {
            command.mut_args(|argument| {
                let is_usual =
                    argument.is_positional() || usual.contains(&argument.get_id().as_str());
                argument.hide_short_help(!is_usual)
            })
        });
    }
    let template = format!(
        "{{about}}. Start: keymark bench\n\n{{usage-heading}} {{usage}}\n\n{}\n{OF_ALL}\n{{options}}{{after-help}}",
        groups(&all)
    );
    all.help_template(template)
}

/// Changes a subcommand; a program that was built without some commands has none.
fn change(all: &mut Command, name: &[&str], changed: impl FnOnce(Command) -> Command) {
    let found = name
        .iter()
        .try_fold(all, |command, word| command.find_subcommand_mut(word));
    if let Some(command) = found {
        *command = changed(std::mem::take(command));
    }
}

/// Returns the first examples without the text above and below, or the first line of a text without examples.
fn brief(text: &str) -> String {
    let examples = text.find("Example").unwrap_or_default();
    let lines = text[examples..].lines();
    let lines = lines.take_while(|line| !line.is_empty());
    lines.take(1 + EXAMPLES).join("\n")
}

/// Returns the commands by group, a line each.
fn groups(all: &Command) -> String {
    let line = |name: &str| {
        let command = all.find_subcommand(name)?;
        let about = command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default();
        Some(format!("  {name:<12} {about}\n"))
    };
    let group = |(heading, names): &(&str, &[&str])| {
        format!(
            "{heading}\n{}",
            names
                .iter()
                .filter_map(|name| line(name))
                .collect::<String>()
        )
    };
    GROUPS.iter().map(group).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let all = command();
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let visible = all
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let visible: Vec<&str> = visible.map(Command::get_name).collect();
        assert!(
            visible.iter().all(|name| grouped.contains(name)),
            "{visible:?}"
        );
        assert_eq!(grouped.iter().unique().count(), grouped.len());
    }

    /// Names of options that `-h` shows are those of options.
    #[test]
    fn the_usual_options_exist_and_short_help_fits_a_screen() {
        for (name, usual) in USUAL {
            let mut all = command();
            let found = name
                .iter()
                .try_fold(&mut all, |command, word| command.find_subcommand_mut(word));
            let found = found.unwrap();
            let known: Vec<&str> = found
                .get_arguments()
                .map(|argument| argument.get_id().as_str())
                .collect();
            assert!(
                usual.iter().all(|word| known.contains(word)),
                "{name:?}: {known:?}"
            );
            let lines = found.render_help().to_string().lines().count();
            assert!(
                lines <= if name == ["bench"] { 30 } else { 40 },
                "{name:?} has {lines} lines"
            );
        }
    }
}

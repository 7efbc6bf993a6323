//! Help: commands in groups, three examples and the usual options with `-h`, everything with `--help`.

use clap::{Command, CommandFactory};
use itertools::Itertools;

use super::Arguments;

/// Groups of commands, then for each command its usual options and the examples below its help.
const TEXTS: &str = include_str!("examples.md");
/// Beginning of the texts of a command.
const SECTION: &str = "## keymark";
/// Examples with `-h`.
const EXAMPLES: usize = 3;

/// Options that every command has.
const OF_ALL: &str = "Every command has --archive ARCHIVE, --color WHEN, --quiet";

/// Help of a command, besides its options.
struct CommandHelp {
    name: Vec<&'static str>,
    /// Options that `-h` shows of a command with more of them than a screen has lines.
    usual: Option<Vec<&'static str>>,
    below: &'static str,
}

fn sections() -> impl Iterator<Item = CommandHelp> {
    let sections = TEXTS.split(SECTION).skip(1);
    sections.filter_map(|section| {
        let (name, text) = section.split_once('\n')?;
        let usual = text.strip_prefix("Usual: ");
        let usual = usual.and_then(|text| text.split_once('\n')).unzip();
        Some(CommandHelp {
            name: name.split_whitespace().collect(),
            usual: usual.0.map(|words| words.split(' ').collect()),
            below: usual.1.unwrap_or(text),
        })
    })
}

/// The command line's definition with examples and groups.
pub fn command() -> Command {
    let mut all = Arguments::command();
    for CommandHelp { name, usual, below } in sections() {
        change(&mut all, &name, |command| {
            let command = command.after_long_help(below.trim());
            let command = match brief(below) {
                brief if brief.is_empty() => command,
                brief => command.after_help(brief),
            };
            let Some(usual) = usual else {
                return command;
            };
            command.mut_args(|argument| {
                let id = argument.get_id().as_str();
                let is_usual = argument.is_positional() || usual.contains(&id);
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

/// Names of the groups, each with its commands.
fn named_groups() -> impl Iterator<Item = (&'static str, std::str::Split<'static, char>)> {
    let lines = TEXTS.lines().take_while(|line| !line.is_empty());
    let groups = lines.filter_map(|line| line.split_once(": "));
    groups.map(|(heading, names)| (heading, names.split(' ')))
}

/// Returns the commands by group, a line each.
fn groups(all: &Command) -> String {
    let line = |name: &str| {
        let about = all.find_subcommand(name)?.get_about()?;
        Some(format!("  {name:<12} {about}\n"))
    };
    let group = |(heading, names): (&str, std::str::Split<'static, char>)| {
        format!("{heading}\n{}", names.filter_map(line).collect::<String>())
    };
    named_groups().map(group).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let all = command();
        let grouped: Vec<&str> = named_groups().flat_map(|(_, names)| names).collect();
        let visible = all
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let visible: Vec<&str> = visible.map(Command::get_name).collect();
        assert_eq!(
            visible.iter().sorted().collect_vec(),
            grouped.iter().sorted().collect_vec()
        );
    }

    /// Names of options that `-h` shows are those of options.
    #[test]
    fn the_usual_options_exist_and_short_help_fits_a_screen() {
        for (name, usual) in sections().filter_map(|help| Some((help.name, help.usual?))) {
            let mut all = command();
            change(&mut all, &name, |mut found| {
                let known = found.get_arguments().map(|argument| argument.get_id());
                let known = known.map(ToString::to_string).collect_vec();
                let exists = |word: &&str| known.iter().any(|id| id == word);
                assert!(usual.iter().all(exists), "{name:?}: {known:?}");
                let lines = found.render_help().to_string().lines().count();
                let most = if name == ["bench"] { 30 } else { 40 };
                assert!(lines <= most, "{name:?} has {lines} lines");
                found
            });
        }
    }
}

//! Commands that cannot be run as they are, each with its reason. A command that is not here is run; an entry
//! that no page has any more is an error.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instead {
    /// Nothing.
    Nothing,
    /// Its plan is made (`--dry-run`), since it takes long with few runs too.
    Plan,
    /// Runs it; these statuses are also fine.
    MayEndWith(Vec<i32>),
}

/// A command, or several, by how they begin.
#[derive(Debug)]
pub struct Exception {
    /// The beginning, of commands in pages.
    pub begins: &'static str,
    pub instead: Instead,
    pub why: &'static str,
}

fn rows(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(" | ").expect("columns"))
}

pub fn exceptions() -> impl Iterator<Item = Exception> {
    rows(include_str!("exceptions.txt")).map(|(instead, row)| {
        let (begins, why) = row.rsplit_once(" | ").expect("three columns");
        let instead = match instead {
            "nothing" => Instead::Nothing,
            "plan" => Instead::Plan,
            statuses => {
                let statuses = statuses.split(' ').map(|status| status.parse().unwrap());
                Instead::MayEndWith(statuses.collect())
            }
        };
        Exception {
            begins,
            instead,
            why,
        }
    })
}

/// Pages with the commands to run before their first command.
pub fn before() -> impl Iterator<Item = (&'static str, &'static str)> {
    rows(include_str!("before.txt"))
}

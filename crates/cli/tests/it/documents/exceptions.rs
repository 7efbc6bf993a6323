//! What of the pages cannot be run as it stands, each with its reason. A command that is not here is run; an entry
//! that no page has any more is an error.

/// What is done in place of running it to success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instead {
    /// Nothing.
    Nothing,
    /// Its plan is made (`--dry-run`), since it takes long with few runs too.
    Plan,
    /// It is run, and may also end with one of these statuses.
    MayEndWith(Vec<i32>),
}

/// A command, or several, by how they begin.
#[derive(Debug)]
pub struct Exception {
    /// The beginning, of commands in pages.
    pub begins: &'static str,
    pub instead: Instead,
    /// For whoever reads this.
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

/// What a page takes for granted: the page, and what is run before its first command, in the same place.
pub fn before() -> impl Iterator<Item = (&'static str, &'static str)> {
    rows(include_str!("before.txt"))
}

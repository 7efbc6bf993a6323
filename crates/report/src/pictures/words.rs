//! Names of rows and series, as short as they can be told apart.

use itertools::Itertools;

use crate::visible::visible;

/// Names in the order in which they first came, each with its number.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// Those of all that come.
    pub(super) fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut all = Self::default();
        for name in names {
            all.number(name);
        }
        all
    }

    /// The number of a name, which may be new.
    pub(super) fn number(&mut self, name: &str) -> usize {
        let name = visible(name);
        if let Some(known) = self.0.iter().position(|known| *known == name) {
            return known;
        }
        self.0.push(name.into_owned());
        self.0.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of a name that came.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        let name = visible(name);
        self.0.iter().position(|known| *known == name)
    }
}

/// Names without the words that all of them have, and these words.
pub(super) fn apart<'n>(names: impl Iterator<Item = &'n str>) -> (Option<String>, Vec<String>) {
    let names: Vec<String> = names.map(|name| visible(name).into_owned()).collect();
    let common: Vec<&str> = names.first().map_or_else(Vec::new, |first| {
        let everywhere = |word: &&str| names.iter().all(|name| name.split(' ').any(|w| w == *word));
        first.split(' ').filter(everywhere).collect()
    });
    let own = |name: &String| {
        let mut own = name.split(' ').filter(|word| !common.contains(word));
        own.join(" ")
    };
    let apart: Vec<String> = names.iter().map(own).collect();
    // Words that stand there more than once tell nothing apart by being left out.
    if common.is_empty() || apart.iter().any(String::is_empty) {
        return (None, names);
    }
    (Some(common.join(" ")), apart)
}

/// The first few, and how many there are beyond.
pub(super) fn listed(all: &[String], most: usize) -> String {
    let mut text = all.iter().take(most).join("; ");
    if all.len() > most {
        text += &format!("; and {} more", all.len() - most);
    }
    text
}

/// What a picture leaves out.
pub(super) fn left_out(shown: usize, all: usize, what: &str) -> Option<String> {
    (shown < all).then(|| format!("Showing {shown} of {all} {what}; the tables have all."))
}

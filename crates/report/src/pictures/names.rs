//! Names of rows and series, as short as they can be told apart, and which number, and so which color and shape, a
//! device, a program or a part has: the same in all pictures.

use itertools::Itertools;

use crate::visible::visible;

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
    // Words that are there more than once tell nothing apart by being left out.
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

/// Note on how much a picture leaves out.
pub(super) fn left_out(shown: usize, all: usize, what: &str) -> Option<String> {
    (shown < all).then(|| format!("Showing {shown} of {all} {what}; the tables have all."))
}

/// Names that mean the same wherever they are, by how they begin.
const KNOWN: [(&str, usize); 9] = [
    ("software", 0),
    ("key", 0),
    ("raw", 0),
    ("agent", 1),
    ("gpg", 2),
    ("S2K", 3),
    ("ssh", 4),
    ("openssl", 5),
    ("pkcs11", 6),
];

/// Names with their numbers, in the order in which they first came.
#[derive(Debug, Default)]
pub(super) struct Hues(Vec<(String, usize)>);

impl Hues {
    /// Numbers all names.
    pub(super) fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let names = names.into_iter().map(|name| visible(name).into_owned());
        let names: Vec<String> = names.unique().collect();
        let mut numbers: Vec<Option<usize>> = Vec::new();
        for name in &names {
            let known = KNOWN.iter().find(|(begin, _)| name.starts_with(begin));
            let number = known.map(|(_, number)| *number);
            numbers.push(number.filter(|_| !numbers.contains(&number)));
        }
        for place in 0..numbers.len() {
            if numbers[place].is_none() {
                numbers[place] = (0..).find(|number| !numbers.contains(&Some(*number)));
            }
        }
        let numbered = names.into_iter().zip(numbers.into_iter().flatten());
        Self(numbered.collect())
    }

    /// The number of a name that came.
    pub(super) fn number(&self, name: &str) -> usize {
        let name = visible(name);
        let known = self.0.iter().find(|(known, _)| *known == name);
        known.map_or(0, |(_, number)| *number)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Names for a legend; none if there is only one.
    pub(super) fn keys(&self) -> Vec<String> {
        let last = self.0.iter().map(|(_, number)| *number).max();
        let Some(last) = last.filter(|_| self.0.len() > 1) else {
            return Vec::new();
        };
        let mut keys = vec![String::new(); last + 1];
        for (name, number) in &self.0 {
            keys[*number].clone_from(name);
        }
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_same_number_wherever_it_stands() {
        let decrypt = Hues::of(["twin:a", "software", "twin:b"]);
        let sign = Hues::of(["software", "twin:a"]);
        for name in ["software", "twin:a"] {
            assert_eq!(decrypt.number(name), sign.number(name), "{name}");
        }
        assert_eq!(decrypt.keys(), ["software", "twin:a", "twin:b"]);
        let parts = Hues::of(["agent", "key (libgcrypt)", "gpg process"]);
        assert_eq!(parts.number("agent"), 1);
        assert_eq!(parts.keys().iter().filter(|key| !key.is_empty()).count(), 3);
        assert!(Hues::of(["alone"]).keys().is_empty());
    }
}

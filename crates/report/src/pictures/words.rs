//! Names of rows and series, as short as they can be told apart.

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

    /// Those that came, in their order.
    pub(super) fn names(&self) -> &[String] {
        &self.0
    }

    /// The number of a name that came.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        let name = visible(name);
        self.0.iter().position(|known| *known == name)
    }

    /// For a legend; where there is but one, nothing has to be told apart.
    pub(super) fn keys(&self) -> Vec<String> {
        if self.0.len() < 2 {
            return Vec::new();
        }
        self.0.clone()
    }
}

/// The first few, and how many there are beyond.
pub(super) fn listed(all: &[String], most: usize) -> String {
    let mut text = all
        .iter()
        .take(most)
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    if all.len() > most {
        text += &format!("; and {} more", all.len() - most);
    }
    text
}

/// What a picture leaves out.
pub(super) fn left_out(shown: usize, all: usize, what: &str) -> Option<String> {
    (shown < all).then(|| format!("Showing {shown} of {all} {what}; the tables have all."))
}

//! Reports of runs: [`analysis`] and [`compare`] turn them into a [`document`], [`render`] writes it for people, and
//! [`pictures`] draws them. Programs read [`table`]s.

pub mod analysis;
pub mod charts;
pub mod compare;
pub mod document;
pub mod formats;
pub mod pictures;
pub mod pivot;
pub mod render;
pub mod report;
pub mod site;
pub mod table;
pub mod units;
pub mod verdict;
pub mod visible;
mod xml;

pub use document::*;

/// Things that have something in common, in the order in which they first came: each key with what has it.
pub fn grouped<K: PartialEq, T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(&item);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// Collects items, if there are any.
pub(crate) fn non_empty<T>(items: impl IntoIterator<Item = T>) -> Option<Vec<T>> {
    Some(Vec::from_iter(items)).filter(|items| !items.is_empty())
}

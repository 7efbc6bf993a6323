//! Tables of what libraries and programs say: below a heading, words that mean the same, what that is, and what to do.

/// Their rows.
pub(crate) fn rows(
    table: &'static str,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    table.lines().skip(1).filter_map(|line| {
        let (said, rest) = line.split_once(" | ")?;
        let (meaning, advice) = rest.split_once(" | ")?;
        Some((said, meaning, advice))
    })
}

/// Returns what a word means, and what to do.
#[cfg(any(feature = "cards", feature = "tpm"))]
pub(crate) fn meaning(table: &'static str, name: &str) -> Option<(&'static str, &'static str)> {
    let mut rows = rows(table);
    let row = rows.find(|(names, ..)| names.split(' ').any(|known| known == name));
    row.map(|(_, meaning, advice)| (meaning, advice))
}

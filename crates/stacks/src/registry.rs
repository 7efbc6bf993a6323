//! The families of stacks: adding one is a folder and a line here.

use keymark_bench::baseline::Baseline;
use keymark_bench::case::{Case, Dimension, ParameterChoice, StackName, USUAL};
use keymark_bench::layers::Layers;

use crate::provider::StackFamily;
use crate::{gnupg, openssl, raw, ssh};

/// In the order of tables.
pub const FAMILIES: &[StackFamily] = &[raw::FAMILY, gnupg::FAMILY, ssh::FAMILY, openssl::FAMILY];

/// How the stacks of each family lie on one another.
pub fn layers() -> Vec<Layers> {
    let families = FAMILIES.iter();
    families.filter_map(|family| (family.layers)()).collect()
}

/// What the stacks of all families distinguish.
pub fn dimensions() -> Vec<Dimension> {
    let dimensions = FAMILIES.iter().flat_map(|family| family.dimensions);
    dimensions.copied().collect()
}

/// What a stack distinguishes; nothing of one that is not registered.
pub fn dimensions_of(stack: StackName) -> &'static [Dimension] {
    let family = FAMILIES.iter().find(|one| one.stacks.contains(&stack));
    family.map_or(&[], |family| family.dimensions)
}

/// The words that are wanted of a dimension, as `NAME=LIST`.
///
/// # Errors
/// When no family has such a dimension, or it has no such word.
pub fn choice(text: &str) -> Result<ParameterChoice, String> {
    ParameterChoice::named(text, &dimensions())
}

/// Whether a case from elsewhere has parameters that its stack knows; of stacks that are not registered nothing is known.
///
/// # Errors
/// What is wrong with them.
pub fn check(case: &Case) -> Result<(), String> {
    let family = FAMILIES.iter().find(|one| one.stacks.contains(&case.stack));
    let checked = family.map_or(Ok(()), |family| case.parameters.check(family.dimensions));
    checked.map_err(|reason| format!("{}: {reason}", case.stack))
}

/// A baseline, in which a word may stand without its dimension: `agent,cached`.
///
/// # Errors
/// When a word is none that a baseline has.
pub fn baseline(text: &str) -> Result<Baseline, String> {
    let dimensions = dimensions();
    let is_stack = |word: &str| {
        let mut stacks = FAMILIES.iter().flat_map(|family| family.stacks);
        stacks.any(|stack| stack.word() == word)
    };
    let whole = |word: &str| {
        let (name, word) = word
            .split_once('=')
            .map_or((None, word), |(name, word)| (Some(name), word));
        let mut known = dimensions
            .iter()
            .filter(|one| name.is_none_or(|name| name == one.name));
        let found = known.find_map(|one| Some((one, one.parse(word).ok()?)));
        match found {
            Some((one, found)) if name.is_some() || !is_stack(word) => {
                let found = if one.usual == Some(found) {
                    USUAL
                } else {
                    found
                };
                format!("{}={found}", one.name)
            }
            _ => name.map_or(word.to_owned(), |name| format!("{name}={word}")),
        }
    };
    let words: Vec<String> = text.split(',').map(|word| whole(word.trim())).collect();
    words.join(",").parse()
}

//! The families of stacks: adding one is a folder and a line here.

use keymark_bench::{
    Baseline, Case, Comparison, Dimension, Layers, ParameterChoice, Provenance, StackName, USUAL,
};
use keymark_stats::Distribution;

use crate::provider::StackFamily;
use crate::{git, gnupg, openssl, raw, services, sop, ssh, tls};

/// Families in the order of tables.
pub const FAMILIES: &[StackFamily] = &[
    raw::FAMILY,
    gnupg::FAMILY,
    ssh::FAMILY,
    openssl::FAMILY,
    sop::FAMILY,
    git::FAMILY,
    tls::FAMILY,
    services::FAMILY,
];

/// Returns the families that the runner drives.
fn driven() -> impl Iterator<Item = &'static StackFamily> {
    FAMILIES.iter().filter(|family| family.look.is_some())
}

fn family_of(stack: StackName) -> Option<&'static StackFamily> {
    FAMILIES
        .iter()
        .find(|family| (family.stacks)().contains(&stack))
}

/// The stacks that the runner drives.
pub fn stacks() -> impl Iterator<Item = StackName> {
    driven().flat_map(|family| (family.stacks)())
}

/// Returns the layers of each family.
pub fn layers() -> Vec<Layers> {
    FAMILIES
        .iter()
        .filter_map(|family| (family.layers)())
        .collect()
}

/// Returns the comparisons of each family's rates.
pub fn comparisons() -> impl Iterator<Item = &'static Comparison> {
    FAMILIES.iter().flat_map(|family| family.comparisons)
}

/// The tokens that operations of a load wait for, and which of them is given the next one.
pub fn tokens(case: &Case) -> Option<(u8, Distribution)> {
    (family_of(case.stack)?.tokens)(&case.parameters)
}

/// Returns the dimensions of the stacks that the runner drives, each once.
pub fn dimensions() -> Vec<Dimension> {
    let mut dimensions: Vec<Dimension> = Vec::new();
    for one in driven().flat_map(|family| family.dimensions) {
        if !dimensions.contains(one) {
            dimensions.push(*one);
        }
    }
    dimensions
}

/// Returns the dimensions of a stack; none of a stack that is not registered.
pub fn dimensions_of(stack: StackName) -> &'static [Dimension] {
    family_of(stack).map_or(&[], |family| family.dimensions)
}

/// The words that are wanted of a dimension, as `NAME=LIST`.
///
/// # Errors
/// When no family has such a dimension, or it has no such word.
pub fn choice(text: &str) -> Result<ParameterChoice, String> {
    ParameterChoice::named(text, &dimensions())
}

/// Checks that a case from elsewhere has parameters that its stack knows; parameters of unregistered stacks pass.
///
/// # Errors
/// What is wrong with them.
pub fn check(case: &Case) -> Result<(), String> {
    let Some(family) = family_of(case.stack) else {
        return Ok(());
    };
    // What an article does not tell nobody knows.
    let told = case.provenance != Provenance::Published || !case.parameters.is_empty();
    let checked = told.then(|| case.parameters.check(family.dimensions));
    let checked = checked.unwrap_or(Ok(()));
    checked.map_err(|reason| format!("{}: {reason}", case.stack))
}

/// A baseline, in which a word may be without its dimension: `agent,cached`.
///
/// # Errors
/// When a word is none that a baseline has.
pub fn baseline(text: &str) -> Result<Baseline, String> {
    let dimensions = dimensions();
    let is_stack = |word: &str| stacks().any(|stack| stack.word() == word);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_family_are_known_and_no_others() {
        let case = |stack: &str, parameters: &str| -> Case {
            let text = format!(
                r#"{{"device":"software","store":"software","provenance":"measured","algorithm":"rsa2048",
                "operation":"sign","stack":"{stack}","load":{{"workers":1,"pacing":"closed"}},
                "input_bytes":32,"replica":0,"parameters":{parameters}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        for (stack, parameters, refused) in [
            ("raw", r#"{"scheme":"pss"}"#, None),
            ("raw", r#"{"kex":"rsa"}"#, Some("no parameter 'kex'")),
            ("ssh", "{}", Some("'agent' is missing")),
            ("sop", r#"{"program":"rsop"}"#, None),
            ("elsewhere", r#"{"colour":"red"}"#, None),
            ("nginx", r#"{"tls":"tls1.3","kex":"x25519"}"#, None),
            ("caddy", r#"{"tls":"tls1.3"}"#, Some("'kex' is missing")),
            (
                "connect",
                r#"{"tls":"tls1.4","kex":"rsa"}"#,
                Some("unknown version of TLS 'tls1.4'"),
            ),
            (
                "apache",
                r#"{"tls":"tls1.2","kex":"rsa","servers":"2","balance":"least-connections"}"#,
                None,
            ),
            (
                "apache",
                r#"{"tls":"tls1.2","kex":"rsa","servers":"a heap"}"#,
                Some("unknown number of servers 'a heap'"),
            ),
        ] {
            let found = check(&case(stack, parameters)).err();
            let as_told = match refused {
                Some(reason) => found.as_ref().is_some_and(|found| found.contains(reason)),
                None => found.is_none(),
            };
            assert!(as_told, "{stack} {parameters}: {found:?}");
        }
        let article = Case {
            provenance: Provenance::Published,
            ..case("apache", "{}")
        };
        assert_eq!(check(&article), Ok(()));
        assert!(dimensions().iter().all(|one| one.name != "kex"));
    }
}

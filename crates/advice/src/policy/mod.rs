//! Policies: allowed keys and dates, one file of `data/policies` each, or a user's own in the same form.

mod rule;

use std::path::Path;
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use jiff::civil::Date;
use keymark_bench::outside::read;
use keymark_bench::outside::visible::located;
use serde::Deserialize;

use crate::key_spec::KeySpec;

pub use rule::{Act, KeyKind, Period, Range, Rule, Status, Use};

static SHIPPED: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../data/policies");

/// Policies that come with keymark, by id.
#[expect(
    clippy::expect_used,
    reason = "the files are part of the program, and a test reads them"
)]
static POLICIES: LazyLock<Vec<Policy>> = LazyLock::new(|| {
    let texts = SHIPPED.files().filter_map(include_dir::File::contents_utf8);
    let parse = |text| Policy::parse(text).expect("a policy in data/policies");
    let mut policies: Vec<Policy> = texts.map(parse).collect();
    policies.sort_by(|a, b| a.id.cmp(&b.id));
    policies
});

/// A document that says which keys may be used.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Identifier: `nist-sp800-57`.
    pub id: String,
    /// Body that publishes it, by which people ask for it: `nist`.
    pub body: String,
    pub title: String,
    pub version: String,
    /// Month of publication: `2020-05`.
    pub date: String,
    #[serde(default)]
    pub draft: bool,
    /// The policy that took its place.
    #[serde(default)]
    pub superseded_by: Option<String>,
    /// The document.
    pub url: String,
    /// Source, if not the document itself.
    #[serde(default)]
    pub sources: Vec<String>,
    #[serde(default)]
    pub note: String,
    /// Status of a key that no rule is about.
    #[serde(default)]
    pub unlisted: Status,
    /// Rules; at most one is about a key and its use.
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
}

/// A policy's statement about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyVerdict<'a> {
    /// Status at the date.
    pub status: Status,
    /// The rule that says so; none where no rule is about such a key.
    pub rule: Option<&'a Rule>,
    /// The last day of this status, and what comes after it.
    pub until: Option<(Date, Status)>,
}

impl PolicyVerdict<'_> {
    /// Returns the verdict on a key that is combined with another one.
    fn combined(self) -> Self {
        let status = self.status.combined();
        let until = self.until.map(|(day, next)| (day, next.combined()));
        Self {
            status,
            until: until.filter(|(_, next)| *next != status),
            ..self
        }
    }
}

/// Why a policy cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PolicyError(String);

/// The names that there are.
fn known() -> String {
    let mut known: Vec<_> = Policy::all().iter().map(|policy| &*policy.body).collect();
    known.dedup();
    known.extend(Policy::all().iter().map(|policy| &*policy.id));
    known.join(", ")
}

impl Policy {
    /// Returns the policies that come with keymark, by id.
    pub fn all() -> &'static [Self] {
        &POLICIES
    }

    /// Returns the policies of a word: an id; a body (`nist`), whose policies in force are meant; or a file.
    ///
    /// # Errors
    /// When there is none, or the file is no policy.
    pub fn find(wanted: &str) -> Result<Vec<Self>, PolicyError> {
        let path = Path::new(wanted);
        if path.extension().is_some_and(|end| end == "toml") {
            return Ok(vec![Self::read(path)?]);
        }
        let is = |name: &str| name.eq_ignore_ascii_case(wanted);
        let is_meant =
            |policy: &&Self| is(&policy.id) || (is(&policy.body) && policy.is_in_force());
        let meant: Vec<Self> = Self::all().iter().filter(is_meant).cloned().collect();
        if meant.is_empty() {
            return Err(PolicyError(format!(
                "unknown policy '{wanted}'; choose from {}, or give the path of a .toml file",
                known()
            )));
        }
        Ok(meant)
    }

    /// Returns the policies of some words; without a word all that no other one superseded.
    ///
    /// # Errors
    /// When a word names none.
    pub fn chosen(words: &[String]) -> Result<Vec<Self>, PolicyError> {
        if words.is_empty() {
            let all = Self::all().iter();
            let current = all.filter(|policy| policy.superseded_by.is_none());
            return Ok(current.cloned().collect());
        }
        let mut policies = Vec::new();
        for word in words {
            policies.extend(Self::find(word)?);
        }
        policies.dedup();
        Ok(policies)
    }

    /// A user's own.
    ///
    /// # Errors
    /// When the file cannot be read or is no policy.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        let unreadable = |reason: String| {
            PolicyError(format!(
                "the policy {} cannot be read: {reason}",
                path.display()
            ))
        };
        let text = read::text(path, read::SETTINGS).map_err(|error| unreadable(error.to_string()));
        Self::parse(&text?)
            .map_err(|reason| unreadable(format!("{reason}; docs/choosing.md has its form")))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let policy: Self = toml::from_str(text)
            .map_err(|error: toml::de::Error| located(text, error.span(), error.message()))?;
        for rule in &policy.rules {
            rule.check()
                .map_err(|reason| format!("rule {}: {reason}", rule.id))?;
        }
        Ok(policy)
    }

    /// Returns whether it is neither a draft nor superseded.
    pub const fn is_in_force(&self) -> bool {
        !self.draft && self.superseded_by.is_none()
    }

    /// Returns the status of a key for a use at a date. Of a composite without a rule of its own the stronger statement
    /// about one of its parts counts, as both have to be broken.
    pub fn verdict(&self, key: KeySpec, usage: Use, act: Act, date: Date) -> PolicyVerdict<'_> {
        let own = self.own_verdict(key, usage, act, date);
        let parts = key.parts().into_iter().flatten();
        let parts = parts
            .filter(|_| own.rule.is_none())
            .map(|part| self.own_verdict(part, usage, act, date).combined());
        let stronger = parts.min_by_key(|of| (of.rule.is_none(), of.status, of.until.is_some()));
        stronger.unwrap_or(own)
    }

    fn own_verdict(&self, key: KeySpec, usage: Use, act: Act, date: Date) -> PolicyVerdict<'_> {
        let rule = self.rules.iter().find(|rule| rule.is_about(key, usage));
        PolicyVerdict {
            status: rule.map_or(self.unlisted, |rule| rule.status(act, date)),
            rule,
            until: rule.and_then(|rule| rule.change_after(act, date)),
        }
    }
}

#[cfg(test)]
mod tests;

//! How GnuPG keeps keys at rest: what its stacks distinguish.

use keymark_bench::case::{Case, Dimension, Parameters, Scope, Words};
use keymark_bench::error::Error;
use keymark_bench::words::words;

/// Elsewhere keys are in the clear: who wants them protected wants GnuPG's alone.
pub const PROTECTION: Dimension = Dimension {
    name: "protection",
    kind: "protection",
    words: Words::Listed(Protection::WORDS),
    usual: Some("none"),
    scope: Scope::Everywhere,
};

words! {
    /// How GnuPG keeps the key at rest.
    #[derive(Default)]
    pub enum Protection("protection") {
        /// In the clear.
        #[default]
        None = "none",
        /// Behind a passphrase that the agent has cached; S2K and decryption of the key remain.
        Cached = "cached",
    }
}

impl Protection {
    /// That of a case.
    ///
    /// # Errors
    /// When it is none of GnuPG's.
    pub fn of(case: &Case) -> Result<Self, Error> {
        let protection = case.parameters.read(&PROTECTION)?;
        Ok(protection.unwrap_or_default())
    }

    /// The parameters of a case with it.
    pub fn parameters(self) -> Parameters {
        Parameters::of(&PROTECTION, self)
    }
}

//! Data that are part of the program.

use serde::de::DeserializeOwned;

/// Parses a file that is part of the program; a test reads each.
#[track_caller]
#[expect(
    clippy::expect_used,
    reason = "the file is part of the program, and a test reads it"
)]
pub fn shipped<T: DeserializeOwned>(file: &str) -> T {
    toml::from_str(file).expect("a file that is part of the program")
}

//! Data that are part of the program.

use serde::de::DeserializeOwned;

/// What a file of them says, which is as the type wants it: a test reads each.
#[track_caller]
#[expect(
    clippy::expect_used,
    reason = "the file is part of the program, and a test reads it"
)]
pub fn shipped<T: DeserializeOwned>(file: &str) -> T {
    toml::from_str(file).expect("a file that is part of the program")
}

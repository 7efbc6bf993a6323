//! What a page may do (Content Security Policy 3): show its own style, run its own script, and nothing else.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::{SCRIPT, STYLE};

static OF_FILE: LazyLock<String> = LazyLock::new(|| policy("'none'"));
static OF_ANSWER: LazyLock<String> = LazyLock::new(|| policy("'self'"));

/// A file sends nothing anywhere.
pub(super) fn of_file() -> &'static str {
    &OF_FILE
}

/// The local page may ask itself.
pub(super) fn of_answer() -> &'static str {
    &OF_ANSWER
}

fn policy(forms: &str) -> String {
    of_page(&STYLE, SCRIPT, forms)
}

/// Of any page of keymark's with this style and script, whose forms go there.
pub(super) fn of_page(style: &str, script: &str, forms: &str) -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action {forms}",
        hash(style),
        hash(script),
    )
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    format!("'sha256-{}'", STANDARD.encode(digest))
}

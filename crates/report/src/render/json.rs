//! The document as one JSON object, pictures' data included.

use crate::document::Document;
use crate::visible::json;

/// On one line, which is ended.
pub fn render(document: &Document) -> serde_json::Result<String> {
    Ok(json(document)? + "\n")
}

//! The document as one JSON object, pictures' data included.

use super::Format;
use crate::document::Document;
use crate::visible::json;

pub(crate) static FORMAT: Format = Format {
    word: "document",
    about: "All that is said as one JSON object, with the data of pictures",
    endings: &["json"],
    write: |exported, out| Ok(out.write_all(render(&exported.document())?.as_bytes())?),
};

/// On one line, which is ended.
pub fn render(document: &Document) -> serde_json::Result<String> {
    Ok(json(document)? + "\n")
}

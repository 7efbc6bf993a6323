//! The main table as JSON, an object and a line for each case.

use crate::render::Format;
use crate::table::FlatRow;
use crate::visible::write_json;

pub(super) static FORMAT: Format = Format {
    word: "rows",
    about: "One flat JSON object for each case, as 'keymark show --json' prints them",
    endings: &["jsonl"],
    write: |exported, out| {
        for row in &exported.rows() {
            write_json(&FlatRow::from(row), &mut *out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    },
};

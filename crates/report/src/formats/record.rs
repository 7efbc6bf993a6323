//! The whole record, which `keymark import` reads.

use crate::exchange::json;
use crate::render::Format;

pub(super) static FORMAT: Format = Format {
    word: "json",
    about: "The whole record with every sample (schema/record-1.json), on one line: 'keymark import' reads it. For a \
            series one line for each run",
    endings: &[],
    write: |exported, out| {
        let mut records = exported.records().iter();
        Ok(records.try_for_each(|record| json::write(record, &mut *out))?)
    },
};

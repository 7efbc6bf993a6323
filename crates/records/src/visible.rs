//! JSON that may be shown as it is.

use std::io;

use keymark_bench::outside::visible::is_unseen;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};

/// Writes JSON in which everything unseen is escaped, so that it may be printed.
pub fn write_json(value: &impl Serialize, to: impl io::Write) -> serde_json::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(to, Visible))
}

/// Returns JSON in which everything unseen is escaped.
pub fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    write_json(value, &mut text)?;
    String::from_utf8(text).map_err(<serde_json::Error as serde::ser::Error>::custom)
}

/// Formatter that also escapes control characters above ASCII, unlike [`CompactFormatter`].
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_unseen(*c)) {
            CompactFormatter.write_string_fragment(writer, &rest[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn json_shows_everything_and_says_the_same(text in "[\\PC\\p{Cf}\\p{Cc}]*") {
            let written = json(&text).unwrap();
            prop_assert!(!written.contains(is_unseen));
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}

//! Blocks of Base64 between lines that say what they are: PEM (RFC 7468), OpenPGP's armor (RFC 9580 §6), SSH's
//! (RFC 4716). Read as leniently as the programs do that write them: any length of line, text between blocks, octets
//! that are no text.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use zeroize::Zeroizing;

/// Base64 as programs write it, with or without padding.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A block.
pub(super) struct ArmorBlock<'a> {
    /// Label in its first line.
    pub label: String,
    /// Number of that line.
    pub line: usize,
    lines: Vec<&'a [u8]>,
    is_closed: bool,
}

/// Lines without white space around them, with their numbers. Macs before Mac OS X ended them with a carriage return.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let end = if text.contains(&b'\n') { b'\n' } else { b'\r' };
    let lines = text.split(move |octet| *octet == end);
    (1..).zip(lines.map(<[u8]>::trim_ascii))
}

/// Every block of a text, and the lines outside of them.
pub(super) fn blocks(text: &[u8]) -> (Vec<ArmorBlock<'_>>, Vec<(usize, &[u8])>) {
    let mut blocks: Vec<ArmorBlock<'_>> = Vec::new();
    let mut outside = Vec::new();
    let mut is_open = false;
    for (number, line) in lines(text) {
        if let Some(label) = marked(line, "BEGIN ") {
            blocks.push(ArmorBlock {
                label,
                line: number,
                lines: Vec::new(),
                is_closed: false,
            });
            is_open = true;
        } else if let Some(block) = blocks.last_mut().filter(|_| is_open) {
            if marked(line, "END ").is_some() {
                block.is_closed = true;
                is_open = false;
            } else {
                block.lines.push(line);
            }
        } else {
            outside.push((number, line));
        }
    }
    (blocks, outside)
}

fn marked(line: &[u8], word: &str) -> Option<String> {
    let inner = line.strip_prefix(b"----")?.strip_suffix(b"----")?;
    let inner = inner.strip_prefix(b"-").unwrap_or(inner);
    let inner = inner.strip_suffix(b"-").unwrap_or(inner);
    let label = inner.trim_ascii().strip_prefix(word.as_bytes())?;
    Some(super::text(label))
}

impl ArmorBlock<'_> {
    /// Returns whether its headers say that it is encrypted (RFC 1421 §4.6.1.1).
    pub fn is_encrypted(&self) -> bool {
        let begin = b"Proc-Type: 4,ENCRYPTED";
        self.lines.iter().any(|line| line.starts_with(begin))
    }

    pub fn bytes(&self) -> Result<Zeroizing<Vec<u8>>, String> {
        if !self.is_closed {
            return Err(format!("the block '{}' has no end", self.label));
        }
        // Headers have a colon, go on behind a backslash (RFC 4716), and OpenPGP's checksum begins with =.
        let mut text = Zeroizing::new(Vec::new());
        let mut is_header = false;
        let mut goes_on = false;
        for line in &self.lines {
            is_header = line.contains(&b':') || (is_header && goes_on);
            goes_on = line.ends_with(b"\\");
            if !is_header && !line.starts_with(b"=") {
                text.extend(line.iter().filter(|octet| !octet.is_ascii_whitespace()));
            }
        }
        let bytes = BASE64.decode(&*text);
        let wrong = |error| format!("the block '{}' is not Base64: {error}", self.label);
        bytes.map(Zeroizing::new).map_err(wrong)
    }
}

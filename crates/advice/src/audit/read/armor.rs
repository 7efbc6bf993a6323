//! Blocks of Base64 between lines that say what they are: PEM (RFC 7468), OpenPGP's armor (RFC 9580 §6), SSH's
//! (RFC 4716). Read as leniently as the programs do that write them: any length of line, text between blocks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// A block.
pub(super) struct Block<'a> {
    /// What its first line calls it.
    pub label: &'a str,
    /// Which line that is.
    pub line: usize,
    lines: Vec<&'a str>,
    is_closed: bool,
}

/// Every block of a text.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut is_open = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(label) = marked(line, "BEGIN ") {
            blocks.push(Block {
                label,
                line: number + 1,
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
        }
    }
    blocks
}

fn marked<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let inner = line.strip_prefix("----")?.strip_suffix("----")?;
    let inner = inner.strip_prefix('-').unwrap_or(inner);
    let inner = inner.strip_suffix('-').unwrap_or(inner);
    inner.trim().strip_prefix(word)
}

impl Block<'_> {
    /// What it holds.
    pub fn bytes(&self) -> Result<Zeroizing<Vec<u8>>, String> {
        if !self.is_closed {
            return Err(format!("the block '{}' has no end", self.label));
        }
        // Headers have a colon, go on behind a backslash (RFC 4716), and OpenPGP's checksum begins with =.
        let mut text = Zeroizing::new(String::new());
        let mut is_header = false;
        for line in &self.lines {
            is_header = line.contains(':') || (is_header && text.ends_with('\\'));
            if !is_header && !line.starts_with('=') {
                text.extend(line.chars().filter(|letter| !letter.is_whitespace()));
            } else if line.starts_with("Proc-Type: 4,ENCRYPTED") {
                return Err(super::ENCRYPTED.to_owned());
            }
        }
        let bytes = STANDARD.decode(text.as_bytes());
        let wrong = |error| format!("the block '{}' is not Base64: {error}", self.label);
        bytes.map(Zeroizing::new).map_err(wrong)
    }
}

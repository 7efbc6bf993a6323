//! How large a record from elsewhere may be, and how much is read to find that out. Analysis and tables take time and room in proportion to these;
//! what goes beyond them was not measured by keymark, and is not exported either. Of JSON that is nested deeper than 127 levels nothing is
//! made, which is `serde_json`'s own limit.

use std::io::{self, Read, Write};

use keymark_bench::{Case, Record};

use super::Fault;

/// Bytes of a file that keymark exported.
pub const BYTES: usize = 2 << 30;
/// Bytes of a table of published figures.
pub const TABLE: usize = 16 << 20;
/// Bytes of a line of one.
pub const LINE: usize = 64 << 10;
/// Bytes that are read at once.
const STEP: usize = 1 << 20;
/// Cases of a run.
pub const CASES: usize = 5_000;
/// Workers of a case.
pub const WORKERS: u32 = 100_000;
/// Samples of a run, blocks counted as one more.
pub const SAMPLES: usize = 20_000_000;
/// Bytes of the name of a device or a run.
pub const NAME: usize = 200;
/// Bytes of any other text.
pub const TEXT: usize = 10_000;

/// What goes beyond the limits.
pub(super) fn excess(record: &Record) -> Option<String> {
    cases(record.cases.len().max(record.plan.cases.len()))
        .or_else(|| name("the run", &record.id.0))
        .or_else(|| name("the series", &record.series.as_ref()?.id.0))
        .or_else(|| name("the series", &record.series.as_ref()?.against.as_ref()?.0))
        .or_else(|| {
            let stores = record.stores.iter().map(|store| &store.device);
            let cases = record.cases.iter().map(|case| &case.case.device);
            let mut devices = stores.chain(cases);
            devices.find_map(|device| name("a device", device.as_str()))
        })
        .or_else(|| record.cases.iter().find_map(|case| workers(&case.case)))
        .or_else(|| {
            let blocks = record.cases.iter().flat_map(|case| &case.blocks);
            let samples: usize = blocks.map(|block| block.samples.len() + 1).sum();
            (samples > SAMPLES).then(|| format!("{samples} samples; the limit is {SAMPLES}"))
        })
}

pub(super) fn cases(count: usize) -> Option<String> {
    (count > CASES).then(|| format!("{count} cases; the limit is {CASES}"))
}

pub(super) fn name(whose: &str, name: &str) -> Option<String> {
    let length = name.len();
    (length > NAME).then(|| format!("the name of {whose} has {length} bytes; the limit is {NAME}"))
}

/// Whether it may name a run or a series: names become part of files, addresses and lines.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Whether a text in JSON has the character NUL, which no database takes.
pub(super) fn has_nul(json: &[u8]) -> bool {
    let escaped = |at: usize| {
        let before = json[..at].iter().rev();
        before.take_while(|octet| **octet == b'\\').count() % 2 == 1
    };
    let mut windows = json.windows(NUL.len()).enumerate();
    windows.any(|(at, window)| window == NUL && !escaped(at))
}
const NUL: &[u8] = br"\u0000";

/// Of the longest text, as far as it has been read.
pub(super) fn text(length: usize) -> Option<String> {
    (length > TEXT).then(|| format!("a text has more than {TEXT} bytes"))
}

/// What is too much for a table, of which this is the beginning or all.
fn table(content: &[u8]) -> Option<String> {
    let lines = content.split(|octet| *octet == b'\n');
    lines
        .zip(1..)
        .find(|(line, _)| line.len() > LINE)
        .map(|(_, number): (_, usize)| format!("line {number} has more than {LINE} bytes"))
        .or_else(|| (content.len() > TABLE).then(|| format!("it has more than {TABLE} bytes")))
}

/// Reads what may be a record, and no further than it may be one.
pub(super) fn read(mut from: impl Read) -> Result<Vec<u8>, Fault> {
    let mut content = Vec::new();
    let mut longest = LongestText::default();
    loop {
        let known = content.len();
        let step = from.by_ref().take(STEP as u64);
        if { step }.read_to_end(&mut content)? == 0 {
            return Ok(content);
        }
        longest.go_on(&content[known..]);
        Fault::excess(excess_of_file(&content, &longest))?;
    }
}

/// The same of what has been read already.
pub(super) fn content(content: &[u8]) -> Option<String> {
    let mut longest = LongestText::default();
    longest.go_on(content);
    excess_of_file(content, &longest)
}

fn excess_of_file(content: &[u8], longest: &LongestText) -> Option<String> {
    if Kind::of(content) == Kind::Json {
        let large = content.len() > BYTES;
        text(longest.bytes).or_else(|| large.then(|| format!("it has more than {BYTES} bytes")))
    } else {
        table(content)
    }
}

/// What the content makes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing is in it.
    Empty,
    /// A record in JSON.
    Json,
    /// Something that begins with this octet.
    Other(u8),
}

impl Kind {
    pub(super) fn of(content: &[u8]) -> Self {
        let content = without_mark(content);
        match content.iter().find(|octet| !octet.is_ascii_whitespace()) {
            None => Self::Empty,
            Some(b'{') => Self::Json,
            Some(other) => Self::Other(*other),
        }
    }
}

/// Without the mark that some editors put before text in UTF-8 (RFC 8259 §8.1 lets it be ignored).
pub(super) fn without_mark(content: &[u8]) -> &[u8] {
    content
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(content)
}

fn workers(case: &Case) -> Option<String> {
    let workers = case.concurrency();
    (workers > WORKERS).then(|| format!("a case has {workers} workers; the limit is {WORKERS}"))
}

/// The longest text in JSON, before anything is made of it.
#[derive(Default)]
pub(super) struct LongestText {
    /// Its bytes.
    pub(super) bytes: usize,
    /// Of the text that has not ended.
    open: Option<usize>,
    escaped: bool,
}

impl LongestText {
    fn go_on(&mut self, json: &[u8]) {
        for octet in json {
            match (self.open, octet) {
                (None, b'"') => self.open = Some(0),
                (None, _) => {}
                (Some(_), b'"') if !self.escaped => self.open = None,
                (Some(bytes), _) => {
                    self.escaped = !self.escaped && *octet == b'\\';
                    self.bytes = self.bytes.max(bytes + 1);
                    self.open = Some(bytes + 1);
                }
            }
        }
    }
}

impl Write for LongestText {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.go_on(json);
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    fn longest_text(json: &[u8]) -> usize {
        let mut longest = LongestText::default();
        json.chunks(3).for_each(|part| longest.go_on(part));
        longest.bytes
    }

    #[test]
    fn the_longest_text_is_found_behind_what_is_escaped() {
        assert_eq!(longest_text(br#"{"a": "12", "b": "\"\\345"}"#), 7);
        assert_eq!(longest_text(br#"[1, 2]"#), 0);
        assert_eq!(longest_text(br#""cut"#), 3);
    }

    #[test]
    fn nul_is_found_and_a_backslash_before_its_name_is_none() {
        for (json, found) in [
            (r#"["a\u0000b"]"#, true),
            (r#"["a\\u0000b"]"#, false),
            (r#"["a\\\u0000"]"#, true),
            (r#"["\u00001", "\u0001"]"#, true),
            (r#"["u0000"]"#, false),
        ] {
            assert_eq!(has_nul(json.as_bytes()), found, "{json}");
        }
    }

    /// Says of how much of it somebody asked.
    struct Endless(u8, usize);

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            into.fill(self.0);
            self.1 += into.len();
            Ok(into.len())
        }
    }

    #[test]
    fn no_more_is_read_than_a_record_may_have() {
        for (begin, filler) in [
            ("{\"a\": \"", b'x'),
            ("device,", b'x'),
            ("", 0),
            ("a\n", b'\n'),
        ] {
            let mut rest = Endless(filler, 0);
            let all = begin.as_bytes().chain(&mut rest);
            let Err(Fault::TooLarge(said)) = read(all) else {
                panic!("{begin}")
            };
            assert_says(&said, ["more than"]);
            assert!(rest.1 <= TABLE + 2 * STEP, "{begin}: {}", rest.1);
        }
    }
}

//! Limits of imported and exported records. Analysis and tables need time and memory in proportion to them. keymark measures no larger
//! runs. `serde_json` itself refuses more than 127 levels.

use std::io::{self, Read, Write};

use keymark_bench::{Case, Record};

use super::ImportFault;

/// Bytes of an exported file.
pub const BYTES: usize = 2 << 30;
/// Bytes of a table of published figures.
pub const TABLE: usize = 16 << 20;
/// Bytes of a line of such a table.
pub const LINE: usize = 64 << 10;
/// Bytes per read.
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

/// Describes the first limit that the record exceeds.
pub(crate) fn excess(record: &Record) -> Option<String> {
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

pub(crate) fn cases(count: usize) -> Option<String> {
    (count > CASES).then(|| format!("{count} cases; the limit is {CASES}"))
}

pub(crate) fn name(whose: &str, name: &str) -> Option<String> {
    let length = name.len();
    (length > NAME).then(|| format!("the name of {whose} has {length} bytes; the limit is {NAME}"))
}

/// Accepts names of runs and series that can be part of files, addresses and lines.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Finds the character NUL in JSON, which no database takes.
pub(crate) fn has_nul(json: &[u8]) -> bool {
    let escaped = |at: usize| {
        let before = json[..at].iter().rev();
        before.take_while(|octet| **octet == b'\\').count() % 2 == 1
    };
    let mut windows = json.windows(NUL.len()).enumerate();
    windows.any(|(at, window)| window == NUL && !escaped(at))
}
const NUL: &[u8] = br"\u0000";

pub(crate) fn text(length: usize) -> Option<String> {
    (length > TEXT).then(|| format!("a text has more than {TEXT} bytes"))
}

/// Describes the limit that a table, or its beginning, exceeds.
fn table(content: &[u8]) -> Option<String> {
    let mut lines = content.split(|octet| *octet == b'\n');
    let long = lines.position(|line| line.len() > LINE);
    long.map(|before| format!("line {} has more than {LINE} bytes", before + 1))
        .or_else(|| (content.len() > TABLE).then(|| format!("it has more than {TABLE} bytes")))
}

/// Reads a file as far as it can be a record.
pub(crate) fn read(mut from: impl Read) -> Result<Vec<u8>, ImportFault> {
    let mut content = Vec::new();
    let mut longest = LongestText::default();
    loop {
        let known = content.len();
        let step = from.by_ref().take(STEP as u64);
        if { step }.read_to_end(&mut content)? == 0 {
            return Ok(content);
        }
        longest.go_on(&content[known..]);
        ImportFault::excess(excess_of_file(&content, &longest))?;
    }
}

/// Describes the limit that a file's content exceeds.
pub(crate) fn content(content: &[u8]) -> Option<String> {
    let mut longest = LongestText::default();
    longest.go_on(content);
    excess_of_file(content, &longest)
}

fn excess_of_file(content: &[u8], longest: &LongestText) -> Option<String> {
    if ContentKind::of(content) == ContentKind::Json {
        let large = content.len() > BYTES;
        text(longest.bytes).or_else(|| large.then(|| format!("it has more than {BYTES} bytes")))
    } else {
        table(content)
    }
}

/// Form of a file by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentKind {
    Empty,
    Json,
    /// Other content, with its first octet.
    Other(u8),
}

impl ContentKind {
    pub(crate) fn of(content: &[u8]) -> Self {
        let content = without_mark(content);
        match content.iter().find(|octet| !octet.is_ascii_whitespace()) {
            None => Self::Empty,
            Some(b'{') => Self::Json,
            Some(other) => Self::Other(*other),
        }
    }
}

/// Strips the mark that some editors put before UTF-8 (RFC 8259 §8.1 permits to ignore it).
pub(crate) fn without_mark(content: &[u8]) -> &[u8] {
    let rest = content.strip_prefix("\u{feff}".as_bytes());
    rest.unwrap_or(content)
}

fn workers(case: &Case) -> Option<String> {
    let workers = case.workers();
    (workers > WORKERS).then(|| format!("a case has {workers} workers; the limit is {WORKERS}"))
}

/// Scanner for the longest text in JSON before parsing.
#[derive(Default)]
pub(super) struct LongestText {
    /// Bytes of the longest text so far.
    pub(super) bytes: usize,
    /// Bytes of the text that has not ended.
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

    /// An endless input, which counts the octets that were asked for.
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
            let Err(ImportFault::Content(said)) = read(all) else {
                panic!("{begin}")
            };
            assert_says(&said, ["more than"]);
            assert!(rest.1 <= TABLE + 2 * STEP, "{begin}: {}", rest.1);
        }
    }
}

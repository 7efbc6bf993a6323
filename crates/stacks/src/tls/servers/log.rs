//! Logs of servers.

use std::path::Path;
use std::sync::LazyLock;

use keymark_bench::shipped::shipped;
use serde::Deserialize;

/// Lines of the end of a log.
const LINES: usize = 6;
/// Longest line that is shown.
const LONGEST: usize = 300;
/// Lines that a record keeps.
const KEPT: usize = 40;

/// Fault that servers tell by words of their own or of OpenSSL.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerFault {
    words: Vec<String>,
    pub(crate) reason: String,
    pub(crate) advice: String,
}

/// Faults in the order of the search.
#[derive(Debug, Deserialize)]
struct FaultList {
    fault: Vec<ServerFault>,
}

static FAULTS: LazyLock<FaultList> =
    LazyLock::new(|| shipped(include_str!("../../../../../data/server-faults.toml")));

impl ServerFault {
    /// Finds a known fault in a log, with its first line.
    pub(crate) fn in_log(log: &str) -> Option<(&'static Self, String)> {
        FAULTS.fault.iter().find_map(|fault| {
            let tells = |line: &&str| fault.words.iter().any(|words| line.contains(words));
            let line = log.lines().find(tells)?;
            Some((fault, visible(line)))
        })
    }
}

/// The end of a log, in one line; empty where there is none.
pub(crate) fn tail(file: &Path) -> String {
    last(file, LINES).join(" | ")
}

/// The last lines of it, for the record.
pub(crate) fn end(file: &Path) -> Vec<String> {
    last(file, KEPT)
}

fn last(file: &Path, count: usize) -> Vec<String> {
    let log = read(file);
    let lines = log.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.collect();
    let last = lines[lines.len().saturating_sub(count)..].iter();
    last.map(|line| visible(line)).collect()
}

/// Reads the last mebibyte of a log, where faults are.
pub(crate) fn read(file: &Path) -> String {
    keymark_stores::places::program::complaints(file)
}

/// A line in which everything is seen, and not too long.
pub(crate) fn visible(line: &str) -> String {
    keymark_bench::outside::visible::shortened(line, LONGEST)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_end_of_a_log_is_one_line_without_control_characters() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("log");
        fs::write(&file, "a\nb\n\nc\x1b[31m\n").unwrap();
        assert_eq!(tail(&file), "a | b | c\\u{1b}[31m");
        assert_eq!(tail(&directory.path().join("none")), "");
        let many: String = (0..100).map(|number| format!("{number}\n")).collect();
        fs::write(&file, many).unwrap();
        assert_eq!(tail(&file), "94 | 95 | 96 | 97 | 98 | 99");
        let kept = end(&file);
        assert_eq!(
            (kept.len(), kept[0].as_str(), kept[39].as_str()),
            (40, "60", "99")
        );
        fs::write(&file, vec![b'x'; 1 << 20]).unwrap();
        assert_eq!(end(&file).concat().chars().count(), LONGEST);
        assert_eq!(end(&directory.path().join("none")), Vec::<String>::new());
    }
}

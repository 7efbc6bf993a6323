//! Logs of servers.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::LazyLock;

use keymark_bench::shipped::shipped;
use serde::Deserialize;

/// Lines of the end of a log.
const LINES: usize = 6;
/// Longest line that is shown.
const LONGEST: usize = 300;
/// Lines and bytes that a record keeps.
const KEPT: usize = 40;
const END: u64 = 64 * 1024;

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

static FAULTS: LazyLock<FaultList> = LazyLock::new(|| {
    shipped(include_str!(
        "../../../../../data/server-faults.toml"
    ))
});

impl ServerFault {
    /// Finds a known fault in a log, with its first line, without its time.
    pub(crate) fn in_log(log: &str) -> Option<(&'static Self, String)> {
        FAULTS.fault.iter().find_map(|fault| {
            let tells = |line: &&str| fault.words.iter().any(|words| line.contains(words));
            let line = log.lines().find(tells)?;
            Some((fault, visible(without_time(line))))
        })
    }
}

/// The end of a log, in one line; empty where there is none.
pub(crate) fn tail(file: &Path) -> String {
    let log = read(file);
    let lines: Vec<String> = log
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(visible)
        .collect();
    // nginx says the same on its standard error, and to bind it tries several times.
    let mut told: Vec<&str> = Vec::new();
    for line in lines.iter().rev().map(|line| without_time(line)) {
        if told.len() < LINES && !told.contains(&line) {
            told.push(line);
        }
    }
    told.reverse();
    told.join(" | ")
}

/// A line without the time before it: `2026/11/22 15:06:45 [emerg] 7#7: …`, `[Sun Nov 22 14:41:20.659059 2026] …`.
fn without_time(line: &str) -> &str {
    let digit = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    let nginxs = line
        .split_once(" [")
        .filter(|(time, _)| digit(time) && time.len() == 19);
    if let Some((time, _)) = nginxs {
        return &line[time.len() + 1..];
    }
    let apaches = line
        .strip_prefix('[')
        .and_then(|line| line.split_once("] "));
    apaches
        .filter(|(time, _)| time.matches(':').count() == 2)
        .map_or(line, |(_, said)| said)
}

/// The last lines of it, for the record.
pub(crate) fn end(file: &Path) -> Vec<String> {
    let mut end = Vec::new();
    let read = File::open(file).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
        file.take(END).read_to_end(&mut end)
    });
    // Of a log that is gone there is nothing to keep.
    if read.is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&end);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(visible).collect();
    lines[lines.len().saturating_sub(KEPT)..].to_vec()
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
        fs::write(
            &file,
            "2026/11/22 15:06:45 [emerg] 7#7: bind() failed\n2026/11/22 15:06:46 [emerg] 7#7: bind() failed\n\
             [Sun Nov 22 14:41:20.65 2026] [ssl:warn] AH01882: x\n",
        )
        .unwrap();
        assert_eq!(
            tail(&file),
            "[emerg] 7#7: bind() failed | [ssl:warn] AH01882: x"
        );
        let many: String = (0..100).map(|number| format!("{number}\n")).collect();
        fs::write(&file, many).unwrap();
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

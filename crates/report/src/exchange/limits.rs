//! How large a record from elsewhere may be. Analysis and tables take time and room in proportion to these;
//! what goes beyond them was not measured by keymark. Of JSON that is nested deeper than 127 levels nothing is
//! made, which is `serde_json`'s own limit.

use keymark_bench::case::Case;
use keymark_bench::record::Record;

/// Bytes of a file.
pub const BYTES: u64 = 2 << 30;
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
            (samples > SAMPLES).then(|| format!("{samples} samples, of at most {SAMPLES}"))
        })
}

pub(super) fn cases(count: usize) -> Option<String> {
    (count > CASES).then(|| format!("{count} cases, of at most {CASES}"))
}

pub(super) fn name(whose: &str, name: &str) -> Option<String> {
    let length = name.len();
    (length > NAME).then(|| format!("the name of {whose} has {length} bytes, of at most {NAME}"))
}

pub(super) fn text(length: usize) -> Option<String> {
    (length > TEXT).then(|| format!("a text has {length} bytes, of at most {TEXT}"))
}

fn workers(case: &Case) -> Option<String> {
    let workers = case.concurrency();
    (workers > WORKERS).then(|| format!("a case has {workers} workers, of at most {WORKERS}"))
}

/// Bytes of the longest text in JSON, before anything is made of it.
pub(super) fn longest_text(json: &[u8]) -> usize {
    let (mut longest, mut start, mut escaped) = (0, None, false);
    for (at, octet) in json.iter().enumerate() {
        match (start, octet) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(from), b'"') => {
                longest = longest.max(at - from - 1);
                start = None;
            }
            (None, b'"') => start = Some(at),
            _ => {}
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_text_is_found_behind_what_is_escaped() {
        assert_eq!(longest_text(br#"{"a": "12", "b": "\"\\345"}"#), 7);
        assert_eq!(longest_text(br#"[1, 2]"#), 0);
        assert_eq!(longest_text(br#""cut"#), 0);
    }
}

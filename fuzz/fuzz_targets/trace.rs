//! A trace of PC/SC calls, which is a file that anybody may have written.

#![no_main]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use keymark_shim_protocol::trace::{RECORD, TraceReader, TracedCall};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (records, torn) = data.as_chunks::<RECORD>();
    let decoded: Vec<_> = records.iter().map_while(TracedCall::decode).collect();
    for record in &decoded {
        assert_eq!(TracedCall::decode(&record.encode()), Some(*record));
        let _ = (record.duration(), record.call.name());
    }
    let whole = torn.is_empty() && decoded.len() == records.len();
    match TraceReader::new(&written(data)).read() {
        Ok(read) => assert!(whole && read == decoded),
        Err(_) => assert!(!whole),
    }
});

/// A file with that content: one without a name for all inputs, so that none is left behind.
fn written(data: &[u8]) -> PathBuf {
    static FILE: OnceLock<File> = OnceLock::new();
    let file = FILE.get_or_init(|| tempfile::tempfile().expect("a temporary file"));
    file.set_len(0).expect("room");
    file.write_all_at(data, 0).expect("room");
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

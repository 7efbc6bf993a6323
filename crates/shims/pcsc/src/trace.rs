//! Taking down calls.

use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::Duration;

use keymark_shim_protocol::TRACE;
use keymark_shim_protocol::trace::{Apdu, Call, TracedCall};
use nix::time::{ClockId, clock_gettime};

use crate::types::{Code, Long};

thread_local! {
    static CARD: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// Notes the card's own time for the record of the call under way.
pub(crate) fn note_card_time(work: Duration) {
    CARD.set(Some(work));
}

/// Panics end here: one that crossed into C would end the program.
pub(crate) fn guarded(run: impl FnOnce() -> Code) -> Code {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Code::INTERNAL_ERROR)
}

/// The one way through which every function of `Call` goes, guarded and taken down. `apdu` tells
/// afterwards what to keep of a command and its response.
pub(crate) fn traced(
    call: Call,
    run: impl FnOnce() -> Code,
    apdu: impl FnOnce(Code) -> Option<Apdu>,
) -> Long {
    let Some(file) = file() else {
        return guarded(run).0;
    };
    CARD.set(None);
    let begin_ns = now();
    let code = guarded(run);
    let record = TracedCall {
        call,
        begin_ns,
        end_ns: now(),
        card: CARD.get(),
        process: std::process::id(),
        result: code.number(),
        apdu: apdu(code),
    };
    // A trace that cannot be written must not disturb the program that is traced.
    let _ = (&*file).write_all(&record.encode());
    code.0
}

/// Opened once. Appended to record by record, so that several processes can share it.
fn file() -> Option<&'static File> {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    FILE.get_or_init(|| {
        let path = std::env::var_os(TRACE)?;
        let mut options = File::options();
        options
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .ok()
    })
    .as_ref()
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_internal_error() {
        let result = traced(Call::Status, || panic!("in a call"), |_| None);
        assert_eq!(result, Code::INTERNAL_ERROR.0);
    }
}

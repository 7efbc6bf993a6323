//! The memory of a process that holds a PIN.

use std::sync::OnceLock;

use nix::sys::prctl::set_dumpable;
use nix::sys::resource::{Resource, setrlimit};

/// From the first PIN on no crash of this process writes its memory to a file, and no other program of the
/// user's reads it.
pub(super) fn keep_to_ourselves() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        // Where a program takes the dumps, the limit is not asked (core(5)): dumpable is. A system that
        // knows neither has nothing to switch off.
        let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
        let _ = set_dumpable(false);
    });
}

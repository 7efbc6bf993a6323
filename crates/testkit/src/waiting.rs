//! Waiting for what another process does, with an end.

use std::time::Duration;

/// A minute together: more than any of it takes, and an end all the same.
const POLLS: usize = 3_000;
const PAUSE: Duration = Duration::from_millis(20);

/// Looks again and again until it is so.
pub fn until(what: &str, mut met: impl FnMut() -> bool) {
    found(what, || met().then_some(()));
}

/// Looks again and again until there is something.
pub fn found<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..POLLS {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("not within a minute: {what}");
}

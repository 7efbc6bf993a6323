//! `CLOCK_MONOTONIC`, which all processes of a machine share.

use std::time::Duration;

use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

/// Time before a deadline in which the thread watches the clock: a sleep ends late by up to this.
const WATCHED: u64 = 250_000;

/// Nanoseconds.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
    nanoseconds(time)
}

/// Returns the processor time of this thread in nanoseconds: it stops while others have its processor.
pub(crate) fn processor() -> u64 {
    let time =
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from);
    nanoseconds(time)
}

/// A duration in nanoseconds.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Sleeps until about then; a signal may end it early.
pub(crate) fn sleep_until(deadline: u64) {
    let deadline = Duration::from_nanos(deadline).into();
    let absolute = ClockNanosleepFlags::TIMER_ABSTIME;
    // Interrupted: the waiting thread looks at the clock again.
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, absolute, &deadline);
}

/// Waits until then, and no longer.
pub(crate) fn wait_until(deadline: u64) {
    loop {
        let now = now();
        if now >= deadline {
            return;
        }
        if deadline - now > WATCHED {
            sleep_until(deadline - WATCHED);
        } else {
            std::hint::spin_loop();
        }
    }
}

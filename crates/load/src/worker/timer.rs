//! A timer that is finer than epoll's milliseconds.

use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::error::LoadError;

/// A `timerfd` among a poll's sources.
#[derive(Debug)]
pub(super) struct Timer {
    timer: TimerFd,
    /// Time for which it is set.
    armed: Option<u64>,
}

impl Timer {
    pub(super) fn new(registry: &Registry, token: Token) -> Result<Self, LoadError> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK);
        let timer = timer.map_err(|errno| LoadError::system("timerfd_create", errno))?;
        let raw = timer.as_fd().as_raw_fd();
        registry
            .register(&mut SourceFd(&raw), token, Interest::READABLE)
            .map_err(|error| LoadError::system("epoll_ctl", error))?;
        Ok(Self { timer, armed: None })
    }

    /// Rings after `wait`; `mark` names the moment, for which it is set once.
    pub(super) fn set(&mut self, mark: u64, wait: Duration) -> Result<(), LoadError> {
        if self.armed == Some(mark) {
            return Ok(());
        }
        let once = Expiration::OneShot(TimeSpec::from_duration(wait));
        self.timer
            .set(once, TimerSetTimeFlags::empty())
            .map_err(|errno| LoadError::system("timerfd_settime", errno))?;
        self.armed = Some(mark);
        Ok(())
    }

    /// Resets it after it has fired.
    pub(super) fn rang(&mut self) {
        self.armed = None;
        // Does not block; that it rang is known.
        let _ = self.timer.wait();
    }
}

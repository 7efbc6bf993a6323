//! Who is served when. A lane's next free moment is moved on by compare-and-swap, and whoever has moved it
//! waits for the end of what it took: nobody holds a lock, so that a crash leaves none behind. What a lane is
//! given begins when it became free or when the caller came, not when the caller noticed: late wakers do not
//! make the device slower.
//!
//! First come, first served goes by tickets where those who left are skipped: only the first in the queue
//! takes a lane, when one is free, and whoever waits passes over a first one whose process has ended, or takes none.
//! Where those who left are served, a lane is taken at once.

use std::fs;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use keymark_shim_protocol::pkcs11::settings::{Left, Queue};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::clock;
use crate::device::Device;

/// How often the queue is looked at while somebody ahead is about to take a lane, in nanoseconds.
const SOON: u64 = 100_000;
/// And at least, to find those who left.
const SELDOM: u64 = 20_000_000;
/// The first in the queue is passed over when it has left a free lane alone for so long, in nanoseconds: its process is stopped.
const STOPPED: u64 = 2_000_000_000;
/// Bits of a process's number in a ticket.
const PROCESS: u32 = 22;

/// A caller's place in the queue.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    device: &'a Device,
    arrival: u64,
    service: u64,
    place: Position,
}

#[derive(Debug)]
enum Position {
    /// From then on, to the end.
    Taken {
        before: u64,
        start: u64,
    },
    Ticket(u64),
    /// Whoever finds a lane free.
    Anywhere,
}

impl Device {
    /// A place for who came then and needs so long, in nanoseconds.
    pub(crate) fn queue(&self, arrival: u64, service: u64) -> Turn<'_> {
        let place = match (self.queue, self.left) {
            (Queue::Unfair, Left::Skipped | Left::Served) => Position::Anywhere,
            (Queue::Fair, Left::Served) => self.take(arrival, service),
            (Queue::Fair, Left::Skipped) => self.ticket(std::process::id()),
        };
        Turn {
            device: self,
            arrival,
            service,
            place,
        }
    }

    /// The lane that is free first, whenever that is.
    fn take(&self, arrival: u64, service: u64) -> Position {
        loop {
            let lane = self.first_free();
            let before = lane.load(Relaxed);
            let start = before.max(arrival);
            if lane
                .compare_exchange(before, start + service, AcqRel, Relaxed)
                .is_ok()
            {
                return Position::Taken { before, start };
            }
        }
    }

    /// The next ticket. It is put down before the tail moves on, and anybody moves the tail on, so that who
    /// dies in between is in nobody's way (Michael and Scott, 1996).
    fn ticket(&self, process: u32) -> Position {
        loop {
            let ticket = self.tail().load(Acquire);
            if ticket - self.head().load(Acquire).min(ticket) >= Self::room() {
                return Position::Anywhere;
            }
            let holder = self.holder(ticket);
            let there = holder.load(Acquire);
            let is_put = there >> PROCESS == ticket + 1;
            let mine = !is_put
                && holder
                    .compare_exchange(there, held(ticket, process), AcqRel, Relaxed)
                    .is_ok();
            // Moved on by whoever is first; the others find it moved.
            let _ = self
                .tail()
                .compare_exchange(ticket, ticket + 1, AcqRel, Relaxed);
            if mine {
                return Position::Ticket(ticket);
            }
        }
    }

    /// Passes over the first in the queue, if its process has ended or it was given back.
    fn pass_over(&self, first: u64) {
        let there = self.holder(first).load(Acquire);
        let process = there & ((1 << PROCESS) - 1);
        let has_left = there >> PROCESS == first + 1 && (process == 0 || has_ended(process));
        if has_left {
            self.advance(first);
        }
    }

    /// It is the next one's turn, unless somebody has seen to that already.
    fn advance(&self, first: u64) {
        let head = self.head();
        let _ = head.compare_exchange(first, first + 1, AcqRel, Relaxed);
    }
}

const fn held(ticket: u64, process: u32) -> u64 {
    (ticket + 1) << PROCESS | process as u64
}

/// One that nobody has waited for yet has ended, too.
fn has_ended(process: u64) -> bool {
    let Ok(number) = i32::try_from(process) else {
        return true;
    };
    if kill(Pid::from_raw(number), None) == Err(Errno::ESRCH) {
        return true;
    }
    let status = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    let state = status.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|rest| rest.starts_with(['Z', 'X']))
}

impl Turn<'_> {
    /// Nothing is to be done after all.
    pub(crate) fn give_back(self) {
        match self.place {
            // Only while nobody has come after.
            Position::Taken { before, start } => {
                let _ = self.device.first_free().compare_exchange(
                    start + self.service,
                    before,
                    AcqRel,
                    Relaxed,
                );
            }
            Position::Ticket(ticket) => {
                self.device.holder(ticket).store(held(ticket, 0), Relaxed);
                self.device.pass_over(self.device.head().load(Acquire));
            }
            Position::Anywhere => {}
        }
    }

    /// Waits until the device begins. Returns when it has begun and when it will be done, in nanoseconds of
    /// `CLOCK_MONOTONIC`; what it was given may lie in the past already.
    pub(crate) fn wait(self) -> (u64, u64) {
        let start = match self.place {
            Position::Taken { start, .. } => start,
            Position::Ticket(ticket) => self.wait_for(ticket),
            Position::Anywhere => self.wait_for_any(),
        };
        (start, start + self.service)
    }

    fn wait_for(&self, ticket: u64) -> u64 {
        let Self {
            device,
            arrival,
            service,
            ..
        } = *self;
        // The first in the queue, and since when it could have taken a lane.
        let mut hesitating = (ticket, 0);
        loop {
            let first = device.head().load(Acquire);
            let lane = device.first_free();
            let (free, now) = (lane.load(Acquire), clock::now());
            if first != hesitating.0 || free > now {
                hesitating = (first, now);
            }
            if first > ticket {
                // Passed over by somebody who could not see this process, or did not see it move: at the end of the queue.
                return self.wait_for_any();
            }
            if first == ticket && free <= now {
                let start = free.max(arrival);
                let taken = lane.compare_exchange(free, start + service, AcqRel, Relaxed);
                if taken.is_ok() {
                    device.advance(ticket);
                    return start;
                }
            } else if first == ticket {
                clock::sleep_until(free);
            } else if free > now {
                clock::sleep_until(free.min(now + SELDOM));
                device.pass_over(first);
            } else if now - hesitating.1 > STOPPED {
                device.advance(first);
            } else {
                device.pass_over(first);
                clock::sleep_until(now + SOON);
            }
        }
    }

    fn wait_for_any(&self) -> u64 {
        loop {
            let lane = self.device.first_free();
            let (free, now) = (lane.load(Acquire), clock::now());
            if free > now {
                clock::sleep_until(free);
                continue;
            }
            let start = free.max(self.arrival);
            let end = start + self.service;
            if lane.compare_exchange(free, end, AcqRel, Relaxed).is_ok() {
                return start;
            }
        }
    }
}

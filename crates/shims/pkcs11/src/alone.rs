//! Mutual exclusion among threads and processes.
//!
//! SoftHSM2 2.6 writes its token's file anew at each login, for the flags of the PIN, and a process that reads it
//! meanwhile finds no token, or none that is initialized. Real devices do not, so that a twin must not either.
//!
//! A caller that hangs meanwhile (a stopped program, a library that waits for itself) is in everybody's way:
//! those who wait say for whom, and are refused in the end.

use std::cell::Cell;
use std::fs::File;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use keymark_shim_protocol::pkcs11::Call;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};

use crate::clock;
use crate::device::Device;
use crate::library::tell;

/// A caller that has the token for longer is reported: a login takes milliseconds.
const SAID_AFTER: Duration = Duration::from_secs(2);
/// A caller that has it for longer is stuck, and those who wait are refused.
const REFUSED_AFTER: Duration = Duration::from_secs(10);
/// Interval at which a lock is tried that another has.
const PAUSE: Duration = Duration::from_millis(2);

thread_local! {
    /// The call by which this thread has the token to itself.
    static OWN: Cell<Option<Call>> = const { Cell::new(None) };
}

/// The call that this thread is in, if it has the token to itself: what it asks for now, it asks from within.
pub(crate) fn outer_call() -> Option<Call> {
    OWN.get()
}

/// A process, and the call that has the token to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) process: u32,
    pub(crate) call: Call,
    /// Since when: `CLOCK_MONOTONIC`, in nanoseconds.
    pub(crate) since: u64,
}

impl Holder {
    /// "logging in": what the call does, after "is".
    #[allow(clippy::wildcard_enum_match_arm, reason = "others leave the state")]
    const fn doing(self) -> &'static str {
        match self.call {
            Call::C_Initialize => "initializing the module",
            Call::C_Login | Call::C_LoginUser => "logging in",
            Call::C_GetTokenInfo => "reading the token's state",
            Call::C_InitToken => "initializing the token",
            Call::C_InitPIN | Call::C_SetPIN => "setting a PIN",
            _ => "using the token",
        }
    }
}

/// The threads of one process.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    taken: Mutex<bool>,
    given_back: Condvar,
}

impl Gate {
    fn enter(&self, patience: &mut Patience<'_>) -> Result<(), Stuck> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken {
            patience.look()?;
            let waited = self.given_back.wait_timeout(taken, SAID_AFTER / 10);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken = true;
        Ok(())
    }

    fn leave(&self) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.given_back.notify_one();
    }
}

/// Exclusive use of the token until it is dropped. The lock is the process's (fcntl_locking(2)): it ends with it, and
/// a child that is forked meanwhile does not have it.
#[derive(Debug)]
pub(crate) struct Alone<'t> {
    gate: &'t Gate,
    locked: Option<(&'t Device, &'t File)>,
}

/// Another has the token and does not give it back, of which the user was told.
#[derive(Debug)]
pub(crate) struct Stuck;

impl<'t> Alone<'t> {
    /// Waits for it. Without a file that can be locked, only the threads of the process wait for each other.
    pub(crate) fn new(gate: &'t Gate, device: &'t Device, call: Call) -> Result<Self, Stuck> {
        let mut patience = Patience::new(device, call);
        gate.enter(&mut patience)?;
        let mut alone = Self { gate, locked: None };
        if let Some(file) = device.file()
            && lock_in_turn(file, &mut patience)?
        {
            device.note_holder(call);
            alone.locked = Some((device, file));
        }
        OWN.set(Some(call));
        Ok(alone)
    }
}

/// Returns whether the file can be locked at all. Tried again and again, because there is no lock of files that waits
/// for so long and no longer.
fn lock_in_turn(file: &File, patience: &mut Patience<'_>) -> Result<bool, Stuck> {
    loop {
        match lock(file, nix::libc::F_WRLCK) {
            Ok(()) => return Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => patience.look()?,
            Err(Errno::EINTR) => {}
            Err(_) => return Ok(false),
        }
        clock::sleep_until(clock::now() + clock::nanoseconds(PAUSE));
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        OWN.set(None);
        if let Some((device, file)) = self.locked {
            device.forget_holder();
            // It cannot fail for a file that was locked.
            let _ = lock(file, nix::libc::F_UNLCK);
        }
        self.gate.leave();
    }
}

fn lock(file: &File, kind: i32) -> Result<(), Errno> {
    // The whole file from its beginning.
    let range = nix::libc::flock {
        l_type: kind as _,
        l_whence: nix::libc::SEEK_SET as _,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_SETLK(&range)).map(drop)
}

/// Patience of one caller with another: as long as different ones have the token, and not with one that keeps it.
struct Patience<'t> {
    device: &'t Device,
    call: Call,
    seen: Option<(u32, u64)>,
    since: u64,
    is_told: bool,
}

impl<'t> Patience<'t> {
    fn new(device: &'t Device, call: Call) -> Self {
        Self {
            device,
            call,
            seen: None,
            since: clock::now(),
            is_told: false,
        }
    }

    /// Looks who has it.
    fn look(&mut self) -> Result<(), Stuck> {
        let (holder, now) = (self.device.holder_of_token(), clock::now());
        let seen = holder.map(|holder| (holder.process, holder.since));
        if self.seen != seen {
            self.seen = seen;
            self.since = holder.map_or(now, |holder| holder.since);
            self.is_told = false;
        }
        let kept = Duration::from_nanos(now.saturating_sub(self.since));
        if kept > REFUSED_AFTER {
            tell(&format!(
                "{} has been {} for {} s and blocks the token, so {} fails; end it",
                who(holder),
                doing(holder),
                kept.as_secs(),
                self.call.name()
            ));
            return Err(Stuck);
        }
        if kept > SAID_AFTER && !self.is_told {
            self.is_told = true;
            tell(&format!(
                "waiting for {}, which is {}",
                who(holder),
                doing(holder)
            ));
        }
        Ok(())
    }
}

fn who(holder: Option<Holder>) -> String {
    match holder {
        Some(holder) if holder.process == std::process::id() => {
            "another thread of this program".to_owned()
        }
        Some(holder) => format!("process {}", holder.process),
        None => "another program".to_owned(),
    }
}

fn doing(holder: Option<Holder>) -> &'static str {
    holder.map_or("using the token", Holder::doing)
}

//! One at a time, among threads and processes.
//!
//! SoftHSM2 2.6 writes its token's file anew at each login, for the flags of the PIN, and a process that reads it meanwhile
//! finds no token, or none that is initialised. Real devices do not, so that a twin must not either.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::MutexGuard;

/// Until it is dropped. The lock is the process's (fcntl_locking(2)): it ends with it, and a child that is forked meanwhile
/// does not have it.
#[derive(Debug)]
pub(crate) struct Alone<'t> {
    file: Option<&'t File>,
    /// Given back after the file's.
    _in_process: MutexGuard<'t, ()>,
}

impl<'t> Alone<'t> {
    /// Waits for it. Without a file that can be locked, only the threads of the process wait for each other.
    pub(super) fn new(in_process: MutexGuard<'t, ()>, file: Option<&'t File>) -> Self {
        let locked = |file: &&File| loop {
            match lock(file, libc::F_WRLCK) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done.is_ok(),
            }
        };
        let file = file.filter(locked);
        Self {
            file,
            _in_process: in_process,
        }
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.file {
            // It cannot fail for a file that was locked.
            let _ = lock(file, libc::F_UNLCK);
        }
    }
}

fn lock(file: &File, kind: libc::c_int) -> io::Result<()> {
    // SAFETY: a structure of numbers, for which zeros are valid: the whole file from its beginning.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = kind as libc::c_short;
    range.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: reads the structure, which lives until it returns; the descriptor is open.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLKW, &raw const range) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

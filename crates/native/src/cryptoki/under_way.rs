//! The functions of a module that were called and have not returned, in memory that another process reads: it knows
//! then what a module does that hangs, and what it did when it crashed.

use std::cell::Cell;
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use keymark_shim_protocol::pkcs11::Call;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap};

const WORDS: usize = 64;
const BYTES: usize = WORDS * size_of::<u64>();

static SHARED: OnceLock<&'static [AtomicU64; WORDS]> = OnceLock::new();

/// The memory, as the process has it that watches.
#[derive(Debug)]
pub struct Watched(File);

impl Watched {
    /// New memory, and the file by which the other process gets it.
    pub fn new() -> io::Result<(Self, File)> {
        let file = File::from(memfd_create(c"keymark-calls", MFdFlags::MFD_CLOEXEC)?);
        file.set_len(BYTES as u64)?;
        Ok((Self(file.try_clone()?), file))
    }

    /// Has the process stop: [`interrupt`] is set there.
    pub fn interrupt(&self) {
        // To memory there is nothing that could fail, and a process that does not hear is ended.
        let _ = self.0.write_all_at(&[1], 0);
    }

    /// Returns the activity of each thread: a number that differs for each call, and the name of a call that has not
    /// returned.
    pub fn threads(&self) -> Vec<(u64, Option<&'static str>)> {
        let mut bytes = [0; BYTES];
        if self.0.read_exact_at(&mut bytes, 0).is_err() {
            return Vec::new();
        }
        let words = bytes.as_chunks::<8>().0.iter().skip(1);
        let words = words.map(|word| u64::from_ne_bytes(*word));
        words
            .map(|word| {
                let call = ((word & 0xff) as usize).checked_sub(1);
                let call = call.and_then(|place| Call::ALL.get(place));
                (word, call.map(|call| call.name()))
            })
            .collect()
    }
}

/// Has this process tell what it calls in the memory of that file, from now on.
pub fn tell_in(file: &File) -> io::Result<()> {
    if file.metadata()?.len() != BYTES as u64 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let length = NonZeroUsize::new(BYTES).ok_or(io::ErrorKind::InvalidInput)?;
    let flags = (
        ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
        MapFlags::MAP_SHARED,
    );
    // SAFETY: a new mapping at an address of the kernel's choice, which overlaps nothing of this process.
    let address = unsafe { mmap(None, length, flags.0, flags.1, file, 0) }?;
    // SAFETY: the mapping is never removed, has room for the words, begins at a page and so is aligned; all processes
    // that have it read and write it by atomic operations, or by the kernel (pread(2), pwrite(2)).
    let words = unsafe { address.cast::<[AtomicU64; WORDS]>().as_ref() };
    SHARED.get_or_init(|| words);
    Ok(())
}

/// Returns the flag that keymark sets when nothing more is to be begun here.
pub fn interrupt() -> &'static AtomicBool {
    static NOBODY: AtomicBool = AtomicBool::new(false);
    let Some(words) = SHARED.get() else {
        return &NOBODY;
    };
    let first: *const c_void = std::ptr::from_ref(&words[0]).cast();
    // SAFETY: the first byte of the memory, which lives for ever, is touched as this flag only, here and by
    // `Watched::interrupt`, and is never anything but 0 or 1.
    unsafe { &*first.cast::<AtomicBool>() }
}

/// A call under way, until this is dropped.
#[derive(Debug)]
pub struct UnderWay(());

impl UnderWay {
    /// Tells that the function is called.
    #[inline]
    pub fn begin(call: Call) -> Self {
        note(1 + call as u64);
        Self(())
    }
}

impl Drop for UnderWay {
    #[inline]
    fn drop(&mut self) {
        note(0);
    }
}

/// Two stores a call, to a word of the thread's own.
#[inline]
fn note(call: u64) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static WORD: usize = 1 + NEXT.fetch_add(1, Ordering::Relaxed) % (WORDS - 1);
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    let Some(words) = SHARED.get() else {
        return;
    };
    let number = NUMBER.get() + 1;
    NUMBER.set(number);
    words[WORD.with(|word| *word)].store(number << 8 | call, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_watches_sees_what_has_not_returned() {
        let (watched, file) = Watched::new().unwrap();
        let busy = |watched: &Watched| -> Vec<&'static str> {
            let threads = watched.threads().into_iter();
            threads.filter_map(|(_, call)| call).collect()
        };
        tell_in(&file).unwrap();
        assert!(busy(&watched).is_empty());
        let outer = UnderWay::begin(Call::C_Sign);
        assert_eq!(busy(&watched), ["C_Sign"]);
        let before = watched.threads();
        drop(outer);
        let again = UnderWay::begin(Call::C_Sign);
        assert_eq!(busy(&watched), ["C_Sign"]);
        assert_ne!(
            watched.threads(),
            before,
            "another call of the same function"
        );
        drop(again);
        assert!(busy(&watched).is_empty());
        assert!(!interrupt().load(Ordering::Relaxed));
        watched.interrupt();
        assert!(interrupt().load(Ordering::Relaxed));
        assert!(tell_in(&File::open("/dev/null").unwrap()).is_err());
    }
}

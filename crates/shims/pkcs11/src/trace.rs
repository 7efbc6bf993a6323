//! Counting calls, in a file that processes share.

use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use cryptoki_sys::{CK_RV, CKR_FUNCTION_FAILED, CKR_GENERAL_ERROR, CKR_OK};
use keymark_shim_protocol::pkcs11::trace::{
    self, Field, HEADER, Identity, NEXT_SLOT, SLOT, SLOTS, bucket, counter, field, offset,
};
use keymark_shim_protocol::pkcs11::{Call, Traced};
use nix::sys::mman::{MapFlags, ProtFlags, mmap};

use crate::alone::outer_call;
use crate::clock;
use crate::library::{ModuleShim, library, tell_once};

thread_local! {
    /// The slot of this thread, and of which process it is: after a fork it is the parent's.
    static SLOT_OF_THREAD: Cell<Option<(u32, Mapping)>> = const { Cell::new(None) };
    /// Time that the call under way has waited for others, in nanoseconds.
    static WAITED: Cell<u64> = const { Cell::new(0) };
}

/// Notes that the call under way has waited.
pub(crate) fn note_waiting(nanoseconds: u64) {
    WAITED.set(WAITED.get() + nanoseconds);
}

/// The one way through which every call goes, counted where that is wanted. A panic ends here: one that
/// crossed into C would end the program.
pub(crate) fn traced(what: Traced, run: impl FnOnce(&'static ModuleShim) -> CK_RV) -> CK_RV {
    let guarded = |library| {
        if let Some(outer) = outer_call() {
            tell_of_nesting(outer);
            return Ok(CKR_FUNCTION_FAILED);
        }
        catch_unwind(AssertUnwindSafe(|| run(library)))
    };
    let Some(library) = library() else {
        return CKR_GENERAL_ERROR;
    };
    let Some(trace) = &library.trace else {
        return guarded(library).unwrap_or(CKR_GENERAL_ERROR);
    };
    WAITED.set(0);
    let begin = clock::now();
    let code = guarded(library).unwrap_or(CKR_GENERAL_ERROR);
    trace.note(what, begin, clock::now(), code);
    code
}

/// A library that asks OpenSSL for random numbers while it logs in gets them from itself, where the program has made it
/// OpenSSL's provider before all others: it would wait for itself for ever.
fn tell_of_nesting(outer: Call) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    let text = format!(
        "{} calls the module while the module is at work, which is refused: 'openssl -provider pkcs11' does that; name \
         the provider in openssl.cnf, or use the engine",
        outer.name()
    );
    tell_once(&IS_TOLD, &text);
}

/// The file with what is counted.
#[derive(Debug)]
pub(crate) struct Trace {
    file: File,
    header: Mapping,
}

impl Trace {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = trace::create(path)?;
        let header = Mapping::of(&file, 0, HEADER)?;
        if header.word(0).load(Relaxed) != trace::MAGIC {
            return Err(io::Error::other("it is not a trace of PKCS#11 calls"));
        }
        Ok(Self { file, header })
    }

    /// Counts a call. What cannot be written must not disturb the program that is traced.
    pub(crate) fn note(&self, what: Traced, begin: u64, end: u64, code: CK_RV) {
        let Some(slot) = self.slot(begin) else {
            return;
        };
        let took = end.saturating_sub(begin);
        let word = |which| slot.word(field(what, which));
        // Relaxed: readers do so when the thread is done, or take what is there. Additions are
        // atomic because threads that come late share a slot.
        if word(Field::Count).fetch_add(1, Relaxed) == 0 {
            word(Field::FirstBegin).store(begin, Relaxed);
            word(Field::First).store(took, Relaxed);
        }
        word(Field::Total).fetch_add(took, Relaxed);
        word(Field::Longest).fetch_max(took, Relaxed);
        let waited = WAITED.get();
        if waited > 0 {
            word(Field::Waited).fetch_add(waited, Relaxed);
        }
        if code != CKR_OK {
            word(Field::Failed).fetch_add(1, Relaxed);
            #[allow(
                clippy::useless_conversion,
                reason = "CK_RV has 32 bits on some architectures"
            )]
            let code = u64::from(code);
            word(Field::Code).store(code, Relaxed);
        }
        slot.half(counter(what, bucket(took))).fetch_add(1, Relaxed);
        if what.is_remote() {
            let word = |which: Identity| slot.word(which as usize);
            let sent = word(Identity::Remote).fetch_add(1, Relaxed) + 1;
            if what.is_operation() && code == CKR_OK {
                // Refused where it is known already.
                let _ = word(Identity::RemoteFirst).compare_exchange(0, sent, Relaxed, Relaxed);
                word(Identity::RemoteLast).store(sent, Relaxed);
            }
        }
    }

    fn slot(&self, now: u64) -> Option<Mapping> {
        let process = std::process::id();
        if let Some((of, slot)) = SLOT_OF_THREAD.get()
            && of == process
        {
            return Some(slot);
        }
        let slot = self.claim(process, now).ok()?;
        SLOT_OF_THREAD.set(Some((process, slot)));
        Some(slot)
    }

    fn claim(&self, process: u32, now: u64) -> io::Result<Mapping> {
        let next = self.header.word(NEXT_SLOT).fetch_add(1, Relaxed);
        let number = next.min(SLOTS - 1);
        // A byte at its end makes the file long enough, and never shorter, even if others do the same.
        if next == number {
            self.file.write_all_at(&[0], offset(number + 1) - 1)?;
        }
        let slot = Mapping::of(&self.file, offset(number), SLOT)?;
        let identity = |which: Identity, number| slot.word(which as usize).store(number, Relaxed);
        identity(Identity::Process, u64::from(process));
        identity(
            Identity::Parent,
            u64::from(std::os::unix::process::parent_id()),
        );
        let thread = nix::unistd::gettid().as_raw();
        identity(Identity::Thread, u64::try_from(thread).unwrap_or(0));
        identity(Identity::Begin, now);
        let name = fs::read("/proc/self/comm").unwrap_or_default();
        for (at, part) in padded(&name).iter().enumerate() {
            let place = Identity::Name as usize + 8 * at;
            slot.word(place).store(u64::from_ne_bytes(*part), Relaxed);
        }
        Ok(slot)
    }
}

/// The name of a process without the end of its line, in two numbers.
fn padded(name: &[u8]) -> [[u8; 8]; 2] {
    let name = name.strip_suffix(b"\n").unwrap_or(name);
    let length = name.len().min(16);
    let mut parts = [[0; 8]; 2];
    parts.as_flattened_mut()[..length].copy_from_slice(&name[..length]);
    parts
}

/// A part of a file that processes share, as numbers that are read and written one by one. Mapped for as long as the
/// process lives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory stays mapped and is reached as atomic numbers only.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps that number of bytes of the file from that offset, a multiple of a page, on. The file has to be as long
    /// as that, or its numbers are not to be had.
    pub(crate) fn of(file: &File, offset: u64, length: usize) -> io::Result<Self> {
        let length_there = file.metadata()?.len();
        let size = NonZeroUsize::new(length).filter(|_| offset + length as u64 <= length_there);
        let size = size.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping where the system chooses it; nothing else is in its place.
        let mapped = unsafe {
            mmap(
                None,
                size,
                access,
                MapFlags::MAP_SHARED,
                file.as_fd(),
                offset,
            )
        };
        Ok(Self {
            base: mapped?.cast(),
            length,
        })
    }

    /// The number at that offset in bytes; offsets are known when this is compiled, or bounded.
    pub(crate) fn word(&self, at: usize) -> &'static AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.length);
        // SAFETY: within the mapping, which is page-aligned and never unmapped; every process reaches it as
        // an atomic number.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(at).cast()) }
    }

    /// The small number at that offset.
    pub(crate) fn half(&self, at: usize) -> &'static AtomicU32 {
        assert!(at.is_multiple_of(4) && at + 4 <= self.length);
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(self.base.as_ptr().add(at).cast()) }
    }
}

//! A part of a file that processes share, as numbers that are read and written one by one.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use nix::sys::mman::{MapFlags, ProtFlags, mmap};

/// Mapped for as long as the process lives.
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
    /// Maps so many bytes of the file from that offset, a multiple of a page, on. The file has to be as long
    /// as that, or its numbers are not to be had.
    pub(crate) fn of(file: &File, offset: u64, length: usize) -> io::Result<Self> {
        let length_there = file.metadata()?.len();
        let size = NonZeroUsize::new(length).filter(|_| offset + length as u64 <= length_there);
        let size = size.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        let offset = i64::try_from(offset).map_err(io::Error::other)?;
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

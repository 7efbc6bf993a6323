//! The token's flash memory: in RAM, or written through to a file so that the state persists.

use std::fs::{File, Permissions};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use littlefs2::consts::{U8, U512};
use littlefs2::driver::Storage;
use littlefs2::fs::{Allocation, Filesystem};
use littlefs2::io::{Error, Result};
use trussed::store::DynFilesystem;

const BLOCK: usize = 512;
const BLOCKS: usize = 256;
pub(super) const PRIVATE_FILE: u32 = 0o600;

/// 128 kB, erased to FF as flash is.
pub(super) struct Flash {
    bytes: Box<[u8]>,
    file: Option<File>,
}

impl Flash {
    /// Empty and volatile.
    pub(super) fn ram() -> Self {
        Self {
            bytes: vec![0xFF; BLOCK * BLOCKS].into(),
            file: None,
        }
    }

    /// The content of a file, which takes every change. It has keys, and is its owner's alone.
    pub(super) fn file(path: &Path) -> std::io::Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(PRIVATE_FILE)
            .open(path)?;
        // One that an earlier keymark made is everybody's to read.
        file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
        file.try_lock().map_err(|_| {
            std::io::Error::other(format!("{} is in use by another token", path.display()))
        })?;
        let mut flash = Self::ram();
        match usize::try_from(file.metadata()?.len()) {
            Ok(0) => file.write_all_at(&flash.bytes, 0)?,
            Ok(length) if length == flash.bytes.len() => file.read_exact_at(&mut flash.bytes, 0)?,
            _ => {
                return Err(std::io::Error::other(format!(
                    "{} is not a token's flash image: it does not have {} bytes",
                    path.display(),
                    flash.bytes.len()
                )));
            }
        }
        flash.file = Some(file);
        Ok(flash)
    }

    fn change(&mut self, offset: usize, length: usize, with: impl FnOnce(&mut [u8])) -> Result<()> {
        let part = self
            .bytes
            .get_mut(offset..offset + length)
            .ok_or(Error::NO_SPACE)?;
        with(part);
        match &self.file {
            Some(file) => file
                .write_all_at(part, offset as u64)
                .map_err(|_| Error::IO),
            None => Ok(()),
        }
    }
}

impl Storage for Flash {
    const READ_SIZE: usize = 16;
    const WRITE_SIZE: usize = 16;
    const BLOCK_SIZE: usize = BLOCK;
    const BLOCK_COUNT: usize = BLOCKS;
    type CACHE_SIZE = U512;
    type LOOKAHEAD_SIZE = U8;

    fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<usize> {
        let part = self.bytes.get(offset..offset + buffer.len());
        buffer.copy_from_slice(part.ok_or(Error::IO)?);
        Ok(buffer.len())
    }

    fn write(&mut self, offset: usize, data: &[u8]) -> Result<usize> {
        self.change(offset, data.len(), |part| part.copy_from_slice(data))?;
        Ok(data.len())
    }

    fn erase(&mut self, offset: usize, length: usize) -> Result<usize> {
        self.change(offset, length, |part| part.fill(0xFF))?;
        Ok(length)
    }
}

/// Mounts the file system on it, formatting it first where there is none. A chip's memory is never
/// freed: what is mounted borrows it for good (some 400 kB a card, and a run has a few cards).
pub(super) fn mount(flash: Flash) -> Result<&'static dyn DynFilesystem> {
    let flash = Box::leak(Box::new(flash));
    if !Filesystem::is_mountable(flash) {
        Filesystem::format(flash)?;
    }
    let allocation: &'static mut Allocation<Flash> = Box::leak(Box::new(Filesystem::allocate()));
    Ok(Box::leak(Box::new(Filesystem::mount(allocation, flash)?)))
}

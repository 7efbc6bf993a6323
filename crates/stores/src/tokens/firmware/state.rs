//! The part of a token's state that is not on its flash.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use hex::FromHex as _;

use super::flash::PRIVATE_FILE;

const SERIAL: &str = "serial";

/// Makes the folder, which nobody but its owner may enter. One that is there already is left as it is.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The card's serial number: the one in the folder, or else that of a new card, which is put there. With
/// another at each start, programs would look for the card of before.
pub(super) fn serial(folder: &Path, new: [u8; 4]) -> io::Result<[u8; 4]> {
    let path = folder.join(SERIAL);
    match fs::read_to_string(&path) {
        Ok(text) => <[u8; 4]>::from_hex(text.trim()).map_err(|_| {
            let text = "its file 'serial' has no eight hexadecimal digits";
            io::Error::new(io::ErrorKind::InvalidData, text)
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut open = OpenOptions::new();
            let mut file = open
                .write(true)
                .create_new(true)
                .mode(PRIVATE_FILE)
                .open(path)?;
            writeln!(file, "{}", hex::encode(new))?;
            Ok(new)
        }
        Err(error) => Err(error),
    }
}

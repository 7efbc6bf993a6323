//! Files from outside, up to a limit: a device has no end, and a name may lead to one.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;

/// Bytes of a file of settings (a profile, a part, a geometry): those that keymark has are a hundredth of it.
pub const SETTINGS: u64 = 1 << 20;

/// Reads a file of at most that many bytes.
///
/// # Errors
/// When it cannot be read, or is longer: [`io::ErrorKind::FileTooLarge`], with a message that says the limit.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    within(File::open(path)?, most)
}

/// Reads a regular file of at most that many bytes, and waits for nothing: neither for who writes into a pipe nor for the
/// kernel's next message.
///
/// # Errors
/// As [`bytes`], and when it is no regular file or has nothing to read yet.
pub fn regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut options = File::options();
    options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        let reason = "it is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    within(file, most)
}

fn within(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(most.saturating_add(1))
        .read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(too_large(most));
    }
    Ok(content)
}

/// Reads a text file of at most that many bytes.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(bytes(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

fn too_large(most: u64) -> io::Error {
    let reason = format!("it has more than {most} bytes, the limit for such a file");
    io::Error::new(io::ErrorKind::FileTooLarge, reason)
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused_at_the_limit() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(text(&file, 5).unwrap(), "12345");
        let refused = text(&file, 4).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
        let endless = bytes(Path::new("/dev/zero"), 1000).unwrap_err();
        assert_says(&endless, ["more than 1000 bytes"]);
        assert!(regular(Path::new("/dev/zero"), 1000).is_err());
        assert_eq!(regular(&file, 5).unwrap(), b"12345");
        std::fs::write(&file, [0xff]).unwrap();
        assert!(text(&file, 5).unwrap_err().to_string().contains("UTF-8"));
    }
}

//! A secret for a program that wants a file of it: in memory, so that no directory ever has it and it is gone with its
//! last holder, whatever ends that one.

use std::fs::File;
use std::io::{self, Write};

use keymark_bench::{During as _, Error};
use rustix::fs::{MemfdFlags, Mode, SealFlags, fchmod, fcntl_add_seals, memfd_create};

/// Path by which a program finds its standard input (proc(5)). Each opening begins at the start.
pub const STANDARD_INPUT: &str = "/proc/self/fd/0";

/// A file of memory (`memfd_create(2)`) with that content, which nobody can change. A program gets it as its standard
/// input and reads [`STANDARD_INPUT`], as often as it likes.
pub fn holding(secret: &[u8]) -> Result<File, Error> {
    let make = || -> io::Result<File> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(memfd_create("secret", flags)?);
        // Else any user could open it by the /proc of its holder.
        fchmod(&file, Mode::RUSR | Mode::WUSR)?;
        file.write_all(secret)?;
        let sealed = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&file, sealed)?;
        Ok(file)
    };
    make().during("memfd_create")
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_program_reads_it_as_often_as_it_likes_and_cannot_change_it() {
        let file = holding(b"271828").unwrap();
        for _ in 0..2 {
            let script = format!(
                "cat {STANDARD_INPUT} {STANDARD_INPUT}; stat -Lc %a {STANDARD_INPUT}; echo x >{STANDARD_INPUT}"
            );
            let done = Command::new("sh")
                .args(["-c", &script])
                .stdin(Stdio::from(file.try_clone().unwrap()))
                .output()
                .unwrap();
            assert_eq!(done.stdout, b"271828271828600\n");
            assert!(!done.status.success(), "it was written to");
        }
    }
}

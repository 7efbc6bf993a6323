//! The committed programs are what the script makes of the sources, where the same compiler is there.

use std::path::Path;
use std::process::Command;

use crate::cross::{GCC, needs};
use crate::skipped;

#[test]
fn the_script_makes_the_committed_files() {
    needs!(GCC);
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let made_by = std::fs::read_to_string(kernels.join("elf/COMPILER")).unwrap();
    let version = Command::new(GCC).arg("-dumpfullversion").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    if version != made_by {
        let (version, made_by) = (version.trim(), made_by.trim());
        skipped(&format!(
            "{GCC} is {version}, the files were made by {made_by}"
        ));
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let mut build = Command::new(kernels.join("build"));
    assert!(build.arg(out.path()).status().unwrap().success());
    let mut compared = 0;
    for entry in std::fs::read_dir(kernels.join("elf")).unwrap() {
        let committed = entry.unwrap().path();
        let made = out.path().join(committed.file_name().unwrap());
        assert!(
            std::fs::read(&committed).unwrap() == std::fs::read(&made).unwrap(),
            "{} differs from what kernels/build makes; run it and commit",
            committed.display()
        );
        compared += 1;
    }
    assert_eq!(compared, 28, "27 programs and the compiler's version");
}

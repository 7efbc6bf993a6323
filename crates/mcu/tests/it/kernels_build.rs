//! The committed programs are what the script makes of the sources, where the same compiler is there.

use std::path::Path;
use std::process::Command;

use crate::skipped;

#[test]
fn the_script_makes_the_committed_files() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let made_by = std::fs::read_to_string(kernels.join("elf/COMPILER")).unwrap();
    let compiler = Command::new("arm-none-eabi-gcc")
        .arg("-dumpfullversion")
        .output();
    let Ok(version) = compiler else {
        skipped(
            "arm-none-eabi-gcc is missing; install it with 'apt-get install gcc-arm-none-eabi'",
        );
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if version != made_by {
        skipped(&format!(
            "arm-none-eabi-gcc is {}, the files were made by {}",
            version.trim(),
            made_by.trim()
        ));
        return;
    }
    let out = std::env::temp_dir().join(format!("keymark-kernels-{}", std::process::id()));
    let status = Command::new(kernels.join("build"))
        .arg(&out)
        .status()
        .unwrap();
    assert!(status.success());
    let mut compared = 0;
    for entry in std::fs::read_dir(kernels.join("elf")).unwrap() {
        let committed = entry.unwrap().path();
        let made = out.join(committed.file_name().unwrap());
        assert!(
            std::fs::read(&committed).unwrap() == std::fs::read(&made).unwrap(),
            "{} differs from what kernels/build makes; run it and commit",
            committed.display()
        );
        compared += 1;
    }
    std::fs::remove_dir_all(&out).unwrap();
    assert_eq!(compared, 28, "27 programs and the compiler's version");
}

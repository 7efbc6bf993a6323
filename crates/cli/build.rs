//! Puts the commit into the version, where the source is a git checkout.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/refs/heads");
    let described = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=10"])
        .output();
    let commit = described
        .ok()
        .filter(|output| output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let version = env!("CARGO_PKG_VERSION");
    match commit {
        Some(commit) => println!("cargo::rustc-env=KEYMARK_VERSION={version} ({commit})"),
        None => println!("cargo::rustc-env=KEYMARK_VERSION={version}"),
    }
}

//! `include_dir` sees changed files, but not new ones.

fn main() {
    println!("cargo::rerun-if-changed=data");
}

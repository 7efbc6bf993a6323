//! Tells which versions of RustCrypto's crates are compiled in: they have no constant that says so.

use std::path::Path;

const CRATES: [&str; 6] = [
    "rsa",
    "p256",
    "p384",
    "p521",
    "ed25519-dalek",
    "x25519-dalek",
];

fn main() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let lock = std::fs::read_to_string(lock).unwrap_or_default();
    let newest = |name: &str| {
        let entry = format!("name = \"{name}\"\nversion = \"");
        let versions = lock.match_indices(&entry).filter_map(|(at, _)| {
            let rest = lock.get(at + entry.len()..)?;
            rest.split('"').next()
        });
        // Cargo sorts them.
        versions.last().unwrap_or("?").to_owned()
    };
    let versions: Vec<String> = CRATES
        .iter()
        .map(|name| format!("{name} {}", newest(name)))
        .collect();
    println!(
        "cargo::rustc-env=KEYMARK_RUSTCRYPTO={}",
        versions.join(", ")
    );
}

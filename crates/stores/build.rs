//! Tells which versions of RustCrypto's crates are compiled in, which have no constant that says so; and where Debian
//! has libraries of the target.

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
    // Asked when it runs: a target directory may have moved since it was compiled.
    let directory = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let lock = Path::new(&directory).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let lock = std::fs::read_to_string(lock).unwrap_or_default();
    let versions: Vec<String> = CRATES
        .iter()
        .map(|name| format!("{name} {}", version(&lock, name).unwrap_or("?")))
        .collect();
    println!(
        "cargo::rustc-env=KEYMARK_RUSTCRYPTO={}",
        versions.join(", ")
    );
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=KEYMARK_MULTIARCH={}", multiarch(&target));
}

/// `arm-linux-gnueabihf` of `armv7-unknown-linux-gnueabihf`: without the vendor, and with one name for a family of
/// processors.
fn multiarch(target: &str) -> String {
    let (processor, system) = target.split_once("-unknown-").unwrap_or((target, ""));
    let processor = match processor {
        arm if arm.starts_with("armv") => "arm",
        "i586" | "i686" => "i386",
        "riscv64gc" => "riscv64",
        other => other,
    };
    format!("{processor}-{system}")
}

/// The version of a dependency of this crate. Its entry names one where the file has several.
fn version<'l>(lock: &'l str, name: &str) -> Option<&'l str> {
    let own = format!("name = \"{}\"\n", env!("CARGO_PKG_NAME"));
    let own = lock.get(lock.find(&own)?..)?.split("\n\n").next()?;
    let named = format!(" \"{name} ");
    if let Some((_, version)) = own.split_once(&named) {
        return version.split(['"', ' ']).next();
    }
    let only = format!("name = \"{name}\"\nversion = \"");
    lock.split_once(&only)?.1.split('"').next()
}

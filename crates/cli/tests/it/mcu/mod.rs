//! `keymark mcu` as its users call it.

mod firmware;
mod predict;
mod storage;

use std::path::Path;

/// A program of the kernels that are shipped.
pub(crate) fn kernel(name: &str) -> String {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcu/kernels/elf");
    kernels.join(name).to_str().unwrap().to_owned()
}

//! A keymark with an archive of its own, and files for it.

use std::path::Path;

pub use keymark_testkit::place::{Place, objects};

pub fn kernel(name: &str) -> String {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcu/kernels/elf");
    kernels.join(name).to_str().unwrap().to_owned()
}

/// A shipped part's file with something replaced.
pub fn own_part(place: &Place, name: &str, from: &str, to: &str) -> String {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcu/data/stm32f103.toml");
    let text = std::fs::read_to_string(shipped).unwrap();
    assert!(text.contains(from), "{from}");
    let file = place.path(name);
    std::fs::write(&file, text.replace(from, to)).unwrap();
    file.to_str().unwrap().to_owned()
}

//! Microcontrollers, flash geometries and their programs: by name, or out of a file.

use std::io;
use std::path::Path;

use keymark_bench::outside::{read, visible};
use keymark_flash::geometry::Geometry;
use keymark_mcu::image::Image;
use keymark_mcu::machine::Layout;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::target::Target;

/// Bytes of an ELF file besides what is loaded: symbols and debug information.
const ASIDE: u64 = 64 << 20;
/// Characters of what is wrong with a file: parts of it may be quoted.
const LONGEST: usize = 400;

/// A shipped part, with `@MHz` for another clock, or the one in that file.
pub(crate) fn part(wanted: &str) -> Result<Microcontroller, String> {
    named_or_in_file(wanted, Microcontroller::find, Microcontroller::parse)
}

/// A shipped geometry, or the one in that file.
pub(crate) fn geometry(wanted: &str) -> Result<Geometry, String> {
    named_or_in_file(wanted, Geometry::find, Geometry::parse)
}

/// `PART[:PRESET][,OPTION=VALUE…]`
pub(crate) fn target(wanted: &str) -> Result<Target, String> {
    let (name, words) = wanted.split_once(':').unwrap_or((wanted, ""));
    Target::with_words(part(name)?, words).map_err(|error| error.to_string())
}

fn named_or_in_file<T, E: ToString>(
    wanted: &str,
    find: impl FnOnce(&str) -> Result<T, E>,
    parse: impl FnOnce(&str, &str) -> Result<T, E>,
) -> Result<T, String> {
    if !wanted.ends_with(".toml") {
        return find(wanted).map_err(|error| error.to_string());
    }
    let text = read::text(Path::new(wanted), read::SETTINGS).map_err(|error| {
        format!("{wanted} cannot be read: {error}; name a shipped one or a file like those in data")
    })?;
    parse(&text, wanted).map_err(|error| visible::shortened(&error.to_string(), LONGEST))
}

/// The program in that ELF file, for a part with that memory.
pub(crate) fn image(path: &Path, layout: &Layout) -> Result<Image, String> {
    let memory = u64::from(layout.flash_size) + u64::from(layout.ram_size);
    let most = memory + ASIDE;
    let file = read::bytes(path, most).map_err(|error| {
        if error.kind() != io::ErrorKind::FileTooLarge {
            return format!("cannot read it: {error}; check its name and permissions");
        }
        format!(
            "it has more than {} MiB, too much for this part: its memory has {} KiB, and symbols and debug \
             information may have {} MiB; 'arm-none-eabi-strip --strip-debug' makes it smaller",
            most >> 20,
            memory >> 10,
            ASIDE >> 20
        )
    })?;
    Image::parse(&file).map_err(|error| error.to_string())
}

//! Kernels for machines that know no markers, such as QEMU; `cli/benches` includes this file.

use keymark_mcu::McuError;
use keymark_mcu::decode::is_wide;
use keymark_mcu::kernel::{Kernel, Options};
use keymark_mcu::microcontroller::Microcontroller;

const NOP: [u8; 2] = 0xbf00u16.to_le_bytes();

/// The program with these options, in which markers are NOPs.
pub fn elf_without_markers(
    kernel: Kernel,
    mcu: &Microcontroller,
    options: &Options,
) -> Result<Vec<u8>, McuError> {
    let mut image = kernel.image(options)?;
    let memory = mcu.load(&image)?.memory;
    let mut markers = Vec::new();
    for function in image.code().iter().filter(|one| one.is_function) {
        // Without the constants behind it.
        let end = function.address + image.symbol(&function.name)?.size;
        let mut address = function.address;
        while let Ok(half) = memory.half(address)
            && address < end
        {
            // BKPT of a phase.
            if (0xbe00..=0xbe04).contains(&half) {
                markers.push(address);
            }
            address += if is_wide(half) { 4 } else { 2 };
        }
    }
    for marker in markers {
        image.replace(marker, &NOP)?;
    }
    Ok(image.to_elf())
}

//! Target of a program by its build attributes ("Addenda to, and Errata in, the ABI for the Arm Architecture", Arm IHI
//! 0045, 3.3).

use addr2line::gimli::{EndianSlice, LittleEndian, Reader, Result};

/// Why these cores cannot execute what the section `.ARM.attributes` speaks of, if so.
pub(super) fn foreign(section: &[u8]) -> Option<&'static str> {
    match architecture(section).ok()? {
        (16 | 17 | 21, _) => Some("Armv8-M (Cortex-M23, M33, M55 and later)"),
        (14 | 15 | 22, _) => Some("Armv8-A or Armv8-R (Cortex-A, Cortex-R)"),
        (10, profile) if profile != 0 && profile != u64::from(b'M') => {
            Some("Armv7-A or Armv7-R (Cortex-A, Cortex-R)")
        }
        (0..=9, _) => Some("an Arm processor with the A32 instructions (Arm7, Arm9, Arm11)"),
        _ => None,
    }
}

/// Its architecture, where ARMv6-M does not have all that it says.
pub(super) fn armv7(section: &[u8]) -> Option<&'static str> {
    match architecture(section).ok()?.0 {
        10 => Some("Armv7-M"),
        13 => Some("Armv7E-M"),
        _ => None,
    }
}

/// Tag_CPU_arch and Tag_CPU_arch_profile of the whole file; no architecture at all where nothing is said.
fn architecture(section: &[u8]) -> Result<(u64, u64)> {
    const HEADER: usize = 1 + 4;
    let (mut architecture, mut profile) = (u64::MAX, 0);
    let mut bytes = EndianSlice::new(section, LittleEndian);
    bytes.skip(HEADER)?; // The format's version, the subsection's length.
    bytes.read_null_terminated_slice()?;
    bytes.skip(HEADER)?; // Tag_File and its length.
    while !bytes.is_empty() {
        match bytes.read_uleb128()? {
            6 => architecture = bytes.read_uleb128()?,
            7 => profile = bytes.read_uleb128()?,
            32 => {
                bytes.read_uleb128()?;
                bytes.read_null_terminated_slice()?;
            }
            // Names; above 32 whatever is odd is text.
            tag if tag == 4 || tag == 5 || (tag > 32 && tag % 2 == 1) => {
                bytes.read_null_terminated_slice()?;
            }
            _ => {
                bytes.read_uleb128()?;
            }
        }
    }
    Ok((architecture, profile))
}

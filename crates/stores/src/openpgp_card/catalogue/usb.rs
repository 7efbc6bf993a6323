//! The USB device of a PC/SC reader.

use std::path::Path;

use hex::FromHex as _;
use serde::Deserialize;

const SYSFS: &str = "/sys/bus/usb/devices";

/// Value of the upper half of SCARD_ATTR_CHANNEL_ID is for a USB reader (PC/SC Workgroup Specification,
/// part 3). The CCID driver puts bus number and device address into the lower half
/// (SCARDGETATTRIB.md of LudovicRousseau/CCID).
const USB_CHANNEL: u32 = 0x0020;

/// Vendor and product id of a USB device (USB 2.0 §9.6.1, idVendor and idProduct).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct UsbId {
    /// Assigned by the USB-IF.
    pub vendor: u16,
    /// Assigned by the vendor.
    pub product: u16,
}

impl TryFrom<String> for UsbId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let id = text.split_whitespace().next().unwrap_or_default();
        let halves = id.split_once(':').and_then(|(vendor, product)| {
            Some(Self {
                vendor: four_digits(vendor)?,
                product: four_digits(product)?,
            })
        });
        halves.ok_or_else(|| {
            format!("'{id}' is not a USB id; write vendor and product like 20A0:42B2")
        })
    }
}

/// Four hexadecimal digits and no sign.
pub(super) fn four_digits(text: &str) -> Option<u16> {
    <[u8; 2]>::from_hex(text).ok().map(u16::from_be_bytes)
}

/// The USB device behind the channel that a reader reports as SCARD_ATTR_CHANNEL_ID.
///
/// Nothing when the reader is not on USB, or the system does not list its devices like Linux.
pub fn usb_id_of(channel: u32) -> Option<UsbId> {
    listed_in(Path::new(SYSFS), channel)
}

fn listed_in(sysfs: &Path, channel: u32) -> Option<UsbId> {
    if channel >> 16 != USB_CHANNEL {
        return None;
    }
    let (bus, address) = ((channel >> 8) & 0xFF, channel & 0xFF);
    std::fs::read_dir(sysfs)
        .ok()?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|device| {
            number(device, "busnum", 10) == Some(bus)
                && number(device, "devnum", 10) == Some(address)
        })
        .and_then(|device| {
            Some(UsbId {
                vendor: number(&device, "idVendor", 16)?.try_into().ok()?,
                product: number(&device, "idProduct", 16)?.try_into().ok()?,
            })
        })
}

/// An attribute of a device. Interfaces are also listed, and have none of these.
fn number(device: &Path, attribute: &str, radix: u32) -> Option<u32> {
    let text = std::fs::read_to_string(device.join(attribute)).ok()?;
    u32::from_str_radix(text.trim(), radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<UsbId> {
        UsbId::try_from(text.to_owned()).ok()
    }

    #[test]
    fn an_id_is_two_times_four_digits() {
        let (vendor, product) = (0x20A0, 0x42B2);
        for text in ["20A0:42B2", "20a0:42b2", "20A0:42B2 (in bootloader mode)"] {
            assert_eq!(id(text), Some(UsbId { vendor, product }));
        }
        for wrong in ["", ":", "20A042B2", "20A0:42B", "+0A0:42B2", "20A0:42B2:1"] {
            assert_eq!(id(wrong), None, "{wrong}");
        }
    }

    fn sysfs() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, bus, address, vendor, product) in [
            ("usb1", "1", "1", "1d6b", "0002"),
            ("1-2", "1", "17", "20a0", "42b2"),
            ("2-1.4", "2", "17", "1050", "0407"),
            ("3-1", "3", "4", "damaged", "0407"),
        ] {
            let device = root.path().join(name);
            std::fs::create_dir(&device).unwrap();
            for (attribute, value) in [
                ("busnum", bus),
                ("devnum", address),
                ("idVendor", vendor),
                ("idProduct", product),
            ] {
                std::fs::write(device.join(attribute), format!("{value}\n")).unwrap();
            }
        }
        std::fs::create_dir(root.path().join("1-2:1.0")).unwrap();
        root
    }

    #[test]
    fn a_usb_channel_leads_to_the_device_on_that_bus_and_address() {
        let root = sysfs();
        for (channel, found) in [
            (0x0020_0111, id("20A0:42B2")),
            (0x0020_0211, id("1050:0407")),
            (0, None),
            (0x0001_0111, None),
            (0x0120_0111, None),
            (0x0020_0112, None),
            (0x0020_0304, None),
            (u32::MAX, None),
        ] {
            assert_eq!(listed_in(root.path(), channel), found, "{channel:08x}");
        }
        assert_eq!(listed_in(&root.path().join("missing"), 0x0020_0111), None);
    }
}

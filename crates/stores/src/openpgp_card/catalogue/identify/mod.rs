//! Recognition of a card by its answers and its USB device.

use super::{Catalogue, Token, UsbId};

// Manufacturer ids of the AID (OpenPGP card 3.4.1 §4.2.1; names as in GnuPG scd/app-openpgp.c).
const ZEITCONTROL: u16 = 0x0005;
const YUBICO: u16 = 0x0006;
const FSIJ: u16 = 0xF517;
const SMARTPGP_DEFAULT: u16 = 0xAFAF;

const NITROKEY_PRO: UsbId = nitrokey(0x4108);
const NITROKEY_STORAGE: UsbId = nitrokey(0x4109);

/// Carries a card like any other reader.
const SCT3522: UsbId = usb(0x04E6, 0x5817);

const fn usb(vendor: u16, product: u16) -> UsbId {
    UsbId { vendor, product }
}

const fn nitrokey(product: u16) -> UsbId {
    usb(0x20A0, product)
}

/// Answers of a card about itself, and its reader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Manufacturer in the AID (OpenPGP card 3.4.1 §4.2.1).
    pub manufacturer: u16,
    /// Major and minor version of the specification, from the AID.
    pub card_version: (u8, u8),
    /// The reader's, where it is on USB.
    pub usb: Option<UsbId>,
    /// The answer to `00 F1 00 00`, Yubico's version command: three BCD bytes. The applet's version
    /// on a NEO, the firmware's since.
    pub yubikey_version: Option<[u8; 3]>,
}

impl Catalogue {
    /// The name of the product, by what is most specific of what is known.
    pub fn identify(&self, evidence: &Evidence) -> String {
        yubikey(evidence)
            .or_else(|| self.by_device(evidence))
            .or_else(|| platform(evidence))
            .unwrap_or_else(|| self.issuer(evidence.manufacturer))
    }

    /// A USB device of a token's.
    fn by_device(&self, evidence: &Evidence) -> Option<String> {
        let device = evidence.usb.filter(|device| *device != SCT3522)?;
        let name = self.usb_name(device)?;
        let listed = |token: &Token| token.usb.contains(&device);
        let shared = self.only(listed).is_none();
        // Several models share the device, and the card's version tells them apart.
        let token = self
            .only(|token| listed(token) && consistent(token, evidence))
            .filter(|token| !shared || token.card_version.is_some());
        let name = match (device, token.map(|token| token.id.as_str())) {
            (NITROKEY_PRO, Some("nitrokey-pro")) => "Nitrokey Pro",
            (NITROKEY_PRO, Some("nitrokey-pro-2")) => "Nitrokey Pro 2",
            (NITROKEY_STORAGE, Some("nitrokey-pro-2")) => "Nitrokey Storage 2",
            _ => name,
        };
        Some(name.to_owned())
    }

    /// OpenPGP card 3.4.1 §4.2.1: 0000 and FFFF are for tests, and from FF00 to FFFE serial numbers
    /// are drawn at random and nobody manages them.
    fn issuer(&self, manufacturer: u16) -> String {
        match (manufacturer, self.manufacturer(manufacturer)) {
            (0 | 0xFFFF, _) => "OpenPGP test card".to_owned(),
            (0xFF00..=0xFFFE, _) => "unmanaged OpenPGP card".to_owned(),
            (SMARTPGP_DEFAULT, _) => "SmartPGP OpenPGP card (default manufacturer id)".to_owned(),
            (_, Some(name)) => format!("{name} OpenPGP card"),
            (id, None) => format!("OpenPGP card of unknown manufacturer {id:04X}"),
        }
    }

    fn only(&self, fits: impl Fn(&Token) -> bool) -> Option<&Token> {
        let mut fitting = self.tokens.iter().filter(|token| fits(token));
        let first = fitting.next();
        first.filter(|_| fitting.next().is_none())
    }
}

fn yubikey(evidence: &Evidence) -> Option<String> {
    if evidence.manufacturer != YUBICO {
        return None;
    }
    let [major, minor, patch] = evidence.yubikey_version.and_then(from_bcd)?;
    let dotted = format!("{major}.{minor}.{patch}");
    Some(match major {
        1 => format!("YubiKey NEO (OpenPGP applet {dotted})"),
        4 | 5 => format!("YubiKey {major} (firmware {dotted})"),
        _ => format!("Yubico OpenPGP card (version {dotted})"),
    })
}

fn consistent(token: &Token, evidence: &Evidence) -> bool {
    token
        .manufacturer
        .as_ref()
        .is_none_or(|ids| ids.contains(evidence.manufacturer))
        && token
            .card_version
            .is_none_or(|version| version == evidence.card_version)
}

/// A chip or firmware, by its maker's id. Which board Gnuk runs on nothing here tells.
fn platform(evidence: &Evidence) -> Option<String> {
    let (major, minor) = evidence.card_version;
    match evidence.manufacturer {
        FSIJ => Some("Gnuk".to_owned()),
        ZEITCONTROL => Some(format!(
            "ZeitControl BasicCard (OpenPGP card {major}.{minor})"
        )),
        _ => None,
    }
}

fn from_bcd(bytes: [u8; 3]) -> Option<[u8; 3]> {
    let valid = |byte: &u8| byte >> 4 < 10 && byte & 0xF < 10;
    bytes
        .iter()
        .all(valid)
        .then(|| bytes.map(|byte| 10 * (byte >> 4) + (byte & 0xF)))
}

#[cfg(test)]
mod tests;

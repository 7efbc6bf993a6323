//! What a card is, by what it and its reader tell.

use super::{Catalogue, Token, UsbId};

// Manufacturer ids of the AID (OpenPGP card 3.4.1 §4.2.1; names as in GnuPG scd/app-openpgp.c).
const ZEITCONTROL: u16 = 0x0005;
const YUBICO: u16 = 0x0006;
const FSIJ: u16 = 0xF517;
/// What SmartPGP's build.xml sets unless told otherwise.
const SMARTPGP_DEFAULT: u16 = 0xAFAF;

const NITROKEY_PRO: UsbId = nitrokey(0x4108);
const NITROKEY_STORAGE: UsbId = nitrokey(0x4109);

/// Nitrokeys by what their readers are called where the USB id cannot be had.
const NITROKEY_READERS: [(&str, UsbId); 4] = [
    ("Nitrokey Pro", NITROKEY_PRO),
    ("Nitrokey Storage", NITROKEY_STORAGE),
    ("Nitrokey Start", nitrokey(0x4211)),
    ("Nitrokey 3", nitrokey(0x42B2)),
];

/// The USB ids of Gnuk (its GNUK_USB_DEVICE_ID) stand for the firmware, which runs on many boards.
const GNUK: [UsbId; 2] = [usb(0x234B, 0x0000), usb(0x1209, 0x2440)];

/// Carries a card like any other reader.
const SCT3522: UsbId = usb(0x04E6, 0x5817);

const fn usb(vendor: u16, product: u16) -> UsbId {
    UsbId { vendor, product }
}

const fn nitrokey(product: u16) -> UsbId {
    usb(0x20A0, product)
}

/// What a card and its reader tell about themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// From the AID (OpenPGP card 3.4.1 §4.2.1).
    pub manufacturer: u16,
    /// From the AID. Serial numbers do not tell products apart.
    pub serial: u32,
    /// Major and minor version of the specification, from the AID.
    pub card_version: (u8, u8),
    /// As PC/SC gives it (ISO 7816-3 §8).
    pub atr: Vec<u8>,
    /// What PC/SC calls the reader.
    pub reader: String,
    /// The reader's, where it is on USB.
    pub usb: Option<UsbId>,
    /// The answer to `00 F1 00 00`, Yubico's version command: three BCD bytes. The applet's version
    /// on a NEO, the firmware's since.
    pub yubikey_version: Option<[u8; 3]>,
}

/// What a card is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product<'a> {
    /// As much as the evidence says, and no more.
    pub name: String,
    /// The entry of the catalogue, when it can only be this one.
    pub token: Option<&'a Token>,
    /// Its version, where the device gave it. A NEO gives that of its applet, which is in the name.
    pub firmware: Option<String>,
    /// The evidence that decided, in words.
    pub why: Vec<String>,
}

impl Catalogue {
    /// What the card is that gave this evidence.
    ///
    /// The card's own account comes before that of its reader, except where the reader is a known
    /// token: a card cannot be taken out of that.
    #[must_use]
    pub fn identify(&self, evidence: &Evidence) -> Product<'_> {
        self.yubikey(evidence)
            .or_else(|| self.by_device(evidence))
            .or_else(|| self.by_platform(evidence))
            .unwrap_or_else(|| self.by_manufacturer(evidence))
    }

    /// A YubiKey that answered the version command (yubikit/openpgp.py, `_read_version`).
    fn yubikey(&self, evidence: &Evidence) -> Option<Product<'_>> {
        if evidence.manufacturer != YUBICO {
            return None;
        }
        let [major, minor, patch] = evidence.yubikey_version.and_then(from_bcd)?;
        let dotted = format!("{major}.{minor}.{patch}");
        let by_firmware = || {
            self.tokens().iter().find(|token| {
                token.manufacturer == Some(YUBICO)
                    && token
                        .firmware
                        .is_some_and(|range| range.contains([major, minor, patch]))
            })
        };
        let why = vec![
            by_aid(YUBICO),
            format!("Yubico's version command answers {dotted}"),
        ];
        let (name, token, firmware) = match major {
            1 => (
                format!("YubiKey NEO (OpenPGP applet {dotted})"),
                self.token("yubikey-neo"),
                None,
            ),
            4 | 5 => (
                format!("YubiKey {major} (firmware {dotted})"),
                by_firmware(),
                Some(dotted),
            ),
            _ => (
                format!("Yubico OpenPGP card (version {dotted})"),
                None,
                None,
            ),
        };
        Some(Product {
            name,
            token,
            firmware,
            why,
        })
    }

    /// A token that is reader and card in one.
    fn by_device(&self, evidence: &Evidence) -> Option<Product<'_>> {
        let (device, told) = match evidence.usb {
            Some(device) => (device, format!("the reader is the USB device {device}")),
            None => nitrokey_by_reader(&evidence.reader)
                .map(|(name, device)| (device, format!("the reader is called '{name}'")))?,
        };
        if device == SCT3522 {
            return None;
        }
        let name = self.usb_name(device)?;
        let listed = |token: &Token| token.usb.contains(&device);
        let shared = self.only(listed).is_none();
        let token = self
            .only(|token| listed(token) && consistent(token, evidence))
            .filter(|token| !shared || token.card_version.is_some())
            .filter(|_| !GNUK.contains(&device));
        let name = match (device, token.map(|token| token.id.as_str())) {
            (NITROKEY_PRO, Some("nitrokey-pro")) => "Nitrokey Pro",
            (NITROKEY_PRO, Some("nitrokey-pro-2")) => "Nitrokey Pro 2",
            (NITROKEY_STORAGE, Some("nitrokey-pro-2")) => "Nitrokey Storage 2",
            _ => name,
        };
        let mut why = vec![told];
        if shared && token.is_some() {
            why.push(by_version(evidence.card_version));
        }
        Some(Product {
            name: name.to_owned(),
            token,
            firmware: None,
            why,
        })
    }

    /// Gnuk and ZeitControl's card, which others than their makers hand out under their own ids.
    fn by_platform(&self, evidence: &Evidence) -> Option<Product<'_>> {
        let (platform, maker) = match evidence.manufacturer {
            FSIJ => ("Gnuk", FSIJ),
            ZEITCONTROL => ("ZeitControl BasicCard", ZEITCONTROL),
            // Its ATR is that of whatever platform carries the applet.
            YUBICO => return None,
            _ => platform_by_atr(&evidence.atr)?,
        };
        if maker != evidence.manufacturer {
            let issuer = self.issuer(evidence.manufacturer);
            return Some(Product {
                name: format!("{platform} by its ATR ({issuer})"),
                token: None,
                firmware: None,
                why: vec![
                    format!("the ATR looks like that of {platform}"),
                    by_aid(evidence.manufacturer),
                ],
            });
        }
        if maker == FSIJ {
            // Which board it runs on nothing here tells.
            return Some(Product {
                name: platform.to_owned(),
                token: None,
                firmware: None,
                why: vec![by_aid(maker)],
            });
        }
        let (major, minor) = evidence.card_version;
        Some(Product {
            name: format!("{platform} (OpenPGP card {major}.{minor})"),
            token: self.bare_card(evidence),
            firmware: None,
            why: vec![by_aid(maker), by_version(evidence.card_version)],
        })
    }

    /// What is left: who answers for the serial number.
    fn by_manufacturer(&self, evidence: &Evidence) -> Product<'_> {
        let token = self.bare_card(evidence);
        let mut why = vec![by_aid(evidence.manufacturer)];
        if token.is_some() {
            why.push(by_version(evidence.card_version));
        }
        Product {
            name: self.issuer(evidence.manufacturer),
            token,
            firmware: None,
            why,
        }
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

    /// The token that is a card for any reader, of this manufacturer and version.
    fn bare_card(&self, evidence: &Evidence) -> Option<&Token> {
        self.only(|token| {
            token.usb.is_empty()
                && token.firmware.is_none()
                && token.manufacturer == Some(evidence.manufacturer)
                && token.card_version == Some(evidence.card_version)
        })
    }

    fn only(&self, fits: impl Fn(&Token) -> bool) -> Option<&Token> {
        let mut fitting = self.tokens().iter().filter(|token| fits(token));
        let first = fitting.next();
        first.filter(|_| fitting.next().is_none())
    }
}

/// What the catalogue does not know of a token contradicts nothing.
fn consistent(token: &Token, evidence: &Evidence) -> bool {
    token
        .manufacturer
        .is_none_or(|id| id == evidence.manufacturer)
        && token
            .card_version
            .is_none_or(|version| version == evidence.card_version)
}

fn by_aid(manufacturer: u16) -> String {
    format!("the manufacturer in the AID is {manufacturer:04X}")
}

fn by_version((major, minor): (u8, u8)) -> String {
    format!("the version in the AID is {major}.{minor}")
}

fn nitrokey_by_reader(reader: &str) -> Option<(&'static str, UsbId)> {
    let reader = reader.to_lowercase();
    let named = |name: &str| {
        reader
            .split(name)
            .skip(1)
            .any(|behind| !behind.starts_with(char::is_alphanumeric))
    };
    NITROKEY_READERS
        .iter()
        .find(|(name, _)| named(&name.to_lowercase()))
        .copied()
}

/// The heuristics of GnuPG's scd/app.c, with the manufacturer id of the platform's maker.
fn platform_by_atr(atr: &[u8]) -> Option<(&'static str, u16)> {
    match atr {
        [_, _, 0x11, ..] if atr.len() == 21 => Some(("Gnuk", FSIJ)),
        [_, _, _, _, _, _, _, 0x75, ..] if atr.len() == 21 => {
            Some(("ZeitControl BasicCard", ZEITCONTROL))
        }
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GNUK_ATR: &[u8] =
        b"\x3B\xDA\x11\xFF\x81\xB1\xFE\x55\x1F\x03\x00\x31\x84\x73\x80\x01\x80\x00\x90\x00\xE4";
    const BASICCARD_ATR: &[u8] =
        b"\x3B\xDA\x18\xFF\x81\xB1\xFE\x75\x1F\x03\x00\x31\xF5\x73\xC0\x01\x60\x00\x90\x00\x1C";

    fn card(manufacturer: u16, card_version: (u8, u8)) -> Evidence {
        Evidence {
            manufacturer,
            serial: 0x1234_5678,
            card_version,
            reader: "Generic Reader 00 00".to_owned(),
            ..Evidence::default()
        }
    }

    fn in_device(device: UsbId, manufacturer: u16, card_version: (u8, u8)) -> Evidence {
        Evidence {
            usb: Some(device),
            ..card(manufacturer, card_version)
        }
    }

    /// Name, and the token's id or nothing.
    fn identified(evidence: &Evidence) -> (String, &'static str) {
        let product = Catalogue::shipped().unwrap().identify(evidence);
        (product.name, product.token.map_or("", |token| &token.id))
    }

    fn assert_identified(evidence: &Evidence, name: &str, token: &str) {
        assert_eq!(identified(evidence), (name.to_owned(), token));
    }

    #[test]
    fn yubikeys_are_told_by_the_version_command() {
        for (bcd, name, token) in [
            (
                [1, 0, 0x10],
                "YubiKey NEO (OpenPGP applet 1.0.10)",
                "yubikey-neo",
            ),
            ([4, 3, 5], "YubiKey 4 (firmware 4.3.5)", "yubikey-4"),
            ([5, 1, 2], "YubiKey 5 (firmware 5.1.2)", "yubikey-5-pre52"),
            ([5, 2, 1], "YubiKey 5 (firmware 5.2.1)", ""),
            ([5, 4, 3], "YubiKey 5 (firmware 5.4.3)", "yubikey-5-52"),
            ([5, 7, 0], "YubiKey 5 (firmware 5.7.0)", "yubikey-5-57"),
            ([6, 0, 0], "Yubico OpenPGP card (version 6.0.0)", ""),
        ] {
            let evidence = Evidence {
                yubikey_version: Some(bcd),
                ..in_device(usb(0x1050, 0x0407), YUBICO, (3, 4))
            };
            assert_identified(&evidence, name, token);
        }
    }

    #[test]
    fn without_the_version_a_yubikey_4_is_not_told_from_a_5() {
        let unknown = in_device(usb(0x1050, 0x0404), YUBICO, (3, 4));
        assert_identified(&unknown, "YubiKey 4/5 CCID", "");
        let no_bcd = Evidence {
            yubikey_version: Some([5, 0x0A, 0]),
            ..unknown.clone()
        };
        assert_identified(&no_bcd, "YubiKey 4/5 CCID", "");
        let old = in_device(usb(0x1050, 0x0112), YUBICO, (2, 0));
        assert_identified(&old, "YubiKey NEO CCID", "yubikey-neo");
        assert_identified(&card(YUBICO, (2, 0)), "Yubico OpenPGP card", "");
    }

    /// Whatever card version: the catalogue does not know that of the YubiKey 4.
    #[test]
    fn a_card_version_alone_makes_no_yubikey_4() {
        let odd = in_device(usb(0x1050, 0x0407), YUBICO, (9, 9));
        assert_identified(&odd, "YubiKey 4/5 OTP+FIDO+CCID", "");
    }

    #[test]
    fn nitrokeys_are_told_by_usb_id_and_card_version() {
        let (pro, storage) = (NITROKEY_PRO, NITROKEY_STORAGE);
        for (device, maker, version, name, token) in [
            (pro, 5, (2, 1), "Nitrokey Pro", "nitrokey-pro"),
            (pro, 5, (3, 3), "Nitrokey Pro 2", "nitrokey-pro-2"),
            (pro, 5, (3, 4), "Nitrokey Pro / Pro 2", ""),
            (storage, 5, (2, 1), "Nitrokey Storage / Storage 2", ""),
            (storage, 5, (3, 3), "Nitrokey Storage 2", "nitrokey-pro-2"),
            (
                nitrokey(0x4211),
                FSIJ,
                (2, 0),
                "Nitrokey Start",
                "nitrokey-start",
            ),
            (nitrokey(0x42B2), 0xF, (3, 4), "Nitrokey 3", "nitrokey-3"),
            (nitrokey(0x42B2), 0xFFFF, (3, 4), "Nitrokey 3", ""),
        ] {
            assert_identified(&in_device(device, maker, version), name, token);
        }
    }

    #[test]
    fn nitrokeys_are_told_by_the_reader_where_there_is_no_usb_id() {
        for (reader, maker, version, name) in [
            (
                "Nitrokey Nitrokey Pro (00003A2B) 00 00",
                5,
                (2, 1),
                "Nitrokey Pro",
            ),
            (
                "Nitrokey Nitrokey Storage (0034) 00 00",
                5,
                (3, 3),
                "Nitrokey Storage 2",
            ),
            (
                "Nitrokey Nitrokey Start (FSIJ-1.2.15) 01 00",
                FSIJ,
                (2, 0),
                "Nitrokey Start",
            ),
            (
                "Nitrokey Nitrokey 3 [CCID/ICCD Interface] 00 00",
                0xF,
                (3, 4),
                "Nitrokey 3",
            ),
            ("Nitrokey 300 00 00", 0xF, (3, 4), "Nitrokey OpenPGP card"),
            ("Virtual PCD 00 00", 0xF, (3, 4), "Nitrokey OpenPGP card"),
        ] {
            let evidence = Evidence {
                reader: reader.to_owned(),
                ..card(maker, version)
            };
            assert_eq!(identified(&evidence).0, name, "{reader}");
        }
        let elsewhere = Evidence {
            reader: "Nitrokey Nitrokey 3 00 00".to_owned(),
            ..in_device(usb(0x072F, 0x90CC), 0xF, (3, 4))
        };
        assert_identified(&elsewhere, "Nitrokey OpenPGP card", "");
    }

    #[test]
    fn gnuk_is_told_without_its_board() {
        let fst_01 = in_device(usb(0x234B, 0), FSIJ, (2, 0));
        assert_identified(&fst_01, "Gnuk token (FSIJ)", "");
        assert_identified(&card(FSIJ, (2, 0)), "Gnuk", "");
        let by_atr = |manufacturer| Evidence {
            atr: GNUK_ATR.to_vec(),
            ..card(manufacturer, (2, 0))
        };
        assert_identified(
            &by_atr(0xFFF0),
            "Gnuk by its ATR (unmanaged OpenPGP card)",
            "",
        );
        let sold = "Gnuk by its ATR (GnuPG e.V. OpenPGP card)";
        assert_identified(&by_atr(0x0042), sold, "");
        assert_identified(&by_atr(YUBICO), "Yubico OpenPGP card", "");
    }

    #[test]
    fn zeitcontrols_card_is_told_by_manufacturer_or_atr() {
        for (version, token) in [
            ((2, 1), "openpgp-card-2.1"),
            ((3, 3), "openpgp-card-3.3"),
            ((3, 4), "openpgp-card-3.4"),
            ((2, 0), ""),
        ] {
            let (major, minor) = version;
            let name = format!("ZeitControl BasicCard (OpenPGP card {major}.{minor})");
            assert_identified(&card(ZEITCONTROL, version), &name, token);
            let in_stick = in_device(SCT3522, ZEITCONTROL, version);
            assert_identified(&in_stick, &name, token);
        }
        let issued = Evidence {
            atr: BASICCARD_ATR.to_vec(),
            ..card(0x0042, (3, 3))
        };
        let name = "ZeitControl BasicCard by its ATR (GnuPG e.V. OpenPGP card)";
        assert_identified(&issued, name, "");
    }

    #[test]
    fn other_tokens_are_told_by_usb_id() {
        for (vendor, product, maker, name, token) in [
            (0x20A0, 0x42D4, 0xF1D0, "CanoKey", "canokey"),
            (0x2E8A, 0x10FF, 0xFFFE, "Pico OpenPGP", "pico-openpgp"),
            (0x316D, 0x4C4B, ZEITCONTROL, "Purism Librem Key", ""),
            (
                0x349E,
                0x0024,
                0x0011,
                "TOKEN2 PIN+/Bio3 series with OpenPGP",
                "",
            ),
        ] {
            let evidence = in_device(usb(vendor, product), maker, (3, 4));
            assert_identified(&evidence, name, token);
        }
    }

    #[test]
    fn the_rest_is_told_by_manufacturer() {
        for (manufacturer, name, token) in [
            (0x000B, "Feitian Technologies OpenPGP card", ""),
            (0xF1D0, "CanoKeys OpenPGP card", ""),
            (
                SMARTPGP_DEFAULT,
                "SmartPGP OpenPGP card (default manufacturer id)",
                "smartpgp",
            ),
            (0xFF00, "unmanaged OpenPGP card", ""),
            (0xFFFE, "unmanaged OpenPGP card", ""),
            (0x0000, "OpenPGP test card", ""),
            (0xFFFF, "OpenPGP test card", ""),
            (0x1234, "OpenPGP card of unknown manufacturer 1234", ""),
        ] {
            assert_identified(&card(manufacturer, (3, 4)), name, token);
        }
    }

    #[test]
    fn a_product_says_what_decided_and_which_firmware_answered() {
        let catalogue = Catalogue::shipped().unwrap();
        let told = |evidence: &Evidence| {
            let product = catalogue.identify(evidence);
            (product.firmware, product.why.join("; "))
        };
        let answering = |yubikey_version| Evidence {
            yubikey_version,
            ..card(YUBICO, (3, 4))
        };
        let yubico = "the manufacturer in the AID is 0006";
        for (bcd, firmware, dotted) in [
            ([5, 4, 3], Some("5.4.3"), "5.4.3"),
            ([1, 0, 9], None, "1.0.9"),
            ([6, 0, 0], None, "6.0.0"),
        ] {
            let why = format!("{yubico}; Yubico's version command answers {dotted}");
            let expected = (firmware.map(str::to_owned), why);
            assert_eq!(told(&answering(Some(bcd))), expected);
        }
        assert_eq!(told(&answering(None)), (None, yubico.to_owned()));
        let named = Evidence {
            reader: "NITROKEY PRO 00 00".to_owned(),
            ..card(ZEITCONTROL, (3, 3))
        };
        let issued = Evidence {
            atr: GNUK_ATR.to_vec(),
            ..card(0x0042, (2, 0))
        };
        for (evidence, why) in [
            (
                in_device(nitrokey(0x42B2), 0xF, (3, 4)),
                "the reader is the USB device 20A0:42B2",
            ),
            (
                named,
                "the reader is called 'Nitrokey Pro'; the version in the AID is 3.3",
            ),
            (
                issued,
                "the ATR looks like that of Gnuk; the manufacturer in the AID is 0042",
            ),
            (
                card(ZEITCONTROL, (3, 3)),
                "the manufacturer in the AID is 0005; the version in the AID is 3.3",
            ),
        ] {
            assert_eq!(told(&evidence), (None, why.to_owned()));
        }
    }

    fn any_evidence() -> impl Strategy<Value = Evidence> {
        let known = prop_oneof![
            any::<u16>(),
            Just(YUBICO),
            Just(ZEITCONTROL),
            Just(FSIJ),
            Just(0x000F),
        ];
        let products = (any::<u16>(), any::<u16>()).prop_map(|(v, p)| usb(v, p));
        let device = prop_oneof![
            products,
            any::<u16>().prop_map(nitrokey),
            Just(NITROKEY_PRO),
            (0x0400u16..0x0410).prop_map(|product| usb(0x1050, product)),
        ];
        let reader = prop_oneof![
            any::<String>(),
            any::<String>().prop_map(|text| format!("Nitrokey Pro{text}")),
        ];
        (
            known,
            any::<u32>(),
            any::<(u8, u8)>(),
            prop::collection::vec(any::<u8>(), 0..34),
            reader,
            prop::option::of(device),
            any::<Option<[u8; 3]>>(),
        )
            .prop_map(
                |(manufacturer, serial, card_version, atr, reader, usb, yubikey_version)| {
                    Evidence {
                        manufacturer,
                        serial,
                        card_version,
                        atr,
                        reader,
                        usb,
                        yubikey_version,
                    }
                },
            )
    }

    proptest! {
        #[test]
        fn any_evidence_gives_a_name_and_no_contradicting_token(evidence in any_evidence()) {
            let product = Catalogue::shipped().unwrap().identify(&evidence);
            prop_assert!(!product.name.is_empty() && !product.why.is_empty());
            if let Some(token) = product.token {
                prop_assert!(token.manufacturer.is_none_or(|id| id == evidence.manufacturer));
            }
        }
    }
}

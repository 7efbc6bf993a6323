//! Evidence of each family of products, and what is made of it.

use proptest::prelude::*;

use super::*;

const GNUK_ATR: &[u8] =
    b"\x3B\xDA\x11\xFF\x81\xB1\xFE\x55\x1F\x03\x00\x31\x84\x73\x80\x01\x80\x00\x90\x00\xE4";
const BASICCARD_ATR: &[u8] =
    b"\x3B\xDA\x18\xFF\x81\xB1\xFE\x75\x1F\x03\x00\x31\xF5\x73\xC0\x01\x60\x00\x90\x00\x1C";

fn card(manufacturer: u16, card_version: (u8, u8)) -> Evidence {
    Evidence {
        manufacturer,
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

fn identified(evidence: &Evidence) -> String {
    Catalogue::shipped().unwrap().identify(evidence)
}

fn assert_identified(evidence: &Evidence, name: &str) {
    assert_eq!(identified(evidence), name);
}

#[test]
fn yubikeys_are_told_by_the_version_command() {
    for (bcd, name) in [
        ([1, 0, 0x10], "YubiKey NEO (OpenPGP applet 1.0.10)"),
        ([4, 3, 5], "YubiKey 4 (firmware 4.3.5)"),
        ([5, 1, 2], "YubiKey 5 (firmware 5.1.2)"),
        ([5, 2, 1], "YubiKey 5 (firmware 5.2.1)"),
        ([5, 4, 3], "YubiKey 5 (firmware 5.4.3)"),
        ([5, 7, 0], "YubiKey 5 (firmware 5.7.0)"),
        ([6, 0, 0], "Yubico OpenPGP card (version 6.0.0)"),
    ] {
        let evidence = Evidence {
            yubikey_version: Some(bcd),
            ..in_device(usb(0x1050, 0x0407), YUBICO, (3, 4))
        };
        assert_identified(&evidence, name);
    }
}

#[test]
fn without_the_version_a_yubikey_4_is_not_told_from_a_5() {
    let unknown = in_device(usb(0x1050, 0x0404), YUBICO, (3, 4));
    assert_identified(&unknown, "YubiKey 4/5 CCID");
    let no_bcd = Evidence {
        yubikey_version: Some([5, 0x0A, 0]),
        ..unknown.clone()
    };
    assert_identified(&no_bcd, "YubiKey 4/5 CCID");
    let old = in_device(usb(0x1050, 0x0112), YUBICO, (2, 0));
    assert_identified(&old, "YubiKey NEO CCID");
    assert_identified(&card(YUBICO, (2, 0)), "Yubico OpenPGP card");
}

/// Whatever card version: the catalogue does not know that of the YubiKey 4.
#[test]
fn a_card_version_alone_makes_no_yubikey_4() {
    let odd = in_device(usb(0x1050, 0x0407), YUBICO, (9, 9));
    assert_identified(&odd, "YubiKey 4/5 OTP+FIDO+CCID");
}

#[test]
fn nitrokeys_are_told_by_usb_id_and_card_version() {
    let (pro, storage) = (NITROKEY_PRO, NITROKEY_STORAGE);
    for (device, maker, version, name) in [
        (pro, 5, (2, 1), "Nitrokey Pro"),
        (pro, 5, (3, 3), "Nitrokey Pro 2"),
        (pro, 5, (3, 4), "Nitrokey Pro / Pro 2"),
        (storage, 5, (2, 1), "Nitrokey Storage / Storage 2"),
        (storage, 5, (3, 3), "Nitrokey Storage 2"),
        (nitrokey(0x4211), FSIJ, (2, 0), "Nitrokey Start"),
        (nitrokey(0x42B2), 0xF, (3, 4), "Nitrokey 3"),
        (nitrokey(0x42B2), 0xFFFF, (3, 4), "Nitrokey 3"),
    ] {
        assert_identified(&in_device(device, maker, version), name);
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
        assert_eq!(identified(&evidence), name, "{reader}");
    }
    let elsewhere = Evidence {
        reader: "Nitrokey Nitrokey 3 00 00".to_owned(),
        ..in_device(usb(0x072F, 0x90CC), 0xF, (3, 4))
    };
    assert_identified(&elsewhere, "Nitrokey OpenPGP card");
}

#[test]
fn gnuk_is_told_without_its_board() {
    let fst_01 = in_device(usb(0x234B, 0), FSIJ, (2, 0));
    assert_identified(&fst_01, "Gnuk token (FSIJ)");
    assert_identified(&card(FSIJ, (2, 0)), "Gnuk");
    let by_atr = |manufacturer| Evidence {
        atr: GNUK_ATR.to_vec(),
        ..card(manufacturer, (2, 0))
    };
    assert_identified(&by_atr(0xFFF0), "Gnuk by its ATR (unmanaged OpenPGP card)");
    let sold = "Gnuk by its ATR (GnuPG e.V. OpenPGP card)";
    assert_identified(&by_atr(0x0042), sold);
    assert_identified(&by_atr(YUBICO), "Yubico OpenPGP card");
}

#[test]
fn zeitcontrols_card_is_told_by_manufacturer_or_atr() {
    for version in [(2, 1), (3, 3), (3, 4), (2, 0)] {
        let (major, minor) = version;
        let name = format!("ZeitControl BasicCard (OpenPGP card {major}.{minor})");
        assert_identified(&card(ZEITCONTROL, version), &name);
        let in_stick = in_device(SCT3522, ZEITCONTROL, version);
        assert_identified(&in_stick, &name);
    }
    let issued = Evidence {
        atr: BASICCARD_ATR.to_vec(),
        ..card(0x0042, (3, 3))
    };
    let name = "ZeitControl BasicCard by its ATR (GnuPG e.V. OpenPGP card)";
    assert_identified(&issued, name);
}

#[test]
fn other_tokens_are_told_by_usb_id() {
    for (vendor, product, maker, name) in [
        (0x20A0, 0x42D4, 0xF1D0, "CanoKey"),
        (0x2E8A, 0x10FF, 0xFFFE, "Pico OpenPGP"),
        (0x316D, 0x4C4B, ZEITCONTROL, "Purism Librem Key"),
        (
            0x349E,
            0x0024,
            0x0011,
            "TOKEN2 PIN+/Bio3 series with OpenPGP",
        ),
    ] {
        let evidence = in_device(usb(vendor, product), maker, (3, 4));
        assert_identified(&evidence, name);
    }
}

#[test]
fn the_rest_is_told_by_manufacturer() {
    for (manufacturer, name) in [
        (0x000B, "Feitian Technologies OpenPGP card"),
        (0xF1D0, "CanoKeys OpenPGP card"),
        (
            SMARTPGP_DEFAULT,
            "SmartPGP OpenPGP card (default manufacturer id)",
        ),
        (0xFF00, "unmanaged OpenPGP card"),
        (0xFFFE, "unmanaged OpenPGP card"),
        (0x0000, "OpenPGP test card"),
        (0xFFFF, "OpenPGP test card"),
        (0x1234, "OpenPGP card of unknown manufacturer 1234"),
    ] {
        assert_identified(&card(manufacturer, (3, 4)), name);
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
        any::<(u8, u8)>(),
        prop::collection::vec(any::<u8>(), 0..34),
        reader,
        prop::option::of(device),
        any::<Option<[u8; 3]>>(),
    )
        .prop_map(
            |(manufacturer, card_version, atr, reader, usb, yubikey_version)| Evidence {
                manufacturer,
                card_version,
                atr,
                reader,
                usb,
                yubikey_version,
            },
        )
}

proptest! {
    #[test]
    fn any_evidence_gives_a_name(evidence in any_evidence()) {
        prop_assert!(!identified(&evidence).is_empty());
    }
}

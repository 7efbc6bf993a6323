//! Evidence of each family of products, and what is made of it.

use proptest::prelude::*;

use super::*;

/// A row of `evidence.txt`: what is known, and the name that is made of it.
fn row(row: &str) -> (Evidence, &str) {
    let columns: Vec<&str> = row.split(" | ").collect();
    let [manufacturer, version, usb, more, name] = columns[..] else {
        panic!("five columns: {row}");
    };
    let (major, minor) = version.split_once('.').unwrap();
    let mut evidence = Evidence {
        manufacturer: u16::from_str_radix(manufacturer, 16).unwrap(),
        card_version: (major.parse().unwrap(), minor.parse().unwrap()),
        reader: "Generic Reader 00 00".to_owned(),
        usb: (usb != "-").then(|| usb.to_owned().try_into().unwrap()),
        ..Evidence::default()
    };
    match more.split_once(' ') {
        Some(("reader", reader)) => reader.clone_into(&mut evidence.reader),
        Some(("atr", atr)) => evidence.atr = hex::decode(atr).unwrap(),
        Some(("version", bcd)) => {
            evidence.yubikey_version = hex::decode(bcd).unwrap().try_into().ok();
        }
        _ => assert_eq!(more, "-", "{row}"),
    }
    (evidence, name)
}

fn identified(evidence: &Evidence) -> String {
    Catalogue::shipped().identify(evidence)
}

#[test]
fn evidence_of_each_family_gives_the_products_name() {
    let rows = include_str!("evidence.txt").lines();
    for line in rows.filter(|line| !line.starts_with('#')) {
        let (evidence, name) = row(line);
        assert_eq!(identified(&evidence), name, "{line}");
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

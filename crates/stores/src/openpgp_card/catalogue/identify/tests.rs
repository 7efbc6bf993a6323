//! Evidence of each family of products, and what is made of it.

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
        usb: (usb != "-").then(|| usb.to_owned().try_into().unwrap()),
        ..Evidence::default()
    };
    match more.split_once(' ') {
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

//! Records on every family's flash.

use super::*;
use crate::geometry::Geometry;
use crate::region::write;

#[test]
fn crc_has_its_published_check_value() {
    assert_eq!(crc32(&[b"1234", b"56789"]), 0xcbf4_3926);
}

#[test]
fn records_read_back_on_every_unit() {
    for geometry in Geometry::shipped().unwrap() {
        let mut flash = Flash::new(&geometry);
        let unit = flash.unit();
        let key = encode(ObjectId::SignatureKey, &[7; 321], None, unit);
        let low = encode(
            ObjectId::SignatureCounter,
            &[0x12, 0x34, 0x57],
            Some(0x0012_3456),
            unit,
        );
        let full = encode(
            ObjectId::SignatureCounter,
            &[0x12, 0x40, 0x00],
            Some(0x0012_3fff),
            unit,
        );
        let pin = encode(ObjectId::AdminPinErrors, &[3], None, unit);
        write(
            &mut flash,
            0,
            &[key, low, full, pin, encode_removed(ObjectId::Url, unit)].concat(),
        )
        .unwrap();
        let (mut at, mut contents) = (0, Vec::new());
        while let Parsed::Record(record) = parse(&flash, at, 1024).unwrap() {
            assert!(record.whole);
            contents.push((record.object, record.content));
            at += record.bytes;
        }
        let expected = [
            (ObjectId::SignatureKey, Content::Value(321)),
            (ObjectId::SignatureCounter, Content::CounterLow(0x457)),
            (
                ObjectId::SignatureCounter,
                Content::CounterFull(0x0012_4000),
            ),
            (ObjectId::AdminPinErrors, Content::PinErrors(3)),
            (ObjectId::Url, Content::Removed),
        ];
        assert_eq!(contents, expected);
    }
}

#[test]
fn a_record_torn_anywhere_is_not_whole() {
    for geometry in Geometry::shipped().unwrap() {
        let value = [0xa5; 20];
        let bytes = encode(ObjectId::Name, &value, None, geometry.program_unit_bytes);
        for cut in 0..bytes.len() / geometry.program_unit_bytes {
            for seed in 0..32 {
                let mut flash = Flash::new(&geometry);
                flash.cut_power_after(cut as u64, seed);
                assert!(write(&mut flash, 0, &bytes).is_err());
                flash.restore_power();
                let complete = flash.read(0..bytes.len()) == Ok(&bytes[..]);
                let parsed = parse(&flash, 0, 1024).unwrap();
                let whole = matches!(parsed, Parsed::Record(record) if record.whole);
                assert_eq!(
                    whole, complete,
                    "{} cut {cut} torn by {seed}",
                    geometry.name
                );
            }
        }
    }
}

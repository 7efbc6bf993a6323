//! The rules of each family's flash, and what a power loss leaves.

use std::time::Duration;

use keymark_flash::geometry::Geometry;
use keymark_flash::nor::{Flash, FlashError};

use crate::{flash, geometry};

fn not_erased(address: usize) -> Result<(), FlashError> {
    Err(FlashError::NotErased { address })
}

#[test]
fn f103_programs_an_erased_halfword_once_and_zeros_at_any_time() {
    let mut flash = flash("stm32f103-1k");
    flash.program(4, &[0xa5, 0x5a]).unwrap();
    // PM0075: even clearing more bits is refused.
    assert_eq!(flash.program(4, &[0x21, 0x42]), not_erased(4));
    flash.program(4, &[0, 0]).unwrap();
    assert_eq!(flash.program(4, &[1, 0]), not_erased(4));
    flash.erase(0).unwrap();
    flash.program(4, &[1, 0]).unwrap();
    assert_eq!(flash.read(3..7).unwrap(), [0xff, 1, 0, 0xff]);
}

#[test]
fn l4_programs_whole_double_words() {
    let mut flash = flash("stm32l432");
    for (address, data) in [(8, &[0; 4][..]), (4, &[0; 8])] {
        let refused = flash.program(address, data);
        assert!(matches!(refused, Err(FlashError::Misplaced { .. })));
    }
    flash.program(8, &[1; 8]).unwrap();
    assert_eq!(flash.program(8, &[1; 8]), not_erased(8));
    flash.program(8, &[0; 8]).unwrap();
}

#[test]
fn l4_cannot_read_a_torn_double_word_until_it_is_zeroed() {
    let mut unreadable = 0;
    for seed in 0..64 {
        let mut flash = flash("stm32l432");
        flash.cut_power_after(0, seed);
        assert_eq!(flash.program(8, &[0x11; 8]), Err(FlashError::PowerLoss));
        assert_eq!(flash.read(0..8), Err(FlashError::PowerLoss));
        flash.restore_power();
        let torn = flash.read(8..16).map(<[u8]>::to_vec);
        if torn == Err(FlashError::Unreadable { address: 8 }) {
            unreadable += 1;
            assert_eq!(flash.program(8, &[0x11; 8]), not_erased(8));
            flash.program(8, &[0; 8]).unwrap();
            assert_eq!(flash.read(8..16).unwrap(), [0; 8]);
        } else {
            assert!(
                torn == Ok(vec![0xff; 8]) || torn == Ok(vec![0x11; 8]),
                "{torn:?}"
            );
        }
    }
    assert!(unreadable > 16, "{unreadable} of 64");
}

#[test]
fn f4_clears_any_bit_and_sets_none() {
    let mut flash = flash("stm32f405");
    flash.program(0, &[0xf0, 0xff, 0xff, 0xff]).unwrap();
    flash.program(0, &[0x30, 0x0f, 0xff, 0xff]).unwrap();
    assert_eq!(flash.program(0, &[0x31, 0, 0, 0]), not_erased(0));
}

#[test]
fn a_torn_program_clears_only_bits_that_were_to_be_cleared() {
    let mut different = std::collections::BTreeSet::new();
    for seed in 0..64 {
        let mut flash = flash("stm32f405");
        flash.cut_power_after(0, seed);
        assert_eq!(
            flash.program(0, &[0x0f, 0xff, 0xf0, 0xff]),
            Err(FlashError::PowerLoss)
        );
        flash.restore_power();
        let torn = flash.read(0..4).unwrap().to_vec();
        assert!(
            torn[0] & 0x0f == 0x0f && torn[1] == 0xff && torn[2] & 0xf0 == 0xf0 && torn[3] == 0xff
        );
        different.insert(torn);
    }
    assert!(different.len() > 8, "{different:?}");
}

#[test]
fn a_torn_erase_sets_bits_and_clears_none() {
    for geometry in [geometry("stm32f103-1k"), geometry("stm32l432")] {
        let unit = geometry.program_unit_bytes;
        let mut mixed = 0;
        for seed in 0..32 {
            let mut flash = Flash::new(&geometry);
            for address in (0..flash.sectors()[0].bytes).step_by(unit) {
                flash.program(address, &vec![0x5a; unit]).unwrap();
            }
            flash.cut_power_after(0, seed);
            assert_eq!(flash.erase(0), Err(FlashError::PowerLoss));
            let sector = &flash.cells()[..flash.sectors()[0].bytes];
            assert!(sector.iter().all(|cell| cell & 0x5a == 0x5a));
            mixed += usize::from(sector.contains(&0x5a) && sector.contains(&0xff));
        }
        assert!(mixed > 8, "{mixed} of 32");
    }
}

#[test]
fn steps_take_the_time_of_the_datasheet() {
    let mut flash = flash("stm32f405-large");
    flash.program(0, &[0; 4]).unwrap();
    flash.erase(0).unwrap();
    flash.erase(3).unwrap();
    flash.erase(4).unwrap();
    assert_eq!(
        flash.busy().typical,
        Duration::from_micros(16 + 250_000 + 550_000 + 1_000_000)
    );
    assert_eq!(
        flash.busy().maximum,
        Duration::from_micros(100 + 500_000 + 1_100_000 + 2_000_000)
    );
    assert_eq!((flash.programs(), flash.steps()), (1, 4));
    assert_eq!(flash.erases(), [1, 0, 0, 1, 1, 0, 0, 0]);
}

#[test]
fn shipped_geometries_name_their_sources_and_broken_files_are_refused() {
    let shipped = Geometry::shipped().unwrap();
    assert_eq!(shipped.len(), 5);
    for geometry in &shipped {
        assert!(geometry.sources.len() + geometry.assumed.len() >= 3);
        assert_eq!(Geometry::find(&geometry.name).unwrap(), *geometry);
    }
    let unknown = Geometry::find("floppy").unwrap_err().to_string();
    assert!(unknown.contains("stm32f405-large"), "{unknown}");

    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
    let text = std::fs::read_to_string(format!("{data}/stm32l432.toml")).unwrap();
    let found = |text: String| Geometry::parse(&text, "own.toml");
    let own = found(text.replace("\"stm32l432\"", "\"own\"")).unwrap();
    assert_eq!(own.name, "own");
    for (from, to, reason) in [
        ("schema = 1", "schema = 2", "schema"),
        (
            "program-unit-bytes = 8",
            "program-unit-bytes = 3",
            "program-unit-bytes",
        ),
        ("bytes = 2048", "bytes = 1001", "1001"),
        ("count = 8", "count = 0", "no sectors"),
        ("count = 8", "count = 1_000_000_000", "reserved for storage"),
        (
            "endurance-cycles = 10_000",
            "endurance-cycles = 0",
            "endurance-cycles",
        ),
        ("rule = ", "ruler = ", "rule"),
        ("maximum-ns = 90_760", "maximum-ns = 9", "typical"),
        ("\"stm32l432\"", "\"\"", "no name"),
    ] {
        let error = found(text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

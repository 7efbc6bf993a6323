//! What simulations say, by design, geometry and workload.

use std::time::Duration;

use keymark_flash::design::{DesignKind, StorageError};
use keymark_flash::geometry::Geometry;
use keymark_flash::nor::Flash;
use keymark_flash::object::ObjectId;
use keymark_flash::simulate::{Length, StorageResult, perform, simulate};
use keymark_flash::workload::{Change, Workload, Write, provisioning};

use crate::{flash, geometry};

fn run(geometry: &Geometry, design: DesignKind, workload: Workload, writes: u64) -> StorageResult {
    simulate(geometry, design, workload, Length::Writes(writes), 1).unwrap()
}

#[test]
fn every_design_runs_every_workload_where_it_fits() {
    for geometry in Geometry::shipped().unwrap() {
        for &design in DesignKind::ALL {
            for &workload in Workload::ALL {
                match simulate(&geometry, design, workload, Length::Writes(300), 7) {
                    Ok(result) => {
                        assert_eq!(result.writes, 300);
                        assert!(result.latency_maximum.worst > result.latency_typical.worst);
                        assert!(result.latency_typical.worst >= result.latency_typical.mean);
                        assert!(result.space.used_bytes < result.space.reserved_bytes);
                    }
                    Err(error) => {
                        assert!(matches!(error, StorageError::DoesNotFit { .. }), "{error}");
                        assert_eq!(
                            (geometry.name.as_str(), design),
                            ("stm32f405", DesignKind::SeparatePages)
                        );
                    }
                }
            }
        }
    }
}

/// What a design that does not fit needs, what there is, and why.
fn does_not_fit(geometry: &Geometry, design: DesignKind) -> (usize, usize, String) {
    match simulate(geometry, design, Workload::Mixed, Length::Writes(1), 1) {
        Err(StorageError::DoesNotFit {
            needed,
            available,
            why,
            ..
        }) => (needed, available, why),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_design_that_does_not_fit_says_what_it_needs() {
    let (needed, available, why) = does_not_fit(&geometry("stm32f405"), DesignKind::SeparatePages);
    assert_eq!((needed, available), (8, 4));
    assert!(why.contains("certificate"), "{why}");

    for &design in DesignKind::ALL {
        let mut small = geometry("stm32l432");
        small.sectors[0].count = 5;
        let (needed, available, _) = does_not_fit(&small, design);
        // What it asks for is what it takes, in sectors or in bytes.
        small.sectors[0].count = if design == DesignKind::SeparatePages {
            needed
        } else {
            needed / 2048
        };
        assert!(needed > available);
        simulate(&small, design, Workload::Mixed, Length::Writes(1), 1).unwrap();
        small.sectors[0].count -= 1;
        does_not_fit(&small, design);
    }

    let mut mixed = geometry("stm32f405");
    mixed.sectors[0].bytes = 2048;
    let (needed, available, why) = does_not_fit(&mixed, DesignKind::LogZeroing);
    assert!(needed > available, "{why}");
}

#[test]
fn figures_of_long_use_have_seen_every_sector_collected() {
    let long = |name: &str| {
        let geometry = Geometry::find(name).unwrap();
        let design = DesignKind::LogForcedCollection;
        simulate(&geometry, design, Workload::Signatures, Length::Settled, 1).unwrap()
    };
    let (small, large) = (long("stm32f103-2k"), long("stm32f405"));
    assert!(small.is_settled() && small.writes >= 300_000);
    assert!(large.is_settled() && large.writes > 500_000);
    let erase = Duration::from_micros(550_000);
    assert!(
        large.latency_typical.worst > erase,
        "the sector of 64 kB has been collected too"
    );
    assert!(
        !run(
            &geometry("stm32f405"),
            DesignKind::LogZeroing,
            Workload::Signatures,
            1000
        )
        .is_settled()
    );
}

#[test]
fn two_sectors_of_the_f4_hold_a_log() {
    let mut two = geometry("stm32f405");
    two.sectors.truncate(1);
    two.sectors[0].count = 2;
    let result = run(&two, DesignKind::LogForcedCollection, Workload::Mixed, 3000);
    assert_eq!(result.space.reserved_bytes, 32 * 1024);
    assert!(result.erases > 0);
}

#[test]
fn a_signature_in_the_log_is_one_record_until_a_sector_is_full() {
    let result = run(
        &geometry("stm32l432"),
        DesignKind::LogForcedCollection,
        Workload::Signatures,
        20,
    );
    assert_eq!(result.programs, 20);
    assert_eq!(result.latency_typical.worst, Duration::from_nanos(81_690));
    assert_eq!(result.latency_maximum.mean, Duration::from_nanos(90_760));
    assert_eq!((result.lifetime_signatures, result.signatures), (None, 20));
    let f103 = run(
        &geometry("stm32f103-2k"),
        DesignKind::SeparatePages,
        Workload::Signatures,
        20,
    );
    assert_eq!(f103.latency_typical.worst, Duration::from_micros(105));
}

#[test]
fn a_workload_without_signatures_lasts_in_writes() {
    let result = run(
        &geometry("stm32l432"),
        DesignKind::SeparatePages,
        Workload::CertificateUpdate,
        100,
    );
    // Two areas in turn: each is erased at every second update.
    assert_eq!((result.erases, result.most_worn_sector_erases), (100, 50));
    assert_eq!(
        (result.lifetime_signatures, result.lifetime_writes),
        (None, Some(20_000))
    );
}

#[test]
fn the_log_spreads_wear_and_outlives_the_pool() {
    for geometry in [geometry("stm32f103-1k"), geometry("stm32l432")] {
        let log = run(
            &geometry,
            DesignKind::LogForcedCollection,
            Workload::Mixed,
            20_000,
        );
        let sectors = geometry.sector_list().len() as u64;
        let even = log.erases.div_ceil(sectors);
        assert!(
            log.most_worn_sector_erases <= even + even / 4 + 1,
            "{log:?}"
        );
        let pool = run(
            &geometry,
            DesignKind::SeparatePages,
            Workload::Signatures,
            20_000,
        );
        let log = run(
            &geometry,
            DesignKind::LogZeroing,
            Workload::Signatures,
            20_000,
        );
        assert!(
            log.lifetime_signatures > pool.lifetime_signatures,
            "{log:?} {pool:?}"
        );
    }
}

#[test]
fn no_order_of_the_longest_values_fills_the_flash() {
    for geometry in [
        geometry("stm32f103-1k"),
        geometry("stm32f103-2k"),
        geometry("stm32l432"),
    ] {
        for &design in DesignKind::ALL {
            let mut tight = geometry.clone();
            // As few sectors as the design accepts.
            while design.format(&mut Flash::new(&tight)).is_ok() {
                tight.sectors[0].count -= 1;
            }
            tight.sectors[0].count += 1;
            let mut flash = Flash::new(&tight);
            let mut storage = design.format(&mut flash).unwrap();
            let objects =
                (0..3000u64).map(|turn| ObjectId::ALL[(turn * turn * 7 + turn / 13) as usize % 13]);
            for (turn, object) in objects.enumerate() {
                let mut value = vec![turn as u8 ^ 0x5a; object.max_bytes()];
                if object.is_counter() {
                    value.fill(turn as u8 % 4);
                }
                let write = Write {
                    object,
                    change: Change::Put(value.clone()),
                };
                perform(storage.as_mut(), &mut flash, &write).unwrap();
                assert_eq!(storage.get(&flash, object).unwrap(), Some(value));
            }
            assert_eq!(storage.list(), ObjectId::ALL);
        }
    }
}

#[test]
fn the_signature_counter_reaches_beyond_its_low_bits() {
    for &design in DesignKind::ALL {
        let mut flash = flash("stm32l432");
        let mut storage = design.format(&mut flash).unwrap();
        for count in (0..0x0100_0000u32).step_by(4093).chain([0x00ff_ffff, 0]) {
            let value = &count.to_be_bytes()[1..];
            storage
                .put(&mut flash, ObjectId::SignatureCounter, value)
                .unwrap();
            assert_eq!(
                storage
                    .get(&flash, ObjectId::SignatureCounter)
                    .unwrap()
                    .unwrap(),
                value
            );
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let run = |seed| {
        simulate(
            &geometry("stm32l432"),
            DesignKind::LogZeroing,
            Workload::Mixed,
            Length::Writes(500),
            seed,
        )
        .unwrap()
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
    assert_eq!(provisioning(3), provisioning(3));
}

#[test]
fn values_an_object_cannot_have_are_refused() {
    let mut flash = flash("stm32l432");
    let mut storage = DesignKind::LogZeroing.format(&mut flash).unwrap();
    for (object, value) in [
        (ObjectId::SignatureCounter, vec![1; 4]),
        (ObjectId::UserPinErrors, vec![4]),
        (ObjectId::Name, vec![b'x'; 40]),
        (ObjectId::Url, Vec::new()),
    ] {
        let error = storage.put(&mut flash, object, &value).unwrap_err();
        assert!(matches!(error, StorageError::Value { .. }), "{error}");
    }
    let error = storage
        .remove(&mut flash, ObjectId::AdminPinErrors)
        .unwrap_err();
    assert_eq!(error, StorageError::Permanent(ObjectId::AdminPinErrors));
}

#[test]
fn names_read_back() {
    for &workload in Workload::ALL {
        assert_eq!(workload.to_string().parse(), Ok(workload));
    }
    for &design in DesignKind::ALL {
        assert_eq!(design.to_string().parse(), Ok(design));
    }
    let error = "signing".parse::<Workload>().unwrap_err();
    assert!(error.to_string().contains("pin-counters"), "{error}");
}

#[test]
fn blank_flash_is_no_storage() {
    for &design in DesignKind::ALL {
        let error = design.mount(&mut flash("stm32l432")).unwrap_err();
        assert!(matches!(error, StorageError::Unformatted(_)), "{error}");
    }
}

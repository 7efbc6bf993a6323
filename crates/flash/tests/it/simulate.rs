//! Results of simulations, by design, geometry and workload.

use std::time::Duration;

use keymark_flash::design::{DesignKind, StorageError};
use keymark_flash::geometry::Geometry;
use keymark_flash::nor::Flash;
use keymark_flash::object::ObjectId;
use keymark_flash::simulate::{MOST_WRITES, StorageResult, simulate};
use keymark_flash::workload::Workload;

use crate::{flash, geometry};

fn run(geometry: &Geometry, design: DesignKind, workload: Workload, writes: u64) -> StorageResult {
    simulate(geometry, design, workload, writes).unwrap()
}

#[test]
fn every_design_runs_every_workload_where_it_fits() {
    for geometry in Geometry::shipped().unwrap() {
        for &design in DesignKind::ALL {
            for &workload in Workload::ALL {
                match simulate(&geometry, design, workload, 300) {
                    Ok(result) => {
                        assert_eq!(result.writes, 300);
                        assert!(result.latency_maximum.worst > result.latency_typical.worst);
                        assert!(result.latency_typical.worst >= result.latency_typical.mean);
                        assert!(result.space.used_bytes < result.space.reserved_bytes);
                        let again = simulate(&geometry, design, workload, 300);
                        assert_eq!(again, Ok(result), "the seed is fixed");
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

/// Returns what a design that does not fit needs and has.
fn does_not_fit(geometry: &Geometry, design: DesignKind) -> (usize, usize) {
    match simulate(geometry, design, Workload::Mixed, 1) {
        Err(StorageError::DoesNotFit {
            needed, available, ..
        }) => (needed, available),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_design_that_does_not_fit_says_what_it_needs() {
    let separate = does_not_fit(&geometry("stm32f405"), DesignKind::SeparatePages);
    assert_eq!(separate, (8, 4));
    for (design, unit) in [(DesignKind::SeparatePages, 1), (DesignKind::Log, 2048)] {
        let mut small = geometry("stm32l432");
        small.sectors[0].count = 5;
        let (needed, available) = does_not_fit(&small, design);
        assert!(needed > available);
        // The reported need suffices, in sectors or in bytes.
        small.sectors[0].count = needed / unit;
        run(&small, design, Workload::Mixed, 1);
        small.sectors[0].count -= 1;
        does_not_fit(&small, design);
    }
    let mut mixed = geometry("stm32f405");
    mixed.sectors[0].bytes = 2048;
    let (needed, available) = does_not_fit(&mixed, DesignKind::Log);
    assert!(needed > available);
}

#[test]
fn figures_of_long_use_have_seen_every_sector_collected() {
    let long = |name| {
        let geometry = geometry(name);
        run(
            &geometry,
            DesignKind::Log,
            Workload::Signatures,
            MOST_WRITES,
        )
    };
    let (small, large) = (long("stm32f103-2k"), long("stm32f405"));
    assert!(small.is_settled() && small.writes >= 300_000);
    assert!(large.is_settled() && large.writes > 500_000);
    let erase = Duration::from_micros(550_000);
    assert!(
        large.latency_typical.worst > erase,
        "the sector of 64 kB has been collected"
    );
    let geometry = geometry("stm32f405");
    assert!(!run(&geometry, DesignKind::Log, Workload::Signatures, 1000).is_settled());
}

#[test]
fn a_signature_in_the_log_is_one_record_until_a_sector_is_full() {
    let geometry = geometry("stm32l432");
    let result = run(&geometry, DesignKind::Log, Workload::Signatures, 20);
    assert_eq!(result.programs, 20);
    assert_eq!(result.latency_typical.worst, Duration::from_nanos(81_690));
    assert_eq!(result.latency_maximum.mean, Duration::from_nanos(90_760));
    assert_eq!((result.lifetime_signatures, result.signatures), (None, 20));
}

#[test]
fn the_log_spreads_wear_and_outlives_the_pool() {
    for geometry in [geometry("stm32f103-1k"), geometry("stm32l432")] {
        let log = run(&geometry, DesignKind::Log, Workload::Mixed, 20_000);
        let sectors = geometry.sector_list().len() as u64;
        let even = log.erases.div_ceil(sectors);
        assert!(
            log.most_worn_sector_erases <= even + even / 4 + 1,
            "{log:?}"
        );
        let [pool, log] = [DesignKind::SeparatePages, DesignKind::Log]
            .map(|design| run(&geometry, design, Workload::Signatures, 20_000));
        assert!(
            log.lifetime_signatures > pool.lifetime_signatures,
            "{log:?} {pool:?}"
        );
    }
}

#[test]
fn no_order_of_the_longest_values_fills_the_flash() {
    for name in ["stm32f103-1k", "stm32f103-2k", "stm32l432"] {
        for &design in DesignKind::ALL {
            let mut tight = geometry(name);
            // The fewest sectors that the design accepts.
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
                storage.put(&mut flash, object, &value).unwrap();
                assert_eq!(storage.get(&flash, object).unwrap(), Some(value));
            }
        }
    }
}

#[test]
fn the_signature_counter_reaches_beyond_its_low_bits() {
    for &design in DesignKind::ALL {
        let mut flash = flash("stm32l432");
        let mut storage = design.format(&mut flash).unwrap();
        for count in (0..0x0100_0000u32).step_by(4093).chain([0x00ff_ffff, 0]) {
            let value = count.to_be_bytes()[1..].to_vec();
            let counter = ObjectId::SignatureCounter;
            storage.put(&mut flash, counter, &value).unwrap();
            assert_eq!(storage.get(&flash, counter), Ok(Some(value)));
        }
    }
}

#[test]
fn impossible_values_and_blank_flash_are_refused() {
    for &design in DesignKind::ALL {
        let mut flash = flash("stm32l432");
        let blank = design.mount(&mut flash).unwrap_err();
        assert_eq!(blank, StorageError::Unformatted);
        let mut storage = design.format(&mut flash).unwrap();
        for (object, length) in [
            (ObjectId::SignatureCounter, 4),
            (ObjectId::Name, 40),
            (ObjectId::Url, 0),
        ] {
            let error = storage.put(&mut flash, object, &vec![1; length]);
            assert_eq!(error, Err(StorageError::Value { object, length }));
        }
    }
}

//! What simulations say, by design, geometry and workload.

use keymark_mcu::storage::design::DesignKind;
use keymark_mcu::storage::error::StorageError;
use keymark_mcu::storage::geometry::{Geometry, SectorRun};
use keymark_mcu::storage::simulate::{StorageResult, simulate};
use keymark_mcu::storage::workload::Workload;

fn run(
    geometry: &Geometry,
    design: DesignKind,
    workload: Workload,
    operations: u64,
) -> StorageResult {
    simulate(geometry, design, workload, operations, 1).unwrap()
}

#[test]
fn every_design_runs_every_workload_where_it_fits() {
    for geometry in Geometry::built_in() {
        for design in DesignKind::ALL {
            for workload in Workload::ALL {
                match simulate(&geometry, design, workload, 300, 7) {
                    Ok(result) => {
                        assert_eq!(result.writes, 300);
                        assert!(result.latency_maximum.worst > result.latency_typical.worst);
                        assert!(result.latency_typical.worst >= result.latency_typical.mean);
                        assert!(result.space.used_bytes < result.space.reserved_bytes);
                        eprintln!("{result:?}");
                    }
                    Err(StorageError::DoesNotFit { .. }) => {
                        assert_eq!(
                            (geometry.name.as_str(), design),
                            ("stm32f405", DesignKind::SeparatePages)
                        );
                    }
                    Err(error) => panic!("{} {design} {workload}: {error}", geometry.name),
                }
            }
        }
    }
}

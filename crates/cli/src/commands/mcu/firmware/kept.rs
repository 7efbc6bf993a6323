//! Phases that are kept in the archive: their names say what is computed, such as `ed25519_sign`.

use std::path::PathBuf;

use keymark_bench::store::Capability;
use keymark_bench::{PublishedMean, Settings};
use keymark_stats::{Band, Seconds};

use super::simulate::FirmwareRun;
use crate::commands::mcu::record::{Figure, figure, of_figures};
use crate::exit::Exit;
use crate::frame;

/// Keeps these runs as one, unless none of them has such a phase, or one did not end well.
pub(super) fn keep(runs: &[&FirmwareRun], archive: Option<&PathBuf>) -> Exit {
    let figures: Vec<Figure> = runs.iter().flat_map(|run| figures(run)).collect();
    if figures.is_empty() || runs.iter().any(|run| run.problem().is_some()) {
        return Exit::Fine;
    }
    frame::keep(&of_figures(figures, Settings::default().tolerance), archive)
}

/// The means of these phases' stretches.
fn figures(run: &FirmwareRun) -> impl Iterator<Item = Figure> {
    let phases = run.phases().into_iter();
    phases.filter_map(|(name, phase)| {
        let (band, count, mcu) = (run.band(&phase), phase.count.max(1), &run.mcu);
        let (cycles, program) = (phase.account.cycles(), &run.program);
        let each = |all: Seconds| Seconds(all.0 / count as f64);
        let (low, high) = (each(band.low), each(band.high));
        let published = PublishedMean {
            note: format!(
                "{} cycles at {}, the mean of {count} in {program}",
                cycles / count,
                mcu.clock
            ),
            band: Some(Band { low, high }),
            ..PublishedMean::from(each(mcu.clock.seconds(cycles)))
        };
        let device = format!("{}:{program}", mcu.name);
        Some(figure(device, mcu, capability(&name)?, published))
    })
}

/// `ed25519_sign`
fn capability(phase: &str) -> Option<Capability> {
    let (algorithm, operation) = phase.rsplit_once('_')?;
    Some(Capability {
        algorithm: algorithm.parse().ok()?,
        operation: operation.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::capability;

    #[test]
    fn a_phase_says_what_it_computes() {
        let found = capability("ed25519_sign").unwrap();
        assert_eq!(
            (found.algorithm.to_string(), found.operation.to_string()),
            ("ed25519".to_owned(), "sign".to_owned())
        );
        for other in [
            "hash",
            "ed25519",
            "ed25519_",
            "ed25519_hash",
            "sign_ed25519",
        ] {
            assert!(capability(other).is_none(), "{other}");
        }
    }
}

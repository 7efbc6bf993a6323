//! Predictions, and phases of programs, as a run, so that they are in the archive and in reports like any other.

use std::time::Duration;

use itertools::Itertools;
use keymark_bench::store::Capability;
use keymark_bench::{
    Algorithm, Case, CaseRecord, DeviceName, Operation, Plan, Provenance, PublishedMean, Record,
    RunState, Settings, StoreIdentity, StoreKind,
};
use keymark_mcu::kernel::Kernel;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::predict::Prediction;
use keymark_mcu::timing::Stall;
use keymark_report::units;
use keymark_stats::Ratio;

use crate::exit::Failure;
use crate::frame;

/// Returns the kernel's capabilities in keymark's words, first the operation that a run names: the private-key
/// operation of RSA decrypts, signs and authenticates; a token decrypts with X25519.
pub(crate) fn capabilities(kernel: Kernel) -> Result<Vec<Capability>, Failure> {
    use Operation::{Authenticate, Decrypt, Sign};
    let operations = match kernel {
        Kernel::Rsa2048 | Kernel::Rsa3072 | Kernel::Rsa4096 => &[Decrypt, Sign, Authenticate][..],
        Kernel::X25519 => &[Decrypt][..],
        Kernel::Ed25519 => &[Sign, Authenticate][..],
    };
    let algorithm: Algorithm = kernel.name().parse().map_err(Failure::failed)?;
    let capability = |&operation: &Operation| Capability {
        algorithm,
        operation,
    };
    Ok(operations.iter().map(capability).collect())
}

/// Returns the grounds of a prediction in a line.
pub(crate) fn note(prediction: &Prediction) -> String {
    let words = prediction.target.options.words(prediction.kernel);
    let words = words.iter().map(|(name, word)| format!("{name}={word}"));
    let band = prediction.band();
    format!(
        "{} cycles at {}; {} of it waiting for flash; {}; {} to {} with one assumption varied",
        prediction.cycles(),
        prediction.target.mcu.clock,
        units::percent(waiting(prediction).0),
        words.format(" "),
        units::duration(band.low),
        units::duration(band.high)
    )
}

/// Share of the cycles in which the core waits for flash.
fn waiting(prediction: &Prediction) -> Ratio {
    let stalls = [Stall::Fetch, Stall::Data].map(|stall| prediction.account.stall(stall));
    Ratio(stalls.iter().sum::<u64>() as f64 / prediction.cycles() as f64)
}

/// What a capability takes on a part of which nothing was measured, and the part by that name.
pub(super) type Figure = (StoreIdentity, CaseRecord);

/// Returns the figure of a part.
pub(super) fn figure(
    name: String,
    part: &Microcontroller,
    capability: Capability,
    published: PublishedMean,
) -> Figure {
    let product = format!("{}, simulated", part.product);
    let name = DeviceName::new(name);
    let device = StoreIdentity::new(name, StoreKind::REPORTED, Provenance::Predicted, product);
    let case = Case {
        input_bytes: 32,
        ..device.case(capability)
    };
    let case = CaseRecord {
        published: Some(published),
        ..CaseRecord::new(case)
    };
    (device, case)
}

/// A run of these predictions, now.
pub(super) fn of(predictions: &[Prediction], tolerance: Duration) -> Result<Record, Failure> {
    let one = |prediction: &Prediction| {
        let capabilities = capabilities(prediction.kernel)?;
        let first = capabilities.first();
        let first = first.ok_or_else(|| Failure::failed("a kernel that no operation uses"))?;
        let published = PublishedMean {
            note: note(prediction),
            band: Some(prediction.band()),
            waiting: Some(waiting(prediction)),
            ..PublishedMean::from(prediction.seconds())
        };
        let part = &prediction.target.mcu;
        Ok(figure(prediction.name(), part, *first, published))
    };
    let figures: Result<Vec<_>, Failure> = predictions.iter().map(one).collect();
    Ok(of_figures(figures?, tolerance))
}

/// A run of these figures, now.
pub(super) fn of_figures(figures: Vec<Figure>, tolerance: Duration) -> Record {
    let (stores, cases): (Vec<_>, Vec<CaseRecord>) = figures.into_iter().unzip();
    let stores = stores
        .into_iter()
        .unique_by(|store| store.device.clone())
        .collect();
    let plan = Plan {
        cases: cases.iter().map(|record| record.case.clone()).collect(),
        settings: Settings {
            tolerance,
            ..Settings::default()
        },
    };
    Record {
        state: RunState::Finished,
        cases,
        ..frame::record(plan, stores)
    }
}

//! Predictions as a run, so that they stand in the archive and in reports like any other.

use std::time::Duration;

use itertools::Itertools;
use keymark_bench::store::Capability;
use keymark_bench::{
    Algorithm, Case, CaseRecord, DeviceName, Operation, Plan, Provenance, PublishedMean, Record,
    RunState, Settings, StoreIdentity, StoreKind,
};
use keymark_mcu::kernel::Kernel;
use keymark_mcu::predict::Prediction;
use keymark_mcu::timing::Stall;
use keymark_report::answers::WAITING;
use keymark_report::units;

use crate::exit::Failure;
use crate::frame;

/// What the kernel is in the rest of keymark's words, first the operation that a run calls it: the private-key
/// operation of RSA decrypts, signs and authenticates; a token decrypts with X25519.
pub(super) fn capabilities(kernel: Kernel) -> Result<Vec<Capability>, Failure> {
    use Operation::{Authenticate, Decrypt, Sign};
    let (name, operations) = match kernel {
        Kernel::Rsa2048 | Kernel::Rsa3072 | Kernel::Rsa4096 => {
            (kernel.name(), &[Decrypt, Sign, Authenticate][..])
        }
        Kernel::X25519 => ("cv25519", &[Decrypt][..]),
        Kernel::Ed25519 => (kernel.name(), &[Sign, Authenticate][..]),
    };
    let algorithm: Algorithm = name.parse().map_err(Failure::failed)?;
    let capability = |&operation: &Operation| Capability {
        algorithm,
        operation,
    };
    Ok(operations.iter().map(capability).collect())
}

/// What a prediction rests on, in a line.
pub(super) fn note(prediction: &Prediction) -> String {
    let words = prediction.target.options.words(prediction.kernel);
    let words = words.iter().map(|(name, word)| format!("{name}={word}"));
    let band = prediction.band();
    let waiting = [Stall::Fetch, Stall::Data].map(|stall| prediction.account.stall(stall));
    let waiting: u64 = waiting.iter().sum();
    format!(
        "{} cycles at {}; {}{WAITING}; {}; {} to {} with one assumption varied",
        prediction.cycles(),
        prediction.target.mcu.clock,
        units::percent(waiting as f64 / prediction.cycles() as f64),
        words.format(" "),
        units::duration(band.low),
        units::duration(band.high)
    )
}

/// The part, of which nothing was measured.
fn device(prediction: &Prediction) -> StoreIdentity {
    StoreIdentity::new(
        DeviceName::new(prediction.name()),
        StoreKind::REPORTED,
        Provenance::Predicted,
        format!("{}, simulated", prediction.target.mcu.product),
    )
}

fn case(prediction: &Prediction) -> Result<CaseRecord, Failure> {
    let capabilities = capabilities(prediction.kernel)?;
    let first = capabilities.first();
    let first = first.ok_or_else(|| Failure::failed("a kernel that no operation uses"))?;
    let case = Case {
        input_bytes: 32,
        ..device(prediction).case(*first)
    };
    Ok(CaseRecord {
        published: Some(PublishedMean {
            mean: prediction.seconds(),
            n: None,
            note: note(prediction),
            band: Some(prediction.band()),
        }),
        ..CaseRecord::new(case)
    })
}

/// A run of these predictions, now.
pub(super) fn of(predictions: &[Prediction], tolerance: Duration) -> Result<Record, Failure> {
    let cases = predictions
        .iter()
        .map(case)
        .collect::<Result<Vec<_>, _>>()?;
    let stores = predictions.iter().map(device);
    let stores = stores.unique_by(|store| store.device.clone()).collect();
    let plan = Plan {
        cases: cases.iter().map(|record| record.case.clone()).collect(),
        settings: Settings {
            tolerance,
            ..Settings::default()
        },
    };
    Ok(Record {
        state: RunState::Finished,
        cases,
        ..frame::record(plan, stores)
    })
}

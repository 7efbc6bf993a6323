//! How a case ended.

use std::sync::atomic::{AtomicBool, Ordering};

use keymark_bench::{CaseRecord, Ending, Error, ServerLoad, Stopped};

use super::rounds::Driven;

/// Notes what came of a case.
pub(crate) fn note(record: &mut CaseRecord, load: Result<Driven, Error>, interrupt: &AtomicBool) {
    record.ending = Some(ending(&load, interrupt));
    record.server_load = load.ok().map(|driven| Box::new(driven.load));
}

/// How a case ended.
fn ending(load: &Result<Driven, Error>, interrupt: &AtomicBool) -> Ending {
    match load {
        Ok(Driven {
            ended: Some(error), ..
        }) => Ending::failed(error.to_string()),
        // What fails then does so because it was to end.
        _ if interrupt.load(Ordering::Relaxed) => Stopped::Interrupted.into(),
        Err(error) => error.clone().into(),
        Ok(Driven { load, .. }) if load.totals.transactions == 0 => {
            Ending::failed(why_nothing(load))
        }
        Ok(_) => Stopped::RuleMet.into(),
    }
}

/// Why no transaction of a load succeeded: what most of them failed of.
fn why_nothing(load: &ServerLoad) -> String {
    let failures = load.failures();
    let most = failures.iter().max_by_key(|(_, count)| **count);
    most.map_or_else(
        || "no transaction finished before the load ended".to_owned(),
        |(class, count)| {
            format!(
                "no transaction succeeded: {count} of {} {class}",
                load.totals.failed
            )
        },
    )
}

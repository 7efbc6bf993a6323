//! The published figures that the card times of twins were derived from.

use std::collections::BTreeSet;
use std::time::Duration;

use keymark_bench::{DeviceName, Profile, ProfileStore, Provenance, Record, StackName};
use keymark_records::published::PublishedTable;
use keymark_report::analysis::PublishedFigure;
use keymark_report::report::published_section;
use keymark_report::{Document, Section};
use keymark_stats::Seconds;

use crate::exit::Failure;
use crate::output;

/// Returns published times of operations as records. Loads, ratios and rates have none.
pub(crate) fn records<'s>(
    shipped: impl IntoIterator<Item = &'s PublishedTable>,
) -> Result<Vec<Record>, Failure> {
    let times = shipped
        .into_iter()
        .filter(|shipped| shipped.cells().is_none());
    let records = times.map(|shipped| Ok(shipped.record()?));
    let some = |record: &Result<Record, Failure>| {
        record
            .as_ref()
            .map_or(true, |record| !record.cases.is_empty())
    };
    records.filter(some).collect()
}

/// Prints published loads and ratios as they are in their tables.
pub(crate) fn print_tables(shipped: &[PublishedTable]) {
    let sections: Vec<Section> = shipped
        .iter()
        .copied()
        .filter_map(published_section)
        .collect();
    if !sections.is_empty() {
        output::document(&Document::of(sections));
    }
}

/// Returns the published figures of a run's twins, which are of gpg processes.
pub(crate) fn figures(record: &Record) -> Vec<PublishedFigure> {
    let twins: BTreeSet<&DeviceName> = record
        .cases
        .iter()
        .filter(|case| case.case.provenance == Provenance::Twin)
        .map(|case| &case.case.device)
        .collect();
    twins.into_iter().flat_map(of_twin).collect()
}

fn of_twin(device: &DeviceName) -> Vec<PublishedFigure> {
    let name = device.as_str().strip_prefix("twin:");
    // A profile of the user's own may be gone.
    let profile = name.and_then(|name| Profile::find(name).ok());
    // What is published of others than cards was not measured through gpg.
    let of_card = profile.filter(|profile| profile.store == ProfileStore::OpenpgpCard);
    let Some(profile) = of_card else {
        return Vec::new();
    };
    let seconds = |time: Duration| Seconds(time.as_secs_f64());
    let figures = profile.services.iter().filter_map(|(capability, service)| {
        Some(PublishedFigure {
            device: device.clone(),
            algorithm: capability.algorithm,
            operation: capability.operation,
            stack: StackName::GPG,
            card: seconds(service.time.mean()),
            whole: seconds(service.published?),
        })
    });
    figures.collect()
}

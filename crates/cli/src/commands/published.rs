//! Twins beside the published figures that their card times were derived from.

use keymark_bench::case::{Pacing, StackName};
use keymark_report::analysis::{Analysis, Row};
use keymark_report::units;
use keymark_stats::Seconds;
use keymark_tokens::profile::Profile;

/// One line a twin that was measured through gpg, one at a time.
pub(super) fn rows(analysis: &Analysis) -> Vec<Vec<String>> {
    let twins = analysis.rows.iter().filter(|row| {
        (row.case.stack, row.case.concurrency(), row.case.load.pacing)
            == (StackName::Gnupg, 1, Pacing::Closed)
    });
    twins.filter_map(row).collect()
}

/// The names of the columns.
pub(super) const NAMES: [&str; 7] = [
    "algorithm",
    "operation",
    "device",
    "card time",
    "twin",
    "published",
    "twin/published",
];

fn row(row: &Row) -> Option<Vec<String>> {
    let name = row.case.device.as_str().strip_prefix("twin:")?;
    // A profile of the user's own has no published figures, and may be gone.
    let profile = Profile::find(name).ok()?;
    let service = profile.service(row.case.algorithm, row.case.operation)?;
    let (published, mean) = (service.published?, row.mean()?);
    let time = |time: std::time::Duration| units::duration(Seconds(time.as_secs_f64()));
    Some(vec![
        row.case.algorithm.to_string(),
        row.case.operation.to_string(),
        row.case.device.to_string(),
        time(service.time.mean()),
        units::duration(mean),
        time(published),
        format!("{:.3}", mean.0 / published.as_secs_f64()),
    ])
}

//! `keymark profile`

use std::collections::{BTreeMap, BTreeSet};

use keymark_bench::case::{Case, DeviceName, Pacing, StackName};
use keymark_bench::parts::Part;
use keymark_bench::record::{CaseRecord, Record};
use keymark_bench::store::Capability;
use keymark_report::archive::Archive;
use keymark_tokens::profile::{Profile, Service, ServiceTime};

use super::Outcome;
use crate::args::ProfileArguments;
use crate::exit::{Exit, Failure};
use crate::output;

/// Fewer samples say too little about a distribution.
const LEAST: usize = 20;
/// Quantiles in a profile: every twentieth, and the two ends.
const LEVELS: usize = 20;

pub(super) fn run(arguments: &ProfileArguments, archive: &Archive) -> Outcome {
    let record = archive.load(&arguments.run).map_err(Failure::failed)?;
    let device = device(&record, arguments.device.as_deref())?;
    let mut services = BTreeMap::new();
    let mut verify = None;
    for case in record
        .cases
        .iter()
        .filter(|case| usable(&case.case, &device))
    {
        let capability = Capability {
            algorithm: case.case.algorithm,
            operation: case.case.operation,
        };
        if let Some(time) = service_time(case)? {
            services.insert(
                capability,
                Service {
                    time,
                    published: None,
                },
            );
        }
        let parts = case.parts.as_ref();
        let mean = parts.and_then(|parts| parts.0.get(&Part::Verify));
        verify = verify.or(mean.map(|mean| mean.mean_s));
    }
    if services.is_empty() {
        return Err(Failure::failed(format!(
            "run {} has no case of {device} through raw, one at a time, with at least {LEAST} operations; \
             'keymark bench --device {device} --stack raw' measures them",
            record.id
        )));
    }
    let verify = verify.map(|mean| ServiceTime::constant(mean.0));
    let product = record.stores.iter().find(|store| store.device == device);
    let profile = Profile {
        name: arguments
            .name
            .clone()
            .unwrap_or_else(|| slug(device.as_str())),
        product: product.map_or_else(|| device.to_string(), |store| store.product.clone()),
        source: format!(
            "measured by keymark {} in run {}",
            record.environment.keymark, record.id
        ),
        note: "Quantiles of the APDU's time at the host, transport included.".to_owned(),
        services,
        verify: verify.transpose().map_err(Failure::failed)?,
    };
    output::print(&profile.to_toml().map_err(Failure::failed)?);
    Ok(Exit::Fine)
}

/// The device that was named, or the only one.
fn device(record: &Record, named: Option<&str>) -> Result<DeviceName, Failure> {
    let devices: BTreeSet<&DeviceName> =
        record.cases.iter().map(|case| &case.case.device).collect();
    let list = || {
        devices
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (named, devices.len()) {
        (Some(named), _) => devices
            .iter()
            .find(|device| device.as_str() == named)
            .map(|device| DeviceName::clone(device))
            .ok_or_else(|| {
                Failure::usage(format!(
                    "run {} measured {}, not '{named}'",
                    record.id,
                    list()
                ))
            }),
        (None, 1) => Ok(devices
            .first()
            .map_or_else(DeviceName::software, |device| DeviceName::clone(device))),
        (None, _) => Err(Failure::usage(format!(
            "run {} measured several devices; name one with --device: {}",
            record.id,
            list()
        ))),
    }
}

fn usable(case: &Case, device: &DeviceName) -> bool {
    (&case.device, case.stack, case.concurrency(), case.replica) == (device, StackName::Raw, 1, 0)
        && case.load.pacing == Pacing::Closed
}

fn service_time(case: &CaseRecord) -> Result<Option<ServiceTime>, Failure> {
    let latencies = case.blocks.iter().flat_map(|block| block.latencies_ns());
    let mut sorted: Vec<u64> = latencies.collect();
    if sorted.len() < LEAST {
        output::warning(&format!(
            "{} is left out: {} operations are fewer than {LEAST}",
            case.case,
            sorted.len()
        ));
        return Ok(None);
    }
    sorted.sort_unstable();
    let quantile = |level: usize| sorted[level * (sorted.len() - 1) / LEVELS] as f64 / 1e9;
    let quantiles: Vec<f64> = (0..=LEVELS).map(quantile).collect();
    ServiceTime::quantiles(&quantiles)
        .map(Some)
        .map_err(Failure::failed)
}

/// A name that can stand behind `twin:`.
pub(super) fn slug(name: &str) -> String {
    let usable = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    name.chars().map(usable).collect()
}

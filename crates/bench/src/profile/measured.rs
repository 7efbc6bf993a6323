//! A profile out of a measured run.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::Capability;
use crate::{Case, CaseRecord, DeviceName, Part, Point, Record, StoreKind};

use super::{Network, Profile, ProfileStore, Service, ServiceTime, Unusable};

/// Fewer samples say too little about a distribution.
const LEAST: usize = 20;
/// Quantiles in a profile: every twentieth, and the two ends.
const LEVELS: usize = 20;

/// A profile, and what of the run is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredProfile {
    /// Service times of the measured device.
    pub profile: Profile,
    /// Cases with too few operations, and how many those have.
    pub left_out: Vec<(Case, usize)>,
}

/// Why a run yields no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unprofiled {
    reason: String,
    /// True if another command line would do.
    pub is_usage: bool,
}

/// A reason that another command line has to mend.
fn usage(reason: String) -> Unprofiled {
    let is_usage = true;
    Unprofiled { reason, is_usage }
}

/// A measured time is none that a device can take.
impl From<Unusable> for Unprofiled {
    fn from(error: Unusable) -> Self {
        Self {
            reason: error.to_string(),
            is_usage: false,
        }
    }
}

impl Profile {
    /// The service times of a device in a run: quantiles of what was measured raw, one at a time.
    pub fn measured(
        record: &Record,
        device: Option<&str>,
        name: Option<&str>,
    ) -> Result<MeasuredProfile, Unprofiled> {
        let device = chosen(record, device)?;
        let store = store_of(record, &device).ok_or_else(|| {
            usage(format!(
                "run {} measured {device}, which is neither a card nor a token; a profile needs a run of one",
                record.id
            ))
        })?;
        let mut services = BTreeMap::new();
        let (mut left_out, mut verify) = (Vec::new(), None);
        let usable = |case: &&CaseRecord| {
            let case = &case.case;
            case.device == device && Point::of(case) == Point::RAW && case.is_alone()
        };
        for case in record.cases.iter().filter(usable) {
            let capability = Capability::new(case.case.algorithm, case.case.operation);
            let latencies = case.blocks.iter().flat_map(|block| block.latencies_ns());
            let mut sorted: Vec<u64> = latencies.collect();
            sorted.sort_unstable();
            if sorted.len() < LEAST {
                left_out.push((case.case.clone(), sorted.len()));
                continue;
            }
            let service = Service::measured(quantiles(&sorted)?);
            services.insert(capability, service);
            let parts = case.parts.as_ref();
            let mean = parts.and_then(|parts| parts.0.get(&Part::Verify));
            verify = verify.or(mean.map(|mean| mean.mean_s));
        }
        if services.is_empty() {
            let run = &record.id;
            return Err(Unprofiled {
                reason: format!(
                    "run {run} has no raw case of {device} with one worker and at least {LEAST} operations; measure one \
                     with 'keymark bench --device {device} --stack raw'"
                ),
                is_usage: false,
            });
        }
        let verify = verify.map(|mean| ServiceTime::constant(mean.0));
        let product = record.stores.iter().find(|store| store.device == device);
        let profile = Self {
            store,
            name: name.map_or_else(|| slug(device.as_str()), str::to_owned),
            product: product.map_or_else(|| device.to_string(), |store| store.product.clone()),
            source: format!(
                "measured by keymark {} in run {}",
                record.environment.keymark, record.id
            ),
            note: match store {
                ProfileStore::OpenpgpCard => {
                    "Quantiles of the APDU's time at the host, transport included."
                }
                ProfileStore::Pkcs11 => {
                    "Quantiles of the time that the module's functions take at the host (C_SignInit and \
                     C_Sign), transport included."
                }
            }
            .to_owned(),
            services,
            verify: verify.transpose()?,
            yubikey_version: None,
            // It is in the measured times.
            network: Network::default(),
        };
        Ok(MeasuredProfile { profile, left_out })
    }
}

/// The device that was named, or the only one.
fn chosen(record: &Record, named: Option<&str>) -> Result<DeviceName, Unprofiled> {
    let devices: BTreeSet<&DeviceName> =
        record.cases.iter().map(|case| &case.case.device).collect();
    let list = devices.iter().map(ToString::to_string);
    let (run, measured) = (&record.id, list.collect::<Vec<_>>().join(", "));
    match named {
        Some(named) => {
            let found = devices.into_iter().find(|device| device.as_str() == named);
            found
                .cloned()
                .ok_or_else(|| usage(format!("run {run} measured {measured}, not '{named}'")))
        }
        None if devices.len() > 1 => Err(usage(format!(
            "run {run} measured several devices; name one with --device: {measured}"
        ))),
        None => Ok(devices
            .into_iter()
            .next()
            .map_or_else(DeviceName::software, DeviceName::clone)),
    }
}

/// Returns the interface of the device; none if it is neither a card nor a token.
fn store_of(record: &Record, device: &DeviceName) -> Option<ProfileStore> {
    let mut cases = record.cases.iter().map(|case| &case.case);
    match cases.find(|case| case.device == *device)?.store {
        StoreKind::PKCS11 => Some(ProfileStore::Pkcs11),
        StoreKind::OPENPGP_CARD => Some(ProfileStore::OpenpgpCard),
        _ => None,
    }
}

/// Each is a time that was measured, at a rank without rounding: profiles that are there have these.
fn quantiles(sorted: &[u64]) -> Result<ServiceTime, Unusable> {
    let quantile = |level: usize| sorted[level * (sorted.len() - 1) / LEVELS] as f64 / 1e9;
    let quantiles: Vec<f64> = (0..=LEVELS).map(quantile).collect();
    ServiceTime::quantiles(&quantiles)
}

/// A name that is valid behind `twin:`.
pub fn slug(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    lower.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
}

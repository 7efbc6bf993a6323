//! Profiles of predicted firmware.

use std::collections::BTreeMap;

use keymark_bench::{Network, Profile, ProfileStore, Service, ServiceTime, slug};
use keymark_mcu::target::Target;
use keymark_report::units;

use super::super::mcu::predict::predict_all;
use super::super::mcu::record;
use crate::args::MakeArguments;
use crate::exit::Failure;

pub(super) fn profile(target: &Target, arguments: &MakeArguments) -> Result<String, Failure> {
    let (mut services, mut notes) = (BTreeMap::new(), Vec::new());
    let wanted: Vec<_> = arguments
        .algorithm
        .iter()
        .map(|&kernel| (target, kernel))
        .collect();
    for prediction in predict_all(&wanted) {
        let prediction = prediction.map_err(Failure::failed)?;
        let kernel = prediction.kernel;
        let seconds = prediction.seconds().0 + arguments.transport.as_secs_f64();
        let time = ServiceTime::constant(seconds).map_err(Failure::failed)?;
        for capability in record::capabilities(kernel)? {
            services.insert(capability, Service::measured(time.clone()));
        }
        notes.push(format!("{kernel}: {}", record::note(&prediction)));
    }
    let profile = Profile {
        store: ProfileStore::OpenpgpCard,
        name: arguments
            .name
            .clone()
            .unwrap_or_else(|| slug(&target.to_string())),
        product: format!("{}, predicted", target.mcu.product),
        source: format!(
            "predicted by keymark {} for {target}; no device was measured",
            env!("KEYMARK_VERSION")
        ),
        note: format!(
            "The operation alone, plus {} for everything else a token does. {}.",
            units::chosen(arguments.transport),
            notes.join(". ")
        ),
        services,
        verify: None,
        yubikey_version: None,
        network: Network::default(),
    };
    profile.to_toml().map_err(Failure::usage)
}

//! `keymark twin`

#[cfg(feature = "cards")]
mod card;
mod module;

use std::collections::BTreeMap;
use std::path::PathBuf;

use keymark_bench::{Network, Profile, ProfileStore, Service, ServiceTime, slug};
use keymark_mcu::target::Target;
use keymark_records::archive::Archive;
use keymark_report::units;

use super::mcu::predict::predict_all;
use super::mcu::record;
use crate::args::{MakeArguments, TwinCommand};
use crate::exit::{Exit, Failure, Outcome};
use crate::{archive, file, output};

pub(super) fn run(command: &TwinCommand, archive: Option<&PathBuf>) -> Outcome {
    match command {
        TwinCommand::Make(arguments) => {
            let profile = match &arguments.mcu {
                Some(target) => predicted(target, arguments)?,
                None => measured(arguments, &archive::open_to_read(archive)?)?,
            };
            file::put(arguments.output.as_deref(), &profile)?;
            Ok(Exit::Fine)
        }
        TwinCommand::Serve(arguments) => match &arguments.pkcs11 {
            Some(named) => module::serve(arguments, named),
            #[cfg(feature = "cards")]
            None => card::serve(arguments),
            #[cfg(not(feature = "cards"))]
            None => Err(Failure::usage(keymark_stores::registry::NO_CARDS)),
        },
    }
}

/// Returns the profile of a measured run.
fn measured(arguments: &MakeArguments, archive: &Archive) -> Result<String, Failure> {
    let record = archive.load(&arguments.run)?;
    let (device, name) = (arguments.device.as_deref(), arguments.name.as_deref());
    let measured = Profile::measured(&record, device, name).map_err(|error| {
        if error.is_usage {
            Failure::usage(error)
        } else {
            Failure::failed(error)
        }
    })?;
    for (case, operations) in measured.left_out {
        output::warning(&format!(
            "skipping {case}: {operations} operations are too few"
        ));
    }
    Ok(measured.profile.to_toml()?)
}

/// Returns the profile of predicted firmware.
fn predicted(target: &Target, arguments: &MakeArguments) -> Result<String, Failure> {
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

//! Profiles of measured runs.

use keymark_bench::Profile;
use keymark_records::archive::Archive;

use crate::args::MakeArguments;
use crate::exit::Failure;
use crate::output;

pub(super) fn profile(arguments: &MakeArguments, archive: &Archive) -> Result<String, Failure> {
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

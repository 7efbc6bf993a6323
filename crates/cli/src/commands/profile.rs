//! `keymark profile`

use keymark_bench::Profile;
use keymark_records::archive::Archive;

use super::Outcome;
use crate::args::ProfileArguments;
use crate::exit::{Exit, Failure};
use crate::{file, output};

pub(super) fn run(arguments: &ProfileArguments, archive: &Archive) -> Outcome {
    let record = archive.load(&arguments.run)?;
    let (device, name) = (arguments.device.as_deref(), arguments.name.as_deref());
    let measured = Profile::measured(&record, device, name).map_err(|error| {
        if error.is_usage() {
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
    let profile = measured.profile.to_toml()?;
    file::put(arguments.output.as_deref(), &profile)?;
    Ok(Exit::Fine)
}

//! SoftHSM2 as it is installed.

use std::path::{Path, PathBuf};

use crate::places::private_dir::PrivateDir;
use keymark_bench::Error;

use super::ManagedPlace;
use crate::pkcs11::module::modules::Places;

/// The library's registration with p11-kit, or the name of its product.
const MODULE: &str = "softhsm2";
const CONFIGURATION: &str = "SOFTHSM2_CONF";

pub(super) fn installed(places: &Places) -> Result<PathBuf, Error> {
    places.installed(MODULE).ok_or_else(|| Error::Missing {
        what: "SoftHSM2".to_owned(),
        reason: "there is no libsofthsm2.so where it usually is".to_owned(),
        advice: "install it with 'apt-get install softhsm2'".to_owned(),
    })
}

pub(super) fn prepare(library: PathBuf) -> Result<ManagedPlace, Error> {
    let place = PrivateDir::new()?;
    let tokens = place.subdirectory("tokens")?;
    ManagedPlace::configured(
        library,
        place,
        (CONFIGURATION, "softhsm2.conf"),
        &configuration_for(&tokens),
    )
}

fn configuration_for(tokens: &Path) -> String {
    format!(
        "directories.tokendir = {}\nobjectstore.backend = file\nlog.level = ERROR\nslots.removable = false\n",
        tokens.display()
    )
}

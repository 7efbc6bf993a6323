//! Where libkeymark_pcsc.so is.

use std::path::PathBuf;

use keymark_bench::error::Error;
use keymark_stores::places::library::OwnLibrary;

pub(super) fn driver() -> Result<PathBuf, Error> {
    let library = OwnLibrary {
        file: "libkeymark_pcsc.so",
        variable: "KEYMARK_PCSC_DRIVER",
        package: "keymark-pcsc",
        purpose: "through which scdaemon reaches a card",
    };
    library.find()
}

//! Modules behind keymark's own, `libkeymark_pkcs11.so`: in a private directory, with its settings beside it,
//! so that programs which clear their environment get them, too.

use std::fs;
use std::path::{Path, PathBuf};

use crate::places::library::OwnLibrary;
use keymark_bench::error::{During as _, Error};
use keymark_shim_protocol::pkcs11::settings::Settings;

/// Puts keymark's module there, with its settings, under that name. It is a copy: a process that loads two
/// wrapped modules has two libraries, where of a link it would have one.
pub fn wrapped(settings: &Settings, directory: &Path, name: &str) -> Result<PathBuf, Error> {
    let library = OwnLibrary::PKCS11.find()?;
    let module = directory.join(name);
    let settled = Settings::beside(&module);
    fs::copy(&library, &module).during(format_args!("copying {}", library.display()))?;
    settings
        .write(&settled)
        .during(format_args!("writing {}", settled.display()))?;
    Ok(module)
}

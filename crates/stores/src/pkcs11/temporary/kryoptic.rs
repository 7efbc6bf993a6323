//! Kryoptic, a token in Rust, as `make kryoptic` builds it.

use std::path::PathBuf;

use crate::places::private_dir::PrivateDir;
use keymark_bench::Error;

use super::ManagedPlace;
use crate::pkcs11::module::modules::{KRYOPTIC, Places, built_kryoptic};

/// The library's registration with p11-kit, or the name of its product.
const MODULE: &str = "kryoptic";
/// Names another place for it.
const VARIABLE: &str = "KEYMARK_KRYOPTIC";
const CONFIGURATION: &str = "KRYOPTIC_CONF";

pub(super) fn installed(places: &Places) -> Result<PathBuf, Error> {
    let missing = |reason: String| Error::Missing {
        what: "Kryoptic".to_owned(),
        reason,
        advice: format!(
            "'make kryoptic' builds it in about a minute; ${VARIABLE} names another {KRYOPTIC}"
        ),
    };
    if let Some(named) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        if named.is_file() {
            return Ok(named);
        }
        return Err(missing(format!("{} is not a file", named.display())));
    }
    built_kryoptic()
        .or_else(|| places.installed(MODULE))
        .ok_or_else(|| missing(format!("there is no {KRYOPTIC}")))
}

pub(super) fn prepare(library: PathBuf) -> Result<ManagedPlace, Error> {
    let place = PrivateDir::new()?;
    let database = place.path().join("token.sql");
    ManagedPlace::configured(
        library,
        place,
        (CONFIGURATION, "kryoptic.conf"),
        &configuration_for(&database)?,
    )
}

/// TOML, whose strings are quoted and escaped as Rust's are.
fn configuration_for(database: &std::path::Path) -> Result<String, Error> {
    let path = database.to_str().ok_or_else(|| {
        Error::call(
            format!("writing {database:?} into Kryoptic's configuration"),
            "its name is not plain UTF-8 text",
            "set TMPDIR to another directory",
        )
    })?;
    Ok(format!(
        "[[slots]]\nslot = 0\ndbtype = \"sqlite\"\ndbargs = {path:?}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_in_the_configuration() {
        let text = configuration_for(std::path::Path::new("/tmp/a \"b\\")).unwrap();
        assert!(text.ends_with("dbargs = \"/tmp/a \\\"b\\\\\"\n"), "{text}");
    }
}

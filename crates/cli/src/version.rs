//! `keymark --version --verbose`: what this program is made of, and where the files are that belong to it.

use std::fmt::Display;

use itertools::Itertools;
use keymark_bench::Error;
use keymark_stores::access::Library;
use keymark_stores::pkcs11::modules::Places;
use keymark_stores::places::library::{MULTIARCH, OwnLibrary};
use keymark_stores::software::{self, SoftwareStore};

use crate::output;

const FEATURES: [(&str, bool); 3] = [
    ("cards", cfg!(feature = "cards")),
    ("rustcrypto", cfg!(feature = "rustcrypto")),
    ("tpm", cfg!(feature = "tpm")),
];

/// A line each.
pub(crate) fn print() {
    let features = FEATURES.iter().filter(|(_, built)| *built);
    let kryoptic = Places::of_user().named("kryoptic");
    let kryoptic = kryoptic.map_or("not here".to_owned(), |module| {
        module.file.path.display().to_string()
    });
    let library = |library: Library| {
        let loaded = software::load(library).map(|loaded| loaded.version());
        (library.word(), found(loaded))
    };
    let own = |library: OwnLibrary| {
        let file = library.find().map(|file| file.display().to_string());
        (library.file, found(file))
    };
    let lines = [
        ("keymark", env!("KEYMARK_VERSION").to_owned()),
        ("architecture", MULTIARCH.to_owned()),
        ("features", features.map(|(name, _)| name).join(", ")),
        ("openssl", SoftwareStore::library_version().to_owned()),
    ];
    let libraries = software::libraries().map(library);
    let files = [OwnLibrary::PCSC, OwnLibrary::PKCS11].map(own);
    let lines = lines.into_iter().chain(libraries).chain(files);
    let lines = lines.chain([("libkryoptic_pkcs11.so", kryoptic)]);
    for (name, value) in lines {
        output::line(&format!("{name:22} {value}"));
    }
}

fn found<T: Display>(what: Result<T, Error>) -> String {
    match what {
        Ok(what) => what.to_string(),
        Err(error) => error.to_string().replace('\n', " "),
    }
}

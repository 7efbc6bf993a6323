//! `keymark audit` on files as OpenSSL, OpenSSH, GnuPG, keytool, NSS and Python's cryptography make them, whole and
//! damaged: each has its keys in the result or is named, and what ssh-keygen, openssl and gpg read, keymark reads.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use keymark_testkit::place::{Ends as _, Place};
use serde_json::Value;

use crate::KEYMARK;

type Words = BTreeSet<String>;

fn words(list: &Value) -> Words {
    let list = list.as_array().into_iter().flatten();
    list.map(|word| word.as_str().unwrap_or("nothing").to_owned())
        .collect()
}

/// Algorithms and lists by file.
fn audited(place: &Place) -> BTreeMap<String, (Words, Words)> {
    let mut keymark = place.keymark("audit --format json files");
    keymark.current_dir(place.directory());
    let mut files: BTreeMap<String, (Words, Words)> = BTreeMap::new();
    let file = |place: &Value| {
        let within = place["within"].as_str().unwrap();
        within.trim_start_matches("files/").to_owned()
    };
    // Some keys are weak, and some files are not read.
    for object in keymark.ends(5).rows() {
        for list in ["not_read", "without_key"] {
            for named in object[list].as_array().into_iter().flatten() {
                files
                    .entry(file(named))
                    .or_default()
                    .1
                    .insert(list.to_owned());
            }
        }
        let also = object["also"].as_array().into_iter().flatten();
        for place in also
            .chain([&object])
            .filter(|place| place["within"].is_string())
        {
            let algorithm = object["algorithm"].as_str().unwrap().to_owned();
            files.entry(file(place)).or_default().0.insert(algorithm);
        }
    }
    files
}

fn fault(made: &Value, keys: &Words, lists: &Words) -> Option<&'static str> {
    let holds = words(&made["holds"]);
    let tools = made["read"].as_object().unwrap().values();
    let tools: Words = tools
        .flat_map(words)
        .filter(|key| key != "nothing")
        .collect();
    let list = made["holds"].as_str();
    if keys.is_empty() && lists.is_empty() {
        return Some("is passed over");
    }
    // Of files with a password, OpenSSL reads what is not encrypted.
    if list.is_none() && !tools.is_subset(keys) {
        return Some("has a key that another program reads");
    }
    match list {
        Some("named") => None,
        Some(list) => (!keys.is_empty() || !lists.contains(list)).then_some("is in the wrong list"),
        None if made["damaged"] == true => (!keys.is_subset(&holds)).then_some("has another key"),
        None => (*keys != holds || !lists.is_empty()).then_some("has other keys"),
    }
}

#[test]
fn no_file_of_other_programs_is_passed_over_and_none_is_read_otherwise() {
    let place = Place::new(KEYMARK);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/audit_corpus.py");
    let mut python = Command::new("/usr/bin/python3");
    let made = python.arg(script).arg(place.directory()).ends(0).rows();
    assert!(made.len() > 200, "{}", made.len());
    let audited = audited(&place);
    let nothing = Default::default();
    let faults: Vec<String> = made
        .iter()
        .filter_map(|made| {
            let file = made["file"].as_str().unwrap();
            let (keys, lists) = audited.get(file).unwrap_or(&nothing);
            let fault = fault(made, keys, lists)?;
            Some(format!("{file} {fault}: {keys:?}, {lists:?}; {made}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

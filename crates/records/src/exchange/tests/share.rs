use std::path::Path;

use keymark_bench::case::{DeviceName, Provenance, StackName, StoreKind};
use keymark_bench::record::Ending;
use keymark_bench::store::StoreIdentity;

use super::*;
use crate::archive::tests::any::records;
use crate::exchange::json;
use keymark_testkit::record::{case, mixed as record, server_load};

pub(crate) const SECRETS: [&str; 10] = [
    "signer-of-acme",
    "carol",
    "janes-laptop",
    "jane",
    "/home/jane",
    "fffe:43211234",
    "43211234",
    "DENK0100123",
    "bob",
    "Jane's HSM",
];

/// A run with a card, a token and a load on a server, whose texts say whose they are.
pub(crate) fn telling() -> Record {
    let mut record = record("20261121-045027-c309");
    let store = |device: &str, kind, product: &str, serial: &str| StoreIdentity {
        device: DeviceName::new(device),
        kind,
        provenance: Provenance::Measured,
        product: product.to_owned(),
        serial: Some(serial.to_owned()),
        versions: BTreeMap::from([("module".to_owned(), "/home/jane/lib/opensc.so".to_owned())]),
        assumed: Vec::new(),
    };
    let card = store(
        "FFFE:43211234",
        StoreKind::OPENPGP_CARD,
        "YubiKey 5",
        "43211234",
    );
    let product = "CardContact, token 'Jane's HSM'";
    let token = store("DENK0100123", StoreKind::PKCS11, product, "DENK0100123");
    record.stores.extend([card, token]);
    record.environment.kernel = Some("6.1.0-janes-laptop".to_owned());
    record
        .environment
        .versions
        .insert("gnupg".to_owned(), "2.4 (/home/jane/bin/gpg)".to_owned());
    let reason = "gpg: card fffe:43211234 of Jane on JANES-LAPTOP: /home/bob/.gnupg: bob may not";
    record.cases[1].ending = Some(Ending::failed(reason));
    for (index, device) in [(1, "FFFE:43211234"), (2, "DENK0100123")] {
        record.cases[index].case.device = DeviceName::new(device);
        record.plan.cases[index].device = DeviceName::new(device);
    }
    let mut loaded = keymark_bench::record::CaseRecord::new(case("rsa2048", StackName::APACHE));
    let mut load = server_load();
    load.server
        .insert("worker_user".to_owned(), "jane".to_owned());
    load.log
        .push("nginx: open() \"/home/carol/www/x\" failed on janes-laptop".to_owned());
    loaded.server_load = Some(Box::new(load));
    record.plan.cases.push(loaded.case.clone());
    record.cases.push(loaded);
    record.environment.machine = Some("signer-of-acme".to_owned());
    record
}

fn known() -> Vec<Personal> {
    vec![
        Personal::Host("janes-laptop".to_owned()),
        Personal::User("jane".to_owned()),
        Personal::Home("/home/jane".to_owned()),
    ]
}

fn written(record: &Record) -> String {
    let mut bytes = Vec::new();
    json::write(record, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn nothing_of_anybody_is_in_any_byte() {
    let before = written(&telling()).to_lowercase();
    assert!(
        SECRETS
            .iter()
            .all(|secret| before.contains(&secret.to_lowercase()))
    );
    let shared = share(&telling(), &known()).unwrap();
    let after = written(&shared.record).to_lowercase();
    for secret in SECRETS {
        assert!(!after.contains(&secret.to_lowercase()), "{secret}: {after}");
    }
    let said: Vec<&str> = shared
        .removed
        .iter()
        .map(|removal| removal.text.as_str())
        .collect();
    for secret in [
        "signer-of-acme",
        "janes-laptop",
        "/home/jane",
        "43211234",
        "DENK0100123",
        "/home/bob",
        "Jane's HSM",
    ] {
        assert!(said.contains(&secret), "{secret} is not said: {said:?}");
    }
}

#[test]
fn what_is_shared_can_be_imported_and_says_the_same() {
    let (whole, shared) = (telling(), share(&telling(), &known()).unwrap());
    let text = written(&shared.record);
    let read = json::parse(Path::new("shared.json"), text.as_bytes()).unwrap();
    assert_eq!(read, shared.record);
    assert_ne!(read.id, whole.id, "both can be in one archive");
    let devices: Vec<&str> = read
        .cases
        .iter()
        .map(|case| case.case.device.as_str())
        .collect();
    assert_eq!(
        devices,
        ["software", "openpgp-card-2", "pkcs11-3", "software"]
    );
    assert_eq!(read.cases[0].blocks, whole.cases[0].blocks);
    assert_eq!(
        read.cases[3].server_load.as_ref().unwrap().totals,
        server_load().totals
    );
    assert_eq!(read.stores[2].product, "CardContact, token 'token'");
}

#[test]
fn short_names_are_taken_out_where_they_stand_alone() {
    assert_eq!(
        replaced("kvm on vm: VM", "vm", "host"),
        ("kvm on host: host".to_owned(), 2)
    );
    assert_eq!(replaced("xjaneyx", "janey", "u"), ("xux".to_owned(), 1));
    assert_eq!(replaced("aß-äbc", "äbc", "u"), ("aß-äbc".to_owned(), 0));
    assert_eq!(replaced("aß äbc", "äbc", "u"), ("aß u".to_owned(), 1));
}

#[test]
fn what_was_shared_is_clean_and_what_was_exported_is_cleaned_of_what_it_says_itself() {
    let shared = share(&telling(), &known()).unwrap().record;
    assert_eq!(
        cleaned(&shared).unwrap(),
        None,
        "it stays as it was shared, with its name"
    );
    let exported = cleaned(&telling()).unwrap().unwrap();
    assert_eq!(exported.record.id.0, "20261121-045027-c309-shared");
    let text = written(&exported.record).to_lowercase();
    for secret in ["43211234", "denk0100123", "jane's hsm", "/home/jane"] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(exported.record.environment.command.is_empty());
    assert_eq!(cleaned(&exported.record).unwrap(), None, "once is enough");
    assert!(
        exported
            .removed
            .iter()
            .all(|removal| removal.text != removal.by)
    );
    // Nothing in it was anybody's.
    assert_eq!(cleaned(&record("x")).unwrap(), None);
}

/// Puts a text in the place of each that may be from outside, and says where.
fn filled(value: &mut Value, path: &str, text: &str, places: &mut Vec<String>) {
    match value {
        Value::String(known) if !SCHEMA.words.contains(known) => {
            *known = text.to_owned();
            places.push(path.to_owned());
        }
        Value::Array(items) => {
            for item in items {
                filled(item, path, text, places);
            }
        }
        Value::Object(object) => {
            for (name, value) in object {
                if !OWN.contains(&&**name) && !["id", "against"].contains(&&**name) {
                    filled(value, &format!("{path}/{name}"), text, places);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn a_name_is_found_in_every_text_of_a_record() {
    let mut whole = telling();
    let load = whole.cases[3].server_load.as_mut().unwrap();
    load.unsteady = Some("x".to_owned());
    load.clients = BTreeMap::from([
        ("janes-laptop".to_owned(), Some("x".to_owned())),
        ("b".to_owned(), None),
    ]);
    whole
        .environment
        .versions
        .insert("jane".to_owned(), "1".to_owned());
    whole.cases[0].ending = Some(Ending {
        code: Some(keymark_bench::error::ReturnCode::named("x", 1)),
        ..Ending::failed("x")
    });
    let mut value = serde_json::to_value(&whole).unwrap();
    let text = "jane@janes-laptop:/home/jane/x";
    let mut places = Vec::new();
    filled(&mut value, "", text, &mut places);
    for place in [
        "/environment/cpu_model",
        "/cases/server_load/clients/janes-laptop",
        "/cases/ending/code/name",
    ] {
        assert!(
            places.iter().any(|found| found == place),
            "{place}: {places:?}"
        );
    }
    let whole: Record = serde_json::from_value(value).unwrap();
    let shared = share(&whole, &known()).unwrap();
    let after = written(&shared.record).to_lowercase();
    assert!(!after.contains("jane"), "{after}");
    assert_eq!(
        shared.record.cases[3]
            .server_load
            .as_ref()
            .unwrap()
            .clients
            .keys()
            .collect::<Vec<_>>(),
        ["client-1", "client-2"]
    );
}

/// A user may be called as keymark's own words are.
#[test]
fn every_record_stays_one_whatever_its_owner_is_called() {
    let words = SCHEMA.words.iter().chain(&SCHEMA.fields);
    let personal: Vec<Personal> = words.cloned().map(Personal::User).collect();
    let config = proptest::test_runner::Config {
        cases: 64,
        failure_persistence: None,
        ..Default::default()
    };
    proptest::proptest!(config, |(record in records())| {
        let shared = share(&record, &personal).unwrap().record;
        proptest::prop_assert_eq!(shared.cases.len(), record.cases.len());
        for (one, other) in shared.cases.iter().zip(&record.cases) {
            proptest::prop_assert_eq!(one.case.algorithm, other.case.algorithm);
            proptest::prop_assert_eq!(one.case.stack, other.case.stack);
            proptest::prop_assert_eq!(&one.blocks, &other.blocks);
            proptest::prop_assert_eq!(&one.parts, &other.parts);
        }
    });
}

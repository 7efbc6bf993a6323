use std::path::Path;

use keymark_bench::case::{DeviceName, Provenance, StackName, StoreKind};
use keymark_bench::record::Ending;
use keymark_bench::store::StoreIdentity;

use super::*;
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
    let shared = share(&telling(), &known());
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
    let (whole, shared) = (telling(), share(&telling(), &known()));
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
fn keymarks_own_words_stay_though_somebody_is_called_so() {
    let personal = ["software", "agent", "rsa2048"].map(|name| Personal::User(name.to_owned()));
    let shared = share(&record("x"), &personal);
    let words = |record: &Record| -> Vec<String> {
        let cases = record.cases.iter();
        let words = cases.map(|case| format!("{} {}", case.case.algorithm, case.case.way()));
        words.collect()
    };
    assert_eq!(words(&shared.record), words(&record("x")));
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
    let shared = share(&telling(), &known()).record;
    assert_eq!(
        cleaned(&shared),
        None,
        "it stays as it was shared, with its name"
    );
    let exported = cleaned(&telling()).unwrap();
    assert_eq!(exported.record.id.0, "20261121-045027-c309-shared");
    let text = written(&exported.record).to_lowercase();
    for secret in ["43211234", "denk0100123", "jane's hsm", "/home/jane"] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(exported.record.environment.command.is_empty());
    assert_eq!(cleaned(&exported.record), None, "once is enough");
    assert!(
        exported
            .removed
            .iter()
            .all(|removal| removal.text != removal.by)
    );
    // Nothing in it was anybody's.
    assert_eq!(cleaned(&record("x")), None);
}

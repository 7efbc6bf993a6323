//! Profiles of twins made from published rows, by one rule: the first mean of each key and operation that was timed as a command
//! of that device, firmware and application. `KEYMARK_UPDATE=1` writes the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use keymark_bench::store::Capability;
use keymark_bench::{Network, Profile, ProfileStore, Service, ServiceTime};

use super::super::*;

/// Rows of which a profile is made.
struct TwinRule {
    name: &'static str,
    store: ProfileStore,
    product: &'static str,
    table: &'static str,
    device: &'static str,
    firmware: &'static str,
    /// Part of the words for the timed command; of a YubiKey's applications, OpenPGP.
    through: &'static str,
    yubikey_version: Option<[u8; 3]>,
}

const CARD: TwinRule = TwinRule {
    name: "",
    store: ProfileStore::OpenpgpCard,
    product: "",
    table: "jsign-2025-tokens",
    device: "",
    firmware: "",
    through: "(OpenPGP)",
    yubikey_version: None,
};
const TPM: TwinRule = TwinRule {
    store: ProfileStore::Pkcs11,
    table: "tokens-tpm-javacard",
    through: "tpm2-algtest",
    ..CARD
};

const RULES: [TwinRule; 8] = [
    TwinRule {
        name: "yubikey-5-5.1",
        product: "YubiKey 5 (firmware 5.1.2)",
        device: "yubikey-5",
        firmware: "5.1.2",
        yubikey_version: Some([5, 1, 2]),
        ..CARD
    },
    TwinRule {
        name: "nitrokey-3-1.8",
        product: "Nitrokey 3 (firmware 1.8.2)",
        device: "nitrokey-3",
        firmware: "1.8.2",
        ..CARD
    },
    TwinRule {
        name: "certum",
        store: ProfileStore::Pkcs11,
        product: "CryptoCertum (Certum card)",
        device: "certum",
        firmware: "Common Profile 3.6.1",
        through: "(Certum)",
        ..CARD
    },
    TwinRule {
        name: "yubihsm-2",
        product: "YubiHSM 2",
        table: "yubihsm2",
        device: "yubihsm-2",
        through: "maker's tool",
        ..TPM
    },
    TwinRule {
        name: "slb9672",
        product: "TPM Infineon SLB9672",
        table: "wolftpm-bench",
        device: "slb9672",
        through: "",
        ..TPM
    },
    TwinRule {
        name: "tpm-stm",
        product: "STMicroelectronics TPM 2.0, firmware 73.4.17568.4452",
        device: "tpm-stm-73-4",
        ..TPM
    },
    TwinRule {
        name: "tpm-nuvoton",
        product: "Nuvoton NPCT75x TPM 2.0, firmware 7.2.0.1",
        device: "tpm-nuvoton-7-2",
        ..TPM
    },
    TwinRule {
        name: "tpm-intel",
        product: "Intel TPM 2.0 in firmware, 302.12.0.0",
        device: "tpm-intel-302-12",
        ..TPM
    },
];

impl TwinRule {
    fn takes(&self, row: &PublishedRow) -> bool {
        row.timed == Timed::Command
            && row.device.is_some_and(|device| device.id == self.device)
            && row.firmware == self.firmware
            && row.through.contains(self.through)
            && !row.through.ends_with(", PSS")
    }

    /// Returns the profile, and the address of its first row's source.
    fn profile(&self) -> (Profile, String) {
        let table = PublishedTable::named(self.table).unwrap();
        let rows = table.rows().unwrap();
        let rows: Vec<&PublishedRow> = rows.iter().filter(|row| self.takes(row)).collect();
        let time = |row: &PublishedRow| ServiceTime::constant(row.mean()?.0).ok();
        let mut services = BTreeMap::new();
        for row in &rows {
            let (Some(algorithm), Some(operation)) = (row.algorithm.known(), row.operation.known())
            else {
                continue;
            };
            let service = Service::measured(time(row).unwrap());
            let capability = Capability::new(algorithm, operation);
            services.entry(capability).or_insert(service);
        }
        let is_verify =
            |row: &&&PublishedRow| row.operation == Term::Other("verify-pin".to_owned());
        let verify = rows.iter().find(is_verify).and_then(|row| time(row));
        let first = rows[0];
        let verified = verify
            .as_ref()
            .map_or("", |_| " VERIFY takes its published time.");
        let profile = Profile {
            name: self.name.to_owned(),
            store: self.store,
            product: self.product.to_owned(),
            source: format!("{} ({})", table.source, first.through),
            note: format!(
                "Means of data/published/{}.csv, without a spread, so the times are constant.{verified} What was not measured is not imitated.",
                self.table
            ),
            services,
            verify,
            yubikey_version: self.yubikey_version,
            network: Network::default(),
        };
        (profile, first.source.clone())
    }
}

#[test]
fn profiles_are_made_from_published_rows() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/profiles"));
    for rule in RULES {
        let (profile, source) = rule.profile();
        let toml = profile.to_toml().unwrap();
        let made = format!(
            "# Device profile for the twin `twin:{}`, made of published rows by crates/records/src/published/tests/twins.rs.\n# {source}\n{toml}",
            rule.name
        );
        let path = folder.join(format!("{}.toml", rule.name));
        if std::env::var_os("KEYMARK_UPDATE").is_some() {
            fs::write(&path, &made).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), made, "{}", rule.name);
        assert!(profile.services.len() > 1, "{}", rule.name);
    }
    let (yubikey, _) = RULES[0].profile();
    let signs = yubikey.service("rsa2048".parse().unwrap(), keymark_bench::Operation::Sign);
    let mean = signs.unwrap().time.mean();
    assert!(mean > Duration::from_millis(137) && mean < Duration::from_millis(139));
    assert!(yubikey.verify.is_some());
}

//! Known weaknesses of a key's device, by its product and firmware (`data/tokens.toml`).

use keymark_bench::StoreIdentity;

use super::finding::{Finding, FindingKind, Level};
use super::key::{Numbers, PublicKey};
use super::weakness::roca;
use keymark_advice::catalogue::{Affected, Catalogue, Weakness, is_within};
use keymark_advice::policy::{self, Use};

/// Returns the weaknesses of a device that concern the key.
pub fn weaknesses(device: &StoreIdentity, key: &PublicKey) -> Vec<Finding> {
    let all = Catalogue::shipped().weaknesses.iter();
    let affecting = all.filter(|known| known.devices.iter().any(|one| is(device, one, key)));
    affecting.map(|known| finding(known, key)).collect()
}

fn is(device: &StoreIdentity, affected: &Affected, key: &PublicKey) -> bool {
    let rest = device.product.strip_prefix(affected.product.as_str());
    let is_product = rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    let firmware = device.versions.get("firmware").map_or("", String::as_str);
    let is_weak = affected.firmware.is_empty() || is_within(firmware, &affected.firmware);
    let kind = key.spec.as_ref().ok();
    let kind = kind.and_then(|spec| policy::KeyKind::of(*spec, Use::Signature));
    is_product && is_weak && (affected.keys.is_none() || affected.keys == kind)
}

fn finding(known: &Weakness, key: &PublicKey) -> Finding {
    let made_elsewhere = known.id == "CVE-2017-15361"
        && matches!(&key.numbers, Numbers::Rsa { n, .. } if !roca::has_fingerprint(n));
    let (level, detail) = if made_elsewhere {
        let detail = "this key does not have its fingerprint: it was made elsewhere";
        (Level::Note, detail.to_owned())
    } else {
        (Level::Warning, known.id.clone())
    };
    let mut finding = Finding::new(level, FindingKind::Device, &known.title).with(detail);
    finding.source.clone_from(&known.source);
    if !known.fixed.is_empty() {
        finding.advice = format!("fixed in {}; make new keys there", known.fixed);
    }
    finding
}

#[cfg(test)]
mod tests {
    use keymark_bench::{DeviceName, Provenance, StoreKind};

    use super::*;

    fn device(product: &str, firmware: &str) -> StoreIdentity {
        let (name, kind) = (DeviceName::new("card"), StoreKind::OPENPGP_CARD);
        let device = StoreIdentity::new(name, kind, Provenance::Measured, product);
        let firmware = ("firmware".to_owned(), firmware.to_owned());
        StoreIdentity {
            versions: [firmware].into(),
            ..device
        }
    }

    #[test]
    fn firmware_is_judged_at_the_version_before_and_at_the_fixed_one() {
        let nist = PublicKey::on_curve("nistp256", &[4]);
        let edwards = PublicKey::on_curve("ed25519", &[9; 32]);
        for (product, firmware, key, expected) in [
            (
                "YubiKey 5 (firmware 5.6.4)",
                "5.6.4",
                &nist,
                "CVE-2024-45678",
            ),
            ("YubiKey 5 (firmware 5.7.0)", "5.7.0", &nist, ""),
            ("YubiKey 5 (firmware 5.6.4)", "5.6.4", &edwards, ""),
            ("YubiKey 4 (firmware 4.4.4)", "4.4.4", &nist, "YSA-2019-02"),
            ("YubiKey 4 (firmware 4.4.3)", "4.4.3", &nist, ""),
            (
                "YubiKey NEO (OpenPGP applet 1.0.9)",
                "1.0.9",
                &nist,
                "YSA-2015-1",
            ),
            ("YubiKey NEO (OpenPGP applet 1.0.10)", "1.0.10", &nist, ""),
            ("Nitrokey Start", "", &edwards, "CVE-2020-8004"),
        ] {
            let found = weaknesses(&device(product, firmware), key).into_iter();
            let ids: Vec<String> = found.map(|finding| finding.detail).collect();
            assert_eq!(ids.join(" "), expected, "{product}");
        }
    }

    #[test]
    fn a_sound_modulus_on_a_device_with_roca_was_made_elsewhere() {
        let key = PublicKey::rsa(&[0xc5; 128], &[1, 0, 1]);
        let found = weaknesses(&device("YubiKey 4 (firmware 4.3.4)", "4.3.4"), &key);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].level, Level::Note);
        assert!(weaknesses(&device("YubiKey 4 (firmware 4.3.5)", "4.3.5"), &key).is_empty());
    }
}

//! Device of a case, and the address of its page.
//!
//! Both follow from the record alone, so that they stay what they are when others are added. A name that the list of devices knows
//! leads to the id there. Any other gets an address of its own, with a hash of all that tells it from others; and a
//! name that says of no device which one it is, also differs from others by its run.

use keymark_bench::{Case, Provenance, Record, StoreKind};
use keymark_records::published::DeviceCatalogue;
use keymark_records::published::catalogue::normal;

use super::pages;

/// A device as the site knows it. The id decides over the name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identified {
    /// Address of its page: lower-case letters, digits and hyphens.
    pub id: String,
    /// Name on the page.
    pub name: String,
}

/// Kind of a page.
#[derive(Clone, Copy, PartialEq, Eq, derive_more::Display)]
#[display(rename_all = "lowercase")]
enum Class {
    Processor,
    Device,
}

impl Identified {
    /// Identifies the device of a record's case.
    pub fn of(record: &Record, case: &Case) -> Self {
        let catalogue = DeviceCatalogue::shipped();
        let (class, name) = named(record, case);
        let name = normal(name);
        let known = match class {
            Class::Processor => catalogue.processor(&name),
            Class::Device => catalogue.named(&name),
        };
        if let Some(device) = known {
            let (id, name) = (device.id.clone(), device.name.clone());
            return Self { id, name };
        }
        let nameless = catalogue.is_nameless(&name);
        let (run, device) = if nameless {
            (record.id.0.as_str(), case.device.as_str())
        } else {
            ("", "")
        };
        let shown = match (name.as_str(), class) {
            ("", Class::Processor) => "a processor without a name".to_owned(),
            ("", Class::Device) => format!("{device} without a product name"),
            (name, _) => name.to_owned(),
        };
        let class = class.to_string();
        Self {
            id: pages::unique(&name, &class, &[&class, &name, run, device]),
            name: if nameless {
                format!("{shown} (run {run})")
            } else {
                shown
            },
        }
    }
}

/// Name of the device itself in the record, without its label and without words for the kind of figure.
fn named<'r>(record: &'r Record, case: &'r Case) -> (Class, &'r str) {
    let store = record
        .stores
        .iter()
        .find(|store| store.device == case.device);
    let product = store.map_or("", |store| store.product.as_str());
    let product = product.split(", token '").next().unwrap_or_default();
    let device = match case.provenance {
        Provenance::Measured | Provenance::Virtual if case.store == StoreKind::SOFTWARE => {
            let model = record.environment.cpu_model.as_deref();
            return (Class::Processor, model.unwrap_or_default());
        }
        Provenance::Measured | Provenance::Virtual => product,
        // `twin of a YubiKey 4`, or `twin:yubikey-4` where it follows a reader.
        Provenance::Twin => {
            let of = ["twin of a ", "twin of an "];
            let of = of.iter().find_map(|of| product.strip_prefix(of));
            let of = of.or_else(|| product.strip_prefix("twin:"));
            of.unwrap_or(product)
        }
        Provenance::Predicted => product.strip_suffix(", simulated").unwrap_or(product),
        // A published device's own name has no firmware in it.
        Provenance::Published if product.is_empty() => case.device.as_str(),
        Provenance::Published => product,
    };
    (Class::Device, device)
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{DeviceName, StackName};
    use keymark_bench::record::RunId;
    use proptest::prelude::*;

    use super::*;
    use keymark_records::published::PublishedTable;
    use keymark_testkit::record as testing;

    /// A record with one case of a device that it says this about.
    fn record(kind: StoreKind, provenance: Provenance, product: &str) -> Record {
        let mut record = testing::mixed("run-1");
        let mut case = testing::case("rsa2048", StackName::RAW);
        case.device = DeviceName::new("openpgp-card-1");
        case.store = kind;
        case.provenance = provenance;
        record.stores = vec![testing::store(&case, product)];
        record.plan.cases = vec![case.clone()];
        record.cases = vec![keymark_bench::record::CaseRecord::new(case)];
        record
    }

    fn identified(record: &Record) -> Identified {
        Identified::of(record, &record.cases[0].case)
    }

    fn card(product: &str) -> Identified {
        identified(&record(
            StoreKind::OPENPGP_CARD,
            Provenance::Measured,
            product,
        ))
    }

    #[test]
    fn the_same_device_has_one_page_whatever_it_is_called() {
        let measured = card("YubiKey 4 (firmware 4.3.5)");
        let twin = record(
            StoreKind::OPENPGP_CARD,
            Provenance::Twin,
            "twin of a YubiKey 4",
        );
        let behind_a_reader = record(StoreKind::OPENPGP_CARD, Provenance::Twin, "twin:yubikey-4");
        let lwn = PublishedTable::named("lwn").unwrap().record().unwrap();
        let published = lwn
            .cases
            .iter()
            .find(|each| each.case.device.as_str() == "YubiKey-4")
            .unwrap();
        let published = Identified::of(&lwn, &published.case);
        for found in [
            measured,
            identified(&twin),
            identified(&behind_a_reader),
            published,
        ] {
            assert_eq!(
                (found.id.as_str(), found.name.as_str()),
                ("yubikey-4", "YubiKey 4")
            );
        }
        // A device that is not in the list: measured and twin meet by its name.
        let twin = record(StoreKind::PKCS11, Provenance::Twin, "twin of a Luna K7");
        let measured = record(
            StoreKind::PKCS11,
            Provenance::Measured,
            "Luna K7, token 'secret'",
        );
        assert_eq!(identified(&twin), identified(&measured));
        assert_eq!(identified(&twin).name, "Luna K7");
    }

    #[test]
    fn a_processor_that_is_called_like_a_card_is_none() {
        let mut software = record(StoreKind::SOFTWARE, Provenance::Measured, "this CPU");
        software.environment.cpu_model = Some("x".to_owned());
        assert_ne!(identified(&software).id, card("x").id);
        assert_eq!(identified(&software).name, "x");
    }

    #[test]
    fn what_says_nothing_of_the_device_is_told_apart_by_its_run() {
        let opensc = |run: &str| {
            let mut record = record(
                StoreKind::PKCS11,
                Provenance::Measured,
                "PKCS#15 emulated, token 'token'",
            );
            record.id = RunId(run.to_owned());
            identified(&record)
        };
        assert_eq!(opensc("a"), opensc("a"));
        assert_ne!(opensc("a").id, opensc("b").id);
        assert_eq!(opensc("a").name, "PKCS#15 emulated (run a)");
        let nameless = |run: &str| {
            let mut record = record(StoreKind::SOFTWARE, Provenance::Measured, "this CPU");
            record.environment.cpu_model = None;
            record.id = RunId(run.to_owned());
            identified(&record)
        };
        assert_ne!(nameless("a").id, nameless("b").id);
        // Every article has a CPU.
        let of = |name: &str| {
            let mut record = record(StoreKind::REPORTED, Provenance::Published, "");
            record.id = RunId(format!("published-{name}"));
            record.cases[0].case.device = DeviceName::new("CPU");
            identified(&record)
        };
        assert_ne!(of("one").id, of("two").id);
    }

    #[test]
    fn addresses_are_pinned() {
        // They are cited: a change here breaks links elsewhere.
        for (product, expected) in [
            ("YubiKey 5 (firmware 5.7.1)", "yubikey-5"),
            ("Nitrokey Start", "nitrokey-start"),
            ("Luna K7", "luna-k7-9b4d2fa53a7940a889aa"),
        ] {
            assert_eq!(card(product).id, expected);
        }
        let mut software = record(StoreKind::SOFTWARE, Provenance::Measured, "this CPU");
        software.environment.cpu_model = Some("Intel(R) Xeon(R) Processor".to_owned());
        assert_eq!(
            identified(&software).id,
            "intel-r-xeon-r-processor-7ecdc6d0ceac6863a0c3"
        );
    }

    #[test]
    fn twins_that_come_with_keymark_stand_beside_what_they_were_made_of() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/profiles");
        let mut profiles = 0;
        for entry in std::fs::read_dir(directory).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let product = text
                .lines()
                .find_map(|line| line.strip_prefix("product = \""))
                .unwrap();
            let product = product.trim_end_matches('"');
            let twin = record(
                StoreKind::OPENPGP_CARD,
                Provenance::Twin,
                &format!("twin of a {product}"),
            );
            let id = identified(&twin).id;
            if DeviceCatalogue::shipped().is_nameless(product) {
                continue;
            }
            let mut figures = PublishedTable::collection().iter();
            let published = figures.any(|(_, row)| row.device.is_some_and(|of| of.id == id));
            assert!(published, "{product}: {id}");
            profiles += 1;
        }
        assert!(profiles >= 10, "{profiles}");
    }

    #[test]
    fn no_name_of_a_record_leads_to_a_device_of_the_catalogue() {
        for device in &DeviceCatalogue::shipped().devices {
            assert!(!pages::may_be_unique(&device.id), "{}", device.id);
        }
    }

    proptest! {
        #[test]
        fn only_names_that_are_the_same_share_a_page(a in ".{0,40}", b in ".{0,40}") {
            let same = normal(&a) == normal(&b);
            // What the list knows is meant to be shared, and the label is no part of the name.
            prop_assume!(!a.contains(", token '") && !b.contains(", token '"));
            let (a, b) = (card(&a).id, card(&b).id);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            prop_assert!(a.chars().all(plain), "{}", a);
            prop_assert_eq!(a == b, same);
        }
    }
}

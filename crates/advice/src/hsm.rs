//! `keymark advise hsm`: how many HSMs of each kind, or which quota, a rate takes, by published figures.

use std::cmp::Ordering;

use itertools::Itertools;
use keymark_bench::{Algorithm, DeviceName, KeyFamily, Operation, words};
use keymark_records::published::{
    CatalogueDevice, Certification, DeviceKind, Grade, PublishedRow, PublishedSpeed, RateOf, Term,
};
use keymark_report::report::CollectedFigure;
use keymark_report::{Block, Column, Document, Section, TableOf, units};
use keymark_stats::{Demand, Distribution, PerSecond, Seconds, ServiceTimes};

use crate::capacity::{CapacityQuestion, MOST_TOKENS, Service};
use crate::{answered, basis};

words! {
    /// Class of HSMs, by what they cost and where they are.
    pub enum HsmClass("class") {
        /// At a USB port.
        Usb = "usb",
        /// In a rack.
        Network = "network",
        /// At a provider.
        Cloud = "cloud",
    }
}

impl HsmClass {
    const fn of(kind: DeviceKind) -> Option<Self> {
        match kind {
            DeviceKind::UsbHsm => Some(Self::Usb),
            DeviceKind::NetworkHsm => Some(Self::Network),
            DeviceKind::CloudHsm | DeviceKind::CloudKms => Some(Self::Cloud),
            DeviceKind::Keycard
            | DeviceKind::SmartCard
            | DeviceKind::Tpm
            | DeviceKind::SecureElement
            | DeviceKind::Cpu
            | DeviceKind::Mcu
            | DeviceKind::Software => None,
        }
    }
}

/// A load for HSMs.
#[derive(Debug, Clone)]
pub struct HsmQuestion {
    /// Operations that arrive at random.
    pub rate: PerSecond,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// Limit of 99 % of the operations.
    pub latency: Option<Seconds>,
    /// Wanted classes; all if empty.
    pub classes: Vec<HsmClass>,
    /// Accepted certifications; with none, a device needs no certification.
    pub certifications: Vec<Certification>,
}

/// A device with the number that the load takes.
#[derive(Debug)]
pub struct HsmOption {
    /// Device.
    pub device: &'static CatalogueDevice,
    /// Figure that decides.
    pub row: &'static PublishedRow,
    /// Fewest devices, clusters or accounts; none if more than keymark simulates, or if one operation takes too long.
    pub number: Option<u32>,
}

impl HsmOption {
    /// Returns the counted thing: devices, or the source's words for a cluster, a partition or an account.
    pub fn unit(&self) -> String {
        match &self.row.speed {
            PublishedSpeed::Rate { of, .. } if self.row.grade == Grade::Quota => {
                format!("quota for {of}")
            }
            PublishedSpeed::Rate { of, .. } => match of {
                RateOf::Cluster(_) => of.to_string(),
                RateOf::Partition => "partition".to_owned(),
                RateOf::Workers(_) | RateOf::Other(_) => "device".to_owned(),
            },
            PublishedSpeed::Mean(_) => "device".to_owned(),
        }
    }

    /// Returns the time or the rate that decides.
    fn figure(&self) -> String {
        match &self.row.speed {
            PublishedSpeed::Mean(mean) => units::duration(*mean),
            PublishedSpeed::Rate { rate, .. } => units::rate(*rate),
        }
    }
}

impl HsmQuestion {
    /// Returns a line for each device with a figure of that key, the fewest first, by kind.
    pub fn options(&self, figures: &'static [CollectedFigure]) -> Vec<HsmOption> {
        let rows = figures.iter().map(|(_, row)| row);
        let fitting = rows.filter_map(|row| {
            let device = row.device?;
            let class = HsmClass::of(device.kind)?;
            let wanted = self.classes.is_empty() || self.classes.contains(&class);
            let certified = self.certifications.is_empty()
                || (device.certification).is_some_and(|own| self.certifications.contains(&own));
            (wanted && certified && self.is_about(row)).then(|| HsmOption {
                device,
                row,
                number: self.number(row),
            })
        });
        let best = fitting.sorted_by(|a, b| {
            let (a, b) = (order(a), order(b));
            a.partial_cmp(&b).unwrap_or(Ordering::Equal)
        });
        best.unique_by(|option| &option.device.id).collect()
    }

    /// Returns whether a row has the key's private operation: its own, or that of a quota for all of its kind.
    fn is_about(&self, row: &PublishedRow) -> bool {
        let operations = [Operation::Sign, Operation::Decrypt, Operation::Decapsulate];
        let usual = operations
            .into_iter()
            .find(|operation| self.algorithm.has(*operation));
        let operation = match &row.operation {
            Term::Known(known) => Some(*known) == usual,
            Term::Other(word) => word == "any",
        };
        let kind = match KeyFamily::of(self.algorithm) {
            KeyFamily::Rsa => "rsa",
            KeyFamily::EllipticCurve => "ecc",
            KeyFamily::PostQuantum if self.algorithm.name().starts_with("mldsa") => "ml-dsa",
            KeyFamily::PostQuantum | KeyFamily::FiniteField => return false,
        };
        operation
            && match &row.algorithm {
                Term::Known(known) => *known == self.algorithm,
                Term::Other(word) => word == "any" || word == kind,
            }
    }

    fn number(&self, row: &PublishedRow) -> Option<u32> {
        match &row.speed {
            PublishedSpeed::Rate { rate, .. } => {
                let number = (self.rate.0 / rate.0).ceil();
                (number <= f64::from(u32::MAX)).then_some((number as u32).max(1))
            }
            PublishedSpeed::Mean(mean) if self.rate.0 * mean.0 < f64::from(MOST_TOKENS) => {
                let question = CapacityQuestion {
                    service: Service {
                        device: DeviceName::new(&row.name),
                        times: ServiceTimes::of([*mean])?,
                        source: row.source.clone(),
                        network: None,
                    },
                    demand: Demand::Arrivals(self.rate),
                    p99: self.latency,
                    spare: 0,
                    seed: 1,
                };
                question.fewest(Distribution::Shared)
            }
            PublishedSpeed::Mean(_) => None,
        }
    }

    /// Returns the answer for people.
    pub fn document(&self, figures: &'static [CollectedFigure]) -> Document {
        let options = self.options(figures);
        if options.is_empty() {
            let text = format!(
                "No published figure of {}{}.",
                self.algorithm,
                if self.certifications.is_empty() {
                    String::new()
                } else {
                    format!(
                        " is of a device with {}",
                        self.certifications.iter().join(" or ")
                    )
                }
            );
            return answered(vec![text], Vec::new());
        }
        let table = TableOf::new(&options)
            .label("kind", |one| one.device.kind.word())
            .label("device", |one| one.device.name.as_str())
            .value("number", |one| one.number)
            .label("of", |one| one.unit())
            .value("figure", |one| one.figure())
            .label("grade", |one| one.row.grade.for_people())
            .label("sale", |one| one.device.sale_words())
            .column(Column::name("certified").leave(2), |one| {
                one.device.certification.map(Certification::word)
            })
            .column(Column::name("known issues").leave(1), |one| {
                one.device.known.clone()
            })
            .column(Column::name("from").leave(0), |one| one.row.source.as_str())
            .table();
        let text = "devices with a time per operation are simulated as a queue ('keymark capacity' does so with yours); \
                    a rate holds with many sessions and says nothing of latency";
        let blocks = vec![Block::Table(table), basis(text)];
        answered(
            vec![self.verdict(&options)],
            vec![Section::bare(blocks).first()],
        )
    }

    /// Names the fewest of each kind. Price is no part of this.
    fn verdict(&self, options: &[HsmOption]) -> String {
        let sold = options.iter().filter(|one| one.device.sale != Some(false));
        let first = sold.filter(|one| one.number.is_some());
        let first = first.unique_by(|one| one.device.kind).map(|one| {
            let number = one.number.unwrap_or(1);
            let name = &one.device.name;
            let is_unknown = self.latency.is_some() && one.row.mean().is_none();
            let latency = if is_unknown {
                " (latency not published)"
            } else {
                ""
            };
            let what = match (one.row.grade, number) {
                (Grade::Quota, 1) => format!("{name} within its default quota"),
                (Grade::Quota, _) => format!("{number} quotas of {name}"),
                _ if one.unit() == "device" => format!("{number} {name}"),
                _ => format!("{name} ({})", units::counted(number, &one.unit())),
            };
            format!("{what}{latency}")
        });
        let of = format!("{} with {}", units::rate(self.rate), self.algorithm);
        format!(
            "{of} takes {}. Price is not part of this.",
            first.format(", or ")
        )
    }
}

/// Orders options by kind, in sale first, then by number; of several rows of a device the smallest cluster that suffices, or the
/// highest rate.
fn order(option: &HsmOption) -> (DeviceKind, u8, u32, f64, &str) {
    let rate = match &option.row.speed {
        PublishedSpeed::Mean(mean) => -1.0 / mean.0,
        PublishedSpeed::Rate {
            rate,
            of: RateOf::Cluster(_),
        } => rate.0,
        PublishedSpeed::Rate { rate, .. } => -rate.0,
    };
    let sale = match option.device.sale {
        Some(true) => 0,
        None => 1,
        Some(false) => 2,
    };
    let number = option.number.unwrap_or(u32::MAX);
    let device = option.device;
    (device.kind, sale, number, rate, &device.id)
}

#[cfg(test)]
mod tests {
    use keymark_records::published::PublishedTable;
    use keymark_testkit::assert_says;

    use super::*;

    fn ask(rate: f64, algorithm: &str) -> HsmQuestion {
        HsmQuestion {
            rate: PerSecond(rate),
            algorithm: algorithm.parse().unwrap(),
            latency: None,
            classes: Vec::new(),
            certifications: Vec::new(),
        }
    }

    /// The number of a device that the load takes; nothing if the device is left out.
    fn number(question: &HsmQuestion, id: &str) -> Option<Option<u32>> {
        let options = question.options(PublishedTable::collection());
        let found = options.into_iter().find(|one| one.device.id == id);
        found.map(|one| one.number)
    }

    #[test]
    fn a_rate_of_many_sessions_promises_no_latency() {
        let verdict = |latency| {
            let question = HsmQuestion {
                latency,
                ..ask(50.0, "rsa2048")
            };
            question.verdict(&question.options(PublishedTable::collection()))
        };
        let limited = verdict(Some(Seconds(0.5)));
        assert_says(&limited, ["A790 (latency not published)"]);
        assert!(!limited.contains("YubiHSM 2 (latency"), "{limited}");
        assert!(!verdict(None).contains("latency"));
    }

    #[test]
    fn a_rate_has_a_number_of_each_kind() {
        let options = ask(50.0, "rsa2048").options(PublishedTable::collection());
        let kinds = options.iter().map(|one| one.device.kind).unique();
        let kinds: Vec<&str> = kinds.map(DeviceKind::word).collect();
        assert_eq!(kinds, ["usb-hsm", "network-hsm", "cloud-hsm", "cloud-kms"]);
        // 139 ms each are seven at once, which fill them: an eighth keeps the queue from growing, or seven just do.
        let yubihsm = number(&ask(50.0, "rsa2048"), "yubihsm-2").unwrap().unwrap();
        assert!((7..=8).contains(&yubihsm), "{yubihsm}");
        for (rate, algorithm, id, expected) in [
            (50.0, "rsa2048", "thales-luna-network-hsm-7-a790", Some(1)),
            (50.0, "rsa2048", "aws-kms", Some(1)),
            (50.0, "rsa2048", "azure-key-vault-hsm-key", Some(1)),
            // Three seconds each.
            (50.0, "rsa2048", "pico-hsm-rp2040", None),
            (450.0, "rsa2048", "azure-key-vault-hsm-key", Some(3)),
            (2500.0, "rsa2048", "aws-cloudhsm-hsm2m-medium", Some(1)),
            (1.0, "mldsa65", "aws-kms", Some(1)),
        ] {
            assert_eq!(number(&ask(rate, algorithm), id), Some(expected), "{id}");
        }
        let options = ask(2500.0, "rsa2048").options(PublishedTable::collection());
        assert!(options.iter().any(|one| one.unit() == "cluster of 3 HSMs"));
    }

    #[test]
    fn a_certification_leaves_the_others_out() {
        let certified = HsmQuestion {
            certifications: vec![Certification::Fips140v3Level3],
            ..ask(50.0, "rsa2048")
        };
        for (id, is_there) in [
            ("aws-cloudhsm-hsm2m-medium", true),
            ("aws-kms", true),
            ("yubihsm-2", false),
            ("aws-cloudhsm-hsm1-medium", false),
        ] {
            assert_eq!(number(&certified, id).is_some(), is_there, "{id}");
        }
    }

    #[test]
    fn latency_takes_more_devices_and_a_class_leaves_the_others_out() {
        let within = |seconds| HsmQuestion {
            latency: Some(Seconds(seconds)),
            classes: vec![HsmClass::Usb],
            ..ask(20.0, "rsa2048")
        };
        let of = |question: &HsmQuestion| number(question, "yubihsm-2").unwrap();
        assert!(of(&within(0.2)) > of(&ask(20.0, "rsa2048")));
        assert_eq!(of(&within(0.1)), None);
        let usb = within(0.2).options(PublishedTable::collection());
        assert!(usb.iter().all(|one| one.device.kind == DeviceKind::UsbHsm));
    }
}

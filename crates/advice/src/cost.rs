//! What operations cost, from whatever has a figure of it: the archive's runs, published tables, profiles of devices.

use itertools::Itertools;
use keymark_bench::{Algorithm, Operation, Profile, Provenance, Record, StackName};
use keymark_report::analysis::Analysis;
use keymark_report::site::Identified;
use keymark_stats::{Estimate, PerSecond, Seconds};

/// Keys of this CPU.
pub const SOFTWARE: &str = "software";

/// A figure of one operation with one key on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The catalogue's id of the device, or [`SOFTWARE`].
    pub owner: String,
    /// Of the key.
    pub algorithm: Algorithm,
    /// What the key is asked for.
    pub operation: Operation,
    /// Through which program.
    pub stack: StackName,
    /// Its mean.
    pub time: Estimate<Seconds>,
    /// Its kind.
    pub provenance: Provenance,
    /// The run, the article, the profile.
    pub source: String,
    /// Whether it is a card's time alone, without the programs around it.
    card_alone: bool,
}

/// Handshakes a second of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Handshakes {
    /// Of the certificate.
    pub algorithm: Algorithm,
    /// Its key exchange.
    pub exchange: String,
    /// The server.
    pub stack: StackName,
    /// As observed.
    pub rate: Estimate<PerSecond>,
    /// The run.
    pub source: String,
}

/// All that are at hand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    operations: Vec<Figure>,
    handshakes: Vec<Handshakes>,
}

impl Figures {
    /// Those of records: runs, newest first, and published tables. A virtual card's are this CPU's, and no device's.
    pub fn of(records: &[Record]) -> Self {
        let mut all = Self::default();
        for record in records {
            all.add(record);
        }
        all
    }

    fn add(&mut self, record: &Record) {
        for row in Analysis::of(record, &[]).rows {
            let case = &row.case;
            let source = record.id.to_string();
            if case.operation == Operation::Handshake {
                let kex = case.parameters.pairs().find(|(name, _)| *name == "kex");
                let measured = case.provenance == Provenance::Measured;
                if let (Some((_, kex)), Some(rate), true) = (kex, row.throughput, measured) {
                    self.handshakes.push(Handshakes {
                        algorithm: case.algorithm,
                        exchange: kex.to_owned(),
                        stack: case.stack,
                        rate,
                        source,
                    });
                }
                continue;
            }
            let (Some(time), true) = (row.time(), case.is_alone()) else {
                continue;
            };
            let owner = match case.provenance {
                Provenance::Virtual => continue,
                Provenance::Measured if case.device.as_str() == SOFTWARE => SOFTWARE.to_owned(),
                Provenance::Measured
                | Provenance::Twin
                | Provenance::Predicted
                | Provenance::Published => Identified::of(record, case).id,
            };
            self.operations.push(Figure {
                owner,
                algorithm: case.algorithm,
                operation: case.operation,
                stack: case.stack,
                time,
                provenance: case.provenance,
                source,
                card_alone: false,
            });
        }
    }

    /// With the times of profiles, which are a card's alone; what nobody measured is left out.
    pub fn with_profiles(mut self, profiles: &[Profile]) -> Self {
        for profile in profiles {
            for (capability, service) in &profile.services {
                if service.assumed.is_some() {
                    continue;
                }
                let time = Seconds(service.time.mean().as_secs_f64());
                self.operations.push(Figure {
                    owner: profile.name.clone(),
                    algorithm: capability.algorithm,
                    operation: capability.operation,
                    stack: StackName::RAW,
                    time: Estimate::bare(time),
                    provenance: Provenance::Twin,
                    source: format!("profile {}", profile.name),
                    card_alone: true,
                });
            }
        }
        self
    }

    /// The best figure of an operation: measured, else of a twin, predicted, published, a card's alone; of these through
    /// gpg rather than without it, and the newest.
    pub fn best(&self, owner: &str, algorithm: Algorithm, operation: Operation) -> Option<&Figure> {
        let same = |figure: &&Figure| {
            (&*figure.owner, figure.algorithm, figure.operation) == (owner, algorithm, operation)
        };
        let all = self.operations.iter().filter(same);
        all.min_by_key(|figure| {
            let through_gpg = figure.stack == StackName::GNUPG;
            (figure.card_alone, figure.provenance, !through_gpg)
        })
    }

    /// The best rate of each certificate and key exchange.
    pub fn handshakes(&self) -> Vec<&Handshakes> {
        let mut all: Vec<&Handshakes> = self.handshakes.iter().collect();
        all.sort_by(|a, b| {
            let by_rate = b.rate.value.0.total_cmp(&a.rate.value.0);
            by_rate.then_with(|| (a.algorithm, &a.exchange).cmp(&(b.algorithm, &b.exchange)))
        });
        let best = all.into_iter();
        best.unique_by(|one| (one.algorithm, &one.exchange))
            .collect()
    }
}

//! Costs of operations, from the archive's runs, published tables and profiles of devices.

use itertools::Itertools;
use keymark_bench::{Algorithm, Operation, Parameters, Profile, Provenance, Record, StackName};
use keymark_report::analysis::{Analysis, Row};
use keymark_report::grouped;
use keymark_report::site::Identified;
use keymark_stats::{Estimate, PerSecond, Seconds, estimate_of_runs};

/// Keys of this CPU.
pub const SOFTWARE: &str = "software";

/// A program with its parameters. Only figures through the same one are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The program.
    pub stack: StackName,
    /// Its parameters with keys in files. Keys on tokens have none.
    pub parameters: Parameters,
    /// Name for people: `gpg, passphrase cached`.
    pub words: &'static str,
}

/// A figure of one operation with one key on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct CostFigure {
    /// The catalogue's id of the device, or [`SOFTWARE`].
    pub owner: String,
    pub algorithm: Algorithm,
    pub operation: Operation,
    /// Through which program.
    pub stack: StackName,
    /// Its parameters.
    pub parameters: Parameters,
    /// Its mean; of several runs the geometric mean of theirs.
    pub time: Estimate<Seconds>,
    /// Its kind.
    pub provenance: Provenance,
    /// The newest run, the article, the profile.
    pub source: String,
}

/// Handshakes a second of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Handshakes {
    pub algorithm: Algorithm,
    /// Its key exchange.
    pub exchange: String,
    /// The server.
    pub stack: StackName,
    /// All its parameters besides the key exchange, and the load.
    pub conditions: String,
    pub rate: Estimate<PerSecond>,
    /// The run.
    pub source: String,
}

/// All that are at hand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    operations: Vec<CostFigure>,
    handshakes: Vec<Handshakes>,
}

impl Figures {
    /// Returns the figures of runs, newest first, and of published tables. Figures of keys in files count of this
    /// machine's runs only, for which `is_here` holds. A virtual card's are this CPU's, and no device's. A failed case
    /// has none.
    pub fn of(records: &[Record], is_here: impl Fn(&Record) -> bool) -> Self {
        let mut all = Self::default();
        for record in records {
            let here = is_here(record);
            for row in Analysis::of(record, &[]).rows {
                let in_file = row.case.device.as_str() == SOFTWARE;
                if row.failure.is_none() && (here || !in_file) {
                    all.add(record, &row);
                }
            }
        }
        all.operations = over_runs(all.operations);
        all
    }

    fn add(&mut self, record: &Record, row: &Row) {
        let case = &row.case;
        let source = record.id.to_string();
        if case.operation == Operation::Handshake {
            let measured =
                case.provenance == Provenance::Measured && case.device.as_str() == SOFTWARE;
            if let (Some(exchange), Some(rate), true) =
                (case.parameters.get("kex"), row.throughput, measured)
            {
                let others = case.parameters.pairs().filter(|(name, _)| *name != "kex");
                let others = others.map(|(name, word)| format!("{name}={word}"));
                self.handshakes.push(Handshakes {
                    algorithm: case.algorithm,
                    exchange: exchange.to_owned(),
                    stack: case.stack,
                    conditions: others.chain([format!("{:?}", case.load)]).join(" "),
                    rate,
                    source,
                });
            }
            return;
        }
        let (Some(time), true) = (row.time(), case.is_alone()) else {
            return;
        };
        let owner = match case.provenance {
            Provenance::Virtual => return,
            Provenance::Measured if case.device.as_str() == SOFTWARE => SOFTWARE.to_owned(),
            Provenance::Measured
            | Provenance::Twin
            | Provenance::Predicted
            | Provenance::Published => Identified::of(record, case).id,
        };
        self.operations.push(CostFigure {
            owner,
            algorithm: case.algorithm,
            operation: case.operation,
            stack: case.stack,
            parameters: case.parameters.clone(),
            time,
            provenance: case.provenance,
            source,
        });
    }

    /// Adds the times of profiles, which are a card's alone; assumed times are left out.
    pub fn with_profiles(mut self, profiles: &[Profile]) -> Self {
        for profile in profiles {
            for (capability, service) in &profile.services {
                if service.assumed.is_some() {
                    continue;
                }
                let time = Seconds(service.time.mean().as_secs_f64());
                self.operations.push(CostFigure {
                    owner: profile.name.clone(),
                    algorithm: capability.algorithm,
                    operation: capability.operation,
                    stack: StackName::RAW,
                    parameters: Parameters::NONE,
                    time: Estimate::bare(time),
                    provenance: Provenance::Twin,
                    source: format!("profile {}", profile.name),
                });
            }
        }
        self
    }

    /// The figure of an operation through one program: measured, else of a twin, predicted, published. None if there is one
    /// through other programs only.
    pub fn through(
        &self,
        way: &Way,
        owner: &str,
        algorithm: Algorithm,
        operation: Operation,
    ) -> Option<&CostFigure> {
        let none = Parameters::NONE;
        let on_token = owner != SOFTWARE && way.stack == StackName::GNUPG;
        let parameters = if on_token { &none } else { &way.parameters };
        let same = |figure: &&CostFigure| {
            (&*figure.owner, figure.algorithm, figure.operation) == (owner, algorithm, operation)
                && (figure.stack, &figure.parameters) == (way.stack, parameters)
        };
        let all = self.operations.iter().filter(same);
        all.min_by_key(|figure| figure.provenance)
    }

    /// The best rate of each certificate and key exchange under the same conditions.
    pub fn handshakes(&self) -> Vec<&Handshakes> {
        let mut all: Vec<&Handshakes> = self.handshakes.iter().collect();
        all.sort_by(|a, b| {
            let by_rate = b.rate.value.0.total_cmp(&a.rate.value.0);
            by_rate.then_with(|| (a.algorithm, &a.exchange).cmp(&(b.algorithm, &b.exchange)))
        });
        all.into_iter()
            .unique_by(|one| (one.algorithm, &one.exchange, one.stack, &one.conditions))
            .collect()
    }
}

/// Joins the figures of each case over its runs, which are the newest first.
fn over_runs(figures: Vec<CostFigure>) -> Vec<CostFigure> {
    let same = grouped(figures, |figure| {
        let key = (figure.owner.clone(), figure.algorithm, figure.operation);
        let way = (figure.stack, figure.parameters.clone());
        (key, way, figure.provenance)
    });
    let mean = |(_, mut runs): (_, Vec<CostFigure>)| {
        let means: Vec<Seconds> = runs.iter().map(|run| run.time.value).collect();
        let newest = runs.swap_remove(0);
        let time = if means.len() > 1 {
            estimate_of_runs(&means).unwrap_or(newest.time)
        } else {
            newest.time
        };
        CostFigure { time, ..newest }
    };
    same.into_iter().map(mean).collect()
}

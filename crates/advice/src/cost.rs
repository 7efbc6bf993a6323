//! Costs of operations, from the archive's runs and published tables.

use std::cmp::Reverse;

use itertools::Itertools;
use keymark_bench::{
    Algorithm, Case, Family, Operation, Parameters, Provenance, Record, StackName,
};
use keymark_records::published::PublishedRow;
use keymark_report::analysis::{Analysis, Row};
use keymark_report::grouped;
use keymark_report::report::CollectedFigure;
use keymark_report::site::Identified;
use keymark_stats::{Estimate, PerSecond, Seconds, estimate_of_runs};
use serde::Deserialize;

use crate::catalogue::Catalogue;

/// Keys of this CPU.
pub const SOFTWARE: &str = "software";

/// A program with its parameters. Only figures through the same one are compared.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// The program.
    pub stack: StackName,
    /// Its parameters with keys in files. Keys on tokens have none.
    #[serde(default)]
    pub parameters: Parameters,
    /// Name for people: `gpg, passphrase cached`.
    pub words: String,
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
    /// The newest run, the article.
    pub source: String,
    /// True if it is one command of an OpenPGP card: the device's part of a gpg process.
    pub is_command: bool,
    /// Parts of the sum, if it was estimated.
    pub parts: Option<EstimatedParts>,
}

/// Parts of an estimate: a card's command and this machine's own program time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimatedParts {
    /// Published time of the card's command.
    pub card: Seconds,
    /// Operation of that command: the same calculation, if it is another one.
    pub command: Operation,
    /// Time of gpg without the key's operation, measured here.
    pub program: Seconds,
}

/// Handshakes per second of a server.
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
            | Provenance::Published => owner(record, case),
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
            is_command: false,
            parts: None,
        });
    }

    /// Adds published times, of each case the most trusted one, and estimates of gpg with cards of which a command's time
    /// alone was published.
    pub fn with_published(mut self, figures: &[CollectedFigure]) -> Self {
        let figures = figures.iter().filter_map(|(table, row)| {
            let rank = (row.grade, row.is_piv(), Reverse(row.n));
            Some((rank, published(table.name, row)?))
        });
        let figures = figures.sorted_by(|(a, _), (b, _)| a.cmp(b));
        let figures = figures.map(|(_, figure)| figure).unique_by(|figure| {
            let key = (figure.owner.clone(), figure.algorithm, figure.operation);
            (key, figure.stack, figure.parameters.clone())
        });
        self.operations.extend(figures);
        let commands = self.operations.iter().filter(|figure| figure.is_command);
        let estimates = commands.flat_map(|figure| self.estimates(figure));
        let estimates: Vec<CostFigure> = estimates.collect();
        self.operations.extend(estimates);
        self
    }

    /// Estimates gpg's times with a card's command: for its own operation, and for decrypting with RSA, which is the same
    /// calculation as authenticating and signing.
    fn estimates(&self, figure: &CostFigure) -> Vec<CostFigure> {
        let is_rsa = matches!(figure.algorithm.family(), Family::Rsa(_));
        let same = figure.operation != Operation::Decrypt;
        let decrypts = (is_rsa && same).then_some(Operation::Decrypt);
        let operations = [figure.operation].into_iter().chain(decrypts);
        let estimate = |operation| {
            let program = self.program(operation)?;
            let parts = EstimatedParts {
                card: figure.time.value,
                command: figure.operation,
                program,
            };
            Some(CostFigure {
                operation,
                stack: StackName::GPG,
                time: Estimate::bare(Seconds(parts.card.0 + program.0)),
                is_command: false,
                parts: Some(parts),
                ..figure.clone()
            })
        };
        operations.filter_map(estimate).collect()
    }

    /// Returns gpg's time on this machine without the key's operation, the shortest of all keys: it does not depend on the key.
    /// gpg calculates with libgcrypt, whose times count if they were measured.
    fn program(&self, operation: Operation) -> Option<Seconds> {
        let libgcrypt = Parameters::from([("library", "libgcrypt")]);
        let time = |stack, key, parameters: &Parameters| {
            let of_key = self.operations.iter().find(|figure| {
                figure.owner == SOFTWARE
                    && (figure.stack, figure.algorithm, figure.operation) == (stack, key, operation)
                    && figure.parameters == *parameters
            });
            of_key.map(|figure| figure.time.value.0)
        };
        let rest = |key| {
            let alone = time(StackName::RAW, key, &libgcrypt);
            let alone = alone.or_else(|| time(StackName::RAW, key, &Parameters::NONE))?;
            let rest = time(StackName::GPG, key, &Parameters::NONE)? - alone;
            Some(rest).filter(|rest| *rest > 0.0)
        };
        let shortest = Algorithm::all().filter_map(rest).min_by(f64::total_cmp);
        shortest.map(Seconds)
    }

    /// Returns the published time of a card's command for an operation, or for the same calculation.
    pub fn command(
        &self,
        owner: &str,
        algorithm: Algorithm,
        operation: Operation,
    ) -> Option<&CostFigure> {
        let is_rsa = matches!(algorithm.family(), Family::Rsa(_));
        let commands = self.operations.iter().filter(|figure| {
            figure.is_command && (&*figure.owner, figure.algorithm) == (owner, algorithm)
        });
        let differs = |figure: &&CostFigure| figure.operation != operation;
        commands
            .filter(|figure| figure.operation == operation || is_rsa)
            .min_by(|a, b| {
                differs(a)
                    .cmp(&differs(b))
                    .then(a.time.value.0.total_cmp(&b.time.value.0))
            })
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
        let on_token = owner != SOFTWARE && way.stack == StackName::GPG;
        let parameters = if on_token { &none } else { &way.parameters };
        let same = |figure: &&CostFigure| {
            (&*figure.owner, figure.algorithm, figure.operation) == (owner, algorithm, operation)
                && (figure.stack, &figure.parameters) == (way.stack, parameters)
        };
        let all = self.operations.iter().filter(same);
        all.min_by(|a, b| {
            let rank = |figure: &CostFigure| (figure.provenance, figure.parts.is_some());
            let by_time = a.time.value.0.total_cmp(&b.time.value.0);
            rank(a).cmp(&rank(b)).then(by_time)
        })
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

/// Returns the catalogue's token, by the firmware that the record has, else the device.
fn owner(record: &Record, case: &Case) -> String {
    let device = Identified::of(record, case).id;
    let store = record
        .stores
        .iter()
        .find(|store| store.device == case.device);
    let in_name = store.and_then(|store| store.product.split_once("(firmware "));
    let in_name = in_name.and_then(|(_, rest)| rest.split([')', ',']).next());
    let known = store.and_then(|store| store.versions.get("firmware").map(String::as_str));
    token(device, known.or(in_name).unwrap_or_default())
}

fn token(device: String, firmware: &str) -> String {
    let token = Catalogue::shipped().token_of(&device, firmware);
    token.map_or(device, |token| token.id.clone())
}

fn published(table: &str, row: &PublishedRow) -> Option<CostFigure> {
    let (_, record) = row.case()?;
    let case = record.case;
    Some(CostFigure {
        owner: token(row.device?.id.clone(), &row.firmware),
        algorithm: case.algorithm,
        operation: case.operation,
        stack: case.stack,
        parameters: case.parameters,
        time: Estimate::bare(row.mean()?),
        provenance: Provenance::Published,
        source: format!("published-{table}"),
        is_command: row.is_openpgp_command(),
        parts: None,
    })
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

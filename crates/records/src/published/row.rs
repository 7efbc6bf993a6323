//! Row of a published table: a figure with its source, grade, and the thing that was timed.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use itertools::Itertools;
use keymark_bench::outside::visible::excerpt;
use keymark_bench::store::Capability;
use keymark_bench::{
    Algorithm, CaseRecord, DeviceName, Operation, Parameters, Provenance, PublishedMean, StackName,
    StoreIdentity, StoreKind, words,
};
use keymark_stats::{PerSecond, Seconds};
use serde::Deserialize;

use super::catalogue::{CatalogueDevice, DeviceCatalogue, DeviceKind};
use crate::exchange::limits;

/// The columns, in any order.
pub const COLUMNS: [&str; 13] = [
    "device",
    "firmware",
    "algorithm",
    "operation",
    "stack",
    "mean_s",
    "ops_per_s",
    "concurrency",
    "n",
    "date",
    "grade",
    "source",
    "note",
];

words! {
    /// Trust in a figure.
    pub enum Grade("grade") {
        /// Method or raw data are shown, by an author who does not sell the device.
        Measured = "measured",
        /// Log of the maker.
        VendorMeasured = "vendor-measured",
        /// Statement of the maker.
        VendorSpecification = "vendor-specification",
        /// Result of a simulator.
        Simulated = "simulated",
        /// Limit of a service, and not its speed.
        Quota = "quota",
        /// Round number in a forum, issue or comment.
        Anecdote = "anecdote",
    }
}

impl Grade {
    /// Returns the grade for people.
    pub const fn for_people(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::VendorMeasured | Self::VendorSpecification => "maker's figure",
            Self::Simulated => "simulated",
            Self::Quota => "quota",
            Self::Anecdote => "anecdote",
        }
    }
}

words! {
    /// The thing that was timed. Figures of two things are never compared.
    pub enum Timed("thing that was timed") {
        /// Calculation on the chip, without bus and protocol.
        Chip = "chip",
        /// One command of the device at the host.
        Command = "command",
        /// Call of a library on a processor.
        Library = "library",
        /// Whole program.
        Program = "program",
        /// TLS handshake at the client.
        Handshake = "handshake",
        /// Service, usually with many sessions.
        Service = "service",
    }
}

/// An algorithm or operation: one of keymark's, or a word of `data/published/words.txt`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term<T> {
    /// One of keymark's.
    Known(T),
    /// Another one.
    Other(String),
}

impl<T: fmt::Display> fmt::Display for Term<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(known) => known.fmt(f),
            Self::Other(word) => f.write_str(word),
        }
    }
}

impl<T: Copy + FromStr<Err: ToString>> Term<T> {
    /// Returns keymark's own.
    pub const fn known(&self) -> Option<T> {
        match self {
            Self::Known(known) => Some(*known),
            Self::Other(_) => None,
        }
    }

    fn parse(list: &str, word: &str) -> Result<Self, String> {
        const WORDS: &str = include_str!("../../../../data/published/words.txt");
        let mut lists = WORDS.lines().filter_map(|line| line.strip_prefix(list));
        if word.is_empty() || lists.any(|words| words.split(' ').any(|known| known == word)) {
            return Ok(Self::Other(word.to_owned()));
        }
        parsed(word).map(Self::Known)
    }
}

/// Time of one operation, or a rate.
#[derive(Debug, Clone, PartialEq)]
pub enum PublishedSpeed {
    /// Mean time of one operation at a time.
    Mean(Seconds),
    /// Rate, and with how many sessions, HSMs or accounts.
    Rate {
        /// Operations per second.
        rate: PerSecond,
        /// Thing with this rate.
        of: RateOf,
    },
}

/// Thing with a published rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RateOf {
    /// A device with this number of workers.
    Workers(NonZeroU32),
    /// A cluster with this number of HSMs.
    Cluster(NonZeroU32),
    /// Partition of an HSM.
    Partition,
    /// The source's words for it: an account, sessions without a number.
    Other(String),
}

impl From<&str> for RateOf {
    fn from(words: &str) -> Self {
        let cluster = words.strip_prefix("cluster of ");
        let hsms = cluster.and_then(|words| words.strip_suffix(" HSMs")?.parse().ok());
        match (words.parse(), hsms) {
            (Ok(workers), _) => Self::Workers(workers),
            (_, Some(hsms)) => Self::Cluster(hsms),
            _ if words == "one partition" => Self::Partition,
            _ => Self::Other(words.to_owned()),
        }
    }
}

impl fmt::Display for RateOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers(workers) => workers.fmt(f),
            Self::Cluster(hsms) => write!(f, "cluster of {hsms} HSMs"),
            Self::Partition => f.write_str("one partition"),
            Self::Other(words) => f.write_str(words),
        }
    }
}

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedRow {
    /// Name of the device in the source.
    pub name: String,
    /// The device; none if the source does not say which one.
    pub device: Option<&'static CatalogueDevice>,
    /// Version of its firmware, or nothing.
    pub firmware: String,
    /// Algorithm; empty if the source does not say.
    pub algorithm: Term<Algorithm>,
    /// Operation.
    pub operation: Term<Operation>,
    /// The thing that was timed.
    pub timed: Timed,
    /// Words of the source for it: program, protocol, library.
    pub through: String,
    /// Time or rate.
    pub speed: PublishedSpeed,
    /// Number of operations.
    pub n: Option<u64>,
    /// Day of the figure, as far as it is known.
    pub date: String,
    /// Trust.
    pub grade: Grade,
    /// Address or title of the source.
    pub source: String,
    /// Remarks.
    pub note: String,
}

/// Row before its words are understood.
#[derive(Deserialize)]
pub(super) struct RowText<'r> {
    device: &'r str,
    firmware: &'r str,
    algorithm: &'r str,
    operation: &'r str,
    stack: &'r str,
    mean_s: &'r str,
    ops_per_s: &'r str,
    concurrency: &'r str,
    n: &'r str,
    date: &'r str,
    grade: &'r str,
    source: &'r str,
    note: &'r str,
}

fn parsed<T: FromStr<Err: ToString>>(word: &str) -> Result<T, String> {
    // Errors repeat the word, which may be long.
    excerpt(word)
        .parse()
        .map_err(|error: T::Err| error.to_string())
}

impl RowText<'_> {
    pub(super) fn row(&self) -> Result<PublishedRow, String> {
        limits::name("a device", self.device).map_or(Ok(()), Err)?;
        if self.source.is_empty() {
            return Err("the source is missing; give its address or title".to_owned());
        }
        let algorithm = Term::<Algorithm>::parse("algorithm", self.algorithm)?;
        let operation = Term::<Operation>::parse("operation", self.operation)?;
        if let (Some(key), Some(what)) = (algorithm.known(), operation.known())
            && what != Operation::Handshake
            && !key.has(what)
        {
            return Err(format!("{key} cannot {what}"));
        }
        let (timed, through) = self.stack.split_once(": ").unwrap_or((self.stack, ""));
        Ok(PublishedRow {
            name: self.device.to_owned(),
            device: device(self.device)?,
            firmware: self.firmware.to_owned(),
            algorithm,
            operation,
            timed: parsed(timed)?,
            through: through.to_owned(),
            speed: self.speed()?,
            n: number(self.n)?,
            date: self.date.to_owned(),
            grade: parsed(self.grade)?,
            source: self.source.to_owned(),
            note: self.note.to_owned(),
        })
    }

    fn speed(&self) -> Result<PublishedSpeed, String> {
        match (self.mean_s, self.ops_per_s) {
            ("", "") => Err("give mean_s or ops_per_s".to_owned()),
            (mean, "") if matches!(self.concurrency, "" | "1") => {
                let seconds = positive("mean_s", "seconds", mean)?;
                Ok(PublishedSpeed::Mean(Seconds(seconds)))
            }
            (_, "") => Err(
                "a mean is of one operation at a time; leave concurrency empty or give ops_per_s"
                    .to_owned(),
            ),
            ("", _) if self.concurrency.is_empty() => {
                Err("ops_per_s needs its concurrency: a number of workers, or words".to_owned())
            }
            ("", rate) => Ok(PublishedSpeed::Rate {
                rate: PerSecond(positive("ops_per_s", "operations per second", rate)?),
                of: self.concurrency.into(),
            }),
            _ => Err("give mean_s or ops_per_s, not both".to_owned()),
        }
    }
}

/// Finds a device of the catalogue. A name that says of no device which one it is has none.
fn device(name: &str) -> Result<Option<&'static CatalogueDevice>, String> {
    let catalogue = DeviceCatalogue::shipped();
    if name.is_empty() {
        return Err("the device has no name".to_owned());
    }
    let found = catalogue.named(name);
    if found.is_none() && !catalogue.is_nameless(name) {
        return Err(format!(
            "device '{}' is not in the catalogue; add it to data/devices",
            excerpt(name)
        ));
    }
    Ok(found)
}

fn positive(column: &str, unit: &str, text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    let value = value.filter(|value| value.is_finite() && *value > 0.0);
    value.ok_or_else(|| {
        let text = excerpt(text);
        format!("{column} '{text}' must be a number of {unit} above 0")
    })
}

fn number(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    // Every database has room for 32 bits.
    match text.parse::<u32>() {
        Ok(number) if number > 0 => Ok(Some(number.into())),
        _ => Err(format!(
            "n '{}' must be a number of operations",
            excerpt(text)
        )),
    }
}

/// Joins the words that there are.
fn joined(words: &[&str], between: &str) -> String {
    let words = words.iter().filter(|word| !word.is_empty());
    words.format(between).to_string()
}

impl PublishedRow {
    /// Returns whether the PIV application of a card was timed.
    pub fn is_piv(&self) -> bool {
        self.through.contains("(PIV)")
    }

    /// Returns whether one command of an OpenPGP application was timed: the device's part of a gpg process.
    pub fn is_openpgp_command(&self) -> bool {
        let is_keycard = |device: &CatalogueDevice| device.kind == DeviceKind::Keycard;
        self.timed == Timed::Command && !self.is_piv() && self.device.is_some_and(is_keycard)
    }

    /// Returns the mean time of one operation, if the row has one.
    pub const fn mean(&self) -> Option<Seconds> {
        match self.speed {
            PublishedSpeed::Mean(mean) => Some(mean),
            PublishedSpeed::Rate { .. } => None,
        }
    }

    /// Returns the rate per second, if the row has one.
    pub const fn rate(&self) -> Option<PerSecond> {
        match self.speed {
            PublishedSpeed::Mean(_) => None,
            PublishedSpeed::Rate { rate, .. } => Some(rate),
        }
    }

    /// Returns keymark's operation. A key agreement is the device's part of decrypting.
    pub fn operation(&self) -> Option<Operation> {
        match &self.operation {
            Term::Known(known) => Some(*known),
            Term::Other(word) => (word == "derive").then_some(Operation::Decrypt),
        }
    }

    /// Returns the cells in the order of [`COLUMNS`].
    pub fn cells(&self) -> [String; 13] {
        let (mean, rate, concurrency) = match &self.speed {
            PublishedSpeed::Mean(mean) => (mean.0.to_string(), String::new(), "1".to_owned()),
            PublishedSpeed::Rate { rate, of } => {
                (String::new(), rate.0.to_string(), of.to_string())
            }
        };
        let stack = match self.through.as_str() {
            "" => self.timed.to_string(),
            through => format!("{}: {through}", self.timed),
        };
        [
            self.name.clone(),
            self.firmware.clone(),
            self.algorithm.to_string(),
            self.operation.to_string(),
            stack,
            mean,
            rate,
            concurrency,
            self.n.map(|n| n.to_string()).unwrap_or_default(),
            self.date.clone(),
            self.grade.to_string(),
            self.source.clone(),
            self.note.clone(),
        ]
    }

    /// Returns the device with firmware and application, as one name.
    fn reported(&self) -> StoreIdentity {
        let application = if self.is_piv() { "PIV" } else { "" };
        let words = [&*self.name, &*self.firmware, application];
        let (kind, provenance) = (StoreKind::REPORTED, Provenance::Published);
        let name = DeviceName::new(joined(&words, " "));
        let mut store = StoreIdentity::new(name, kind, provenance, &*self.name);
        if !self.firmware.is_empty() {
            let firmware = ("firmware".to_owned(), self.firmware.clone());
            store.versions.extend([firmware]);
        }
        store
    }

    /// Returns the stack that was timed, where keymark has it.
    fn stack(&self) -> Option<StackName> {
        match self.timed {
            Timed::Chip | Timed::Command | Timed::Library => Some(StackName::RAW),
            Timed::Program => (self.through == "gpg").then_some(StackName::GPG),
            Timed::Handshake => (self.through == "apache").then_some(StackName::APACHE),
            Timed::Service => None,
        }
    }

    /// Returns the device and the case of a mean time that keymark itself could measure.
    pub fn case(&self) -> Option<(StoreIdentity, CaseRecord)> {
        let stack = self.stack()?;
        let (mean, store) = (self.mean()?, self.reported());
        let capability = Capability {
            algorithm: self.algorithm.known()?,
            operation: self.operation()?,
        };
        if !capability.algorithm.has(capability.operation) && stack != StackName::APACHE {
            return None;
        }
        let mut case = store.case(capability);
        case.parameters = self.parameters(stack);
        case.stack = stack;
        let published = PublishedMean {
            n: self.n,
            note: self.remark(),
            ..PublishedMean::from(mean)
        };
        let case = CaseRecord {
            published: Some(published),
            ..CaseRecord::new(case)
        };
        Some((store, case))
    }

    /// Returns note, grade and source as one text.
    fn remark(&self) -> String {
        let plain = self.timed == Timed::Program || self.timed == Timed::Handshake;
        let through = if plain { "" } else { &*self.through };
        let grade = if self.grade == Grade::Measured {
            ""
        } else {
            self.grade.for_people()
        };
        joined(&[&self.note, through, grade, &self.source], "; ")
    }

    /// Returns the scheme of signatures. Keys of gpg have no passphrase, unless the note mentions a cached one.
    fn parameters(&self, stack: StackName) -> Parameters {
        let note = self.note.to_ascii_lowercase();
        let cached = note.contains("cached passphrase") || note.contains("passphrase cached");
        if stack == StackName::GPG && cached {
            Parameters::from([("protection", "cached")])
        } else if stack == StackName::RAW && self.through.ends_with(", PSS") {
            Parameters::from([("scheme", "pss")])
        } else {
            Parameters::NONE
        }
    }
}

//! `keymark advise`: what follows from constraints for a purpose. A candidate is a device with a key; each constraint that
//! refuses one says why, so that the answer also says what would change it.

mod device;
mod server;
#[cfg(test)]
mod tests;
mod timestamping;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use itertools::Itertools;
use jiff::civil::Date;
use keymark_bench::algorithm::Algorithm;
use keymark_bench::key_family::KeyFamily;
use keymark_bench::operation::Operation;
use keymark_bench::shipped::shipped;
use keymark_bench::words;
use keymark_report::document::{Document, Section};
use keymark_report::units;
use keymark_stats::{PerSecond, Seconds};
use serde::Deserialize;

use crate::catalogue::{Catalogue, Weakness};
use crate::compatibility::{Peer, Takes};
use crate::cost::{CostFigure, Figures, SOFTWARE, Way};
use crate::key_spec::KeySpec;
use crate::policy::{Act, Policy, Status, Use};
use crate::{Strength, Table, answered};

words! {
    /// Purpose of a key.
    pub enum Purpose("purpose") {
        /// A card that decrypts one's mail.
        Card = "card",
        /// A web server's certificate.
        Server = "server",
        /// A service that signs all day.
        Timestamping = "timestamping",
        /// Logins.
        Ssh = "ssh",
        /// Mail, wherever the key is.
        Email = "email",
    }
}

/// Properties of a purpose, as `data/purposes.toml` has them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PurposeFacts {
    /// The key's operations, the decisive one first.
    operations: Vec<Operation>,
    /// The program that has to take the key in any case, by its name among [`Peer`]s.
    program: Option<String>,
    /// True if the key may be in a file on this CPU.
    software: bool,
    /// The command that measures what ranks the keys.
    measurement: String,
    /// The command of keymark that `--measure` runs.
    measure: String,
    /// Algorithms that it measures unless some are named.
    keys: String,
    /// The programs whose figures say what the purpose costs, the most telling first.
    ways: Vec<Way>,
}

static PURPOSES: LazyLock<BTreeMap<Purpose, PurposeFacts>> =
    LazyLock::new(|| shipped(include_str!("../../../../data/purposes.toml")));

impl Purpose {
    fn facts(self) -> &'static PurposeFacts {
        &PURPOSES[&self]
    }

    /// Returns the command of keymark that measures keys for it, and the algorithms unless some are named.
    pub fn measure(self) -> (&'static str, &'static str) {
        let facts = self.facts();
        (&facts.measure, &facts.keys)
    }
}

/// A purpose with its constraints.
#[derive(Debug, Clone)]
pub struct AdviceQuestion {
    pub purpose: Purpose,
    /// The day of the question.
    pub today: Date,
    /// The key is in use until this day.
    pub until: Date,
    /// All of these have to permit it.
    pub policies: Vec<Policy>,
    /// True if a token's firmware has to be readable and buildable.
    pub open_firmware: bool,
    /// An operation may take so long.
    pub tolerance: Option<Duration>,
    /// All of these have to take it.
    pub compatible: Vec<Peer>,
    /// Least number of operations per second.
    pub rate: Option<f64>,
    /// True if the algorithm has to withstand a quantum computer.
    pub post_quantum: bool,
    /// A server's share of clients without elliptic curves.
    pub old_clients: f64,
    /// Wanted devices by the catalogue's ids; all if empty.
    pub devices: Vec<String>,
    /// Wanted algorithms; all if empty.
    pub algorithms: Vec<Algorithm>,
}

/// A device with a key.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// The catalogue's id, or [`SOFTWARE`].
    pub id: &'a str,
    /// Name for people.
    pub device: &'a str,
    pub algorithm: Algorithm,
    pub operation: Operation,
    /// Cost through the program that ranks all candidates.
    pub cost: Option<&'a CostFigure>,
    /// Name of the ranking program for people.
    pub through: &'static str,
    /// Cost through the purpose's other program: a second opinion where the first sees no difference.
    second: Option<&'a CostFigure>,
    /// Strength by SP 800-57.
    pub strength: Option<Strength>,
    pub weaknesses: Vec<&'static Weakness>,
    /// True if it is sold new; none where no source says.
    pub sale: Option<bool>,
    /// Published time of the card's command alone.
    pub command: Option<&'a CostFigure>,
    open_firmware: Option<bool>,
}

/// A constraint that refuses a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// Less than 112 bits.
    Weak(Option<Strength>),
    /// A device that is not sold any more, and was not named.
    Discontinued,
    /// Weaknesses that stay in the device.
    Vulnerable(Vec<&'static str>),
    /// A policy does not permit it at the end.
    Policy(String, Status),
    /// Firmware that cannot be read; none: nobody says.
    Closed(Option<bool>),
    /// Mean time above the tolerance.
    Slow(Seconds),
    /// Rate below the wanted one.
    Few(PerSecond),
    /// Nobody knows how long it takes.
    NoFigure,
    /// A program takes it from a later version on, not at all, or nobody says.
    Incompatible(String, Takes),
    /// A quantum computer breaks it.
    Quantum,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weak(Some(bits)) => write!(f, "{bits} security"),
            Self::Weak(None) => f.write_str("strength not in NIST's table"),
            Self::Discontinued => f.write_str("discontinued"),
            Self::Vulnerable(names) => write!(f, "known weakness: {}", names.join(", ")),
            Self::Policy(policy, status) => write!(f, "{status} by {policy}"),
            Self::Closed(Some(_)) => f.write_str("closed firmware"),
            Self::Closed(None) => f.write_str("openness of its firmware not known"),
            Self::Slow(time) => write!(f, "takes {}", units::duration(*time)),
            Self::Few(rate) => write!(f, "does {}", units::rate(*rate)),
            Self::NoFigure => f.write_str("no figure of its speed"),
            Self::Incompatible(peer, Takes::Since(version)) => {
                write!(f, "taken by {peer} only from {version} on")
            }
            Self::Incompatible(peer, Takes::No) => write!(f, "not taken by {peer}"),
            Self::Incompatible(peer, Takes::Unknown | Takes::Yes) => {
                write!(f, "{peer} support unknown")
            }
            Self::Quantum => f.write_str("not post-quantum"),
        }
    }
}

/// An option that can be relaxed, in the order in which they are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Constraint {
    Tolerance,
    Rate,
    Firmware,
    Policy,
    Program,
    Quantum,
}

impl Refusal {
    /// Returns the constraint to relax and by how much, for ranking candidates. Weak keys, broken devices and missing
    /// figures have none.
    fn constraint(&self) -> Option<(Constraint, f64)> {
        Some(match self {
            Self::Slow(time) => (Constraint::Tolerance, time.0),
            Self::Few(rate) => (Constraint::Rate, -rate.0),
            Self::Closed(_) => (Constraint::Firmware, 0.0),
            // A policy's silence is nearer than its refusal.
            Self::Policy(_, Status::NotListed) => (Constraint::Policy, 0.0),
            Self::Policy(..) => (Constraint::Policy, 1.0),
            Self::Incompatible(..) => (Constraint::Program, 0.0),
            Self::Quantum => (Constraint::Quantum, 0.0),
            Self::Discontinued | Self::Vulnerable(_) | Self::NoFigure | Self::Weak(_) => {
                return None;
            }
        })
    }
}

/// Returns the place of the program that ranks the keys: the first of the purpose's, if it knows the key that is
/// fastest through the last. So a single figure through the first does not decide against keys that only the last was
/// measured with.
fn ranking(all: &[Candidate<'_>], costs: &[Vec<Option<&CostFigure>>]) -> usize {
    let usable = all
        .iter()
        .zip(costs)
        .filter(|(one, _)| one.id == SOFTWARE && !one.strength.is_none_or(Strength::is_weak));
    let known = usable.filter_map(|(_, costs)| Some((costs.first()?, (*costs.last()?)?)));
    let fastest = known.min_by(|(_, a), (_, b)| a.time.value.0.total_cmp(&b.time.value.0));
    let last = costs.first().map_or(0, |costs| costs.len() - 1);
    match fastest {
        Some((None, _)) => last,
        Some((Some(_), _)) | None => 0,
    }
}

impl Candidate<'_> {
    /// Returns whether it is faster for certain, by the intervals of both.
    fn is_below(&self, other: &Self) -> bool {
        let high = self.cost.and_then(|figure| figure.time.high);
        let low = other.cost.and_then(|figure| figure.time.low);
        match (high, low) {
            (Some(high), Some(low)) => high.0 < low.0,
            _ => match (self.time(), other.time()) {
                (Some(own), Some(others)) => own < others,
                (own, others) => own.is_some() && others.is_none(),
            },
        }
    }

    /// Returns whether it lacks a figure, and whether nobody says that it is in sale.
    pub fn rank(&self) -> (bool, bool) {
        (self.cost.is_none(), self.sale != Some(true))
    }

    fn time(&self) -> Option<Seconds> {
        self.cost.map(|figure| figure.time.value)
    }
}

impl AdviceQuestion {
    /// Every device and key there is for the purpose, in an order that depends on nothing else.
    pub fn candidates<'a>(&self, figures: &'a Figures) -> Vec<Candidate<'a>> {
        let catalogue = Catalogue::shipped();
        let in_file = || Algorithm::all().collect();
        // What is in a file is used by programs of this machine.
        let software = (self.purpose.facts().software)
            .then(|| (SOFTWARE, "a file on this CPU", [Some(true); 2], in_file()));
        let tokens = catalogue.tokens.iter().map(|token| {
            let facts = [token.open_firmware, token.sale()];
            (&*token.id, token.short_name(), facts, token.algorithms())
        });
        let ways = &self.purpose.facts().ways;
        let (mut all, mut costs_of) = (Vec::new(), Vec::new());
        for (id, device, [open_firmware, sale], algorithms) in software.into_iter().chain(tokens) {
            for algorithm in algorithms {
                let Some(operation) = self.operation(id, algorithm) else {
                    continue;
                };
                let figure = |way| figures.through(way, id, algorithm, operation);
                let costs: Vec<_> = ways.iter().map(figure).collect();
                costs_of.push(costs);
                all.push(Candidate {
                    id,
                    device,
                    algorithm,
                    operation,
                    cost: None,
                    through: "",
                    second: None,
                    strength: KeySpec::from(algorithm).strength(Table::nist()),
                    weaknesses: catalogue.against(id, algorithm, operation),
                    sale,
                    command: figures.command(id, algorithm, operation),
                    open_firmware,
                });
            }
        }
        let first = ranking(&all, &costs_of);
        for (one, costs) in all.iter_mut().zip(&costs_of) {
            one.cost = costs[first];
            one.through = &ways[first].words;
            one.second = costs.get(first + 1).copied().flatten();
        }
        all.sort_by(|a, b| (a.id, a.algorithm, a.operation).cmp(&(b.id, b.algorithm, b.operation)));
        all
    }

    /// Returns the operation of such a key on a device, if both are wanted and it has one.
    fn operation(&self, id: &str, algorithm: Algorithm) -> Option<Operation> {
        let named = self.devices.is_empty() || self.devices.iter().any(|name| name == id);
        let wanted = if self.algorithms.is_empty() {
            // FIPS 186-5 has no DSA any more: it is nobody's advice unless it is asked for.
            KeyFamily::of(algorithm) != KeyFamily::FiniteField
        } else {
            self.algorithms.contains(&algorithm)
        };
        let mut operations = self.purpose.facts().operations.iter().copied();
        operations.find(|operation| named && wanted && algorithm.has(*operation))
    }

    /// Every constraint that refuses it.
    pub fn refusals(&self, candidate: &Candidate<'_>) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if candidate.strength.is_none_or(Strength::is_weak) {
            refusals.push(Refusal::Weak(candidate.strength));
        }
        if candidate.sale == Some(false) && self.devices.is_empty() {
            refusals.push(Refusal::Discontinued);
        }
        let open = candidate.weaknesses.iter().filter(|known| known.is_open());
        let open: Vec<&'static str> = open.map(|known| known.name()).unique().collect();
        if !open.is_empty() {
            refusals.push(Refusal::Vulnerable(open));
        }
        let statuses = self
            .policies
            .iter()
            .map(|policy| (policy, self.status(policy, candidate)));
        let refusing = statuses.filter(|(_, status)| !status.permits());
        refusals
            .extend(refusing.map(|(policy, status)| Refusal::Policy(policy.id.clone(), status)));
        if self.open_firmware && candidate.open_firmware != Some(true) {
            refusals.push(Refusal::Closed(candidate.open_firmware));
        }
        if self.post_quantum && KeyFamily::of(candidate.algorithm) != KeyFamily::PostQuantum {
            refusals.push(Refusal::Quantum);
        }
        for peer in &self.peers() {
            let takes = peer.takes(candidate.algorithm);
            if takes != Takes::Yes {
                refusals.push(Refusal::Incompatible(peer.words.clone(), takes));
            }
        }
        refusals.extend(self.by_time(candidate));
        refusals
    }

    /// All that have to take the key: what the purpose means, in any version unless one is asked for, and what is asked.
    fn peers(&self) -> Vec<Peer> {
        let program = self.purpose.facts().program.as_deref().filter(|program| {
            self.compatible
                .iter()
                .all(|peer| peer.program() != *program)
        });
        let meant = program.and_then(|program| program.parse().ok());
        meant
            .into_iter()
            .chain(self.compatible.iter().cloned())
            .collect()
    }

    /// Returns the policy's status on the last day of use.
    fn status(&self, policy: &Policy, candidate: &Candidate<'_>) -> Status {
        let (key, usage) = (candidate.algorithm.into(), Use::of(candidate.operation));
        policy.verdict(key, usage, Act::Applying, self.until).status
    }

    fn by_time(&self, candidate: &Candidate<'_>) -> Option<Refusal> {
        if self.tolerance.is_none() && self.rate.is_none() {
            return None;
        }
        let Some(time) = candidate.time() else {
            return Some(Refusal::NoFigure);
        };
        let tolerance = self.tolerance.unwrap_or(Duration::MAX);
        if time.0 > tolerance.as_secs_f64() {
            return Some(Refusal::Slow(time));
        }
        let rate = PerSecond(1.0 / time.0);
        self.rate
            .is_some_and(|wanted| rate.0 < wanted)
            .then_some(Refusal::Few(rate))
    }

    /// Returns the candidates that nothing refuses: those with a figure first, of these devices in sale first, then the
    /// fastest; equals by strength and name. Where the fastest is not clearly so, the other program decides among its equals.
    pub fn answers<'a>(&self, candidates: &[Candidate<'a>]) -> Vec<Candidate<'a>> {
        let left = candidates
            .iter()
            .filter(|one| self.refusals(one).is_empty());
        let mut left: Vec<Candidate<'a>> = left.cloned().collect();
        let time =
            |figure: Option<&CostFigure>| figure.map_or(f64::INFINITY, |known| known.time.value.0);
        left.sort_by(|a, b| {
            a.rank()
                .cmp(&b.rank())
                .then_with(|| time(a.cost).total_cmp(&time(b.cost)))
                .then_with(|| time(a.command).total_cmp(&time(b.command)))
                .then_with(|| b.strength.cmp(&a.strength))
                .then_with(|| (a.id, a.algorithm).cmp(&(b.id, b.algorithm)))
        });
        if let Some(first) = left.first().cloned() {
            let alike =
                left.partition_point(|one| one.rank() == first.rank() && !first.is_below(one));
            left[..alike].sort_by(|a, b| time(a.second).total_cmp(&time(b.second)));
        }
        left
    }

    /// Returns the answer for people.
    pub fn document(&self, figures: &Figures) -> Document {
        let mut asked = self.clone();
        // A service is advised of keys, and of devices only if they are named.
        if matches!(self.purpose, Purpose::Server | Purpose::Timestamping)
            && asked.devices.is_empty()
        {
            asked.devices.push(SOFTWARE.to_owned());
        }
        let candidates = asked.candidates(figures);
        let answers = asked.answers(&candidates);
        let (mut said, mut sections) = match self.purpose {
            Purpose::Card | Purpose::Ssh | Purpose::Email => {
                asked.of_devices(&answers, &candidates)
            }
            Purpose::Server => asked.of_servers(&answers, figures),
            Purpose::Timestamping => asked.of_timestamping(&answers),
        };
        let changes = asked.changes(&candidates);
        if answers.is_empty() && changes.is_none() {
            said.push("Dropping one constraint changes nothing.".to_owned());
        }
        said.extend(changes);
        sections.extend(asked.taken(&answers));
        sections.extend(asked.left_out(&candidates));
        answered(said, sections)
    }
}

/// Sentences that answer, and what they rest on.
type Answer = (Vec<String>, Vec<Section>);

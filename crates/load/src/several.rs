//! Load from clients on several machines. Each reports every second as soon as it is over, as a line of JSON; the
//! distributor notes from whom and when each line came. Histograms are added (never percentiles), and the steady
//! state is that of all clients.
//!
//! **Clocks** are not compared: a client's load began when its line on second n came, less n + 1 seconds, at the latest. The
//! earliest of these is taken, since a line may be late and never early.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::time::Duration;

use keymark_bench::{ServerLoad, Transaction, nanoseconds};
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::LoadError;
use crate::measurement::Measurement;
use crate::recorder::ClientSecond;
use crate::settings::LoadSettings;

/// Last report of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientEnd {
    /// Time from its start to the cut-off.
    pub elapsed_ns: u64,
    /// Transactions that were under way then.
    pub cut_off: u64,
    /// Arrivals that were due and had not begun.
    pub waiting: u64,
    /// Some whole transactions.
    pub sample: Vec<Transaction>,
}

impl From<&Measurement> for ClientEnd {
    fn from(measured: &Measurement) -> Self {
        Self {
            elapsed_ns: measured.load.elapsed_ns,
            cut_off: measured.load.cut_off,
            waiting: measured.load.waiting,
            sample: measured.load.sample.clone(),
        }
    }
}

/// A line of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientLine {
    /// A second is over.
    Second(ClientSecond),
    /// The load is.
    End(ClientEnd),
    /// The distributor of the load has lost the client, for that reason.
    Lost(String),
}

/// A line, from whom, and when it came on the distributor's clock.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Received {
    client: String,
    at_ns: u64,
    told: ClientLine,
}

/// Reports of one of several clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Client {
    /// Start of its load, on the distributor's clock and after the first client's start.
    began_ns: Option<u64>,
    offset: Duration,
    seconds: Vec<ClientSecond>,
    end: Option<ClientEnd>,
    lost: Option<String>,
}

impl Client {
    /// Returns why it did not load to the end, if it did not.
    fn says(&self) -> Option<String> {
        let without_end = self.end.is_none().then_some("reported no end");
        let why = self.lost.as_deref().or(without_end)?;
        let told = self.seconds.len();
        Some(format!("{why}; it reported {told} s of load"))
    }
}

/// The clients of a load, by name.
pub type Clients = BTreeMap<String, Client>;

/// Reads the reports of several clients, one per line.
///
/// # Errors
/// When a line cannot be read or says anything else, or no client has told a second.
pub fn clients(lines: impl BufRead) -> Result<Clients, LoadError> {
    let mut clients = Clients::new();
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.map_err(|error| LoadError::system("reading what clients told", error))?;
        let received = serde_json::from_str(&line);
        let received: Received = received.map_err(|error| {
            let reason = "of the clients' reports cannot be read";
            LoadError::Impossible(format!("line {number} {reason}: {error}"))
        })?;
        let client = clients.entry(received.client).or_default();
        match received.told {
            ClientLine::Second(second) if second.number == client.seconds.len() as u64 => {
                let began = received.at_ns.saturating_sub((second.number + 1) * SECOND);
                client.began_ns = Some(client.began_ns.map_or(began, |first| first.min(began)));
                client.seconds.push(second);
            }
            // Told twice, or out of its turn: what came first counts.
            ClientLine::Second(_) => {}
            ClientLine::End(end) => client.end = Some(end),
            ClientLine::Lost(why) => client.lost = Some(why),
        }
    }
    let began = clients.values().filter_map(|client| client.began_ns);
    let none = || LoadError::Impossible("no client has reported any load".to_owned());
    let first = began.min().ok_or_else(none)?;
    for client in clients.values_mut() {
        client.offset = Duration::from_nanos(client.began_ns.unwrap_or(first) - first);
    }
    if clients.values().any(|client| client.offset > DAY) {
        let reason = "the clients began more than a day apart";
        return Err(LoadError::Impossible(reason.to_owned()));
    }
    Ok(clients)
}

const DAY: Duration = Duration::from_secs(86_400);
const SECOND: u64 = 1_000_000_000;

/// The load of several clients as one.
pub fn joined(
    clients: &Clients,
    settings: &LoadSettings,
    server: BTreeMap<String, String>,
) -> ServerLoad {
    let mut all = Measurement::of(settings, Vec::new());
    let (mut steady_end, mut settled) = (u64::MAX, Some(settings.warm_up));
    for client in clients.values() {
        let Some(last) = client.seconds.last() else {
            continue;
        };
        all.take_in(client.offset, &client.seconds);
        all.load.totals.add(&last.totals);
        let its = last.settled_ns.map(Duration::from_nanos);
        let its = its.map(|its| client.offset + its.max(settings.warm_up));
        settled = settled.zip(its).map(|(one, other)| one.max(other));
        let told = Duration::from_secs(client.seconds.len() as u64);
        let end = client.end.as_ref();
        let end = end.map_or(told, |end| Duration::from_nanos(end.elapsed_ns));
        let end = nanoseconds(client.offset + end);
        steady_end = steady_end.min(end);
        all.load.elapsed_ns = all.load.elapsed_ns.max(end);
        if let Some(end) = &client.end {
            all.load.cut_off += end.cut_off;
            all.load.waiting += end.waiting;
        }
    }
    all.settled = settled;
    all.load.sample = sample(clients, settings, all.load.totals.transactions);
    let elapsed_ns = all.load.elapsed_ns;
    all.load.elapsed_ns = steady_end.min(elapsed_ns);
    let says = clients
        .iter()
        .map(|(name, client)| (name.clone(), client.says()));
    ServerLoad {
        elapsed_ns,
        clients: says.collect(),
        ..all.record(server)
    }
}

/// Samples each client in proportion to its transactions.
fn sample(clients: &Clients, settings: &LoadSettings, all: u64) -> Vec<Transaction> {
    let mut numbers = ChaCha8Rng::seed_from_u64(settings.seed);
    let mut sample = Vec::new();
    for client in clients.values() {
        let told = client.end.as_ref().zip(client.seconds.last());
        let Some((end, last)) = told else { continue };
        let share = last.totals.transactions as f64 / all.max(1) as f64;
        let size = (share * settings.sample as f64).round() as usize;
        let from = nanoseconds(client.offset);
        sample.extend(
            end.sample
                .sample(&mut numbers, size)
                .map(|one| Transaction {
                    scheduled_ns: one.scheduled_ns + from,
                    start_ns: one.start_ns + from,
                    ..*one
                }),
        );
    }
    sample.sort_by_key(Transaction::ended);
    sample
}

#[cfg(test)]
mod tests;

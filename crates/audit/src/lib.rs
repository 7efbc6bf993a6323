//! `keymark audit`: public keys that are there already, and what is wrong with them.
//!
//! [`read`] finds keys in files, [`weakness`] tests their numbers, [`judge`] says what follows for one key, and [`Audit`]
//! what for all of them: keys that share a factor are found in each other's company only.

pub mod device;
pub mod finding;
mod judge;
pub mod key;
pub mod read;
pub mod sarif;
pub mod weakness;

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::civil::Date;
use rug::Integer;
use serde::Serialize;

pub use finding::{Finding, FindingKind, Level};
pub use key::{Elsewhere, Form, FoundKey, Location, PublicKey};
pub use read::{NotRead, Read, WithoutKey};
pub use weakness::known::{Lists, Places};

use key::Numbers;
use keymark_advice::policy::{Policy, Status, Use};
use weakness::{TESTED_BITS, batch_gcd, bits, number};

/// Among more keys that share factors than this, no partner is looked for.
const PARTNERS: usize = 200;

/// Policies and dates by which keys are judged.
#[derive(Debug, Clone)]
pub struct AuditQuestion {
    /// Each of them.
    pub policies: Vec<Policy>,
    /// The day.
    pub today: Date,
    /// Last day of use.
    pub until: Option<Date>,
}

/// The status of a key by a policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Standing {
    /// Its id.
    pub policy: String,
    #[serde(rename = "use")]
    pub usage: Use,
    /// Today.
    pub today: Status,
    /// Status on the last day of use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Status>,
}

/// All keys, judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    /// Keys in the order in which they were found.
    pub keys: Vec<FoundKey>,
    /// Files that could not be read.
    pub not_read: Vec<NotRead>,
    /// Files without a public key.
    pub without_key: Vec<WithoutKey>,
    /// Lists of known keys that are not here.
    pub missing_lists: Vec<&'static str>,
}

impl Audit {
    /// Judges keys. What was found of a key beforehand, such as a weakness of its device, comes with it.
    pub fn of(mut read: Read, question: &AuditQuestion, lists: &mut Lists) -> Self {
        read.settle();
        let mut keys = merge(read.keys);
        for key in &mut keys {
            key.findings.extend(judge::numbers(&key.key, lists));
        }
        let shared = shared_factors(&keys);
        for (key, shared) in keys.iter_mut().zip(shared) {
            let (status, against) = judge::policies(key, question);
            let surroundings = judge::surroundings(key, question.today);
            let others = shared.into_iter().chain(judge::strength(&key.key));
            let others = others.chain(surroundings).chain(against);
            key.findings.extend(others);
            key.findings.sort();
            key.status = status;
        }
        Self {
            keys,
            not_read: read.not_read,
            without_key: read.without_key,
            missing_lists: lists.missing(),
        }
    }

    /// Returns the weak keys.
    pub fn weak(&self) -> impl Iterator<Item = &FoundKey> {
        self.keys.iter().filter(|key| key.is_weak())
    }

    /// Returns the number of keys and of weak ones, whatever the number of their certificates.
    pub fn counts(&self) -> (usize, usize) {
        let different = |keys: &mut dyn Iterator<Item = &FoundKey>| {
            let (hidden, seen): (Vec<_>, Vec<_>) = keys.partition(|key| key.is_hidden());
            let seen: HashSet<&PublicKey> = seen.iter().map(|key| &key.key).collect();
            hidden.len() + seen.len()
        };
        (
            different(&mut self.keys.iter()),
            different(&mut self.weak()),
        )
    }
}

/// A key that is in several places is one, unless certificates say different things of it. A private key without its
/// public part is the one next to it.
fn merge(found: Vec<FoundKey>) -> Vec<FoundKey> {
    let numbered = found.into_iter().enumerate();
    let (bound, mut others): (Vec<_>, Vec<_>) = numbered.partition(|(_, key)| key.is_bound());
    // Of those without a certificate the first with a name gives it to the others.
    others.sort_by_key(|(_, key)| (key.is_hidden(), key.owner.is_empty()));
    let mut merged: BTreeMap<usize, FoundKey> = BTreeMap::new();
    let mut equal: HashMap<FoundKey, usize> = HashMap::new();
    let mut first: HashMap<PublicKey, usize> = HashMap::new();
    for (number, key) in bound.into_iter().chain(others) {
        let anywhere = FoundKey {
            place: Location::of(""),
            ..key.clone()
        };
        let same = if key.is_hidden() {
            let is_same = |other: &FoundKey| {
                let places = (&key.place.within, &other.place.within);
                key.key.spec == other.key.spec && read::is_beside(places.0, places.1)
            };
            let mut beside = merged.iter().filter(|(_, other)| is_same(other));
            beside.next().map(|(number, _)| *number)
        } else if key.is_bound() {
            equal.get(&anywhere).copied()
        } else {
            first.get(&key.key).copied()
        };
        if let Some(same) = same.and_then(|number| merged.get_mut(&number)) {
            let owner = if key.owner == same.owner {
                String::new()
            } else {
                key.owner
            };
            let place = key.place;
            same.also.push(Elsewhere { place, owner });
            continue;
        }
        equal.insert(anywhere, number);
        first.entry(key.key.clone()).or_insert(number);
        merged.insert(number, key);
    }
    merged.into_values().collect()
}

/// Returns for each key a finding if it shares a factor with another one. Damaged moduli share small factors with many,
/// and are not among them.
fn shared_factors(keys: &[FoundKey]) -> Vec<Option<Finding>> {
    let mut moduli: HashMap<&[u8], usize> = HashMap::new();
    let mut numbers: Vec<Integer> = Vec::new();
    let mut places: Vec<&Location> = Vec::new();
    for key in keys {
        let is_damaged = key
            .findings
            .iter()
            .any(|one| one.kind == FindingKind::SmallFactor);
        if let Numbers::Rsa { n, .. } = &key.key.numbers
            && !is_damaged
            && bits(n) <= TESTED_BITS
        {
            moduli.entry(n).or_insert_with(|| {
                numbers.push(number(n));
                places.push(&key.place);
                numbers.len() - 1
            });
        }
    }
    let common = batch_gcd::common_factors(&numbers);
    let sharing: Vec<usize> = (0..common.len())
        .filter(|at| common[*at] != 1_u32)
        .collect();
    // The prime itself names the others, but for a key both of whose primes are shared.
    let mut by_factor: HashMap<&Integer, Vec<usize>> = HashMap::new();
    for at in &sharing {
        by_factor.entry(&common[*at]).or_default().push(*at);
    }
    let partner = |at: usize| {
        let mut same = by_factor[&common[at]]
            .iter()
            .filter(|_| common[at] != numbers[at]);
        if let Some(other) = same.find(|other| **other != at) {
            return Some(other);
        }
        let mut others = sharing.iter().filter(|_| sharing.len() <= PARTNERS);
        others.find(|other| {
            **other != at && Integer::from(numbers[at].gcd_ref(&numbers[**other])) != 1_u32
        })
    };
    keys.iter()
        .map(|key| {
            let Numbers::Rsa { n, .. } = &key.key.numbers else {
                return None;
            };
            let at = *moduli.get(n.as_slice())?;
            sharing.binary_search(&at).ok()?;
            let with =
                partner(at).map_or_else(String::new, |other| format!("with {}", places[*other]));
            Some(Finding::of(FindingKind::SharedFactor).with(with))
        })
        .collect()
}

#[cfg(test)]
mod tests;

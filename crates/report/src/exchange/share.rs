//! A record for others: without names of people and machines, and without serial numbers.
//!
//! Names are taken out of text that comes from outside (versions, products, reasons of failures, notes), never out of
//! keymark's own words: a user who is called `agent` does not turn the stack into something else.
//!
//! It goes through the record's texts one by one: a new field with text from outside has to be added here.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use keymark_bench::{Calculator, DeviceName, Record, RunId, ServerLoad};

/// What is known to belong to somebody.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Personal {
    /// A name of the machine.
    Host(String),
    /// A name of a user.
    User(String),
    /// A home directory.
    Home(String),
    /// What the user wants to be removed besides.
    Other(String),
}

impl Personal {
    /// What it is, the text, and what stands in for it.
    fn parts(&self) -> (&'static str, &str, &'static str) {
        match self {
            Self::Host(text) => ("host name", text, "host"),
            Self::User(text) => ("user name", text, "user"),
            Self::Home(text) => ("home directory", text, "/home/user"),
            Self::Other(text) => ("text", text, "removed"),
        }
    }
}

/// Something that was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// What it is: `host name`.
    pub kind: &'static str,
    /// As it stood there.
    pub text: String,
    /// What stands there now.
    pub by: String,
    /// How many times it was there.
    pub times: usize,
}

/// A record that may go anywhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// The record, with a name of its own, so that it can stand beside the one that it was made of.
    pub record: Record,
    /// What is no longer in it.
    pub removed: Vec<Removal>,
}

/// Takes out what is known to belong to somebody, and what the record itself says does.
pub fn share(record: &Record, personal: &[Personal]) -> Shared {
    let mut record = record.clone();
    let mut cleaner = Cleaner::new(personal);
    let mut renamed = BTreeMap::new();
    for (number, store) in (1..).zip(&mut record.stores) {
        let label = store
            .product
            .split_once(", token '")
            .map(|(_, label)| label.trim_end_matches('\''));
        if let Some(label) = label {
            cleaner.add("label", label, "token");
        }
        let Some(serial) = store.serial.take().filter(|serial| !serial.is_empty()) else {
            continue;
        };
        let name = format!("{}-{number}", store.kind.word());
        cleaner.add("serial number", &serial, &name);
        cleaner.count(&serial);
        cleaner.add("device", store.device.as_str(), &name);
        renamed.insert(store.device.clone(), DeviceName::new(name));
    }
    if let Some(label) = record.environment.machine.take() {
        cleaner.add("host name", &label, "machine");
        cleaner.count(&label);
    }
    cleaner.learn(&mut record);
    record.id = RunId(format!("{}-shared", record.id));
    for device in devices(&mut record) {
        if let Some(name) = renamed.get(device) {
            cleaner.count(device.as_str());
            device.clone_from(name);
        } else if !is_own(device.as_str()) {
            *device = DeviceName::new(cleaner.clean(device.as_str()));
        }
    }
    each_text(&mut record, &mut |text| *text = cleaner.clean(text));
    // Paths, labels of tokens, serial numbers: the plan says what was measured.
    record.environment.command.clear();
    let baseline = cleaner.clean(&record.plan.settings.baseline.to_string());
    if let Ok(baseline) = baseline.parse() {
        record.plan.settings.baseline = baseline;
    }
    Shared {
        record,
        removed: cleaner.removed(),
    }
}

/// The record without what it says itself of its owner, if there is any of that in it: of one that was shared nothing. What only
/// its own machine knows to be a name stays.
pub fn cleaned(record: &Record) -> Option<Shared> {
    let mut shared = share(record, &[]);
    let id = std::mem::replace(&mut shared.record.id, record.id.clone());
    if shared.record == *record {
        return None;
    }
    shared.record.id = id;
    // Text that is its own stand-in was found, and is the same.
    shared.removed.retain(|removal| removal.text != removal.by);
    Some(shared)
}

/// Every name of a device, wherever it stands.
pub(crate) fn devices(record: &mut Record) -> impl Iterator<Item = &mut DeviceName> {
    let stores = record.stores.iter_mut().map(|store| &mut store.device);
    let planned = record.plan.cases.iter_mut().map(|case| &mut case.device);
    let cases = record.cases.iter_mut().map(|case| &mut case.case.device);
    stores.chain(planned).chain(cases)
}

/// Every text of a record that may be from outside; devices and runs have names of their own.
fn each_text(record: &mut Record, each: &mut dyn FnMut(&mut String)) {
    for store in &mut record.stores {
        each(&mut store.product);
        each_value(&mut store.versions, each);
    }
    let environment = &mut record.environment;
    let texts = [
        &mut environment.cpu_model,
        &mut environment.governor,
        &mut environment.kernel,
        &mut environment.os,
        &mut environment.virtualization,
    ];
    texts.into_iter().flatten().for_each(&mut *each);
    each(&mut environment.keymark);
    each_value(&mut environment.versions, each);
    for case in &mut record.cases {
        let ending = case.ending.iter_mut();
        ending
            .filter_map(|ending| ending.reason.as_mut())
            .for_each(&mut *each);
        if let Some(published) = &mut case.published {
            each(&mut published.note);
        }
        if let Some(load) = &mut case.server_load {
            each_text_of_load(load, each);
        }
    }
}

fn each_text_of_load(load: &mut ServerLoad, each: &mut dyn FnMut(&mut String)) {
    each_value(&mut load.server, each);
    each(&mut load.client);
    load.unsteady
        .iter_mut()
        .chain(&mut load.log)
        .for_each(&mut *each);
    if let Some(Calculator::Libcrypto(version)) = load.alone.as_mut().map(|alone| &mut alone.by) {
        each(version);
    }
    for second in &mut load.seconds {
        let failures = std::mem::take(&mut second.failures).into_iter();
        for (mut class, count) in failures {
            each(&mut class);
            *second.failures.entry(class).or_default() += count;
        }
    }
}

fn each_value(map: &mut BTreeMap<String, String>, each: &mut dyn FnMut(&mut String)) {
    let mut pairs = Vec::from_iter(std::mem::take(map));
    for (name, value) in &mut pairs {
        each(name);
        each(value);
    }
    map.extend(pairs);
}

/// What is looked for, the longest first.
struct Cleaner(Vec<Removal>);

/// Shorter names are parts of other words by chance, and are taken out where they stand alone.
const LONG: usize = 5;

/// What every machine has.
const EVERYBODYS: [&str; 4] = ["localhost", "www-data", "nobody", ""];

impl Cleaner {
    fn new(personal: &[Personal]) -> Self {
        let mut cleaner = Self(Vec::new());
        for (kind, text, stand_in) in personal.iter().map(Personal::parts) {
            cleaner.add(kind, text, stand_in);
        }
        cleaner
    }

    fn add(&mut self, kind: &'static str, text: &str, stand_in: &str) {
        let known = self.0.iter().any(|other| other.text == text);
        if !known && !EVERYBODYS.contains(&text) && text != "/" {
            self.0.push(Removal {
                kind,
                text: text.to_owned(),
                by: stand_in.to_owned(),
                times: 0,
            });
            self.0.sort_by_key(|removal| Reverse(removal.text.len()));
        }
    }

    /// Homes of others than this machine's users, which the text of failures and paths of modules have.
    fn learn(&mut self, record: &mut Record) {
        let mut texts: Vec<String> = devices(record).map(|device| device.to_string()).collect();
        each_text(record, &mut |text| texts.push(text.clone()));
        let mut names: Vec<String> = Vec::new();
        for text in texts {
            for place in ["/home/", "/Users/"] {
                let after = text.split(place).skip(1);
                let name =
                    after.map(|rest| rest.split(|c: char| !is_of_word(c) && c != '.').next());
                names.extend(name.flatten().map(str::to_owned));
            }
        }
        let users = record
            .cases
            .iter()
            .filter_map(|case| case.server_load.as_ref()?.server.get("worker_user"));
        names.extend(users.cloned());
        for name in names {
            for place in ["/home/", "/Users/"] {
                self.add("home directory", &format!("{place}{name}"), "/home/user");
            }
            self.add("user name", &name, "user");
        }
    }

    fn count(&mut self, text: &str) {
        let found = self.0.iter_mut().find(|removal| removal.text == text);
        if let Some(removal) = found {
            removal.times += 1;
        }
    }

    fn clean(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for removal in &mut self.0 {
            let (clean, found) = replaced(&text, &removal.text, &removal.by);
            text = clean;
            removal.times += found;
        }
        text
    }

    fn removed(mut self) -> Vec<Removal> {
        self.0.retain(|removal| removal.times > 0);
        self.0
    }
}

/// Whether it is one of the names that keymark gives: `software`, `twin:fst-01`. Readers and files are called otherwise.
fn is_own(device: &str) -> bool {
    let name = device.strip_prefix("twin:").unwrap_or(device);
    name.chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// Upper and lower case are one; a short one only where it stands alone.
fn replaced(text: &str, wanted: &str, by: &str) -> (String, usize) {
    let whole = wanted.chars().count() < LONG;
    let lower = text.to_ascii_lowercase();
    let wanted = wanted.to_ascii_lowercase();
    let (mut out, mut at, mut times) = (String::with_capacity(text.len()), 0, 0);
    while let Some(found) = lower[at..].find(&wanted) {
        let (begin, end) = (at + found, at + found + wanted.len());
        let before = text[..begin].chars().next_back().is_some_and(is_of_word);
        let after = text[end..].chars().next().is_some_and(is_of_word);
        out.push_str(&text[at..begin]);
        if whole && (before || after) {
            out.push_str(&text[begin..end]);
        } else {
            out.push_str(by);
            times += 1;
        }
        at = end;
    }
    out.push_str(&text[at..]);
    (out, times)
}

#[cfg(test)]
#[path = "tests/share.rs"]
pub(crate) mod tests;

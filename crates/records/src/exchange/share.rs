//! A record for others: without names of people and machines, and without serial numbers.
//!
//! Names are taken out of text that comes from outside (versions, products, reasons of failures, notes), never out of
//! keymark's own words: a user who is called `agent` does not turn the stack into something else.
//!
//! It goes through all texts of the record as it is written to a file, so that no field is forgotten: what is keymark's own is named here,
//! or in the schema of records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::sync::LazyLock;

use keymark_bench::{Block, Calculator, DeviceName, Record, RunId};
use serde_json::{Map, Value};

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
///
/// # Errors
/// When what is left is no record: one of keymark's own words has somebody's name in it.
pub fn share(record: &Record, personal: &[Personal]) -> serde_json::Result<Shared> {
    let mut record = record.clone();
    let mut cleaner = Cleaner::new(personal);
    let renamed = cleaner.identities(&mut record);
    let samples: Vec<Vec<Block>> = record
        .cases
        .iter_mut()
        .map(|case| mem::take(&mut case.blocks))
        .collect();
    cleaner.clients(&mut record);
    cleaner.learn(&record)?;
    let mut value = serde_json::to_value(&record)?;
    each_text(&mut value, &mut |text| *text = cleaner.clean(text));
    let mut record: Record = serde_json::from_value(value)?;
    for (case, blocks) in record.cases.iter_mut().zip(samples) {
        case.blocks = blocks;
        let alone = case
            .server_load
            .as_mut()
            .and_then(|load| load.alone.as_mut());
        if let Some(Calculator::Libcrypto(version)) = alone.map(|alone| &mut alone.by) {
            *version = cleaner.clean(version);
        }
    }
    record.id = RunId(format!("{}-shared", record.id));
    for device in devices(&mut record) {
        if let Some(name) = renamed.get(device) {
            cleaner.count(device.as_str());
            device.clone_from(name);
        } else if !is_own(device.as_str()) {
            *device = DeviceName::new(cleaner.clean(device.as_str()));
        }
    }
    // Paths, labels of tokens, serial numbers: the plan says what was measured.
    record.environment.command.clear();
    let baseline = cleaner.clean(&record.plan.settings.baseline.to_string());
    if let Ok(baseline) = baseline.parse() {
        record.plan.settings.baseline = baseline;
    }
    Ok(Shared {
        record,
        removed: cleaner.removed(),
    })
}

/// The record without what it says itself of its owner, if there is any of that in it: of one that was shared nothing. What only
/// its own machine knows to be a name stays.
///
/// # Errors
/// As of [`share`].
pub fn cleaned(record: &Record) -> serde_json::Result<Option<Shared>> {
    let mut shared = share(record, &[])?;
    let id = mem::replace(&mut shared.record.id, record.id.clone());
    if shared.record == *record {
        return Ok(None);
    }
    shared.record.id = id;
    // Text that is its own stand-in was found, and is the same.
    shared.removed.retain(|removal| removal.text != removal.by);
    Ok(Some(shared))
}

/// Returns every device name of the record: of its stores, its plan and its cases.
pub fn devices(record: &mut Record) -> impl Iterator<Item = &mut DeviceName> {
    let stores = record.stores.iter_mut().map(|store| &mut store.device);
    let planned = record.plan.cases.iter_mut().map(|case| &mut case.device);
    let cases = record.cases.iter_mut().map(|case| &mut case.case.device);
    stores.chain(planned).chain(cases)
}

/// Fields whose texts are keymark's own words, which families register; devices, what calculated and the command are changed by themselves.
const OWN: [&str; 10] = [
    "by",
    "command",
    "device",
    "kind",
    "parameters",
    "parts",
    "settings",
    "stack",
    "started",
    "store",
];

/// Words and names of fields in the schema of records.
#[derive(Default)]
struct Schema {
    words: HashSet<String>,
    fields: HashSet<String>,
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let mut schema = Schema::default();
    schema.read(keymark_bench::record::json_schema().as_value());
    schema
});

impl Schema {
    fn read(&mut self, value: &Value) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let Some(object) = value.as_object() {
            let constant = object.get("const").into_iter();
            let listed = object.get("enum").and_then(Value::as_array);
            self.words.extend(
                constant
                    .chain(listed.into_iter().flatten())
                    .filter_map(text),
            );
            let fields = object.get("properties").and_then(Value::as_object);
            self.fields
                .extend(fields.into_iter().flat_map(Map::keys).cloned());
            object.values().for_each(|value| self.read(value));
        }
        let items = value.as_array().into_iter().flatten();
        items.for_each(|item| self.read(item));
    }
}

/// Every text of a record in JSON that may be from outside, names of entries among them.
fn each_text(value: &mut Value, each: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) if SCHEMA.words.contains(text) => {}
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, each)),
        Value::Object(object) => {
            for (mut name, mut value) in mem::take(object) {
                if !OWN.contains(&&*name) {
                    if !SCHEMA.fields.contains(&name) {
                        each(&mut name);
                    }
                    each_text(&mut value, each);
                }
                let before = object.get(&name).and_then(Value::as_u64);
                // Failures that are called the same now are counted together.
                if let Some((before, more)) = before.zip(value.as_u64()) {
                    value = before.saturating_add(more).into();
                }
                object.insert(name, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What is looked for, the longest first.
struct Cleaner(Vec<Removal>);

/// Shorter names are parts of other words by chance, and are taken out where they stand alone.
const LONG: usize = 5;

/// Before the number of a machine that loaded a server.
const CLIENT: &str = "client-";

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

    /// Takes serial numbers, labels and the machine's name out of the record; returns new names of devices.
    fn identities(&mut self, record: &mut Record) -> BTreeMap<DeviceName, DeviceName> {
        let mut renamed = BTreeMap::new();
        for (number, store) in (1..).zip(&mut record.stores) {
            let label = store
                .product
                .split_once(", token '")
                .map(|(_, label)| label.trim_end_matches('\''));
            if let Some(label) = label {
                self.add("label", label, "token");
            }
            let Some(serial) = store.serial.take().filter(|serial| !serial.is_empty()) else {
                continue;
            };
            let name = format!("{}-{number}", store.kind.word());
            self.add("serial number", &serial, &name);
            self.count(&serial);
            self.add("device", store.device.as_str(), &name);
            renamed.insert(store.device.clone(), DeviceName::new(name));
        }
        if let Some(label) = record.environment.machine.take() {
            self.add("host name", &label, "machine");
            self.count(&label);
        }
        renamed
    }

    /// Numbers the machines that loaded a server.
    fn clients(&mut self, record: &mut Record) {
        let loads = record.cases.iter_mut();
        for load in loads.filter_map(|case| case.server_load.as_mut()) {
            let is_number = |name: &String| {
                let number = name.strip_prefix(CLIENT);
                number.is_some_and(|number| number.parse::<u32>().is_ok())
            };
            if load.clients.keys().all(is_number) {
                continue;
            }
            let clients = mem::take(&mut load.clients).into_iter().zip(1..);
            load.clients = clients
                .map(|((name, end), number): (_, u32)| {
                    let by = format!("{CLIENT}{number}");
                    self.add("client", &name, &by);
                    self.count(&name);
                    (by, end)
                })
                .collect();
        }
    }

    /// Homes of others than this machine's users, which the text of failures and paths of modules have.
    fn learn(&mut self, record: &Record) -> serde_json::Result<()> {
        let mut texts: Vec<String> = record
            .cases
            .iter()
            .map(|case| case.case.device.to_string())
            .collect();
        let mut value = serde_json::to_value(record)?;
        each_text(&mut value, &mut |text| texts.push(text.clone()));
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
        Ok(())
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
            // A machine may be called 'a'.
            if removal.by.starts_with(CLIENT) && removal.text.len() < LONG {
                continue;
            }
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

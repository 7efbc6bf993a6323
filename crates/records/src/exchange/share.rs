//! Redaction of records for others: names of people and machines and serial numbers are removed.
//!
//! Names are removed from text that comes from outside (versions, products, reasons of failures, notes), never from keymark's own
//! words: a user called `agent` does not change the stack. All texts of the exported record are searched, so that no field is
//! forgotten. keymark's own words are listed here or in the schema of records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::sync::LazyLock;

use keymark_bench::{Block, Calculator, DeviceName, Record, RunId};
use serde_json::{Map, Value};

/// Text that identifies a person or a machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Personal {
    /// Name of a machine.
    Host(String),
    /// Name of a user.
    User(String),
    /// Home directory.
    Home(String),
    /// Text that the user names.
    Other(String),
}

impl Personal {
    /// Returns the kind, the text and its replacement.
    fn parts(&self) -> (&'static str, &str, &'static str) {
        match self {
            Self::Host(text) => ("host name", text, "host"),
            Self::User(text) => ("user name", text, "user"),
            Self::Home(text) => ("home directory", text, "/home/user"),
            Self::Other(text) => ("text", text, "removed"),
        }
    }
}

/// A removed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// Kind of text, such as `host name`.
    pub kind: &'static str,
    /// The removed text.
    pub text: String,
    /// Its replacement.
    pub by: String,
    /// Number of replacements.
    pub times: usize,
}

/// A redacted record.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// The record, with a new name so that an archive can have both.
    pub record: Record,
    /// Removed texts.
    pub removed: Vec<Removal>,
}

/// Removes `personal` texts, and those that the record itself identifies.
///
/// # Errors
/// When the result is no record, because a name is part of one of keymark's own words.
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
        let load = case.server_load.as_mut();
        let alone = load.and_then(|load| load.alone.as_mut());
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
    // It may have paths, labels and serial numbers. The plan has everything else.
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

/// Removes the texts that the record itself identifies. Returns none if there are none, as in a shared record. Names that only
/// their machine can recognize stay.
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
    // Such text was there before and did not change.
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

/// Fields with keymark's own words, and fields that are redacted separately.
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

#[expect(
    clippy::expect_used,
    reason = "the file is part of the program, and a test compares it with the types"
)]
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let mut schema = Schema::default();
    let file: Value =
        serde_json::from_str(include_str!("../../../../schema/record-1.json")).expect("a schema");
    schema.read(&file);
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

/// Visits every text that may be from outside, also names of entries.
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
                // Failures with the same name after redaction count together.
                if let Some((before, more)) = before.zip(value.as_u64()) {
                    value = before.saturating_add(more).into();
                }
                object.insert(name, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Texts to remove, the longest first.
struct Cleaner(Vec<Removal>);

/// Fewest characters of a name that is also removed within words. Shorter names are part of words by chance.
const LONG: usize = 5;

/// Prefix for the number of a load generator.
const CLIENT: &str = "client-";

/// Names that every machine has.
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

    /// Removes serial numbers, labels and the machine's name. Returns new names of devices.
    fn identities(&mut self, record: &mut Record) -> BTreeMap<DeviceName, DeviceName> {
        let mut renamed = BTreeMap::new();
        for (number, store) in (1..).zip(&mut record.stores) {
            if let Some((_, label)) = store.product.split_once(", token '") {
                self.add("label", label.trim_end_matches('\''), "token");
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

    /// Replaces the names of load generators by numbers.
    fn clients(&mut self, record: &mut Record) {
        for load in record
            .cases
            .iter_mut()
            .filter_map(|case| case.server_load.as_mut())
        {
            let is_number = |name: &String| {
                let number = name.strip_prefix(CLIENT);
                number.is_some_and(|number| number.parse::<u32>().is_ok())
            };
            if load.clients.keys().all(is_number) {
                continue;
            }
            for (number, (name, end)) in (1..).zip(mem::take(&mut load.clients)) {
                let by = format!("{CLIENT}{number}");
                self.add("client", &name, &by);
                self.count(&name);
                load.clients.insert(by, end);
            }
        }
    }

    /// Finds homes of users of other machines in failures and paths of modules.
    fn learn(&mut self, record: &Record) -> serde_json::Result<()> {
        let devices = record.cases.iter().map(|case| &case.case.device);
        let mut texts: Vec<String> = devices.map(DeviceName::to_string).collect();
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
        let loads = record
            .cases
            .iter()
            .filter_map(|case| case.server_load.as_ref());
        let users = loads.filter_map(|load| load.server.get("worker_user"));
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
            // A load generator may be called 'a'.
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

/// Recognizes names that keymark gives, such as `software` and `twin:fst-01`. Names of readers and files differ.
fn is_own(device: &str) -> bool {
    let name = device.strip_prefix("twin:").unwrap_or(device);
    name.chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// Replaces `wanted` in any case. Short texts are replaced only as whole words.
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

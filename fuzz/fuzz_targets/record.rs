//! Records and tables of published figures from others: read, analyzed and printed in every form.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use keymark_bench::record::Record;
use keymark_report::analysis::Analysis;
use keymark_records::exchange::json;
use keymark_records::published;
use keymark_report::render::{self, Width, markdown, text};
use keymark_report::table;
use keymark_stacks::registry;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// A run, for inputs that change one in place of inventing one.
const SEED: &[u8] = include_bytes!("../seeds/record/run.json");
/// Replacements of something sensible.
const STRANGE: [&str; 14] = [
    "null",
    "0",
    "1",
    "-1",
    "1e308",
    "1e-308",
    "4294967295",
    "9223372036854775807",
    "100000",
    "\"\"",
    "\"\\u001b[2J\\u202e\\n|=1\"",
    "\"rsa2048\"",
    "[]",
    "{}",
];
/// Of a figure, more takes the time of the others.
const SAMPLES: usize = 2_000;

fuzz_target!(|data: &[u8]| {
    let path = Path::new("published-2017-fuzzed.csv");
    match data {
        [] => {}
        [b'{', ..] => look_at(json::parse(path, data).ok()),
        [0, changes @ ..] => {
            let changed = changed(changes).to_string();
            look_at(json::parse(path, changed.as_bytes()).ok());
        }
        _ => look_at(published::parse(path, data).ok()),
    }
});

/// The run with some of its values replaced, removed or repeated: three bytes a change.
fn changed(changes: &[u8]) -> Value {
    static RUN: OnceLock<Value> = OnceLock::new();
    let mut run = RUN
        .get_or_init(|| serde_json::from_slice(SEED).expect("the seed is JSON"))
        .clone();
    for change in changes.chunks_exact(3) {
        let mut places = vec![String::new()];
        list(&run, &mut String::new(), &mut places);
        let at = (usize::from(change[0]) << 8 | usize::from(change[1])) % places.len();
        let Some(value) = run.pointer_mut(&places[at]) else {
            continue;
        };
        let kind = usize::from(change[2]);
        match (STRANGE.get(kind), &mut *value) {
            (Some(strange), _) => *value = serde_json::from_str(strange).expect("it is JSON"),
            (None, Value::Array(items)) if !items.is_empty() && items.len() < SAMPLES => {
                let item = items[kind % items.len()].clone();
                items.extend(vec![item; kind % 7 + 1]);
            }
            (None, Value::Number(number)) => {
                let number = number.as_u64().unwrap_or(1);
                *value = number.wrapping_mul(kind as u64).into();
            }
            (None, _) => {}
        }
    }
    run
}

/// Pointers to every value.
fn list(value: &Value, here: &mut String, into: &mut Vec<String>) {
    let length = here.len();
    let mut inner = |name: &str, value: &Value| {
        here.push('/');
        here.push_str(name);
        into.push(here.clone());
        list(value, here, into);
        here.truncate(length);
    };
    match value {
        Value::Array(items) => {
            let named = items.iter().enumerate();
            named.for_each(|(number, item)| inner(&number.to_string(), item));
        }
        Value::Object(fields) => fields.iter().for_each(|(name, item)| inner(name, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn look_at(record: Option<Record>) {
    let Some(record) = record.filter(|record| {
        let samples = record.cases.iter().map(|case| case.samples().count());
        samples.sum::<usize>() <= SAMPLES && record.cases.len() <= 50
    }) else {
        return;
    };
    let analysis = Analysis::of(&record, &registry::layers());
    let document = analysis.document(&record, &[]);
    for width in [Width::Unlimited, Width::Columns(100), Width::Columns(1)] {
        harmless(&text::render(&document, width));
    }
    harmless(&markdown::render(&document).expect("templates have what they name"));
    harmless(&render::json(&document).expect("a document has a form in JSON"));
    let csv = table::csv(table::RUN, &analysis.rows).expect("memory can be written to");
    harmless(&csv);
    let mut written = Vec::new();
    json::write(&record, &mut written).expect("memory can be written to");
    harmless(&String::from_utf8_lossy(&written));
}

/// Headings are styled, and nothing else is.
fn harmless(text: &str) {
    let text = text.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!text.contains(harmful), "{text:?}");
}

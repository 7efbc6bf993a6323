mod tables;

use std::fs;
use std::num::NonZeroU32;
use std::sync::LazyLock;

use jsonschema::Validator;
use keymark_bench::case::{DeviceName, Load};
use keymark_bench::record::RunId;
use keymark_testkit::assert_says;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::archive::tests::any::records;
use keymark_testkit::record::mixed as record;

const HEADER: &str = "device,firmware,algorithm,operation,stack,mean_s,ops_per_s,concurrency,n,date,grade,source,note\n";
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn exported(record: &Record) -> Vec<u8> {
    let mut content = Vec::new();
    json::write(record, &mut content).unwrap();
    content
}

/// Reads the export after `change`.
fn mutilated(change: impl FnOnce(&mut Value)) -> ImportError {
    let mut value: Value = serde_json::from_slice(&exported(&record("a"))).unwrap();
    change(&mut value);
    json::parse(Path::new("run.json"), value.to_string().as_bytes()).unwrap_err()
}

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
    let schema = fs::read(Path::new(ROOT).join("schema/record-1.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
});

#[test]
fn an_export_that_breaks_off_anywhere_is_refused() {
    let content = exported(&record("a"));
    for end in (1..content.len() - 2).step_by(37) {
        let error = json::parse(Path::new("run.json"), &content[..end]).unwrap_err();
        assert_says(&error, ["run.json ends too early, at line 1"]);
    }
}

#[test]
fn other_json_is_refused() {
    for other in [
        r#"{"name": "keymark"}"#,
        "{]",
        r#"{"schema": "https://example.org"}"#,
    ] {
        let error = json::parse(Path::new("x.json"), other.as_bytes()).unwrap_err();
        assert_says(&error, ["not a run exported by keymark"]);
    }
}

#[test]
fn a_newer_schema_is_refused_whatever_it_looks_like() {
    for newer in [
        mutilated(|run| run["schema"] = json!(2)),
        mutilated(|run| *run = json!({"schema": 7})),
    ] {
        assert!(
            newer
                .to_string()
                .ends_with("but this keymark reads up to 1; update keymark"),
            "{newer}"
        );
    }
}

/// Places in an export, each with another value and the error that it brings.
const CONTRADICTIONS: &str = r#"/cases/0/blocks/0/samples/0/2 | 18446744073709551615 | a sample ends before it starts
/cases/0/blocks/0/samples/0/3 | 18446744073709551615 | case 1: a sample ends after centuries
/cases/0/blocks/0/samples/0/0 | 4000000000 | case 1: a sample of worker 4000000000
/cases/1/case/algorithm | "rsa3072" | case 2: the plan has rsa4096
/cases/1/case/algorithm | "rsa3073" | did you mean 'rsa3072'?
/schema | 0 | no schema 0
/started | "0000-01-01T00:00:00Z" | it started before 1970
/environment/cores | 0 | a processor without cores"#;

#[test]
fn a_record_that_contradicts_itself_is_refused() {
    let mean = |mean: f64| json!({"mean": mean, "n": null, "note": ""});
    for line in CONTRADICTIONS.lines() {
        let [place, value, reason] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let value: Value = serde_json::from_str(value).unwrap();
        contradicts(|run| *run.pointer_mut(place).unwrap() = value, reason);
    }
    contradicts(
        |run| drop(run["cases"].as_array_mut().unwrap().pop()),
        "its plan has 3 cases, but it has 2",
    );
    contradicts(
        |run| drop(run.as_object_mut().unwrap().remove("plan")),
        "missing field `plan`",
    );
    let remark = "unknown field `remark`";
    contradicts(|run| run["remark"] = json!(0), remark);
    contradicts(|run| run["cases"][0]["case"]["remark"] = json!(0), remark);
    let published = |value: f64, reason: &str| {
        contradicts(|run| run["cases"][2]["published"] = mean(value), reason);
    };
    published(1.0, "a published mean with samples");
    published(-1.0, "a mean of -1 s");
}

#[track_caller]
fn contradicts(change: impl FnOnce(&mut Value), reason: &str) {
    let error = mutilated(change);
    assert_says(&error, ["contradicts itself", reason]);
}

/// Places in an export, each with a value that the schema forbids.
const FORBIDDEN: &str = r#"/remark | "hand-made"
/schema | 2
/cases/0/case/algorithm | "rsa2049"
/cases/0/blocks/0/samples/0/4 | "fine"
/cases/0/blocks/0/samples/0 | [0, 0, 0, 0]
/environment/keymark | null"#;

#[test]
fn the_schema_forbids_what_no_export_has() {
    let value: Value = serde_json::from_slice(&exported(&record("a"))).unwrap();
    assert!(VALIDATOR.is_valid(&value));
    for (place, other) in FORBIDDEN.lines().filter_map(|line| line.split_once(" | ")) {
        let mut value = value.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        let other: Value = serde_json::from_str(other).unwrap();
        let parent = value.pointer_mut(parent).unwrap();
        if parent.is_array() {
            parent[name.parse::<usize>().unwrap()] = other;
        } else {
            parent[name] = other;
        }
        assert!(!VALIDATOR.is_valid(&value), "{place}");
    }
}

#[test]
fn the_content_decides_what_a_file_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.csv");
    let record = record("a");
    fs::write(&path, [b"\n  ", exported(&record).as_slice()].concat()).unwrap();
    assert_eq!(import(&path).unwrap(), record);
    fs::write(&path, " \n").unwrap();
    assert_says(&import(&path).unwrap_err(), ["is empty"]);
    let nowhere = import(&directory.path().join("nowhere")).unwrap_err();
    assert_says(&nowhere, ["cannot read"]);
}

/// Lists JSON pointers to all values.
fn pointers(value: &Value, at: String, into: &mut Vec<String>) {
    let below = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, field)| pointers(field, below(name), into)),
        Value::Array(items) => {
            let items = items.iter().enumerate().take(3);
            items.for_each(|(number, item)| pointers(item, below(&number.to_string()), into));
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
    into.push(at);
}

/// Returns replacements for a value. To a reader null equals a missing field.
fn mutations(value: &Value) -> Vec<Value> {
    let mut others = vec![
        json!(-1),
        json!(u64::MAX),
        json!(0),
        json!(1e300),
        json!(""),
    ];
    match value {
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("remark".to_owned(), json!("hand-made"));
            others.push(Value::Object(more));
        }
        Value::Array(items) => {
            others.push(Value::Array([items.as_slice(), &[json!(null)]].concat()));
        }
        Value::String(_) => others.push(json!("0000-01-01T00:00:00Z")),
        Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
    others
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_record_survives_its_export_and_fits_the_schema(record in records()) {
        let content = exported(&record);
        prop_assert_eq!(&json::parse(Path::new("x"), &content).unwrap(), &record);
        let value: Value = serde_json::from_slice(&content).unwrap();
        let errors: Vec<_> = VALIDATOR.iter_errors(&value).map(|e| e.to_string()).collect();
        prop_assert!(errors.is_empty(), "{:?}", errors);
    }

}

proptest! {
    // A record has thousands of places, of which each case tries one.
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_imported_that_the_schema_forbids(record in records(), at in any::<prop::sample::Index>()) {
        let value: Value = serde_json::from_slice(&exported(&record)).unwrap();
        let mut places = Vec::new();
        pointers(&value, String::new(), &mut places);
        let place = at.get(&places);
        for other in mutations(value.pointer(place).unwrap()) {
            let mut changed = value.clone();
            *changed.pointer_mut(place).unwrap() = other.clone();
            if json::parse(Path::new("x"), changed.to_string().as_bytes()).is_ok() {
                let errors: Vec<_> = VALIDATOR.iter_errors(&changed).map(|e| e.to_string()).collect();
                prop_assert!(errors.is_empty(), "{place} = {other}: {errors:?}");
            }
        }
    }

    #[test]
    fn no_bytes_make_the_import_panic(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = json::parse(Path::new("x"), &content);
        let _ = published::parse(Path::new("x"), &[HEADER.as_bytes(), &content].concat());
    }
}

#[test]
fn what_no_run_can_have_measured_is_refused() {
    let whole = record("20261121-045027-0001");
    let refused = |change: &dyn Fn(&mut Record)| {
        let mut record = whole.clone();
        change(&mut record);
        // What no import takes, no export makes.
        json::write(&record, std::io::sink()).unwrap_err();
        let content = serde_json::to_vec(&record).unwrap();
        let error = read(Path::new("x"), &content).unwrap_err();
        assert_says(&error, ["is too large to import"]);
        error.to_string()
    };
    let said = refused(&|record| {
        let workers = NonZeroU32::new(limits::WORKERS + 1).unwrap();
        record.cases[0].case.load = Load::closed(workers);
    });
    assert_says(&said, ["100001 workers; the limit is 100000"]);
    let said = refused(&|record| record.cases = vec![whole.cases[0].clone(); limits::CASES + 1]);
    assert_says(&said, ["5001 cases"]);
    let said = refused(&|record| {
        record.stores[0].device = DeviceName::new("x".repeat(limits::NAME + 1));
    });
    assert_says(&said, ["the name of a device has 201 bytes"]);
    let said = refused(&|record| record.id = RunId("x".repeat(limits::NAME + 1)));
    assert_says(&said, ["the name of the run"]);
    let said = refused(&|record| record.stores[0].product = "x".repeat(limits::TEXT + 1));
    assert_says(&said, ["a text has more than 10000 bytes"]);
}

#[test]
fn a_million_levels_are_no_danger_to_the_stack() {
    for begin in [
        "{\"schema\":1,\"plan\":",
        "{\"schema\":1,\"other\":",
        "{\"a\":",
    ] {
        for level in ["[", "{\"a\":"] {
            let deep = begin.to_owned() + &level.repeat(1_000_000);
            json::parse(Path::new("x"), deep.as_bytes()).unwrap_err();
        }
    }
}

#[test]
fn records_are_files_with_their_ending_wherever_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    fs::create_dir_all(place("b/c")).unwrap();
    fs::create_dir(place(".git")).unwrap();
    for name in [
        "b/c/2.JSON",
        "a.json",
        "b/1.csv",
        "README.md",
        ".git/x.json",
    ] {
        fs::write(place(name), "x").unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", place("link.json")).unwrap();
    let folder = Folder::list(directory.path()).unwrap();
    assert_eq!(
        folder.records,
        ["a.json", "b/1.csv", "b/c/2.JSON"].map(place)
    );
    assert_eq!(folder.aside, [place("README.md")]);
    assert_eq!(folder.refused.len(), 1);
    assert_says(&folder.refused[0], ["link.json is a symbolic link"]);
    let nowhere = Folder::list(&place("nowhere")).unwrap_err();
    assert_says(&nowhere, ["cannot read folder"]);
}

/// Names become part of files, addresses and lines; NUL is in no database.
#[test]
fn names_and_texts_that_no_archive_takes_are_refused() {
    for odd in [
        ".", "..", "a/b", "a b", "a\nb", "a\0b", "\u{e4}", "a_b", "<b>",
    ] {
        for field in ["/id", "/series/id", "/series/against"] {
            let error = mutilated(|run| {
                run["series"] = json!({
                    "id": "s", "against": "t", "number": 0, "runs": 1, "pause": {"secs": 0, "nanos": 0}
                });
                *run.pointer_mut(field).unwrap() = json!(odd);
            });
            assert_says(&error, ["contradicts itself"]);
        }
    }
    for field in [
        "/stores/0/product",
        "/environment/kernel",
        "/environment/keymark",
    ] {
        let error = mutilated(|run| *run.pointer_mut(field).unwrap() = json!("a\0b"));
        assert_says(&error, ["the character NUL"]);
    }
    let table = format!("{HEADER}CPU,a\0b,rsa2048,sign,chip,1,,,,,measured,here,\n");
    let error = read(Path::new("x.csv"), table.as_bytes()).unwrap_err();
    assert_says(&error, ["the character NUL"]);
    let table = format!("{HEADER}CPU,,rsa2048,sign,chip,1,,,,,measured,here,\n");
    let named = read(Path::new("../my <b>\n.csv"), table.as_bytes()).unwrap();
    assert!(limits::is_name(&named.id.0), "{}", named.id);
}

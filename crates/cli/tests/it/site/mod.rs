//! `keymark site` by the real binary: what becomes of files, good and bad, and where it writes.

mod links;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, SHORT, assert_schema_allows, ended, text};
use links::{assert_no_dead_link, assert_no_markup, pages};
use serde_json::{Value, json};

use crate::KEYMARK;

const MARKUP: &str = "</script><img src=x onerror=alert(1)>\"'&\u{202e}\u{1b}[2J";

/// A place with a folder of records, and a real run as it is shared.
struct Site {
    place: Place,
    record: Value,
}

impl Site {
    fn new() -> Self {
        let place = Place::new(KEYMARK);
        fs::create_dir(place.path("records")).unwrap();
        place.stdout(SHORT);
        let file = place.path("records/run.json");
        place.stdout(&format!("share last -o {} --yes", file.display()));
        let record = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        Self { place, record }
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.place.path("records").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn build(&self, out: &str) -> Output {
        self.build_with(out, "")
    }

    fn build_with(&self, out: &str, more: &str) -> Output {
        let (records, out) = (self.place.path("records"), self.place.path(out));
        let (records, out) = (records.display(), out.display());
        self.place
            .output(&format!("site {records} -o {out} {more}"))
    }

    /// Builds a site that is without a fault, and yields its files.
    fn built(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        ended(self.build(out), 0);
        files(&self.place.path(out))
    }

    /// What it says when it ends with that status.
    fn refused(&self, out: &str, status: i32) -> String {
        let output = self.build(out);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        // Lines are broken where a terminal ends.
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The run, changed, on a device of that product in place of the processor.
    fn on(&self, id: &str, product: &str) -> Value {
        let mut record = self.record.clone();
        record["id"] = id.into();
        for case in record["plan"]["cases"].as_array_mut().unwrap() {
            (case["device"], case["store"]) = ("card-1".into(), "openpgp-card".into());
        }
        for case in record["cases"].as_array_mut().unwrap() {
            (case["case"]["device"], case["case"]["store"]) =
                ("card-1".into(), "openpgp-card".into());
        }
        let store = &mut record["stores"][0];
        (store["device"], store["kind"]) = ("card-1".into(), "openpgp-card".into());
        store["product"] = product.into();
        record
    }
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut waiting) = (BTreeMap::new(), vec![directory.to_path_buf()]);
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_str().unwrap();
                found.insert(name.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn devices_of_articles_have_pages_if_asked_for() {
    let site = Site::new();
    let without = site.built("one");
    ended(site.build_with("two", "--all-published"), 0);
    let with = files(&site.place.path("two"));
    assert_no_dead_link(&with);
    let page = "devices/yubikey-4.html";
    assert!(with.contains_key(page) && !without.contains_key(page));
    assert_says(
        &text(&with["index.html"]),
        ["from contributors, and by published figures."],
    );
}

#[test]
fn a_site_of_real_records_is_whole_and_the_same_twice() {
    let site = Site::new();
    site.put(
        "of/others.json",
        site.on("other-shared", "YubiKey 4 (firmware 4.3.5)")
            .to_string(),
    );
    site.put("README.md", "records");
    let one = site.built("one");
    assert_eq!(
        one,
        site.built("two"),
        "the same folder makes the same bytes"
    );
    assert_no_dead_link(&one);
    let page = text(&one["devices/yubikey-4.html"]);
    for kind in ["measured", "published"] {
        assert!(page.contains(&format!("<tr class=\"{kind}\">")), "{kind}");
    }
    assert_says(&page, ["No ranking", "published-lwn-2017-keycards"]);
    for (name, page) in pages(&one) {
        assert!(
            page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"),
            "{name}"
        );
        for asks in [
            " src=",
            "@import",
            "<link",
            "<iframe",
            " style=",
            " onclick=",
        ] {
            assert!(!page.contains(asks), "{name}: {asks}");
        }
    }
    // Whoever has the site can see that it is whole, by a program that is not keymark's.
    let check = Command::new("sha256sum")
        .args("--check --strict --quiet SHA256SUMS".split(' '))
        .current_dir(site.place.path("one"))
        .status();
    assert!(check.unwrap().success());
}

#[test]
fn what_is_downloaded_can_be_imported() {
    let site = Site::new();
    site.put("table.csv", "device,algorithm,operation,stack,mean_s,n,note\nYubiKey-4,rsa2048,decrypt,gnupg,0.2,7,mine\n");
    let files = site.built("out");
    let records: Vec<&String> = files
        .keys()
        .filter(|name| name.ends_with(".json"))
        .collect();
    assert!(
        records.len() >= 3,
        "one run, one table, one article: {records:?}"
    );
    let reader = Place::new(KEYMARK);
    for name in records {
        assert_schema_allows(&serde_json::from_slice(&files[name]).unwrap());
        let path = site.place.path("out").join(name);
        reader.stdout(&format!("import {}", path.display()));
    }
    let id = site.record["id"].as_str().unwrap();
    let again = reader.stdout(&format!("export {id} --format json"));
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), site.record);
    reader.stdout("show published-table");
}

#[test]
fn one_bad_file_is_named_and_the_others_make_the_site() {
    let site = Site::new();
    let whole = fs::read_to_string(site.place.path("records/run.json")).unwrap();
    site.put("cut.json", &whole[..whole.len() / 2]);
    site.put("other.json", r#"{"name": "package"}"#);
    site.put("nothing.json", "");
    let mut newer = site.record.clone();
    newer["schema"] = 99.into();
    site.put("deep/newer.json", newer.to_string());
    let mut wrong = site.record.clone();
    wrong["cases"].as_array_mut().unwrap().pop();
    site.put("wrong.json", wrong.to_string());
    std::os::unix::fs::symlink("/etc/passwd", site.place.path("records/passwd.json")).unwrap();
    let said = site.refused("out", 1);
    for (file, reason) in [
        ("cut.json", "ends too early"),
        ("other.json", "not a run exported by keymark"),
        ("nothing.json", "is empty"),
        ("deep/newer.json", "follows schema 99"),
        ("wrong.json", "contradicts itself"),
        ("passwd.json", "is a symbolic link"),
    ] {
        assert_says(&said, [file, reason]);
    }
    assert_says(&said, ["1 record, 6 refused; 1 device"]);
    let files = files(&site.place.path("out"));
    assert_no_dead_link(&files);
    assert!(files.keys().any(|name| name.starts_with("records/")));
}

#[test]
fn without_a_record_there_is_no_site() {
    let site = Site::new();
    fs::remove_file(site.place.path("records/run.json")).unwrap();
    let said = site.refused("out", 3);
    assert_says(&said, ["has no record; ", "keymark share"]);
    site.put("cut.json", "{");
    let said = site.refused("out", 1);
    assert_says(&said, ["no site was written", "cut.json"]);
    assert!(!site.place.path("out").exists());
    let nowhere = site.place.path("nowhere");
    let said = site
        .place
        .refused(&format!("site {} -o x", nowhere.display()), 1);
    assert_says(&said, ["cannot read"]);
}

#[test]
fn nothing_is_written_over_but_an_earlier_site() {
    let site = Site::new();
    let out = |name: &str| site.place.path("out").join(name);
    fs::create_dir(site.place.path("out")).unwrap();
    let first = site.built("out");
    // A second one takes its place, whole.
    site.put(
        "other.json",
        site.on("other-shared", "YubiKey 5 (firmware 5.7.1)")
            .to_string(),
    );
    let second = site.built("out");
    assert!(second.len() > first.len() && second.contains_key("devices/yubikey-5.html"));
    fs::remove_file(site.place.path("records/other.json")).unwrap();
    assert_eq!(
        site.built("out"),
        first,
        "nothing of the second one is left"
    );
    for (name, why) in [
        ("CNAME", "CNAME is not part of it"),
        (".git/config", ".git/config is not part of it"),
        ("index.html", "changed since"),
    ] {
        let before = fs::read(out(name)).ok();
        fs::create_dir_all(out(name).parent().unwrap()).unwrap();
        let mut content = before.clone().unwrap_or_default();
        content.extend(b"mine");
        fs::write(out(name), &content).unwrap();
        let said = site.refused("out", 1);
        assert_says(&said, [why]);
        assert_eq!(fs::read(out(name)).unwrap(), content);
        match before {
            Some(before) => fs::write(out(name), before).unwrap(),
            None => fs::remove_file(out(name)).unwrap(),
        }
    }
    // A page of which nothing is left is still the one that was changed.
    let page = fs::read(out("index.html")).unwrap();
    fs::write(out("index.html"), "my own page").unwrap();
    let said = site.refused("out", 1);
    assert_says(&said, ["index.html is not part of it, or changed since"]);
    fs::write(out("index.html"), page).unwrap();
    let notes = site.place.path("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("thesis.txt"), "x").unwrap();
    assert!(site.refused("notes", 1).contains("is not empty"));
    assert!(
        site.refused("notes/thesis.txt", 1)
            .contains("not a directory")
    );
    for within in ["records", "records/public", "."] {
        assert_says(&site.refused(within, 1), ["contain one another"]);
    }
    assert!(site.place.path("records/run.json").exists());
    assert_nothing_half_written(&site);
}

/// Beside a site.
fn assert_nothing_half_written(site: &Site) {
    let entries = fs::read_dir(site.place.directory()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut left = names.filter(|name| name.contains("part") || name.starts_with("keymark-"));
    assert_eq!(left.next(), None);
}

/// Another user of a shared directory makes links where a site may be written first.
#[test]
fn links_that_were_planted_lead_nowhere() {
    let site = Site::new();
    site.built("out");
    let victim = site.place.path("victim");
    fs::write(&victim, "mine").unwrap();
    let process = std::process::id();
    let planted = |number: u32| site.place.path(&format!(".out.{number}.part"));
    for number in process..process + 2_000 {
        fs::create_dir(planted(number)).unwrap();
        for name in ["index.html", "SHA256SUMS"] {
            std::os::unix::fs::symlink(&victim, planted(number).join(name)).unwrap();
        }
    }
    site.put("other.json", site.on("other", "YubiKey 5").to_string());
    let built = site.built("out");
    assert!(built.contains_key("index.html"));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    for number in process..process + 2_000 {
        assert!(planted(number).exists(), "{number} is somebody's");
        fs::remove_dir_all(planted(number)).unwrap();
    }
    assert_nothing_half_written(&site);
}

/// What a contributor has called a file makes no line of its own.
#[test]
fn names_of_files_stay_in_their_lines() {
    let site = Site::new();
    let forged = "\n::error::forged\n.json";
    site.put(&format!("bad{forged}"), "{");
    let again = serde_json::to_string_pretty(&site.record).unwrap();
    site.put(&format!("same{forged}"), again);
    site.put("aside\n::error::forged\n.txt", "x");
    let output = site.build("out");
    for said in [text(&output.stdout), text(&output.stderr)] {
        let mut lines = said.lines().map(str::trim);
        assert!(!lines.any(|line| line.starts_with("::")), "{said}");
    }
    ended(output, 1);
}

#[test]
fn a_directory_that_cannot_be_written_keeps_the_earlier_site() {
    let site = Site::new();
    let first = site.built("out");
    // Too long for any file system.
    let long = "x".repeat(300);
    let said = site.refused(&long, 1);
    assert_says(&said, ["cannot write"]);
    assert!(!site.place.path(&long).exists());
    assert_eq!(files(&site.place.path("out")), first);
}

#[test]
fn what_was_only_exported_loses_its_names() {
    let site = Site::new();
    let mut telling = site.on("telling", "YubiKey 5 (firmware 5.4.3)");
    telling["stores"][0]["serial"] = "S-4711-0815".into();
    telling["environment"]["command"] = json!(["bench", "--device", "S-4711-0815", "secret-label"]);
    telling["environment"]["versions"]["gnupg"] = "/home/zacharias/bin/gpg: 2.4".into();
    fs::remove_file(site.place.path("records/run.json")).unwrap();
    site.put("telling.json", telling.to_string());
    let output = ended(site.build("out"), 0);
    let said = text(&output.stderr);
    assert_says(&said, ["exported, not shared"]);
    for (name, content) in files(&site.place.path("out")) {
        let content = text(&content);
        for secret in ["S-4711-0815", "zacharias", "secret-label"] {
            assert!(
                !content.contains(secret) && !name.contains(secret),
                "{name}: {secret}"
            );
        }
    }
    // The device is the one that it is, by its product.
    assert!(site.place.path("out/devices/yubikey-5.html").exists());
}

#[test]
fn the_same_record_twice_counts_once() {
    let site = Site::new();
    let before = site.built("one");
    site.put(
        "copy.json",
        serde_json::to_string_pretty(&site.record).unwrap(),
    );
    let output = site.build("two");
    let said = text(&output.stderr)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        output.status.success() && said.contains("the same record as"),
        "{said}"
    );
    assert_eq!(files(&site.place.path("two")), before);
}

#[test]
fn hostile_names_are_harmless() {
    let site = Site::new();
    let names = [
        MARKUP,
        "../../../../tmp/keymark-owned",
        "..",
        "/etc/passwd",
        "",
        "   ",
        "令牌",
        "con",
        "a\nb\r\u{2028}c",
        "yubikey-4.html",
        "index",
        "%2e%2e%2f",
        "javascript:alert(1)",
    ];
    for (number, name) in names.iter().enumerate() {
        let mut record = site.on(&format!("run-{number}"), name);
        record["environment"]["cpu_model"] = (*name).into();
        record["environment"]["keymark"] = (*name).into();
        record["environment"]["versions"] = json!({*name: name});
        record["cases"][0]["blocks"] = json!([]);
        record["cases"][0]["ending"] = json!({"stopped": "failed", "reason": name});
        site.put(&format!("{number}.json"), record.to_string());
    }
    let long = "w".repeat(9_000);
    let mut record = site.on(&"i".repeat(200), &long);
    record["environment"]["cpu_model"] = long.as_str().into();
    site.put("long.json", record.to_string());
    let table = "device,algorithm,operation,stack,mean_s,n,note\n\"=1+1<b>\",rsa2048,sign,raw,1,,\"<script>https://a.invalid/\"\"><script>x\"\n";
    site.put("<b>.csv", table);
    let files = site.built("out");
    assert_no_dead_link(&files);
    assert!(
        !Path::new("/tmp/keymark-owned").exists() && !Path::new("/tmp/keymark-owned.html").exists()
    );
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-./".contains(c);
    for name in files.keys().filter(|name| *name != "SHA256SUMS") {
        assert!(
            name.chars().all(plain) && !name.contains("..") && name.len() < 120,
            "{name}"
        );
    }
    let devices = files
        .keys()
        .filter(|name| name.starts_with("devices/"))
        .count();
    // Without a name, two runs are two devices; the processor, the long one and the table's are three more.
    assert_eq!(devices, names.len() + 3);
    assert_no_markup(&files);
    assert!(
        files["index.html"].len() < 200_000,
        "{} bytes",
        files["index.html"].len()
    );
}

#[test]
fn golden_records_are_on_the_site() {
    let site = Site::new();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/golden");
    let mut records = 0;
    for entry in fs::read_dir(golden).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        site.put(&format!("{name}.json"), fs::read_to_string(&path).unwrap());
        records += 1;
    }
    let files = site.built("out");
    assert_no_dead_link(&files);
    let shown = files
        .keys()
        .filter(|name| name.starts_with("records/") && name.ends_with(".json"));
    assert!(
        shown.count() > records,
        "one of them all, and the run of today"
    );
}

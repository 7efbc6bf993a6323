//! `keymark site` by the real binary: what becomes of files, good and bad, and where it writes.

mod links;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use keymark_testkit::place::{Ends, Place, SHORT, Transcript, assert_schema_allows, text};
use keymark_testkit::{assert_says, assert_silent};
use links::{assert_no_dead_link, assert_no_markup, pages};
use serde_json::{Value, json};

use crate::KEYMARK;

/// Columns of published figures.
const COLUMNS: &str = "device,firmware,algorithm,operation,stack,mean_s,ops_per_s,concurrency,n,date,grade,source,note\n";
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

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.place.path("records").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
    }

    fn build(&self, out: &str, status: i32) -> Transcript {
        let (records, out) = (self.place.path("records"), self.place.path(out));
        let arguments = format!("site {} -o {}", records.display(), out.display());
        self.place.ends(&arguments, status)
    }

    /// Builds a site that is without a fault, and yields its files.
    fn built(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        self.build(out, 0);
        files(&self.place.path(out))
    }

    fn refused(&self, out: &str, status: i32) -> String {
        self.build(out, status).stderr
    }

    /// The run, changed, on a device of that product in place of the processor.
    fn on(&self, id: &str, product: &str) -> Value {
        let mut record = self.record.clone();
        record["id"] = id.into();
        let cases = record["plan"]["cases"].as_array_mut().unwrap();
        for case in cases.iter_mut() {
            (case["device"], case["store"]) = ("card-1".into(), "openpgp-card".into());
        }
        for case in record["cases"].as_array_mut().unwrap() {
            let case = &mut case["case"];
            (case["device"], case["store"]) = ("card-1".into(), "openpgp-card".into());
        }
        let store = &mut record["stores"][0];
        (store["device"], store["kind"]) = ("card-1".into(), "openpgp-card".into());
        store["product"] = product.into();
        record
    }

    fn put_on(&self, name: &str, product: &str) {
        self.put(name, self.on("other-shared", product).to_string());
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
fn a_site_of_real_records_is_whole_and_the_same_twice() {
    let site = Site::new();
    site.put("README.md", "records");
    site.put(
        "of/others.json",
        site.on("other-shared", "YubiKey 4 (firmware 4.3.5)")
            .to_string(),
    );
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/golden");
    for entry in fs::read_dir(golden).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        site.put(name, fs::read_to_string(&path).unwrap());
    }
    let one = site.built("one");
    // The same record twice counts once, and the same folder makes the same bytes.
    site.put(
        "copy.json",
        serde_json::to_string_pretty(&site.record).unwrap(),
    );
    assert_eq!(one, site.built("two"));
    assert_no_dead_link(&one);
    let page = text(&one["devices/yubikey-4.html"]);
    for kind in ["measured", "published"] {
        assert!(page.contains(&format!("<tr class=\"{kind}\">")), "{kind}");
    }
    for (name, page) in pages(&one) {
        let policy = ["default-src &#39;none&#39;", "default-src 'none'"];
        assert!(policy.iter().any(|policy| page.contains(policy)), "{name}");
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
    // A program that is not keymark's sees that it is whole.
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--strict", "--quiet", "SHA256SUMS"]);
    check.current_dir(site.place.path("one")).ends(0);
}

#[test]
fn what_is_downloaded_can_be_imported() {
    let site = Site::new();
    site.put(
        "table.csv",
        format!("{COLUMNS}YubiKey-4,,rsa2048,decrypt,program: gpg,0.2,,,7,,measured,here,mine\n"),
    );
    let files = site.built("out");
    let records: Vec<&String> = files
        .keys()
        .filter(|name| name.ends_with(".json"))
        .collect();
    // One run, one table, one article.
    assert!(records.len() >= 3, "{records:?}");
    let reader = Place::new(KEYMARK);
    for name in records {
        assert_schema_allows(&serde_json::from_slice(&files[name]).unwrap());
        let path = site.place.path("out").join(name);
        reader.stdout(&format!("import {}", path.display()));
    }
    let id = site.record["id"].as_str().unwrap();
    let again = reader.stdout(&format!("export {id} --format record"));
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), site.record);
    reader.stdout("show published-table");
}

#[test]
fn one_bad_file_is_named_and_the_others_make_the_site() {
    let site = Site::new();
    let whole = site.record.to_string();
    let mut newer = site.record.clone();
    newer["schema"] = 99.into();
    let mut wrong = site.record.clone();
    wrong["cases"].as_array_mut().unwrap().pop();
    // Its name makes no line of its own.
    let forged = "bad\n::error::forged\n.json";
    let bad = [
        ("cut.json", &whole[..whole.len() / 2]),
        ("other.json", r#"{"name": "package"}"#),
        ("nothing.json", ""),
        ("newer.json", &newer.to_string()),
        ("wrong.json", &wrong.to_string()),
        (forged, "{"),
    ];
    for (name, content) in bad {
        site.put(name, content);
    }
    std::os::unix::fs::symlink("/etc/passwd", site.place.path("records/passwd.json")).unwrap();
    let built = site.build("out", 1);
    let named = bad
        .map(|(name, _)| name)
        .into_iter()
        .filter(|name| *name != forged);
    assert_says(&built.stderr, named.chain(["passwd.json"]));
    let said = built.said();
    assert!(
        !said.lines().any(|line| line.trim().starts_with("::")),
        "{said}"
    );
    let files = files(&site.place.path("out"));
    assert_no_dead_link(&files);
    assert!(files.keys().any(|name| name.starts_with("records/")));
}

#[test]
fn without_a_record_there_is_no_site() {
    let site = Site::new();
    fs::remove_file(site.place.path("records/run.json")).unwrap();
    assert_says(&site.refused("out", 3), ["keymark share"]);
    site.put("cut.json", "{");
    assert_says(&site.refused("out", 1), ["cut.json"]);
    assert!(!site.place.path("out").exists());
}

#[test]
fn nothing_is_written_over_but_an_earlier_site() {
    let site = Site::new();
    let out = |name: &str| site.place.path("out").join(name);
    fs::create_dir(site.place.path("out")).unwrap();
    let first = site.built("out");
    // A second one takes its place, whole.
    site.put_on("other.json", "YubiKey 5 (firmware 5.7.1)");
    let second = site.built("out");
    assert!(second.len() > first.len() && second.contains_key("devices/yubikey-5.html"));
    fs::remove_file(site.place.path("records/other.json")).unwrap();
    assert_eq!(site.built("out"), first);
    for name in ["CNAME", ".git/config", "index.html"] {
        let before = fs::read(out(name)).ok();
        fs::create_dir_all(out(name).parent().unwrap()).unwrap();
        fs::write(out(name), "mine").unwrap();
        assert_says(&site.refused("out", 1), [name]);
        assert_eq!(fs::read(out(name)).unwrap(), b"mine");
        match before {
            Some(before) => fs::write(out(name), before).unwrap(),
            None => fs::remove_file(out(name)).unwrap(),
        }
    }
    let notes = site.place.path("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("thesis.txt"), "x").unwrap();
    // The last one is too long for any file system.
    for place in [
        "notes",
        "notes/thesis.txt",
        "records",
        "records/public",
        ".",
        &"x".repeat(300),
    ] {
        site.refused(place, 1);
    }
    assert!(site.place.path("records/run.json").exists());
    assert_eq!(files(&site.place.path("out")), first);
    assert_nothing_half_written(&site);
}

/// Looks next to a site.
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
    site.put_on("other.json", "YubiKey 5");
    assert!(site.built("out").contains_key("index.html"));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    for number in process..process + 2_000 {
        fs::remove_dir_all(planted(number)).unwrap();
    }
    assert_nothing_half_written(&site);
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
    let built = site.build("out", 0);
    assert_says(&built.stderr, ["exported, not shared"]);
    for (name, content) in files(&site.place.path("out")) {
        let all = name + &text(&content);
        assert_silent(&all, ["S-4711-0815", "zacharias", "secret-label"]);
    }
    // The device is the one that it is, by its product.
    assert!(site.place.path("out/devices/yubikey-5.html").exists());
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
    let note = "\"<script>https://a.invalid/\"\"><script>x\"";
    let table =
        format!("{COLUMNS}FST-01,\"=1+1<b>\",rsa2048,sign,chip,1,,,,,measured,<b>,{note}\n");
    site.put("<b>.csv", table);
    let files = site.built("out");
    assert_no_dead_link(&files);
    assert_no_markup(&files);
    assert!(!Path::new("/tmp/keymark-owned").exists());
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-./".contains(c);
    for name in files.keys().filter(|name| *name != "SHA256SUMS") {
        let is_plain = name.chars().all(plain) && !name.contains("..");
        assert!(is_plain && name.len() < 120, "{name}");
    }
    let devices = files.keys().filter(|name| name.starts_with("devices/"));
    // Without a name, two runs are two devices; the processor, the long one and the table's are three more.
    assert_eq!(devices.count(), names.len() + 3);
    assert!(files["index.html"].len() < 200_000);
}

//! Runs of the real binary: what is printed, saved, exported, refused.

use std::process::{Command, Stdio};
use std::time::Duration;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, SHORT, ended, objects, said, text};
use serde_json::Value;

use crate::KEYMARK;

#[test]
fn a_run_is_shown_without_colours_and_saved_to_the_sample() {
    let place = Place::new(KEYMARK);
    let shown = place.stdout(SHORT);
    assert_says(&shown, ["ed25519", "rsa2048"]);
    assert!(
        !shown.contains('\u{1b}'),
        "no escape codes where there is no terminal"
    );
    let runs = place.rows("runs --json");
    assert_eq!(
        (runs.len(), &runs[0]["state"], &runs[0]["samples"]),
        (1, &"finished".into(), &150.into())
    );
    assert_eq!(place.stdout("show last"), shown, "shown again, the same");
}

#[test]
fn json_is_one_object_a_case_with_every_field() {
    let place = Place::new(KEYMARK);
    let cases = place.rows(&format!("{SHORT} --json"));
    assert_eq!(cases.len(), 3);
    let fields = [
        "device",
        "store",
        "algorithm",
        "operation",
        "stack",
        "concurrency",
        "provenance",
        "n",
        "mean_s",
        "ci_low_s",
        "ci_high_s",
        "median_s",
        "ops_per_s",
        "ratio",
        "failed",
    ];
    for case in &cases {
        for field in fields {
            assert!(!case[field].is_null(), "{field} of {case}");
        }
        assert_eq!(
            (&case["n"], &case["failed"], &case["provenance"]),
            (&50.into(), &0.into(), &"measured".into())
        );
        assert!(
            case["p99_s"].is_null(),
            "50 operations bound no p99: {case}"
        );
        assert!(case["ci_low_s"].as_f64() <= case["mean_s"].as_f64());
    }
}

#[test]
fn an_export_fits_its_schema_and_comes_back_whole() {
    let (here, there) = (Place::new(KEYMARK), Place::new(KEYMARK));
    here.stdout(SHORT);
    let exported = here.stdout("export last --format json");
    let _ = here.record();
    let file = there.path("run.json");
    std::fs::write(&file, &exported).unwrap();
    there.stdout(&format!("import {}", file.display()));
    assert_eq!(there.stdout("export last --format json"), exported);

    std::fs::write(&file, &exported[..exported.len() / 2]).unwrap();
    let cut = ended(there.output(&format!("import {}", file.display())), 1);
    assert_eq!(
        text(&cut.stderr).lines().count(),
        1,
        "{}",
        text(&cut.stderr)
    );
    assert_eq!(there.rows("runs --json").len(), 1, "nothing lost");
}

#[test]
fn a_run_that_cannot_be_saved_is_shown_all_the_same() {
    let place = Place::new(KEYMARK);
    let file = place.path("a-file");
    std::fs::write(
        &file,
        "not an archive, but long enough to be read as the header of one",
    )
    .unwrap();
    let below_a_file = file.join("runs.sqlite3");
    // What a later keymark may leave.
    let newer = place.path("newer-than-a-file");
    place.stdout(&format!("runs --archive {}", newer.display()));
    let later = rusqlite::Connection::open(&newer).unwrap();
    later.pragma_update(None, "user_version", 99).unwrap();
    drop(later);
    for archive in [&file, &below_a_file, &newer] {
        let output = place.output(&format!("{SHORT} --archive {}", archive.display()));
        assert_eq!(output.status.code(), Some(1), "{}", archive.display());
        let said = text(&output.stderr);
        assert_says(&said, ["cannot save the run", "a-file"]);
        assert!(
            text(&output.stdout).contains("ed25519"),
            "the table is there"
        );
    }
}

#[test]
fn a_locked_archive_is_said_and_the_table_still_printed() {
    let place = Place::new(KEYMARK);
    place.stdout(SHORT);
    let other = rusqlite::Connection::open(place.archive()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let output = place.output(SHORT);
    drop(other);
    assert_eq!(output.status.code(), Some(1));
    assert_says(&text(&output.stderr), ["cannot save the run"]);
    assert!(text(&output.stdout).contains("ed25519"));
}

#[test]
fn a_full_disk_ends_the_saving_and_not_the_run() {
    // A file of this process may not grow beyond 64 blocks of 512 bytes; whoever writes on gets a
    // signal, unless that is ignored, and an error as on a full disk.
    for before in ["", "trap '' XFSZ;"] {
        let place = Place::new(KEYMARK);
        let script = format!("{before} ulimit -f 64; exec \"$0\" \"$@\"");
        let output = ended(
            Command::new("sh")
                .args(["-c", &script, KEYMARK])
                .args("bench --algorithm ed25519,rsa2048".split(' '))
                .args("--stack raw --runs 5000".split(' '))
                .env("KEYMARK_ARCHIVE", place.archive())
                .output()
                .unwrap(),
            1,
        );
        let said = text(&output.stderr);
        assert_says(&said, ["cannot save the run"]);
        assert!(
            text(&output.stdout).contains("rsa2048"),
            "the table is there"
        );
    }
}

#[test]
fn a_time_that_is_given_is_kept_whatever_arrives_or_thinks() {
    let place = Place::new(KEYMARK);
    for load in [
        "--rate 1000000000/s",
        "--rate 500000000/s --concurrency 2",
        "--think 1000s",
        "--think 1000s --concurrency 4",
    ] {
        let run = format!(
            "bench --algorithm ed25519 --operation sign --stack raw --max-time 1s --no-save {load}"
        );
        let mut keymark = place.keymark(&run);
        let keymark = keymark.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = keymark.spawn().unwrap();
        // Twenty times as long as it may measure: checks are slow without optimisation.
        let ended = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            child.try_wait().unwrap().is_some()
        });
        if !ended {
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert!(ended, "{load}: {}", said(&output));
        assert!(output.status.success(), "{load}: {}", said(&output));
        let why = [
            "arrive faster than they are served",
            "no interval",
            "has no figure",
        ];
        assert!(
            why.iter().any(|why| said(&output).contains(why)),
            "{load}: {}",
            said(&output)
        );
    }
}

#[test]
fn output_that_is_lost_is_no_success_and_a_reader_that_leaves_is_no_failure() {
    let place = Place::new(KEYMARK);
    let file = std::fs::File::create("/dev/full").unwrap();
    let lost = ended(place.keymark("man").stdout(file).output().unwrap(), 1);
    assert_says(&text(&lost.stderr), ["cannot write to stdout"]);

    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let left = ended(place.keymark("man").stdout(writer).output().unwrap(), 0);
    assert_eq!(text(&left.stderr), "");
}

#[test]
fn without_gnupg_its_stacks_are_named_with_the_command_that_brings_it() {
    let place = Place::new(KEYMARK);
    let without = |arguments: &str| {
        place
            .keymark(arguments)
            .env("PATH", "/nonexistent")
            .output()
            .unwrap()
    };
    let refused = ended(
        without("bench --algorithm ed25519 --stack gnupg --runs 1"),
        3,
    );
    assert_says(&text(&refused.stderr), ["apt-get install"]);

    let raw = ended(without("bench --algorithm ed25519 --runs 5"), 0);
    assert_says(&text(&raw.stderr), ["skipping stack gnupg on software"]);
    assert!(text(&raw.stdout).contains("ed25519"));
}

#[test]
fn gnupg_is_measured_end_to_end_with_all_three_layers() {
    let place = Place::new(KEYMARK);
    let arguments = "bench --long --algorithm cv25519,ed25519 --concurrency 1,2,3 --runs 12";
    let shown = place.stdout(arguments);
    assert_says(&shown, ["where the time goes", "in parallel"]);
    let rows = place.rows("show last --json");
    assert_eq!(rows.len(), 18);
    let lines = place.stdout("show last --json");
    let last: Value = serde_json::from_str(lines.lines().last().unwrap_or_default()).unwrap();
    let answers = last["answers"].as_array().unwrap();
    assert!((1..=6).contains(&answers.len()), "{last}");
    for answer in answers {
        // They are what the tables begin with.
        let words = answer["text"].as_str().unwrap().split(' ').next().unwrap();
        assert!(shown.contains(words), "{answer}");
        let mut ids = answer["rows"].as_array().unwrap().iter();
        assert!(
            ids.all(|id| rows.iter().any(|row| row["id"] == *id)),
            "{answer}"
        );
    }
    let processes: Vec<&Value> = rows.iter().filter(|row| row["stack"] == "gnupg").collect();
    assert!(
        processes.iter().all(|row| row["user_s"].is_number()),
        "the child's own time is there"
    );
    let markdown = place.stdout("export last --format markdown");
    let parts = ["# run ", "| algorithm", "## where", "## in", "## warnings"];
    let places: Vec<_> = parts.iter().map(|part| markdown.find(part)).collect();
    assert!(
        places[0] == Some(0) && places.is_sorted() && !places.contains(&None),
        "{places:?}: {markdown}"
    );
}

#[test]
fn tables_are_as_wide_as_the_terminal() {
    let place = Place::new(KEYMARK);
    place.stdout(SHORT);
    let on_80 = |arguments: &str| {
        let output = place.keymark(arguments).env("COLUMNS", "80").output();
        text(&output.unwrap().stdout)
    };
    let narrow = on_80("show --long");
    assert!(narrow.lines().all(|line| line.chars().count() <= 80));
    assert_says(&narrow, ["hidden (terminal too narrow)"]);
    assert!(!place.stdout("show --long").contains("hidden ("));

    let document = objects(&place.stdout("export last --format document"));
    assert_eq!(document.len(), 1);
    assert!(document[0]["sections"].is_array(), "{}", document[0]);
}

#[test]
fn completions_and_man_pages_come_from_the_definition() {
    let place = Place::new(KEYMARK);
    for (shell, mark) in [
        ("bash", "_keymark"),
        ("zsh", "#compdef keymark"),
        ("fish", "complete -c keymark"),
    ] {
        assert!(
            place.stdout(&format!("completions {shell}")).contains(mark),
            "{shell}"
        );
    }
    assert!(place.stdout("man").contains(".TH keymark 1"));
    let pages = place.path("man");
    place.stdout(&format!("man --directory {}", pages.display()));
    let bench = std::fs::read_to_string(pages.join("keymark-bench.1")).unwrap();
    assert!(bench.contains("precision"), "the options are there");
}

#[test]
fn devices_lists_every_stack_with_what_it_offers() {
    let ways = Place::new(KEYMARK).rows("devices --json");
    let stacks = |device: &str| -> Vec<&str> {
        let own = ways.iter().filter(|way| way["device"] == device);
        let built_in = own.filter(|way| {
            way["parameters"]["library"].is_null() && way["parameters"]["scheme"].is_null()
        });
        built_in.map(|way| way["stack"].as_str().unwrap()).collect()
    };
    // The program openssl knows files, and tokens behind a PKCS#11 module.
    let of_all = ["raw", "agent", "gnupg", "ssh"];
    assert_eq!(stacks("virtual"), of_all);
    assert_eq!(stacks("software"), [&of_all[..], &["openssl"]].concat());
    let loaded: Vec<_> = ways
        .iter()
        .filter(|way| way["parameters"]["library"] == "libgcrypt")
        .map(|way| (way["device"].as_str(), way["stack"].as_str()))
        .collect();
    assert_eq!(loaded, [(Some("software"), Some("raw"))]);
    for way in ways.iter().filter(|way| way["device"] == "software") {
        assert_eq!(way["usable"], true, "{way}");
        if !way["parameters"]["scheme"].is_null() {
            assert_eq!(way["stack"], "raw", "{way}");
            continue;
        }
        let operation = if way["stack"] == "ssh" {
            "authenticate"
        } else {
            "sign"
        };
        let offered = way["offers"][operation].as_array().unwrap();
        assert!(offered.contains(&"ed25519".into()), "{way}");
    }
    let without = Place::new(KEYMARK)
        .keymark("devices --long")
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_says(&text(&without.stdout), ["apt-get install"]);
    #[cfg(feature = "tokens")]
    {
        // Whether it is there or missing, and then what brings it.
        let server = |name: &str| ways.iter().find(|row| row["server"] == name).unwrap();
        for name in ["apache", "nginx", "caddy"] {
            let (usable, missing) = (&server(name)["usable"], &server(name)["missing"]);
            assert_eq!(usable == true, missing.is_null(), "{name}");
            assert_says(&text(&without.stdout), [&format!("\n  {name} ")]);
        }
    }
}

#[test]
fn advice_measures_first_and_rests_on_that() {
    let place = Place::new(KEYMARK);
    let rows = place.rows("advise ssh --measure --json --device software --algorithm ed25519");
    let [answer] = &rows[..] else {
        panic!("{rows:?}")
    };
    assert_eq!(answer["provenance"], "measured");
    assert_eq!(answer["source"], place.rows("runs --json")[0]["id"]);
}

//! What goes wrong with servers: each has its message, what is finished is kept, and nothing stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends as _, Place};
use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken, URI};
use keymark_testkit::waiting::{found, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::{KEYMARK, end_of, kill_at_work, quiet, tell, telling};

const STEP: Duration = Duration::from_millis(10);

/// Two cases, of which the second is under way when this returns; the row of the first.
fn in_the_second(place: &Place) -> (Child, Value, Pid) {
    // With that seed the first case, which the second is compared with, has its turn first.
    let bench = "tls bench --server nginx --algorithm nistp256 --workers 1,2 --case-time 4s --seed 3 --format json";
    let (bench, first) = telling(&mut place.keymark(bench));
    let loaded = |master: &u32| children(*master).into_iter().any(works);
    let master = (0..3_000).find_map(|_| {
        sleep(STEP);
        children(bench.id()).into_iter().find(loaded)
    });
    let master = Pid::from_raw(master.expect("a server that works").cast_signed());
    (bench, first, master)
}

/// Whether it has had the processor for more than a tenth of a second: an answer takes less, a load more.
fn works(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    // proc_pid_stat(5): utime and stime, in hundredths of a second.
    let ticks = fields.split(' ').skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum::<u64>()
        > 10
}

fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let all: Vec<String> = lists.collect();
    all.iter()
        .flat_map(|list| list.split_whitespace())
        .filter_map(|word| word.parse().ok())
        .collect()
}

#[test]
fn a_server_that_is_killed_under_load_ends_its_case_alone() {
    let place = Place::new(KEYMARK);
    let (bench, first, master) = in_the_second(&place);
    kill(master, Signal::SIGKILL).unwrap();
    let second = end_of(bench, 1).rows().remove(0);
    assert!(first["transactions"].as_u64() > Some(0), "{first}");
    let words = "serving by nginx failed: it has ended (signal: 9";
    assert_says(&second["reason"], [words]);
    // What was done until then is kept, and there is no rate of it.
    assert!(second["transactions"].as_u64() > Some(0), "{second}");
    assert!(
        second["mean_s"].is_null() && second["server_cpu_s"].is_null(),
        "{second}"
    );
    let shown = place.ends("show last", 0).said();
    assert_says(&shown, ["serving by nginx failed"]);
    place.assert_gone();
}

#[test]
fn a_run_that_is_ended_keeps_what_is_finished() {
    let place = Place::new(KEYMARK);
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let (mut bench, first, _) = in_the_second(&place);
        tell(&bench, signal);
        let status = bench.wait().unwrap();
        if signal != Signal::SIGKILL {
            assert_eq!(status.code(), Some(130));
            place.assert_gone();
        }
        let kept = place.rows("show last --format json");
        assert_eq!(kept[0]["transactions"], first["transactions"], "{signal}");
    }
    // The next start ends what the one that was killed has left.
    place.stdout("tls bench --server nginx --dry-run");
    place.assert_gone();
}

/// All below the process.
fn descendants(process: u32) -> Vec<u32> {
    let own = children(process);
    let below: Vec<u32> = own.iter().copied().flat_map(descendants).collect();
    [own, below].concat()
}

/// Files below the directory that have the words in them.
fn holding(directory: &Path, words: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.flat_map(|entry| {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            return holding(&entry.path(), words);
        }
        let content = fs::read(entry.path()).unwrap_or_default();
        let has = content
            .windows(words.len())
            .any(|part| part == words.as_bytes());
        Vec::from_iter(has.then(|| entry.path()))
    });
    files.collect()
}

#[test]
fn a_kill_leaves_neither_servers_nor_a_pin() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    token.make_key("rsa:2048", "01", "web");
    // Root's servers give their workers to another user, who also uses the token.
    let open = |path: &Path| {
        token.run(Command::new("chmod").args(["-R", "a+rwX"]).arg(path));
    };
    open(token.configuration().parent().unwrap());
    let key = format!(
        "{URI};object=web?module-path={}",
        SoftHsmToken::library().display()
    );
    for (server, way) in [
        ("nginx", "engine"),
        ("nginx", "provider"),
        ("apache", "engine"),
        ("apache", "provider"),
    ] {
        let bench = format!(
            "tls bench --server {server} --device {key} --openssl {way} --algorithm rsa2048 --workers 1 \
             --case-time 60s --pin-env TOKEN_PIN"
        );
        let mut bench = place.keymark(&bench);
        bench.env(CONFIGURATION, token.configuration());
        let mut bench = quiet(bench.env("TOKEN_PIN", PIN));
        let processes = found("a worker that signs", || {
            assert!(bench.try_wait().unwrap().is_none(), "{server} {way}");
            let all = descendants(bench.id());
            all.iter().any(|process| works(*process)).then_some(all)
        });
        let seen = holding(place.directory(), PIN);
        assert!(seen.is_empty(), "{server} {way}: {seen:?}");
        kill_at_work(bench);
        until("master and workers have ended", || {
            let all = processes.iter();
            all.map(|process| fs::read(format!("/proc/{process}/cmdline")))
                .all(|said| said.unwrap_or_default().is_empty())
        });
        assert!(!place.leftovers().is_empty(), "nobody has tidied up yet");
        place.stdout("runs");
        place.assert_gone();
    }
}

#[test]
fn descriptors_are_raised_or_the_limit_is_explained() {
    let place = Place::new(KEYMARK);
    let limited = |limit: &str, status| {
        let keymark = place.keymark(
            "tls bench --server nginx --algorithm nistp256 --workers 100 --case-time 2s --format json --no-save",
        );
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{limit}; exec \"$0\" \"$@\""));
        shell.arg(keymark.get_program()).args(keymark.get_args());
        for (name, value) in keymark.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.ends(status).rows().remove(0)
    };
    let refused = limited("ulimit -n 64", 1);
    let limit = "file descriptors, but the limit is 64";
    assert_says(&refused["reason"], [limit, "ulimit -Hn"]);
    let raised = limited("ulimit -Sn 64", 0);
    assert_eq!(raised["failed"], 0, "{raised}");
    place.assert_gone();
}

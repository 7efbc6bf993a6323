//! A team's archive on a real PostgreSQL server, by the real binary.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use keymark_bench::clock::{Clock as _, MonotonicClock};
use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends, Place, SHORT};
use keymark_testkit::postgresql::Server;
use keymark_testkit::waiting::until;
use nix::sys::signal::Signal;

use crate::{KEYMARK, captured, end_of, kill_at_work, tell};

/// Measures until it is told to end.
const LONG: &str = "bench --algorithm ed25519 --stack raw --precision 0.001% --time 60s";
const SAMPLES: &str = "SELECT count(*) FROM keymark.sample";
/// Blocks whose samples are not all there, or that are there twice.
const WRONG: &str = "SELECT (SELECT count(*) FROM keymark.block
        WHERE samples <> (SELECT count(*) FROM keymark.sample WHERE block = id))
    + (SELECT count(*) - count(DISTINCT (case_, round)) FROM keymark.block)";

struct Team {
    place: Place,
    server: Server,
}

impl Team {
    fn new() -> Self {
        let (place, server) = (Place::new(KEYMARK), Server::start());
        let team = Self { place, server };
        team.ended("runs", 0);
        team
    }

    fn keymark(&self, role: &str, arguments: &str) -> Command {
        let mut keymark = self.place.keymark(arguments);
        keymark.env("KEYMARK_ARCHIVE", self.server.address(role, "keymark"));
        keymark
    }

    fn ended(&self, arguments: &str, status: i32) -> String {
        self.keymark("owner", arguments).ends(status).said()
    }

    fn started(&self) -> Child {
        captured(&mut self.keymark("owner", LONG))
    }

    /// Counts the runs in that state.
    fn runs(&self, state: &str) -> u64 {
        self.ask(&format!(
            "SELECT count(*) FROM keymark.run WHERE state = '{state}'"
        ))
    }

    fn ask(&self, question: &str) -> u64 {
        let answer = self.server.psql("keymark", question);
        answer.unwrap().parse().unwrap()
    }

    fn await_more_samples(&self) {
        let before = self.ask(SAMPLES);
        until("samples are on the server", || self.ask(SAMPLES) > before);
    }

    fn unsent(&self) -> Vec<PathBuf> {
        let place = self.place.path("data/keymark/unsent");
        let entries = std::fs::read_dir(place).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn a_run_on_a_server_is_kept_here_until_all_of_it_is_there() {
    let mut team = Team::new();
    assert_says(&team.ended(SHORT, 0), ["saved as"]);
    assert_eq!(team.unsent(), Vec::<PathBuf>::new());
    assert_says(&team.ended("push", 0), ["sent 0 runs"]);

    team.server.stop();
    assert_says(&team.ended(SHORT, 1), ["keymark push"]);
    assert_eq!(team.unsent().len(), 1);
    team.ended("push", 1);
    team.server.resume();
    assert_says(&team.ended("push", 0), ["sent 1 run"]);
    assert_eq!(team.unsent(), Vec::<PathBuf>::new());
    assert_eq!(team.runs("finished"), 2);
    assert_eq!(team.ask(WRONG), 0);
}

#[test]
fn a_server_that_restarts_in_a_run_has_all_of_it_in_the_end() {
    let mut team = Team::new();
    let measuring = team.started();
    team.await_more_samples();
    team.server.stop();
    std::thread::sleep(Duration::from_millis(500));
    team.server.resume();
    tell(&measuring, Signal::SIGINT);
    end_of(measuring, 130);
    assert_eq!(team.unsent(), Vec::<PathBuf>::new());
    assert_eq!(team.runs("interrupted"), 1);
    assert_eq!(team.ask(WRONG), 0);
}

#[test]
fn a_server_that_freezes_holds_a_run_up_for_a_moment() {
    let team = Team::new();
    let mut measuring = team.keymark("owner", LONG);
    let mut address = team.server.address("owner", "keymark").into_os_string();
    address.push("&connect_timeout=1");
    measuring
        .args(["--case-time", "3s"])
        .env("KEYMARK_ARCHIVE", address);
    let measuring = captured(&mut measuring);
    team.await_more_samples();
    team.server.freeze();
    let said = end_of(measuring, 1).stderr;
    assert_says(&said, ["no answer for 3 s", "keymark push"]);
    team.server.thaw();
    assert_says(&team.ended("push", 0), ["sent 1 run"]);
    assert_eq!(team.runs("finished"), 1);
    assert_eq!(team.ask(WRONG), 0);
}

#[test]
fn a_kill_in_a_run_loses_nothing_that_was_measured() {
    let team = Team::new();
    for kills in 1..4 {
        let measuring = team.started();
        team.await_more_samples();
        assert_says(&team.ended("push", 0), ["sent 0 runs"]);
        let seen = team.ask(SAMPLES);
        kill_at_work(measuring);
        assert_says(&team.ended("push", 0), ["sent 1 run"]);
        assert!(team.ask(SAMPLES) >= seen);
        assert_eq!(team.runs("unfinished"), kills);
        assert_eq!(team.ask(WRONG), 0);
        assert_eq!(team.unsent(), Vec::<PathBuf>::new());
    }
}

#[test]
fn who_may_only_read_measures_all_the_same() {
    let team = Team::new();
    team.server.psql(
        "keymark",
        "CREATE ROLE rita LOGIN; GRANT USAGE ON SCHEMA keymark TO rita;
         GRANT SELECT ON ALL TABLES IN SCHEMA keymark TO rita",
    );
    let said = team.keymark("rita", SHORT).ends(1).stderr;
    assert_says(&said, ["permission denied"]);
    assert_says(&team.ended("push", 1), ["permission denied"]);
    let elsewhere = team.place.path("elsewhere.sqlite3");
    let elsewhere = format!("push --archive {}", elsewhere.display());
    assert_says(&team.ended(&elsewhere, 0), ["sent 1 run"]);
}

#[test]
fn a_series_goes_on_without_its_server() {
    let mut team = Team::new();
    let mut series = team.keymark("owner", LONG);
    series.args(["--case-time", "1s", "--repeat", "2", "--pause", "1s"]);
    let series = captured(&mut series);
    until("the first run is there", || team.runs("finished") == 1);
    team.server.stop();
    end_of(series, 1);
    assert_eq!(team.unsent().len(), 1);
    team.server.resume();
    assert_says(&team.ended("push", 0), ["sent 1 run"]);
    assert_eq!(
        team.ask("SELECT count(*) FROM keymark.run WHERE series_number IN (0, 1)"),
        2
    );
}

#[test]
fn an_archive_is_copied_there_and_back_byte_by_byte() {
    let team = Team::new();
    let place = &team.place;
    place.stdout("bench --device virtual --algorithm ed25519 --stack raw --samples 5");
    place.stdout(SHORT);
    let here = place.archive();
    let there = team.server.address("owner", "keymark");
    let back = place.path("back.sqlite3");
    let copy = |from: &Path, to: &Path, how: &str| {
        let (from, to) = (from.display(), to.display());
        place.stdout(&format!("import {from} --archive {to} {how}"))
    };
    assert_says(&copy(&here, &there, "--identify"), ["copied 2 runs"]);
    copy(&there, &back, "");
    // Again, nothing happens.
    copy(&there, &back, "");
    for run in ["last", "last~1"] {
        let export = |archive: &Path| {
            let archive = archive.display();
            place.stdout(&format!("export {run} --format record --archive {archive}"))
        };
        let own = export(&here);
        assert!(own == export(&there) && own == export(&back), "{run}");
    }
    let other = place.path("other.sqlite3");
    let import = format!("import nowhere.sqlite3 --archive {}", other.display());
    assert_says(&place.refused(&import, 1), ["nowhere.sqlite3"]);
    assert!(!other.exists());
}

/// Copies one run to fifty machines by turns, half an hour apart.
const COPIES: &str = include_str!("../../../testkit/fixtures/many_runs.sql");

/// Prints with KEYMARK_TEAM_RUNS=10000, a release build and --nocapture how long each command takes (docs/archive.md).
#[test]
fn a_team_of_fifty_machines_lists_its_runs() {
    let team = Team::new();
    let runs: usize = std::env::var("KEYMARK_TEAM_RUNS").map_or(600, |runs| runs.parse().unwrap());
    let bench = "bench --algorithm ed25519,nistp256 --stack raw --library openssl --samples 20 --machine machine-00";
    team.ended(bench, 0);
    let copies = COPIES.replace(":runs", &runs.to_string());
    team.server.psql("keymark", &copies).unwrap();
    assert_eq!(team.ask(WRONG), 0);
    let clock = MonotonicClock::new();
    let timed = |arguments: &str| {
        let started = clock.now();
        let said = team.ended(arguments, 0);
        println!("{runs} runs: {arguments}: {:?}", clock.now().since(started));
        said
    };
    let listed = timed("runs");
    assert_eq!(listed.matches(" finished ").count(), runs, "{listed}");
}

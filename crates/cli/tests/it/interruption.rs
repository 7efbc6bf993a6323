//! Ctrl-C, with real signals, in the middle of a run with real agents.

use std::path::PathBuf;
use std::process::Child;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, objects, text};
use keymark_testkit::process::naming;
use keymark_testkit::waiting::until;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::{KEYMARK, captured, end_of, tell};

/// A run that would take a minute, once it has saved samples.
fn measuring(place: &Place) -> Child {
    let arguments =
        "bench --algorithm ed25519 --stack agent,gpg --precision 0.001% --case-time 60s";
    let child = captured(&mut place.keymark(arguments));
    until("samples are saved", || {
        run(place)["samples"].as_u64() > Some(0)
    });
    child
}

/// The only run, as `keymark runs` lists it; nothing before there is one.
fn run(place: &Place) -> Value {
    let listed = text(&place.output("runs --format json").stdout);
    objects(&listed).into_iter().next().unwrap_or_default()
}

fn until_no_agent_runs(place: &Place) {
    until("agents are gone", || naming(&place.temporary()) == 0);
}

#[test]
fn ctrl_c_ends_cleanly_with_what_was_measured_saved_and_shown() {
    let place = Place::new(KEYMARK);
    let child = measuring(&place);
    assert!(naming(&place.temporary()) > 0, "an agent runs");
    tell(&child, Signal::SIGINT);
    let output = end_of(child, 130);
    assert_says(&output.stdout, ["the run ended early", "ed25519"]);
    assert_says(&output.stderr, ["saved as"]);
    assert_eq!(run(&place)["state"], "interrupted");
    assert!(run(&place)["samples"].as_u64().unwrap() > 0);
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
    until_no_agent_runs(&place);
}

#[test]
fn a_run_that_nobody_reads_any_more_ends_cleanly() {
    let place = Place::new(KEYMARK);
    let arguments = "bench --format json --algorithm ed25519,rsa2048,rsa3072,rsa4096 --operation sign --stack \
                     raw,agent,gpg --samples 20";
    let mut child = captured(&mut place.keymark(arguments));
    drop(child.stdout.take());
    end_of(child, 0);
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
    assert_eq!(run(&place)["state"], "interrupted");
    until_no_agent_runs(&place);
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_agents_still_go() {
    for second in [Signal::SIGINT, Signal::SIGTERM] {
        let place = Place::new(KEYMARK);
        let mut child = measuring(&place);
        tell(&child, Signal::SIGINT);
        tell(&child, second);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        until_no_agent_runs(&place);
    }
}

//! `keymark trace` as a user has it: how it ends, and what it says of the card.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use keymark_testkit::place::{Ends as _, Place};
use keymark_testkit::process::naming;
use keymark_testkit::waiting::until;
use keymark_testkit::{assert_says, assert_silent};
use nix::sys::signal::Signal;

use crate::{KEYMARK, captured, end_of, tell};

/// Decrypts once, says so in a file, and goes on for minutes in a program of its own.
fn decrypting(place: &Place, trap: &str) -> Child {
    let ready = place.path("ready");
    let script = format!(
        "{trap} echo hello | gpg -q --batch --trust-model always -e -r keymark | gpg -q -d; \
         echo > '{ready}'; tail -f '{ready}' & wait; wait",
        ready = ready.display()
    );
    let mut keymark = place.keymark("trace --device virtual -- sh -c");
    let child = captured(keymark.arg(script).stdin(Stdio::null()));
    until("it has decrypted", || ready.exists());
    until("its own program runs", || naming(&ready) > 1);
    child
}

fn ends_in_good_order(place: &Place, child: Child) {
    assert_says(&end_of(child, 130).stdout, ["PSO:DECIPHER", "whole"]);
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
    until("agents and programs are gone", || {
        naming(&place.temporary()) == 0 && naming(&place.path("ready")) == 0
    });
}

#[test]
fn it_ends_in_good_order_whatever_it_is_told_with_the_table_so_far() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let place = Place::new(KEYMARK);
        let child = decrypting(&place, "");
        tell(&child, signal);
        ends_in_good_order(&place, child);
    }
}

#[test]
fn a_program_that_does_not_listen_is_killed() {
    let place = Place::new(KEYMARK);
    let child = decrypting(&place, "trap '' INT TERM HUP;");
    tell(&child, Signal::SIGTERM);
    ends_in_good_order(&place, child);
}

#[test]
fn a_card_that_was_not_used_is_said_to_be_so_also_by_ssh_that_only_lists_keys() {
    let place = Place::new(KEYMARK);
    // A card without an authentication key: the agent asks it for one, and has none to list.
    for (command, status) in [("true", 0), ("ssh-add -l", 1)] {
        let trace = format!("trace --device virtual -- {command}");
        let shown = place.ends(&trace, status).stdout;
        match shown.split_once("the program\n") {
            Some((_, of_program)) => {
                assert!(of_program.contains("whole"), "{command:?}: {shown}");
            }
            None => assert!(
                shown.starts_with("The card was not used"),
                "{command:?}: {shown}"
            ),
        }
    }
}

#[test]
fn refusals_are_named() {
    let place = Place::new(KEYMARK);
    let shown = place.stdout("trace --device virtual -- true");
    assert_says(&shown, ["6A86 wrong P1 or P2", "6A88 no such data"]);
    assert_says(
        &shown,
        ["first use, before the program: selection, key lookup, PIN\n"],
    );
}

/// What a program asks of a PKCS#11 module.
mod pkcs11 {
    use super::*;
    use keymark_testkit::softhsm::{CONFIGURATION, LABEL, PIN, SoftHsmToken};

    fn trace(place: &Place, token: &SoftHsmToken, module: &str) -> Command {
        let mut keymark = place.keymark(&format!("trace --pkcs11 {module} --"));
        keymark.env(CONFIGURATION, token.configuration());
        keymark
    }

    #[test]
    fn the_calls_of_a_program_are_shown_process_by_process_however_it_names_the_module() {
        let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
        token.make_key("rsa:2048", "01", "key");
        let module = SoftHsmToken::library().display().to_string();
        std::fs::write(token.path("data"), "to be signed").unwrap();
        let sign = |module: &str| {
            format!(
                "pkcs11-tool --module {module} --token-label '{LABEL}' --login --pin {PIN} --sign \
                 --id 01 -m SHA256-RSA-PKCS -i {0}/data -o {0}/signature",
                token.path("").display()
            )
        };
        let script = format!("{}; {}", sign(&module), sign("{module}"));
        let mut traced = trace(&place, &token, &module);
        let traced = traced.args(["sh", "-c", &script]).ends(0);
        let shown = &traced.stdout;
        let line = |name: &str| {
            let found = shown.lines().find(|line| line.starts_with(name));
            let line = found.unwrap_or_else(|| panic!("{name}: {shown}"));
            line.split_whitespace().nth(1).unwrap().to_owned()
        };
        for once in ["C_Initialize", "C_Login", "C_Sign "] {
            assert_eq!(line(once), "2", "{shown}");
        }
        // C_OpenSession, C_Login, C_FindObjectsInit, C_GetAttributeValue, C_Sign and C_CloseSession of each.
        assert_says(
            &shown.split_whitespace().collect::<Vec<_>>().join(" "),
            [
                "2 private-key operations took 12 calls to the token",
                "adds 240 ms; 2 calls needed",
            ],
        );
        assert_says(&shown, ["2 sessions opened, 2 closed, 2 logins"]);
        assert_eq!(shown.matches("pkcs11-tool (").count(), 2, "{shown}");
        assert_silent(&traced.said(), [PIN]);
        assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
    }

    #[test]
    fn a_program_that_does_not_load_it_is_said_to_and_ends_as_it_ends() {
        let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
        let shown = trace(&place, &token, "softhsm2").arg("false").ends(1);
        assert_says(&shown.stdout, ["did not load the module"]);
    }

    #[test]
    fn a_module_that_is_not_there_is_an_error_before_anything_runs() {
        let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
        for (module, expected) in [
            ("no-such-module", "no module has that name"),
            ("./no-such-module.so", "there is no such file"),
        ] {
            let ran = place.path("ran");
            let mut traced = trace(&place, &token, module);
            let said = traced.arg("touch").arg(&ran).ends(3).stderr;
            assert!(said.contains(expected) && !ran.exists(), "{said}");
        }
    }
}

//! `keymark trace` as a user has it: how it ends, and what it says of the card.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use keymark_testkit::assert_says;
use keymark_testkit::place::{CommandLine, Place, text};
use keymark_testkit::process::naming;
use keymark_testkit::waiting::until;
use nix::sys::signal::Signal;

use crate::{KEYMARK, tell};

/// Decrypts once, says so in a file, and goes on for minutes in a program of its own.
fn decrypting(place: &Place, trap: &str) -> Child {
    let ready = place.path("ready");
    let script = format!(
        "{trap} echo hello | gpg -q --batch --trust-model always -e -r keymark | gpg -q -d; \
         echo > '{ready}'; tail -f '{ready}' & wait; wait",
        ready = ready.display()
    );
    let mut keymark = place.keymark("trace --device virtual -- sh -c");
    keymark.arg(script);
    keymark.stdin(Stdio::null());
    let child = keymark
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("it has decrypted", || ready.exists());
    until("its own program runs", || naming(&ready) > 1);
    child
}

fn ends_in_good_order(place: &Place, child: Child) {
    let output = child.wait_with_output().unwrap();
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert_says(&shown, ["PSO:DECIPHER", "whole"]);
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
    for command in ["true", "ssh-add -l"] {
        let shown = text(
            &place
                .output(&format!("trace --device virtual -- {command}"))
                .stdout,
        );
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

    fn traced(
        place: &Place,
        token: &SoftHsmToken,
        command: &(impl CommandLine + ?Sized),
    ) -> (i32, String, String) {
        let mut keymark = place.keymark("trace --pkcs11");
        keymark.args(command.words());
        let output = keymark.env(CONFIGURATION, token.configuration()).output();
        let output = output.unwrap();
        (
            output.status.code().unwrap(),
            text(&output.stdout),
            text(&output.stderr),
        )
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
        let command = [&module, "--", "sh", "-c", &script];
        let (code, shown, said) = traced(&place, &token, &command);
        assert_eq!(code, 0, "{said}");
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
        assert!(!shown.contains(PIN) && !said.contains(PIN));
        assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
    }

    #[test]
    fn a_program_that_does_not_load_it_is_said_to_and_ends_as_it_ends() {
        let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
        let (code, shown, _) = traced(&place, &token, "softhsm2 -- false");
        assert_eq!(code, 1);
        assert_says(&shown, ["did not load the module"]);
    }

    #[test]
    fn a_module_that_is_not_there_is_an_error_before_anything_runs() {
        let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
        for (module, expected) in [
            ("no-such-module", "no module has that name"),
            ("./no-such-module.so", "there is no such file"),
        ] {
            let ran = place.path("ran");
            let command = [module, "--", "touch", ran.to_str().unwrap()];
            let (code, _, said) = traced(&place, &token, &command);
            assert_ne!(code, 0);
            assert!(said.contains(expected) && !ran.exists(), "{said}");
        }
    }
}

//! The stack `ssh`, as a user has it: on keys in files, on virtual cards, on twins, on a card in a
//! reader.

use std::collections::BTreeSet;

use keymark_stacks::gnupg::Gnupg;
use keymark_stacks::gnupg::homes::GnupgHomes;
use keymark_stores::device::Run;
use keymark_stores::openpgp_card::{CardMaker, VirtualCards};
use keymark_testkit::assert_silent;
use keymark_testkit::pcscd::CardInReader;
use keymark_testkit::place::{Ends, Place};
use keymark_testkit::waiting::found;
use serde_json::Value;

use crate::virtual_cards::made_up;
use crate::{KEYMARK, assert_measured, number};

/// Slow enough for any machine that tests this.
const SLOW: &str = "[[service]]\nalgorithm = 'nistp256'\noperation = 'authenticate'\nconstant_s = 0.1\n\
                    [verify]\nconstant_s = 0.01\n";

#[test]
fn logins_are_signed_in_software_on_virtual_cards_and_on_twins_alone_and_together() {
    let place = Place::new(KEYMARK);
    let slow = made_up(&place, "slow", SLOW);
    let rows = place.bench(&format!(
        "--device software,virtual,{slow} --algorithm rsa2048,nistp256,ed25519 --stack ssh --operation authenticate --workers 1,3 \
         --samples 6"
    ));
    assert_measured(&rows, 6);
    let asked = |device: &str| -> BTreeSet<String> {
        let of_device = rows.iter().filter(|row| row["device"] == device);
        let case = |row: &Value| {
            format!(
                "{} {} {}",
                row["algorithm"], row["parameters"]["agent"], row["workers"]
            )
        };
        of_device.map(case).collect()
    };
    let all = |algorithms: &[&str], agents: &[&str]| -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for algorithm in algorithms {
            for agent in agents {
                all.extend([1, 3].map(|workers| format!("\"{algorithm}\" \"{agent}\" {workers}")));
            }
        }
        all
    };
    let three = ["rsa2048", "nistp256", "ed25519"];
    assert_eq!(asked("software"), all(&three, &["openssh", "gpg-agent"]));
    assert_eq!(asked("virtual"), all(&three, &["gpg-agent"]));
    assert_eq!(asked("twin:slow"), all(&["nistp256"], &["gpg-agent"]));
    let slow = rows.iter().filter(|row| row["device"] == "twin:slow");
    for row in slow {
        assert!(number(row, "mean_s") >= 0.1, "{row}");
    }
    place.assert_gone();
}

#[test]
fn layers_are_those_of_agents_and_one_of_them_can_be_chosen() {
    let place = Place::new(KEYMARK);
    let bench = "--device software --algorithm ed25519 --stack raw,ssh --operation authenticate --samples 6";
    for (choice, expected) in [
        ("", vec![None, Some("gpg-agent"), Some("openssh")]),
        ("--parameter agent=openssh", vec![None, Some("openssh")]),
    ] {
        let rows = place.bench(&format!("{bench} {choice}"));
        let agents = rows.iter().map(|row| row["parameters"]["agent"].as_str());
        assert_eq!(
            agents.collect::<BTreeSet<_>>(),
            expected.into_iter().collect()
        );
    }
}

#[test]
fn the_default_plan_has_two_logins_and_only_its_own_operation_is_asked_of_ssh() {
    let place = Place::new(KEYMARK);
    let planned = place.stdout("bench --dry-run");
    let logins = planned.lines().filter(|line| line.contains("ssh openssh"));
    assert_eq!(logins.count(), 2, "{planned}");
    assert_silent(&place.stdout("bench --plan complete --dry-run"), ["ssh"]);
    place.refused("bench --device software --stack ssh --operation decrypt", 3);
}

#[test]
fn a_card_in_a_reader_signs_logins_with_its_own_key() {
    let homes = GnupgHomes::new(Gnupg::find(None).unwrap()).unwrap();
    let cards = VirtualCards::new(CardMaker::virtual_card(), Run::new(0));
    let card = homes.loaded_card(&cards, "ed25519".parse().unwrap());
    let card = card.unwrap();
    let (place, reader) = (Place::new(KEYMARK), CardInReader::new(card.reader));
    let keymark = |arguments: &str| {
        let mut keymark = place.keymark(arguments);
        keymark
            .env("PCSCLITE_CSOCK_NAME", reader.socket())
            .env("GNUPGHOME", card.plain.home.path())
            .env("PIN", "123456");
        keymark.ends(0)
    };
    let is_card = |row: &Value| row["facts"]["reader"].is_array();
    let listed = found("pcscd sees the card", || {
        keymark("devices --format json")
            .rows()
            .into_iter()
            .find(is_card)
    });
    let serial = listed["serial"].as_str().unwrap();
    let common = "--stack raw,ssh --operation authenticate --samples 3 --pin-env PIN --format json --no-save";
    let rows = keymark(&format!(
        "bench --device {serial} --algorithm ed25519 {common}"
    ))
    .rows();
    let stacks: BTreeSet<_> = rows.iter().map(|row| row["stack"].as_str()).collect();
    assert_eq!(stacks, BTreeSet::from([Some("raw"), Some("ssh")]));
    assert_measured(&rows, 3);
}

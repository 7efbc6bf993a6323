//! `keymark tls bench --resume` and `--client-certificate`, with the distribution's Apache and nginx.

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, assert_has};
use serde_json::json;

use super::connect::nginx_with_tickets;
use crate::{KEYMARK, number, verdict};

#[test]
fn a_share_of_the_connections_resumes_and_the_key_s_part_shrinks() {
    let place = Place::new(KEYMARK);
    for version in ["1.2", "1.3"] {
        let rows = place.rows(&format!(
            "tls bench --server nginx,apache --algorithm rsa2048 --tls {version} --resume 0%,80% --workers 4 \
             --case-time 3s --format json"
        ));
        assert_eq!(rows.len(), 4, "{rows:?}");
        for row in &rows {
            assert_eq!(row["failed"], 0, "{row}");
            if row["parameters"]["resumed-percent"] == "80" {
                assert!((0.78..=0.82).contains(&number(row, "resumed")), "{row}");
            } else {
                assert!(row["parameters"]["resumed-percent"].is_null() && row["resumed"].is_null());
            }
        }
        let cases = place.record()["cases"].as_array().unwrap().clone();
        for case in &cases {
            let is_resumed = case["case"]["parameters"]["resumed-percent"] == "80";
            let tickets = if is_resumed { "on" } else { "off" };
            assert_eq!(case["server_load"]["server"]["session_tickets"], tickets);
        }
        let verdict = verdict(&place);
        let because = verdict["because"].as_array().unwrap();
        let limit = because.iter().find(|found| found["kind"] == "resumption");
        let limit = &limit.unwrap()["limits"][0];
        // RSA-2048 takes most of a full handshake, and nothing of a resumed one.
        let from = number(limit, "from");
        assert!((0.3..1.0).contains(&from), "{limit}");
        assert!(number(limit, "full") > number(limit, "resumed"), "{limit}");
        let titles = ["full handshakes", "what resumed sessions gain"];
        let tables = place.stdout("show last --long");
        assert_says(&tables, titles);
        assert_says(&tables, ["80 resumed-percent"]);
    }
    place.assert_gone();
}

#[test]
fn client_certificates_are_required_and_shown() {
    let place = Place::new(KEYMARK);
    let rows = place.rows(
        "tls bench --server nginx,apache --algorithm nistp256 --client-certificate rsa2048 --resume 0%,50% --workers 2 \
         --case-time 3s --format json",
    );
    assert_eq!(rows.len(), 4, "{rows:?}");
    for row in &rows {
        assert_eq!(row["parameters"]["client-certificate"], "rsa2048");
        assert_has(row, json!({"failed": 0, "reason": null}));
        assert!(number(row, "transactions") >= 10.0, "{row}");
    }
    place.assert_gone();
}

#[test]
fn shares_that_no_server_can_have_are_refused() {
    let place = Place::new(KEYMARK);
    for (arguments, status, words) in [
        ("--resume 101%", 2, "from 0% to 100%, not '101%'"),
        ("--resume -1%", 2, "not '-1%'"),
        ("--resume abc", 2, "not 'abc'"),
        ("--client-certificate foo", 2, "unknown algorithm"),
        (
            "--client-certificate rsa2048 --connect localhost:1",
            2,
            "cannot be used with",
        ),
        (
            "--client-certificate cv25519 --case-time 2s",
            1,
            "certificate for cv25519 is impossible",
        ),
        (
            "--client-certificate rsa1024 --case-time 2s",
            1,
            "--allow-weak",
        ),
    ] {
        let bench = format!("tls bench --algorithm nistp256 --no-save {arguments}");
        assert_says(&place.ends(&bench, status).said(), [words]);
    }
    place.assert_gone();
}

#[test]
fn a_server_that_refuses_tickets_fails_its_case_in_plain_words() {
    let place = Place::new(KEYMARK);
    for (tickets, status) in [("on", 0), ("off", 1)] {
        let (nginx, port) = nginx_with_tickets(&place, tickets);
        let bench = format!(
            "tls bench --connect 127.0.0.1:{port} --tls 1.2 --resume 80% --workers 2 --case-time 3s --no-save"
        );
        let said = place.ends(&bench, status).said();
        drop(nginx);
        let missed = said.contains("asked for 80 % resumed, got 0 %");
        assert_eq!(missed, tickets == "off", "{said}");
    }
}

#[test]
fn an_open_loop_tells_a_rate_that_the_server_does_not_reach() {
    let place = Place::new(KEYMARK);
    let saturated = |device: &str, rate: &str| {
        let rows = place.rows(&format!(
            "tls bench --server nginx --device {device} --algorithm rsa2048 --rate {rate} --case-time 8s --format json"
        ));
        (number(&rows[0], "rate"), rows[0]["saturated"].as_bool())
    };
    // A signature takes 0.74 s.
    assert_eq!(saturated("twin:nitrokey-hsm", "5/s"), (5.0, Some(true)));
    assert_says(&place.stdout("show last"), ["(saturated)"]);
    assert_eq!(saturated("software", "5/s"), (5.0, Some(false)));
    assert_says(&place.stdout("show last --long"), ["offered"]);
}

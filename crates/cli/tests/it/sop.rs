//! The stack `sop`, as a user has it: with the packaged programs, with rsop where it is built, and with programs that
//! misbehave.

use keymark_stacks::sop::SopProgram;
use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends as _, Place};
use keymark_testkit::process::write_script;

use crate::{KEYMARK, assert_measured, number};

const SIGN: &str = "bench --format json --stack sop --parameter program=other --algorithm ed25519 --operation sign \
                    --samples 2";

/// A program of Stateless OpenPGP that is sqop but for one subcommand.
fn program(place: &Place, subcommand: &str, script: &str) -> std::path::PathBuf {
    let path = place.path("fake-sop");
    let text = format!(
        "case $1 in\n{subcommand}) {script};;\nversion) echo fake 1.0;;\n*) exec sqop \"$@\";;\nesac"
    );
    write_script(&path, &text);
    path
}

#[test]
fn packaged_programs_sign_and_decrypt_with_one_key() {
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--stack sop --parameter program=sqop,gosop --algorithm ed25519,cv25519,nistp256 --workers 1,2 --samples 4",
    );
    assert_measured(&rows, 4);
    let names: Vec<String> = rows
        .iter()
        .filter(|row| row["workers"] == 1)
        .map(|row| {
            let word = |name: &str| row[name].as_str().unwrap().to_owned();
            let program = row["parameters"]["program"].as_str().unwrap();
            format!("{} {} {program}", word("algorithm"), word("operation"))
        })
        .collect();
    let both = |what: &str| ["sqop", "gosop"].map(|program| format!("{what} {program}"));
    let wanted = [
        both("cv25519 decrypt"),
        both("nistp256 decrypt"),
        both("ed25519 sign"),
        both("nistp256 sign"),
    ];
    assert_eq!(names, wanted.concat());
    for row in &rows {
        assert!(number(row, "message_bytes") > 100.0, "{row}");
    }
    let record = place.record();
    let cases = record["cases"].as_array().unwrap().iter();
    for case in cases.filter(|case| case["case"]["load"]["workers"] == 1) {
        assert!(number(&case["parts"]["program start"], "n") > 0.0, "{case}");
    }
    assert!(record["stores"][0]["versions"]["gosop"].is_string());
    place.assert_gone();
}

#[test]
fn composites_are_measured_by_rsop_and_its_keys_audited_where_it_is_built() {
    let Ok(rsop) = SopProgram::Rsop.locate() else {
        println!("without rsop: 'make sop' builds it");
        return;
    };
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--stack sop --parameter program=rsop --algorithm mldsa65+ed25519,mlkem768+x25519 --samples 3",
    );
    assert_measured(&rows, 3);
    // ML-KEM's ciphertext has 1088 octets, ML-DSA's signature 3309; X25519's and Ed25519's come to them.
    assert_eq!(rows.len(), 2, "{rows:?}");
    for (row, more_than) in rows.iter().zip([1088 + 32, 3309 + 64]) {
        assert!(row["message_bytes"].as_u64() > Some(more_than), "{row}");
    }
    let mut rsop = std::process::Command::new(rsop);
    rsop.args(["generate-key", "--profile", "rfc9980", "test"]);
    let key = place.path("key.asc");
    std::fs::write(&key, rsop.ends(0).stdout).unwrap();
    let audited = place.stdout(&format!("audit {} --format json", key.display()));
    for algorithm in ["mldsa65+ed25519", "mlkem768+x25519"] {
        assert_says(&audited, [format!(r#""algorithm":"{algorithm}""#)]);
    }
    place.assert_gone();
}

#[test]
fn what_a_program_does_wrong_is_the_reason_of_its_case() {
    for (subcommand, script, reason) in [
        ("sign", "exit 0", "it printed nothing"),
        (
            "sign",
            "echo rubbish",
            "the signature lacks the answer's form",
        ),
        (
            "sign",
            "echo other | sqop \"$@\"",
            "the signature lacks a valid signature",
        ),
        (
            "sign",
            "echo too weak >&2; exit 79",
            "exit status: 79 (KEY_CANNOT_SIGN): too weak",
        ),
        ("sign", "exit 78", "exit status: 78: no reason given"),
        (
            "list-profiles) echo rfc9980: none of it;;\ngenerate-key",
            "exec sqop generate-key --no-armor test",
            "its profile rfc9980 has no key of OpenPGP algorithm 30",
        ),
    ] {
        let place = Place::new(KEYMARK);
        let program = program(&place, subcommand, script);
        let arguments = match subcommand {
            "sign" => SIGN.to_owned(),
            _ => SIGN.replace("ed25519", "mldsa65+ed25519"),
        };
        let mut keymark = place.keymark(&arguments);
        let said = keymark.env("KEYMARK_SOP", &program).ends(1).said();
        assert_says(&said, [reason]);
        place.assert_gone();
    }
}

#[test]
fn decrypted_text_is_compared() {
    let place = Place::new(KEYMARK);
    let program = program(&place, "decrypt", "echo other");
    let arguments = SIGN
        .replace("ed25519", "cv25519")
        .replace("sign", "decrypt");
    let mut keymark = place.keymark(&arguments);
    let said = keymark.env("KEYMARK_SOP", &program).ends(1).said();
    assert_says(&said, ["the decrypted text is not the encrypted text"]);
    place.assert_gone();
}

#[test]
fn what_is_no_such_program_is_refused_with_the_reason() {
    let place = Place::new(KEYMARK);
    for (script, reason) in [
        ("exit 0", "version' printed ''"),
        ("exit 69", "version' printed ''"),
        ("sleep 60", "it had not ended after 10 s"),
    ] {
        let program = program(&place, "version", script);
        let mut keymark = place.keymark(SIGN);
        let said = keymark.env("KEYMARK_SOP", &program).ends(3).stderr;
        assert_says(&said, [reason]);
    }
    let mut keymark = place.keymark(SIGN);
    let said = keymark.env("KEYMARK_SOP", "/nonexistent/sop").ends(3);
    assert_says(&said.stderr, ["/nonexistent/sop is not a file"]);
    place.assert_gone();
}

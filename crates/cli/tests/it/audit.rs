//! `keymark audit` on keys as other programs make them: GnuPG, OpenSSL, OpenSSH, a card in a reader, SoftHSM2, a server.

use std::fs;
use std::process::Command;

use keymark_testkit::place::{Ends, Place, Transcript};
use keymark_testkit::{assert_says, assert_silent};
use serde_json::Value;

use crate::KEYMARK;
use crate::tls::{certificate, openssl_server};

fn shell(place: &Place, script: &str) {
    let mut command = Command::new("sh");
    command
        .args(["-euc", script])
        .current_dir(place.directory());
    command.env("GNUPGHOME", place.path("gnupg")).ends(0);
}

/// The keys that are found there, by what they are and whose.
fn keys(place: &Place, target: &str, status: i32) -> Vec<Value> {
    let mut found = audited(place, "--format=json", target, status).rows();
    found.retain(|line| line.get("within").is_some());
    found
}

fn audited(place: &Place, options: &str, target: &str, status: i32) -> Transcript {
    let mut keymark = place.keymark(&format!("audit {options}"));
    keymark
        .arg(target)
        .current_dir(place.directory())
        .ends(status)
}

fn findings(key: &Value) -> Vec<&str> {
    let findings = key["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| finding["finding"].as_str().unwrap())
        .collect()
}

/// Returns the findings about each key, next to the text of that field.
fn judged<'f>(found: &'f [Value], field: &str) -> Vec<(&'f str, Vec<&'f str>)> {
    found
        .iter()
        .map(|key| (key[field].as_str().unwrap(), findings(key)))
        .collect()
}

#[test]
fn certificates_keys_and_hosts_are_read_and_damaged_files_named() {
    let place = Place::new(KEYMARK);
    shell(
        &place,
        "mkdir keys; cd keys
         openssl req -x509 -newkey rsa:1024 -nodes -keyout web.key -out web.pem -days 9 \
             -subj /CN=www.example.org 2>/dev/null
         openssl x509 -in web.pem -outform DER -out web.der
         cat web.pem web.pem > bundle.pem
         openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_pubexp:3 2>/dev/null |
             openssl pkey -pubout > three.pub
         ssh-keygen -q -t rsa -b 3072 -N secret -C me@host -f id_rsa
         sed 's/^/host.example.org /' id_rsa.pub > known_hosts
         head -c 300 web.pem > cut.pem",
    );
    let target = place.path("keys");
    let found = keys(&place, &target.display().to_string(), 5);
    let told = judged(&found, "algorithm");
    for expected in [
        ("rsa1024", vec!["short", "policy"]),
        ("rsa2048", vec!["small-exponent"]),
        ("rsa3072", Vec::new()),
    ] {
        assert!(told.contains(&expected), "{expected:?}: {told:?}");
    }
    // The same certificate in three files, and its private key.
    let web = found.iter().find(|key| key["algorithm"] == "rsa1024");
    assert_eq!(web.unwrap()["also"].as_array().unwrap().len(), 4);

    let mut keymark = place.keymark("audit --until 2035");
    let ended = keymark.arg(&target).env("COLUMNS", "80").ends(5);
    let shown = &ended.stdout;
    assert_says(shown, ["2035-12-31", "CN=www.example.org", "1 not read"]);
    let wide = shown.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{shown}");
    assert_silent(shown, ["BEGIN", "PRIVATE"]);
}

/// A name is anybody's who can put a file there: one with lines in it is one line.
#[test]
fn a_hostile_file_name_forges_no_line() {
    let place = Place::new(KEYMARK);
    let name = "x\n::error file=a::forged";
    shell(
        &place,
        "mkdir keys; ssh-keygen -q -t rsa -b 1024 -N '' -C 'me\n::error::y' -f id",
    );
    let key = fs::read_to_string(place.path("id.pub")).unwrap();
    let key = format!("{}\u{1b}[2J\u{202e}", key.trim_end());
    for (name, text) in [(name, &*key), ("y\n::error::cut.pem", "none")] {
        fs::write(place.path("keys").join(name), text).unwrap();
    }
    for form in [
        "",
        "--format=json",
        "--format sarif",
        "--format junit",
        "--long",
    ] {
        let ended = audited(&place, form, "keys", 5);
        for shown in [&ended.stdout, &ended.stderr] {
            let forged = shown.lines().find(|line| line.starts_with("::error"));
            assert_eq!(forged, None, "{form}");
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{form}: {shown}");
        }
    }
}

/// A child of gpg keeps its output open, or prints without end: it ends with gpg, and the database is named as not read.
#[test]
fn what_gpg_leaves_behind_ends_with_it() {
    let place = Place::new(KEYMARK);
    shell(
        &place,
        "mkdir -p bin home/public-keys.d; printf 'SQLite format 3' > home/public-keys.d/pubring.db",
    );
    let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
    for script in [
        "sh -c 'sleep 600; :' \"$6\" &",
        "sh -c 'yes >&2; :' \"$6\" & exit 2",
    ] {
        fs::write(place.path("bin/gpg"), format!("#!/bin/sh\n{script}\n")).unwrap();
        shell(&place, "chmod 755 bin/gpg");
        let mut keymark = place.keymark("audit --format json home");
        keymark.env("PATH", &path).current_dir(place.directory());
        assert_says(&keymark.ends(4).rows()[0]["not_read"], ["pubring.db"]);
        place.assert_gone();
    }
}

#[test]
fn what_is_no_target_is_refused() {
    let place = Place::new(KEYMARK);
    fs::write(place.path("notes"), "nothing").unwrap();
    for (target, status) in [
        ("nowhere.pem", 2),
        ("192.0.2.7:443", 2),
        ("localhost:1", 3),
        ("notes", 3),
    ] {
        assert_says(&audited(&place, "", target, status).said(), [target]);
    }
    place.refused("audit --policy nobody", 2);
}

/// Statuses 0, 3, 4; 1 and 5 are above.
#[test]
fn what_was_not_read_has_a_status_of_its_own() {
    let place = Place::new(KEYMARK);
    shell(
        &place,
        "mkdir fine none cut
         ssh-keygen -q -t rsa -b 3072 -m PEM -N secret -C me -f fine/id_rsa
         echo text > none/notes; openssl dhparam -out none/dh.pem 512 2>/dev/null
         cp fine/id_rsa.pub cut; cp fine/id_rsa cut/other",
    );
    for (target, status, named) in [
        ("fine", 0, ["fine/id_rsa", "its public key is in"]),
        ("none", 3, ["dh.pem", "DH PARAMETERS"]),
        ("cut", 4, ["cut/other", "give its public key"]),
    ] {
        let lines = audited(&place, "--format=json", target, status).rows();
        let last = lines.last().unwrap();
        assert_eq!(last["keys"], lines.len() - 1, "{last}");
        assert_says(&last.to_string(), named);
    }
}

/// A stand-in for GnuPG 2.3 or later, which has keyboxd.
#[test]
fn the_keys_of_keyboxd_are_exported_by_gpg_from_a_copy() {
    let place = Place::new(KEYMARK);
    shell(
        &place,
        r#"mkdir -m 700 gnupg bin; mkdir -p home/public-keys.d
         gpg --batch -q --passphrase '' --quick-gen-key Old rsa1024 default never
         gpg --batch -q --export > ring; gpgconf --kill all
         printf 'SQLite format 3' > home/public-keys.d/pubring.db
         printf '#!/bin/sh\nshift 5; [ -s "$1/public-keys.d/pubring.db" ] && [ -s "$1/common.conf" ] && exec cat %s\n' \
             "$PWD/ring" > bin/gpg
         chmod 755 bin/gpg; chmod 500 home/public-keys.d"#,
    );
    let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
    let mut keymark = place.keymark("audit --format json home");
    keymark.env("PATH", path).current_dir(place.directory());
    let found = keymark.ends(1).rows();
    assert_eq!(found[0]["algorithm"], "rsa1024");
    assert_eq!(found[0]["fingerprint"].as_str().map(str::len), Some(40));
    // The copy is no database: gpg itself has nothing to export from it.
    let found = audited(&place, "--format=json", "home", 4).rows();
    assert_says(&found[0]["not_read"], ["pubring.db"]);
}

#[test]
fn fingerprints_are_those_of_ssh_keygen_and_gpg() {
    let place = Place::new(KEYMARK);
    shell(
        &place,
        "mkdir -m 700 gnupg; mkdir keys
         for type in rsa ecdsa ed25519; do ssh-keygen -q -t $type -N '' -f keys/$type; done
         ssh-keygen -e -m PKCS8 -f keys/ecdsa.pub > keys/pkcs8.pem
         gpg --batch -q --passphrase '' --quick-gen-key Ed ed25519 sign never
         gpg --batch -q --export > keys/ring.gpg; gpgconf --kill all
         { for key in keys/*.pub; do ssh-keygen -l -f $key; done; gpg --with-colons --fingerprint | grep ^fpr; } > wanted",
    );
    let wanted = fs::read_to_string(place.path("wanted")).unwrap();
    let found = keys(&place, "keys", 0);
    assert_eq!(found.len(), 4, "{found:?}");
    for key in &found {
        let print = key["fingerprint"].as_str().unwrap();
        assert!(wanted.contains(print), "{key}");
    }
}

#[test]
fn a_tokens_public_keys_are_seen_without_its_pin() {
    use keymark_testkit::softhsm::{CONFIGURATION, SoftHsmToken, URI};

    let place = Place::new(KEYMARK);
    let token = SoftHsmToken::new();
    token.make_key("rsa:1024", "01", "old");
    token.make_key("EC:prime256v1", "02", "new");
    let mut keymark = place.keymark(&format!("audit --format json {URI};object=old"));
    keymark.env(CONFIGURATION, token.configuration());
    let mut found = keymark.ends(1).rows();
    found.retain(|line| line.get("within").is_some());
    let told = judged(&found, "algorithm");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.contains(&("rsa1024", vec!["short", "policy"])));
    assert!(told.contains(&("nistp256", Vec::new())));
}

#[test]
fn each_certificate_of_a_server_is_seen() {
    let place = Place::new(KEYMARK);
    let weak = certificate(&place, "localhost", "rsa:1024");
    let sound = certificate(&place, "second", "ec -pkeyopt ec_paramgen_curve:P-256");
    let all = "-cipher ALL:@SECLEVEL=0";
    let (_server, address) = openssl_server(place.directory(), all, &[&weak, &sound]);
    let found = keys(&place, &address, 1);
    let told = judged(&found, "owner");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.contains(&("CN=localhost", vec!["short", "policy"])));
    assert!(told.contains(&("CN=second", Vec::new())));
}

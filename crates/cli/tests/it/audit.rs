//! `keymark audit` on keys as other programs make them: GnuPG, OpenSSL, OpenSSH, a card in a reader, SoftHSM2, a server.

use std::fs;
use std::process::Command;

use keymark_testkit::place::{Place, ended, objects, said, text};
use keymark_testkit::{assert_says, assert_silent};
use serde_json::Value;

use crate::{KEYMARK, Running};

fn shell(place: &Place, script: &str) {
    let mut command = Command::new("sh");
    command
        .args(["-euc", script])
        .current_dir(place.directory());
    command.env("GNUPGHOME", place.path("gnupg"));
    ended(command.output().unwrap(), 0);
}

/// The keys that are found there, by what they are and whose.
fn keys(place: &Place, target: &str, status: i32) -> Vec<Value> {
    let mut keymark = place.keymark("audit --json");
    let output = keymark.arg(target).current_dir(place.directory());
    objects(&text(&ended(output.output().unwrap(), status).stdout))
        .into_iter()
        .filter(|line| line.get("within").is_some())
        .collect()
}

fn findings(key: &Value) -> Vec<&str> {
    let findings = key["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| finding["finding"].as_str().unwrap())
        .collect()
}

#[test]
fn keyrings_of_gnupg_are_read_in_each_form() {
    let place = Place::new(KEYMARK);
    shell(
        &place,
        "mkdir -m 700 gnupg keys
         new() { gpg --batch -q --passphrase '' \"$@\"; }
         new --quick-gen-key 'Ed <ed@example.org>' ed25519 default never
         new --faked-system-time 20200101T000000 --cert-digest-algo SHA1 \
             --quick-gen-key 'Old <old@example.org>' rsa1024 default 1y
         gpg --batch -q --export > keys/ring.gpg
         gpg --batch -q --export --armor > keys/ring.asc
         gpg --batch -q --export-secret-keys --armor ed@example.org > keys/secret.asc
         cp gnupg/pubring.kbx keys
         gpgconf --kill all",
    );
    let found = keys(&place, "keys", 1);
    assert_eq!(found.len(), 2, "{found:?}");
    let [ed, old] = &found[..] else {
        unreachable!()
    };
    assert_eq!(
        (&ed["algorithm"], &ed["owner"]),
        (&"ed25519".into(), &"Ed <ed@example.org>".into())
    );
    assert_eq!(ed["also"].as_array().unwrap().len(), 3);
    assert_eq!(findings(ed), [""; 0]);
    assert_eq!(old["expires"], "2020-12-31");
    assert_eq!(
        findings(old),
        ["short", "policy", "sha1-signature", "expired"]
    );
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
    let told: Vec<(&str, Vec<&str>)> = found
        .iter()
        .map(|key| (key["algorithm"].as_str().unwrap(), findings(key)))
        .collect();
    assert!(
        told.contains(&("rsa1024", vec!["short", "policy"])),
        "{told:?}"
    );
    assert!(
        told.contains(&("rsa2048", vec!["small-exponent"])),
        "{told:?}"
    );
    assert!(told.contains(&("rsa3072", Vec::new())), "{told:?}");
    // The same certificate in three files, and its private key.
    let web = found.iter().find(|key| key["algorithm"] == "rsa1024");
    assert_eq!(web.unwrap()["also"].as_array().unwrap().len(), 4);

    let mut keymark = place.keymark("audit --until 2035");
    let keymark = keymark.arg(&target).env("COLUMNS", "80");
    let output = ended(keymark.output().unwrap(), 5);
    let shown = text(&output.stdout);
    assert_says(
        &shown,
        [
            "are weak or not allowed until 2035-12-31",
            "CN=www.example.org",
            "What to do",
            "1 not read: ",
            "the block 'CERTIFICATE' has",
        ],
    );
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
    assert_says(&said(&output), ["openssl-blacklist"]);
    assert_silent(&shown, ["BEGIN", "PRIVATE"]);
}

#[test]
fn other_programs_read_what_was_found() {
    let place = Place::new(KEYMARK);
    shell(
        &place,
        "ssh-keygen -q -t rsa -b 1024 -N '' -C 'a\"<b>' -f id; ssh-keygen -q -t ed25519 -N '' -f id2",
    );
    let written = |form: &str| {
        let mut keymark = place.keymark(&format!("audit {form} id.pub id2.pub"));
        let output = keymark.current_dir(place.directory()).output().unwrap();
        text(&ended(output, 1).stdout)
    };
    let sarif: Value = serde_json::from_str(&written("--sarif")).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["level"]),
        (&"short".into(), &"error".into())
    );
    let junit = written("--junit");
    assert_says(
        &junit,
        ["tests=\"2\" failures=\"1\"", "&quot;&lt;b&gt;", "112 bits"],
    );
}

#[test]
fn a_hostile_name_moves_no_cursor() {
    let place = Place::new(KEYMARK);
    shell(&place, "ssh-keygen -q -t rsa -b 1024 -N '' -C x -f id");
    let key = fs::read_to_string(place.path("id.pub")).unwrap();
    fs::write(
        place.path("id.pub"),
        key.trim_end().to_owned() + "\u{1b}[2J\u{202e}",
    )
    .unwrap();
    for form in ["", "--json", "--sarif", "--junit", "--long"] {
        let mut keymark = place.keymark(&format!("audit {form} id.pub"));
        let output = keymark.current_dir(place.directory()).output().unwrap();
        let shown = text(&ended(output, 1).stdout);
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{form}: {shown}");
    }
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
    for (name, text) in [(name, &*key), ("y\n::error::cut.pem", "none")] {
        fs::write(place.path("keys").join(name), text).unwrap();
    }
    for form in ["", "--json", "--sarif", "--junit", "--long"] {
        let mut keymark = place.keymark(&format!("audit {form} keys"));
        let output = keymark.current_dir(place.directory()).output().unwrap();
        let output = ended(output, 5);
        for shown in [text(&output.stdout), said(&output)] {
            let forged = shown.lines().find(|line| line.starts_with("::error"));
            assert_eq!(forged, None, "{form}");
        }
    }
}

/// One that keeps gpg's output open, or prints without end: it ends with gpg, and the database is named as not read.
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
        let mut keymark = place.keymark("audit --json");
        let output = keymark
            .arg("home")
            .env("PATH", &path)
            .current_dir(place.directory());
        let found = objects(&text(&ended(output.output().unwrap(), 4).stdout));
        assert_says(&found[0]["not_read"].to_string(), ["pubring.db"]);
        place.assert_gone();
    }
}

#[test]
fn what_is_no_target_is_refused() {
    let place = Place::new(KEYMARK);
    for (target, status, words) in [
        ("nowhere.pem", 2, "neither a file or directory"),
        ("192.0.2.7:443", 2, "--i-own-this-server"),
        ("localhost:1", 3, "is a TLS server running"),
        ("--policy nobody", 2, "unknown policy"),
    ] {
        let message = place.refused(&format!("audit {target}"), status);
        assert_says(&message, [words]);
    }
    fs::write(place.path("notes"), "nothing").unwrap();
    let mut keymark = place.keymark("audit");
    let output = keymark.arg(place.path("notes")).output().unwrap();
    assert_says(&said(&ended(output, 3)), ["no public key was found"]);
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
        let mut keymark = place.keymark("audit --json");
        let output = keymark.arg(target).current_dir(place.directory());
        let lines = objects(&text(&ended(output.output().unwrap(), status).stdout));
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
    let mut keymark = place.keymark("audit --json");
    let output = keymark
        .arg("home")
        .env("PATH", path)
        .current_dir(place.directory());
    let found = objects(&text(&ended(output.output().unwrap(), 1).stdout));
    assert_eq!(found[0]["algorithm"], "rsa1024");
    assert_eq!(found[0]["fingerprint"].as_str().map(str::len), Some(40));
    // The copy is no database: gpg itself has nothing to export from it.
    let mut keymark = place.keymark("audit --json");
    let output = keymark.arg("home").current_dir(place.directory());
    let found = objects(&text(&ended(output.output().unwrap(), 4).stdout));
    assert_says(
        &found[0]["not_read"].to_string(),
        ["pubring.db", "gpg exports no key"],
    );
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

#[cfg(feature = "tokens")]
#[test]
fn a_tokens_public_keys_are_seen_without_its_pin() {
    use keymark_testkit::softhsm::{CONFIGURATION, SoftHsmToken, URI};

    let place = Place::new(KEYMARK);
    let token = SoftHsmToken::new();
    token.make_key("rsa:1024", "01", "old");
    token.make_key("EC:prime256v1", "02", "new");
    let mut keymark = place.keymark("audit --json");
    let output = keymark
        .arg(format!("{URI};object=old"))
        .env(CONFIGURATION, token.configuration())
        .output()
        .unwrap();
    let mut found = objects(&text(&ended(output, 1).stdout));
    found.retain(|line| line.get("within").is_some());
    let told: Vec<_> = found
        .iter()
        .map(|key| (key["algorithm"].as_str().unwrap(), findings(key)))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.contains(&("rsa1024", vec!["short", "policy"])));
    assert!(told.contains(&("nistp256", Vec::new())));
}

#[cfg(feature = "tokens")]
#[test]
fn each_certificate_of_a_server_is_seen() {
    use std::net::TcpStream;
    use std::process::Stdio;

    use keymark_testkit::process::free_port;
    use keymark_testkit::waiting::until;

    let place = Place::new(KEYMARK);
    shell(
        &place,
        "openssl req -x509 -newkey rsa:1024 -nodes -keyout key.pem -out certificate.pem -days 9 \
             -subj /CN=localhost 2>/dev/null
         openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key2.pem \
             -out certificate2.pem -days 9 -subj /CN=second 2>/dev/null",
    );
    let address = format!("127.0.0.1:{}", free_port());
    let mut server = Command::new("openssl");
    server.args([
        "s_server",
        "-quiet",
        "-cipher",
        "ALL:@SECLEVEL=0",
        "-accept",
        &address,
    ]);
    server.args(["-key", "key.pem", "-cert", "certificate.pem"]);
    server.args(["-dkey", "key2.pem", "-dcert", "certificate2.pem"]);
    server.current_dir(place.directory()).stdin(Stdio::null());
    let server = server.stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Running(server.spawn().unwrap());
    until("the server listens", || {
        TcpStream::connect(&address).is_ok()
    });
    let mut keymark = place.keymark("audit --json");
    let output = keymark.arg(&address).output().unwrap();
    let mut found = objects(&text(&ended(output, 1).stdout));
    found.retain(|line| line.get("within").is_some());
    let told: Vec<_> = found
        .iter()
        .map(|key| (key["owner"].as_str().unwrap(), findings(key)))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.contains(&("CN=localhost", vec!["short", "policy"])));
    assert!(told.contains(&("CN=second", Vec::new())));
}

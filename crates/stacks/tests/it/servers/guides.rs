//! What administrators are told works: its commands are run, and its files are what servers are started with.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use keymark_stacks::tls::servers::TokenWay;
use keymark_stacks::tls::servers::administrator::{Guide, KeySource, guide};
use keymark_stores::pkcs11::ProgramKey;
use keymark_testkit::place::said;
use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken, URI};
use keymark_testkit::{assert_says, assert_silent};

use super::client::{BOTH, EACH, installed, ways};

/// The guide for the token's key, with its files in that directory.
fn for_token(software: &str, token: &SoftHsmToken, way: TokenWay, directory: &Path) -> Guide {
    let uri = format!("{URI};object=ec").parse().unwrap();
    let mut key = ProgramKey::of_uri(SoftHsmToken::library(), uri).unwrap();
    let configuration: OsString = token.configuration().into();
    let environment = vec![(CONFIGURATION.into(), configuration)];
    key.environment = environment;
    let source = KeySource::Token(&key, way);
    let server = installed(software);
    guide(&server, (source, None), "www.example.org", directory).unwrap()
}

/// Where text goes that is no part of a file.
const SHELL: &str = "in a shell, as root";
const FILE: &str = "the file ";

/// Does what the guide says, as far as files and commands go: the PIN is typed.
fn follow(guide: &Guide) {
    for section in &guide.sections {
        if let Some(file) = section.place.strip_prefix(FILE) {
            fs::write(file, &section.text).unwrap();
        } else if section.place == SHELL {
            let typed = section.text.replace("read -rs PIN", &format!("PIN={PIN}"));
            let done = Command::new("bash").args(["-ec", &typed]).output().unwrap();
            assert!(done.status.success(), "{}: {}", section.text, said(&done));
        }
    }
}

fn part(guide: &Guide, place: &str) -> String {
    let mut sections = guide.sections.iter();
    let is_whole = |at: &str| at == SHELL || at.starts_with(FILE);
    let found = sections.find(|section| section.place.contains(place) && !is_whole(&section.place));
    found
        .map(|section| section.text.clone())
        .unwrap_or_default()
}

/// The request is the authority's to answer; here by itself.
fn certify(directory: &Path) {
    let file = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let authority = [
        "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-subj", "/CN=ca", "-keyout",
    ];
    let run = |arguments: &[&str]| {
        let done = Command::new("openssl").args(arguments).output().unwrap();
        assert!(done.status.success(), "{}", said(&done));
        said(&done)
    };
    run(&[&authority[..], &[&file("ca.key"), "-out", &file("ca.pem")]].concat());
    let request = ["-in", &file("request.pem")];
    let told = run(&[&["req", "-noout", "-verify", "-text"], &request[..]].concat());
    assert_says(&told, ["DNS:www.example.org"]);
    let [ca, key, out] = ["ca.pem", "ca.key", "certificate.pem"].map(file);
    let by = ["-CA", &ca, "-CAkey", &key, "-out", &out];
    run(&[&["x509", "-req"], &request[..], &by].concat());
}

/// The servers' own test of a configuration, which loads the key.
fn tested(software: &str, guide: &Guide, directory: &Path, environment: &[(&str, OsString)]) {
    let file = directory.join("server.conf");
    let path = directory.display();
    let mut command = match software {
        "caddy" => {
            let text = format!("localhost {{\n{}}}\n", part(guide, "Caddyfile"));
            fs::write(&file, text).unwrap();
            let mut command = Command::new(installed(software).program);
            command.args(["validate", "--adapter", "caddyfile", "--config"]);
            command.arg(&file).env("HOME", directory);
            command
        }
        "nginx" => {
            let text = format!(
                "pid {path}/pid; {}\nevents {{}}\nhttp {{ access_log off; server {{ listen 127.0.0.1:1 ssl;\n{} }} }}\n",
                part(guide, "nginx.conf"),
                part(guide, "block server")
            );
            fs::write(&file, text).unwrap();
            let mut command = Command::new(installed(software).program);
            command.arg("-tp").arg(directory).arg("-c").arg(&file);
            command.arg("-e").arg(directory.join("log"));
            command
        }
        _ => {
            let modules = "/usr/lib/apache2/modules";
            let text = format!(
                "ServerRoot {path}\nPidFile {path}/pid\nErrorLog {path}/log\nServerName x\nListen 127.0.0.1:1\n\
                 LoadModule mpm_event_module {modules}/mod_mpm_event.so\nLoadModule ssl_module {modules}/mod_ssl.so\n\
                 DefaultRuntimeDir {path}\n{}\n<VirtualHost *:1>\n{}\n</VirtualHost>\n",
                part(guide, "outside all"),
                part(guide, "within")
            );
            fs::write(&file, text).unwrap();
            let mut command = Command::new(installed(software).program);
            command.arg("-t").arg("-f").arg(&file);
            command
        }
    };
    let environment = environment.iter().map(|(name, value)| (*name, value));
    let done = command.envs(environment).output().unwrap();
    assert!(done.status.success(), "{}\n{guide}", said(&done));
}

#[test]
fn a_guide_for_a_token_works_and_tells_of_the_traps() {
    let token = SoftHsmToken::new();
    token.make_key("EC:prime256v1", "02", "ec");
    for way in ways() {
        for software in BOTH {
            let directory = tempfile::tempdir().unwrap();
            let files = directory.path().join("tls");
            let guide = for_token(software, &token, way, &files);
            follow(&guide);
            certify(&files);
            let configuration: OsString = token.configuration().into();
            let openssl: OsString = files.join("openssl.cnf").into();
            let environment = [(CONFIGURATION, configuration), ("OPENSSL_CONF", openssl)];
            tested(software, &guide, &files, &environment);
            let text = guide.to_string();
            assert_silent(&text, [PIN]);
            for trap in ["install -m 600", "adduser www-data softhsm", "DHE"] {
                assert!(text.contains(trap), "{trap}: {text}");
            }
            let comments = text.lines().filter(|line| line.starts_with('#'));
            assert!(
                comments.clone().all(|line| line.chars().count() <= 100),
                "{text}"
            );
            assert!(comments.count() > 8, "{text}");
        }
    }
}

#[test]
fn a_guide_for_a_file_works() {
    for software in EACH {
        let directory = tempfile::tempdir().unwrap();
        let files = directory.path().join("tls");
        let server = installed(software);
        let source = KeySource::File("nistp256".parse().unwrap());
        let guide = guide(&server, (source, None), "www.example.org", &files).unwrap();
        follow(&guide);
        certify(&files);
        tested(software, &guide, &files, &[]);
    }
}

#[test]
fn names_that_mean_something_are_refused() {
    let server = installed("nginx");
    let file = |word: &str| KeySource::File(word.parse().unwrap());
    let at = |host: &str, directory: &str| {
        guide(
            &server,
            (file("nistp256"), None),
            host,
            Path::new(directory),
        )
    };
    for (one, other) in [("rsa2048", "rsa3072"), ("nistp256", "ed25519")] {
        let two = (file(one), Some(file(other)));
        assert!(guide(&server, two, "host", Path::new("/etc/tls")).is_err());
    }
    for host in ["", "a b", "a;rm -rf", "-x", "a\nb", "$(id)"] {
        assert!(at(host, "/etc/tls").is_err(), "{host:?}");
    }
    for directory in ["/a b", "/a;b", "/$(id)", "/a\nb", "/a\"b"] {
        assert!(at("host", directory).is_err(), "{directory:?}");
    }
}

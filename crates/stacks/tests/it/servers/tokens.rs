//! Keys in SoftHSM2, by libp11's engine and by pkcs11-provider.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use keymark_bench::Error;
use keymark_stacks::tls::servers::{
    Certificates, Handshakes, Identity, RunningServer, ServerSpec, TokenWay,
};
use keymark_stores::pkcs11::ProgramKey;
use keymark_stores::user::Pin;
use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken, URI};
use keymark_testkit::{assert_says, assert_silent};

use super::client::{
    BOTH, handshakes, has_document, identity, installed, s_client, verified, ways,
};

const ALL: [&str; 3] = ["apache", "apache-prefork", "nginx"];

fn token() -> SoftHsmToken {
    let token = SoftHsmToken::new();
    token.make_key("rsa:2048", "01", "rsa");
    token.make_key("EC:prime256v1", "02", "ec");
    token
}

fn key(token: &SoftHsmToken, module: &Path, label: &str, pin: &str) -> ProgramKey {
    let uri = format!("{URI};object={label}").parse().unwrap();
    let mut key = ProgramKey::of_uri(module.to_owned(), uri).unwrap();
    key.pin = Some(Pin::new(pin));
    let configuration: OsString = token.configuration().into();
    key.environment = vec![(CONFIGURATION.into(), configuration)];
    key.own_place = token.configuration().parent().map(Path::to_owned);
    key
}

fn on_token(
    software: &str,
    token: &SoftHsmToken,
    (word, label): (&str, &str),
    way: TokenWay,
) -> Result<Identity, Error> {
    let key = key(token, &SoftHsmToken::library(), label, PIN);
    Identity::on_token(&installed(software), word.parse().unwrap(), key, way)
}

fn start(
    software: &str,
    identity: Identity,
    handshakes: Handshakes,
) -> Result<RunningServer, Error> {
    let spec = ServerSpec::new(Certificates::one(identity), handshakes);
    RunningServer::start(&installed(software), &spec)
}

#[test]
fn a_key_on_a_token_serves_on_each_software_by_each_way() {
    let token = token();
    for way in ways() {
        for software in ALL {
            for (key, by_1_2, by_1_3) in [
                (("rsa2048", "rsa"), "ECDHE-RSA-", "type: RSA-PSS"),
                (("nistp256", "ec"), "ECDHE-ECDSA-", "type: ECDSA"),
            ] {
                let identity = on_token(software, &token, key, way).unwrap();
                let server = start(software, identity, Handshakes::usual())
                    .unwrap_or_else(|error| panic!("{software} {way}: {error}"));
                for (version, expected) in [("-tls1_2", by_1_2), ("-tls1_3", by_1_3)] {
                    for _ in 0..3 {
                        let said = verified(&server, &[version]);
                        assert!(said.contains(expected) && has_document(&said), "{said}");
                        assert_says(&said, ["Verification: OK"]);
                    }
                }
                let described = server.describe();
                assert!(described["certificates"].ends_with(&format!("on a token by the {way}")));
                let master = server.process.processes()[0].number;
                let log = fs::File::open(format!("/proc/{master}/cwd/error.log")).unwrap();
                // To the server's end: the file stays readable without its name.
                drop(server);
                assert_silent(&std::io::read_to_string(log).unwrap(), [PIN]);
            }
        }
    }
}

#[test]
fn rsa_key_exchange_is_impossible_by_the_engine_and_possible_by_the_provider() {
    let token = token();
    for software in BOTH {
        let engine = on_token(software, &token, ("rsa2048", "rsa"), TokenWay::Engine).unwrap();
        let error = start(software, engine, handshakes("rsa")).unwrap_err();
        assert_says(
            &error,
            ["RSA key exchange is impossible", "use the provider"],
        );
        if ways().contains(&TokenWay::Provider) {
            let way = TokenWay::Provider;
            let provider = on_token(software, &token, ("rsa2048", "rsa"), way).unwrap();
            let server = start(software, provider, handshakes("rsa")).unwrap();
            let said = s_client(server.process.address, &[]);
            assert!(
                said.contains("Cipher is AES256-GCM-SHA384") && has_document(&said),
                "{said}"
            );
        }
    }
}

#[test]
fn the_ecdsa_key_is_on_the_token_and_the_rsa_key_in_a_file() {
    let token = token();
    for way in ways() {
        for software in BOTH {
            let ecdsa = on_token(software, &token, ("nistp256", "ec"), way).unwrap();
            let pair = Certificates::of_two(identity("rsa2048"), ecdsa).unwrap();
            let spec = ServerSpec::new(pair, Handshakes::usual());
            let server = RunningServer::start(&installed(software), &spec)
                .unwrap_or_else(|error| panic!("{software} {way}: {error}"));
            let old = verified(&server, &["-tls1_2", "-cipher", "aRSA"]);
            assert!(old.contains("ECDHE-RSA") && has_document(&old), "{old}");
            let new = verified(&server, &[]);
            assert!(new.contains("type: ECDSA") && has_document(&new), "{new}");
        }
    }
}

/// OpenSC's module that writes down the calls to another one.
fn spy(token: &SoftHsmToken) -> (PathBuf, PathBuf) {
    let usual = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/usr/lib/aarch64-linux-gnu",
    ];
    let files = usual.map(|directory| Path::new(directory).join("pkcs11-spy.so"));
    let spy = files.into_iter().find(|file| file.exists());
    (spy.expect("apt-get install opensc"), token.path("calls"))
}

#[test]
fn a_wrong_pin_is_tried_once_and_no_server_is_started() {
    for way in ways() {
        let token = token();
        let (spy, calls) = spy(&token);
        for software in BOTH {
            let _ = fs::remove_file(&calls);
            let mut key = key(&token, &spy, "ec", "314159");
            key.environment.extend([
                ("PKCS11SPY".into(), SoftHsmToken::library().into()),
                ("PKCS11SPY_OUTPUT".into(), calls.clone().into()),
            ]);
            let identity =
                Identity::on_token(&installed(software), "nistp256".parse().unwrap(), key, way);
            let error = identity.unwrap_err().to_string();
            let log = fs::read_to_string(&calls).unwrap();
            let logins = log.matches("C_Login\n").count();
            assert_eq!(logins, 1, "{software} {way}: {error}\n{log}");
            assert_silent(&error, ["314159"]);
            if way == TokenWay::Engine {
                assert_says(&error, ["which was tried once"]);
            }
        }
    }
}

#[test]
fn what_an_engine_cannot_have_is_said_without_asking_the_token() {
    let token = SoftHsmToken::new();
    let ed25519 = ("ed25519", "none");
    let error = on_token("nginx", &token, ed25519, TokenWay::Engine).unwrap_err();
    assert_says(&error, ["impossible through the engine"]);
}

//! What goes wrong, and what is said of it.

use std::net::TcpListener;
use std::num::NonZeroU16;

use keymark_stacks::tls::servers::{Certificates, Identity, Port, ServerSpec};
use keymark_stores::places::process::Process;
use keymark_testkit::assert_says;
use keymark_testkit::waiting::until;
use nix::sys::signal::Signal;

use super::client::{BOTH, EACH, identity, refused, spec, started};

#[test]
fn a_port_that_is_taken_is_named() {
    for software in EACH {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let mut spec = spec("nistp256", "x25519");
        spec.port = Port::Given(NonZeroU16::new(port).unwrap());
        let error = refused(software, &spec).to_string();
        assert!(
            error.contains("the port is taken") && error.contains(&port.to_string()),
            "{software}: {error}"
        );
    }
}

#[test]
fn a_certificate_and_a_key_that_do_not_belong_together_are_told() {
    for software in EACH {
        let (one, other) = (identity("nistp256"), identity("nistp256"));
        let key = openssl::ec::EcKey::generate(
            &openssl::ec::EcGroup::from_curve_name(openssl::nid::Nid::X9_62_PRIME256V1).unwrap(),
        );
        let key = key.unwrap().private_key_to_pem().unwrap();
        drop(other);
        let mixed = Identity::given(one.algorithm, &one.certificate.to_pem().unwrap(), &key);
        let of = spec("nistp256", "x25519");
        let spec = ServerSpec::new(Certificates::one(mixed.unwrap()), of.handshakes);
        let error = refused(software, &spec).to_string();
        assert!(
            error.contains("certificate and private key do not belong together"),
            "{software}: {error}"
        );
    }
}

#[test]
fn a_cipher_that_the_servers_openssl_lacks_is_told() {
    for software in BOTH {
        let mut spec = spec("rsa2048", "1.2 ecdhe-p256");
        spec.handshakes.ciphers = "NO-SUCH-CIPHER".parse().unwrap();
        let error = refused(software, &spec).to_string();
        assert!(
            error.contains("has none of the ciphers"),
            "{software}: {error}"
        );
    }
}

#[test]
fn a_server_that_was_killed_is_told() {
    for software in EACH {
        let mut server = started(software, &spec("nistp256", "x25519"));
        server.check().unwrap();
        let processes = server.processes().unwrap();
        processes[0].signal(Signal::SIGKILL);
        until("it has ended", || server.check().is_err());
        let error = server.check().unwrap_err().to_string();
        assert_says(&error, ["it has ended", "signal: 9"]);
        drop(server);
        // nginx's workers go on without a master.
        let left: Vec<&Process> = processes.iter().filter(|one| one.lives()).collect();
        assert!(left.is_empty(), "{software}: {left:?}");
    }
}

//! keymark's client with an nginx that logs whether it has resumed a session and verified the client's certificate.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::{Load, MonotonicClock};
use keymark_load::{
    Certificate, Expected, KeyExchange, LoadSettings, Measurement, Target, TlsVersion, run,
};
use keymark_stacks::tls::servers::{Identity, Purpose};
use keymark_testkit::place::short_directory;
use keymark_testkit::process::free_port;
use keymark_testkit::waiting::until;

use super::client::identity;

struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

fn write(place: &Path, name: &str, identity: &Identity) {
    let own = identity.client().unwrap();
    let pem = own.certificate.to_pem().unwrap();
    fs::write(place.join(format!("{name}.pem")), pem).unwrap();
    let key = own.key.private_key_to_pem_pkcs8().unwrap();
    fs::write(place.join(format!("{name}.key")), key).unwrap();
}

fn nginx(place: &Path, clients: &Identity, port: u16) -> Nginx {
    write(place, "server", &identity("nistp256"));
    fs::write(place.join("ca.pem"), clients.authority_pem().unwrap()).unwrap();
    fs::create_dir(place.join("served")).unwrap();
    fs::write(place.join("served/index.html"), "a file").unwrap();
    for open in [place.to_owned(), place.join("served")] {
        fs::set_permissions(open, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let at = place.display();
    let configuration = format!(
        "daemon off; pid {at}/pid; error_log {at}/error.log; events {{}} http {{ \
         log_format s '$ssl_session_reused $ssl_client_verify'; access_log {at}/access.log s; \
         server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {at}/server.pem; ssl_certificate_key {at}/server.key; \
         ssl_protocols TLSv1.2 TLSv1.3; ssl_client_certificate {at}/ca.pem; ssl_verify_client on; root {at}/served; }} }}"
    );
    fs::write(place.join("nginx.conf"), configuration).unwrap();
    let mut nginx = Command::new("/usr/sbin/nginx");
    nginx.arg("-c").arg(place.join("nginx.conf"));
    let nginx = nginx.arg("-e").arg(place.join("error.log")).spawn();
    let nginx = Nginx(nginx.unwrap());
    until("nginx listens", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    nginx
}

fn load(target: &Target) -> Measurement {
    let users = Load::closed(NonZeroU32::new(3).unwrap());
    let settings = LoadSettings::new(users, Duration::from_secs(3));
    let (clock, stop) = (MonotonicClock::new(), AtomicBool::new(false));
    run(target, &settings, (&clock, &stop), &mut ()).unwrap()
}

#[test]
fn nginx_itself_says_that_it_resumes_and_verifies() {
    for (version, key) in [
        (TlsVersion::V1_2, "nistp256"),
        (TlsVersion::V1_3, "rsa2048"),
    ] {
        let place = short_directory();
        let client = Identity::generate(key.parse().unwrap(), Purpose::Client).unwrap();
        let port = free_port();
        let nginx = nginx(place.path(), &client, port);
        let mut target = Target {
            address: ([127, 0, 0, 1], port).into(),
            server_name: "localhost".to_owned(),
            path: "/index.html".to_owned(),
            client: client.client(),
            expected: Expected {
                version,
                key_exchange: KeyExchange::X25519,
                certificate: Certificate::Any,
                body: None,
                resumed: "80".parse().unwrap(),
            },
        };
        let measured = load(&target);
        assert!(measured.failures.is_empty(), "{:?}", measured.failures);
        target.client = None;
        let refused = load(&target);
        assert_eq!(refused.load.totals.transactions, 0, "no certificate");
        assert!(!refused.failures.is_empty());
        drop(nginx);
        let log = fs::read_to_string(place.path().join("access.log")).unwrap();
        let mut kinds = BTreeMap::new();
        for line in log.lines() {
            *kinds.entry(line).or_insert(0_u64) += 1;
        }
        let of = |kind: &str| kinds.get(kind).copied().unwrap_or_default();
        let (full, resumed) = (of(". SUCCESS"), of("r SUCCESS"));
        assert!(
            full + resumed >= measured.load.totals.transactions,
            "{kinds:?}"
        );
        let share = resumed as f64 / (full + resumed) as f64;
        assert!((0.78..=0.82).contains(&share), "{version}: {kinds:?}");
        let counted: u64 = measured
            .load
            .seconds
            .iter()
            .map(|second| second.resumed)
            .sum();
        assert!(resumed.abs_diff(counted) <= 3, "{counted} of {kinds:?}");
    }
}

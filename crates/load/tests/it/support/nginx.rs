//! nginx with a configuration of its own.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keymark_load::Fingerprint;
use openssl::pkey::{PKey, Private};

const NGINX: &str = "/usr/sbin/nginx";

/// One nginx process, with tickets and a cache of sessions; gone with this value.
#[derive(Debug)]
pub struct Nginx {
    pub address: SocketAddr,
    pub leaf: Fingerprint,
    place: tempfile::TempDir,
    process: Child,
}

impl Nginx {
    /// One that listens.
    pub fn start(key: &PKey<Private>, body: &str) -> Self {
        assert!(
            Path::new(NGINX).exists(),
            "install it with 'apt-get install nginx'"
        );
        let place = tempfile::tempdir().unwrap();
        let address = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let leaf = super::certificate(key);
        let write = |name: &str, content: &[u8]| {
            std::fs::write(place.path().join(name), content).unwrap();
        };
        write("leaf.pem", &leaf.to_pem().unwrap());
        write("key.pem", &key.private_key_to_pem_pkcs8().unwrap());
        write("index.html", body.as_bytes());
        write(
            "nginx.conf",
            configuration(place.path(), address).as_bytes(),
        );
        let process = Command::new(NGINX)
            .arg("-p")
            .arg(place.path())
            .args(["-c", "nginx.conf", "-e", "error.log"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut nginx = Self {
            address,
            leaf: Fingerprint::of(&leaf.to_der().unwrap()),
            place,
            process,
        };
        nginx.wait();
        nginx
    }

    fn wait(&mut self) {
        for _ in 0..500 {
            if TcpStream::connect(self.address).is_ok() {
                return;
            }
            assert!(
                self.process.try_wait().unwrap().is_none(),
                "{}",
                self.log("error.log")
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("nginx does not listen: {}", self.log("error.log"));
    }

    pub fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.path().join(name)).unwrap_or_default()
    }

    /// `$ssl_session_reused $ssl_protocol` of each request so far.
    pub fn requests(&self) -> Vec<String> {
        self.log("access.log").lines().map(str::to_owned).collect()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn configuration(place: &Path, address: SocketAddr) -> String {
    let place = place.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {place}/{kind};\n"))
        .concat();
    format!(
        "daemon off; master_process off; pid {place}/pid;
        events {{ worker_connections 1024; }}
        http {{
            {temporary}
            root {place};
            log_format sessions '$ssl_session_reused $ssl_protocol';
            access_log {place}/access.log sessions;
            server {{
                listen {address} ssl;
                ssl_certificate leaf.pem; ssl_certificate_key key.pem;
                ssl_protocols TLSv1.2 TLSv1.3;
                ssl_session_cache shared:a:1m; ssl_session_tickets on;
            }}
        }}"
    )
}

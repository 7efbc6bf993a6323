//! ssh-agent with a key on a PKCS#11 token, and OpenSSH's own programs on it: logging in to a server.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_stacks::private_dir::PrivateDir;
use keymark_stacks::ssh::OpenSsh;
use keymark_stacks::ssh::agent::SshAgent;
use keymark_stacks::ssh::key;
use keymark_stores::device::Run;
use keymark_stores::pkcs11::{ModuleFile, TokenHere};
use keymark_stores::public_key::PublicKey;
use keymark_stores::store::KeyStore;
use keymark_stores::user::{Pin, User};
use keymark_testkit::assert_says;
use keymark_testkit::place::said;
use keymark_testkit::process::{free_port, this_test_program};
use keymark_testkit::softhsm::{PIN, SoftHsmToken, URI};
use keymark_testkit::waiting::until;

use super::Place;
use crate::suite::passes;

/// Set in the child that runs the test: SoftHSM2 finds its tokens by its environment.
const CHILD: &str = "KEYMARK_TEST_CHILD";
const KEYS: [(&str, &str, &str, &str); 2] = [
    ("rsa:2048", "01", "web", "rsa2048"),
    ("EC:prime256v1", "02", "ec", "nistp256"),
];

fn in_a_child(name: &str) {
    let token = SoftHsmToken::new();
    for (kind, id, label, _) in KEYS {
        token.make_key(kind, id, label);
    }
    let child = token.run(this_test_program(name).env(CHILD, "1"));
    assert_says(&said(&child), ["1 passed"]);
}

/// An agent with the token's keys, and the public half of the one that is meant.
struct Logged {
    place: Place,
    public: PublicKey,
}

impl Logged {
    fn in_with(label: &str, algorithm: &str) -> Self {
        let user = User::with_pin(Pin::new(PIN));
        let module = ModuleFile::new(SoftHsmToken::library());
        let uri = format!("{URI};object={label}").parse().unwrap();
        let token = TokenHere::known(&module, &uri, &user, &Run::new(0)).unwrap();
        let store: &dyn KeyStore = &token;
        let algorithm = algorithm.parse().unwrap();
        let capability = Capability::new(algorithm, Operation::Authenticate);
        let key = store.key(capability).unwrap();
        let dir = PrivateDir::new().unwrap();
        let program = token.program_key(&key).unwrap();
        let agent = SshAgent::with_token(&OpenSsh::find().unwrap(), dir.path(), &program);
        let agent = Arc::new(agent.unwrap());
        Self {
            place: Place { agent, dir },
            public: store.public_key(&key).unwrap(),
        }
    }

    fn public_line(&self) -> String {
        key::public(&self.public).unwrap().to_openssh().unwrap()
    }
}

/// OpenSSH's server on loopback, gone with the value.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// One that lets in only those who have the key.
    fn start(logged: &Logged) -> Self {
        let directory = logged.place.dir.path();
        let host_key = directory.join("host");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&host_key)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", said(&made));
        let allowed = logged.place.file("authorized_keys", &logged.public_line());
        let port = free_port();
        let configuration = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n",
            host_key.display(),
            allowed.display()
        );
        let configuration = logged.place.file("sshd_config", &configuration);
        // Its privileges are separated in a directory that only a service of the system's makes.
        let _ = fs::create_dir("/run/sshd");
        let process = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(&configuration)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("install it with 'apt-get install openssh-server'");
        let mut server = Self { process, port };
        until("the server listens", || {
            if let Some(status) = server.process.try_wait().unwrap() {
                let mut said = String::new();
                let stderr = server.process.stderr.as_mut().unwrap();
                stderr.read_to_string(&mut said).unwrap();
                panic!("{status}: {said}");
            }
            TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).is_ok()
        });
        server
    }

    fn login(&self, logged: &Logged, identity: &Path) -> std::process::Output {
        let mut ssh = logged.place.command("ssh");
        ssh.args(["-F", "none", "-p", &self.port.to_string()])
            .args(["-oBatchMode=yes", "-oStrictHostKeyChecking=no"])
            .args(["-oUserKnownHostsFile=/dev/null", "-oIdentitiesOnly=yes"])
            .arg("-i")
            .arg(identity)
            .args(["127.0.0.1", "echo $((6 * 7))"]);
        ssh.output().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_server_lets_in_who_has_the_token_and_nobody_else() {
    const NAME: &str = "ssh::token::a_server_lets_in_who_has_the_token_and_nobody_else";
    if std::env::var_os(CHILD).is_none() {
        return in_a_child(NAME);
    }
    for (_, _, label, algorithm) in KEYS {
        let logged = Logged::in_with(label, algorithm);
        passes(&mut logged.place.workload(&logged.public, 3).unwrap()).unwrap();
        let server = Server::start(&logged);
        let mine = logged.place.file("mine.pub", &logged.public_line());
        let output = server.login(&logged, &mine);
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "42\n");
        let (_, _, other, other_algorithm) = KEYS[usize::from(label == KEYS[0].2)];
        let other = Logged::in_with(other, other_algorithm);
        let others = logged.place.file("others.pub", &other.public_line());
        let refused = server.login(&other, &others);
        assert!(!refused.status.success(), "{}", said(&refused));
        assert_says(&said(&refused), ["Permission denied"]);
    }
}

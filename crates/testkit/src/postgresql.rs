//! A PostgreSQL server of one's own: a private directory with its data and its socket, no port, gone with the value.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::waiting::until;

/// A running server with an empty database `keymark`, whose owner is `owner`.
#[derive(Debug)]
pub struct Server {
    directory: TempDir,
    server: Child,
}

impl Server {
    /// Starts one.
    pub fn start() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("pg")
            .tempdir_in("/tmp")
            .unwrap();
        let data = directory.path().join("data");
        // The server refuses to run as root.
        let chown = Command::new("chown")
            .arg("nobody")
            .arg(directory.path())
            .status();
        assert!(chown.is_ok());
        let mut made = unprivileged("initdb");
        made.args(["--auth=trust", "--no-sync", "--username=owner", "-D"])
            .arg(&data);
        assert!(made.stdout(Stdio::null()).status().unwrap().success());
        let mut server = unprivileged("postgres");
        server
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-k"])
            .arg(directory.path());
        let server = server
            .arg("-D")
            .arg(&data)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Self { directory, server };
        until("PostgreSQL starts", || {
            started.psql("postgres", "SELECT 1").is_some()
        });
        started.psql("postgres", "CREATE DATABASE keymark").unwrap();
        started
    }

    /// The address of a database, for the role.
    pub fn address(&self, role: &str, database: &str) -> PathBuf {
        let place = self.place().display();
        format!("postgresql:///{database}?host={place}&user={role}").into()
    }

    /// What its owner is answered, unless that is refused.
    pub fn psql(&self, database: &str, statement: &str) -> Option<String> {
        let mut psql = Command::new("psql");
        psql.args([
            "-AtX",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "owner",
            "-d",
            database,
            "-c",
            statement,
            "-h",
        ]);
        let told = psql
            .arg(self.place())
            .stderr(Stdio::null())
            .output()
            .unwrap();
        told.status
            .success()
            .then(|| String::from_utf8_lossy(&told.stdout).trim().to_owned())
    }

    fn place(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its children end with it.
        let _ = Command::new("kill")
            .args(["-INT", &self.server.id().to_string()])
            .status();
        let _ = self.server.wait();
    }
}

/// One of the server's programs, as `nobody` where this is root, ended with this process.
fn unprivileged(program: &str) -> Command {
    let found = std::fs::read_dir("/usr/lib/postgresql").unwrap();
    let newest = found.map(|entry| entry.unwrap().path()).max().unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "INT"]);
    if Path::new("/root").metadata().is_ok() && std::fs::read_dir("/root").is_ok() {
        command.args(["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]);
    }
    command.arg(newest.join("bin").join(program));
    command
}

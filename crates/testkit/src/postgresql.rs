//! A PostgreSQL server of one's own, in a private directory that is gone with the value (`fixtures/postgresql` starts it).

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::process::free_port;
use crate::waiting::until;

/// A running server with an empty database `keymark`, whose owner is `owner`. It speaks TLS at a port of loopback, as `localhost`.
#[derive(Debug)]
pub struct Server {
    directory: TempDir,
    port: u16,
    server: Child,
}

impl Server {
    /// Starts one.
    pub fn start() -> Self {
        let port = free_port();
        let directory = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp");
        let directory = directory.unwrap();
        let started = Self {
            server: running(&directory, port),
            directory,
            port,
        };
        started.await_it();
        started.psql("postgres", "CREATE DATABASE keymark").unwrap();
        started
    }

    fn await_it(&self) {
        until("PostgreSQL starts", || {
            self.psql("postgres", "SELECT 1").is_some()
        });
    }

    /// Ends it at once, even with clients.
    pub fn stop(&mut self) {
        // Its children end with it.
        self.thaw();
        self.signal("-INT");
        let _ = self.server.wait();
    }

    /// Stops it: it keeps its connections and answers nobody.
    pub fn freeze(&self) {
        self.signal_all("-STOP");
    }

    /// Lets it answer again.
    pub fn thaw(&self) {
        self.signal_all("-CONT");
    }

    fn signal(&self, name: &str) {
        let number = self.server.id().to_string();
        let mut kill = Command::new("kill");
        let _ = kill.args([name, &number]).stderr(Stdio::null()).status();
    }

    fn signal_all(&self, name: &str) {
        self.signal(name);
        let number = self.server.id().to_string();
        let mut children = Command::new("pkill");
        let _ = children.args([name, "-P", &number]).status();
    }

    /// Starts it again.
    pub fn resume(&mut self) {
        self.server = running(&self.directory, self.port);
        self.await_it();
    }

    /// Fills the disk of its databases.
    pub fn fill_disk(&self) {
        fs::write(self.path("full"), "").unwrap();
    }

    /// There is room again.
    pub fn free_disk(&self) {
        fs::remove_file(self.path("full")).unwrap();
    }

    /// The address of a database, for the role.
    pub fn address(&self, role: &str, database: &str) -> PathBuf {
        let (place, port) = (self.directory.path().display(), self.port);
        format!("postgresql:///{database}?host={place}&port={port}&user={role}").into()
    }

    /// The owner's through the port of that host.
    pub fn address_at(&self, host: &str) -> String {
        format!("postgresql://owner@{host}:{}/keymark", self.port)
    }

    /// The file of its own certificate, by which it is known.
    pub fn certificate(&self) -> PathBuf {
        self.path("server.crt")
    }

    /// Returns the answer to its owner, unless that is refused.
    pub fn psql(&self, database: &str, statement: &str) -> Option<String> {
        self.psql_as("owner", database, statement)
    }

    /// Returns the answer to another role.
    pub fn psql_as(&self, role: &str, database: &str, statement: &str) -> Option<String> {
        let port = self.port.to_string();
        let mut psql = Command::new("psql");
        psql.args(["-AtqX", "-v", "ON_ERROR_STOP=1", "-U", role, "-d", database])
            .args(["-c", statement, "-p", &port, "-h"])
            .arg(self.directory.path());
        let told = psql.stderr(Stdio::null()).output().unwrap();
        let answer = String::from_utf8_lossy(&told.stdout).trim().to_owned();
        told.status.success().then_some(answer)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn running(directory: &TempDir, port: u16) -> Child {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/postgresql");
    let test = std::env::current_exe().unwrap();
    let mut server = Command::new(script);
    server.arg(directory.path()).arg(port.to_string());
    server.arg(test.parent().unwrap());
    server.spawn().unwrap()
}

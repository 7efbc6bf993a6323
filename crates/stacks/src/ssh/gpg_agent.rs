//! gpg-agent as an SSH agent, in a private home.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use keymark_bench::error::Error;

use crate::gnupg::home::Home;

/// Where the home's agent listens for ssh.
pub fn socket(home: &Home) -> Result<PathBuf, Error> {
    let name = home.connect()?.command("GETINFO ssh_socket_name")?;
    Ok(PathBuf::from(String::from_utf8_lossy(&name).into_owned()))
}

/// Lets the agent offer a key of the home to ssh. A card's authentication key needs no leave.
pub fn offer(home: &Home, keygrip: &str) -> Result<(), Error> {
    let path = home.path().join("sshcontrol");
    let listed = fs::read_to_string(&path).unwrap_or_default();
    if listed.lines().any(|line| line == keygrip) {
        return Ok(());
    }
    let appended = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .and_then(|mut file| writeln!(file, "{keygrip}"));
    appended.map_err(|error| Error::call(format!("writing {}", path.display()), error, ""))
}

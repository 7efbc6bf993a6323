//! The owner's own gpg-agent and scdaemon, which usually has a card to itself from its first use on.

use std::path::PathBuf;
use std::time::Duration;

use keymark_bench::error::Error;

use super::Gnupg;
use super::assuan::Assuan;
use super::home::unescaped;

/// How often, and how far apart, it is looked whether the agent has noticed: six seconds together.
const LOOKS: usize = 120;
const PAUSE: Duration = Duration::from_millis(50);
/// How long each answer is waited for: a scdaemon that hangs is the owner's to end, not keymark's to wait for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The owner's agent, whose scdaemon runs.
#[derive(Debug)]
pub struct OwnersAgent {
    socket: PathBuf,
    connection: Assuan,
}

impl OwnersAgent {
    /// Finds it; there is none where no agent runs, or none that has been asked about cards. Nothing is
    /// started for the question.
    pub fn with_scdaemon(gnupg: &Gnupg) -> Option<Self> {
        let socket = socket(gnupg)?;
        let mut connection = Assuan::patient(&socket, PATIENCE).ok()?;
        connection.command("GETINFO scd_running").ok()?;
        Some(Self { socket, connection })
    }

    /// The application identifiers of the cards that scdaemon has, in hexadecimal. It answers from memory.
    pub fn cards(&mut self) -> Result<Vec<String>, Error> {
        self.connection
            .statuses("SCD GETINFO card_list", "SERIALNO")
    }

    /// Number of scdaemon's process.
    pub fn process(&mut self) -> Result<String, Error> {
        let process = self.connection.command("SCD GETINFO pid")?;
        Ok(String::from_utf8_lossy(&process).trim().to_owned())
    }

    /// Has scdaemon let go of its cards: it ends, and the agent starts another when a card is next used.
    pub fn release(mut self) -> Result<Borrowed, Error> {
        self.connection.command("SCD KILLSCD")?;
        Ok(Borrowed {
            socket: self.socket,
        })
    }
}

/// Cards that the owner's scdaemon has let go of. Dropped when keymark has let go of them too, it waits
/// until the owner's gpg can have them: gpg-agent looks every four seconds whether its scdaemon is alive,
/// and until then a gpg that asks for a card is told of a broken pipe.
#[derive(Debug)]
pub struct Borrowed {
    socket: PathBuf,
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let thinks_it_runs = || {
            let connection = Assuan::patient(&self.socket, PATIENCE);
            connection.and_then(|mut agent| agent.command("GETINFO scd_running"))
        };
        for _ in 0..LOOKS {
            if thinks_it_runs().is_err() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Where the agent of the owner's `GNUPGHOME` listens.
fn socket(gnupg: &Gnupg) -> Option<PathBuf> {
    let mut command = gnupg.command_in_owners_home("gpgconf");
    let listed = command.args(["--list-dirs", "agent-socket"]).output();
    let listed = listed.ok()?.stdout;
    Some(PathBuf::from(unescaped(
        String::from_utf8_lossy(&listed).trim(),
    )))
}

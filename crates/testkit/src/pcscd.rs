//! A pcscd of our own with vpcd's reader in it, for cards as if they were real ones, next to that of the system and unseen by it.
//!
//! pcscd's directory, `/run/pcscd`, is compiled in. Its socket is not, if it gets one the way
//! systemd passes it (sd_listen_fds(3)). Root's pcscd writes its process id into that directory, where
//! what was there is put back; that of others needs the directory to exist.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::JoinHandle;
use std::time::Duration;

use keymark_bench::During as _;
use keymark_stores::places::program::two_free_ports;
use keymark_stores::places::watchdog::Watchdog;
use keymark_stores::tokens::reader::CardReader;
use keymark_stores::tokens::vpcd::{Stopper, Vpcd, VpcdError};
use tempfile::TempDir;

use crate::place::short_directory;

/// Program of the package `pcscd`. A lock on it is held while one starts, which may change `/run`.
pub const PCSCD: &str = "/usr/sbin/pcscd";
/// Driver of the package `vsmartcard-vpcd`.
const DRIVER: &str = "/usr/lib/pcsc/drivers/serial/libifdvpcd.so";
/// Compiled into it; the file in it names the last process that was started as pcscd.
const RUN_DIRECTORY: &str = "/run/pcscd";
const PID_FILE: &str = "/run/pcscd/pcscd.pid";
/// The reader's name; pcscd appends two numbers.
const READER: &str = "Virtual PCD";

const SOCKET: &str = "pcscd.comm";
const CONFIGURATION: &str = "reader.conf.d";
const LOG: &str = "pcscd.log";

/// It takes 10 ms here; a port that is taken delays it by 0.4 s.
const START: Duration = Duration::from_secs(10);
/// Between our look for free ports and pcscd's taking them, another program may take them.
const ATTEMPTS: usize = 5;
/// What vpcd says then (ifd-vpcd.c).
const PORT_TAKEN: &str = "Could not initialize connection to virtual ICC";

/// Our socket comes as standard input and goes to pcscd as descriptor 3.
const PCSCD_ON_SOCKET: &str = "exec 3<&0 </dev/null && LISTEN_FDS=1 LISTEN_PID=$$ exec \"$@\"";

/// The greeting of pcsc-lite's clients (winscard_msg.h, `CMD_VERSION`): a header of length and
/// command, then major and minor version and the result. It is answered whatever version it names.
const GREETING: [u32; 5] = [12, 0x11, 4, 4, 0];
const GREETING_ANSWER: usize = 12;

/// A running pcscd; its end is that of the value, or of keymark if that is killed.
#[derive(Debug)]
pub struct PrivatePcscd {
    directory: PathBuf,
    socket: PathBuf,
    port: u16,
    process: Child,
    watchdog: Watchdog,
}

impl PrivatePcscd {
    /// Starts one with its socket and configuration in the directory, and returns when it answers.
    pub fn start(directory: &Path) -> Result<Self, String> {
        for (path, package) in [(PCSCD, "pcscd"), (DRIVER, "vsmartcard-vpcd")] {
            if !Path::new(path).exists() {
                return Err(format!(
                    "{path} is missing; install it with 'apt-get install {package}'"
                ));
            }
        }
        // pcscd changes to the root directory.
        let directory = std::path::absolute(directory).map_err(at(directory))?;
        for _ in 0..ATTEMPTS {
            let pcscd = Self::launch(&directory)?;
            if !pcscd.log().contains(PORT_TAKEN) {
                return Ok(pcscd);
            }
        }
        Err(format!(
            "vpcd found its TCP ports taken {ATTEMPTS} times; is a program taking all of them?"
        ))
    }

    fn launch(directory: &Path) -> Result<Self, String> {
        // vpcd has two slots, the second at the next port, and starts with both or not at all.
        let port = two_free_ports().map_err(unstarted)?;
        let configuration = directory.join(CONFIGURATION);
        let file = configuration.join("vpcd");
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&configuration)
            .and_then(|()| fs::write(&file, reader_conf(port)))
            .map_err(at(&file))?;
        let log = directory.join(LOG);
        let output = File::create(&log).map_err(at(&log))?;
        let socket = directory.join(SOCKET);
        let listener = UnixListener::bind(&socket).map_err(at(&socket))?;

        let traces = Traces::before();
        let started = Watchdog::start(directory).and_then(|watchdog| {
            // The command's end of the socket goes with it: with that open, nobody would notice the end of pcscd.
            let pcscd = command(&configuration, listener, output);
            let pcscd = pcscd.and_then(|mut pcscd| watchdog.spawn(&mut pcscd));
            Ok((pcscd.during(PCSCD)?, watchdog))
        });
        let (process, watchdog) = started
            .inspect_err(|_| clean_up(directory))
            .map_err(unstarted)?;
        let pcscd = Self {
            directory: directory.to_owned(),
            socket,
            port,
            process,
            watchdog,
        };
        let greeted = greet(&pcscd.socket);
        drop(traces);
        let log = pcscd.log();
        match greeted {
            Ok(()) => Ok(pcscd),
            Err(error) => Err(format!(
                "pcscd does not answer ({error}); it says: {log}; \
                 without root's rights it needs the directory /run/pcscd"
            )),
        }
    }

    /// Returns the value of `PCSCLITE_CSOCK_NAME` for its clients.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Returns the address at which cards are inserted ([`keymark_stores::tokens::vpcd::Vpcd::connect`]).
    pub fn vpcd_address(&self) -> String {
        format!("{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Returns its complaints.
    pub fn log(&self) -> String {
        let log = fs::read(self.directory.join(LOG)).unwrap_or_default();
        String::from_utf8_lossy(&log).trim().to_owned()
    }

    /// Ends it under its clients' hands, as a crash does.
    pub fn kill(&mut self) {
        self.watchdog.end();
        // It may have been waited for before.
        let _ = self.process.wait();
    }
}

impl Drop for PrivatePcscd {
    fn drop(&mut self) {
        self.kill();
        clean_up(&self.directory);
    }
}

/// What root's pcscd changes in `/run`. Dropped when it is up, this puts
/// back what was there: pcscd itself looks at it only when it starts.
struct Traces {
    directory: bool,
    pid: Option<Vec<u8>>,
    /// Held, so that none of ours takes another of ours for the system's.
    _alone: io::Result<File>,
}

impl Traces {
    fn before() -> Self {
        let lock = || {
            let file = File::open(PCSCD)?;
            file.lock()?;
            Ok(file)
        };
        let alone = lock();
        Self {
            directory: Path::new(RUN_DIRECTORY).exists(),
            pid: fs::read(PID_FILE).ok(),
            _alone: alone,
        }
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        // Who has no right to do so is no one whose pcscd could change it.
        let _ = match &self.pid {
            Some(pid) => fs::write(PID_FILE, pid),
            None => fs::remove_file(PID_FILE),
        };
        if !self.directory {
            let _ = fs::remove_dir(RUN_DIRECTORY);
        }
    }
}

fn command(configuration: &Path, socket: UnixListener, log: File) -> io::Result<Command> {
    let mut command = Command::new("sh");
    command
        .args(["-c", PCSCD_ON_SOCKET, "sh"])
        .args([PCSCD, "--foreground", "--config"])
        .arg(configuration);
    // Newer ones ask polkit, which cannot know our clients.
    let help = Command::new(PCSCD).arg("--help").output()?;
    if String::from_utf8_lossy(&help.stdout).contains("--disable-polkit") {
        command.arg("--disable-polkit");
    }
    command
        .env_remove("PCSCLITE_CSOCK_NAME")
        .env("PCSCLITE_FILTER_IGNORE_READER_NAMES", other_readers())
        .stdin(OwnedFd::from(socket))
        .stdout(log.try_clone()?)
        .stderr(log);
    Ok(command)
}

/// A list of texts: who has one in its name is no reader for this pcscd. Real ones are the
/// system's, so that it lists every character that our reader's name has not.
fn other_readers() -> String {
    let others = ('!'..='~').filter(|&character| character != ':' && !READER.contains(character));
    let others: Vec<String> = others.map(String::from).collect();
    others.join(":")
}

/// Returns an entry of reader.conf(5).
fn reader_conf(port: u16) -> String {
    format!(
        "FRIENDLYNAME \"{READER}\"\nDEVICENAME /dev/null:{port:#06X}\nLIBPATH {DRIVER}\nCHANNELID {port:#06X}\n"
    )
}

/// Waits for an answer. The readers are started before clients are heard.
fn greet(socket: &Path) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(START))?;
    stream.write_all(&GREETING.map(u32::to_ne_bytes).concat())?;
    stream.read_exact(&mut [0; GREETING_ANSWER])
}

/// Removes what was made in the directory.
fn clean_up(directory: &Path) {
    // The directory is the caller's, who removes it as a whole in the end.
    let _ = fs::remove_file(directory.join(SOCKET));
    let _ = fs::remove_dir_all(directory.join(CONFIGURATION));
    let _ = fs::remove_file(directory.join(LOG));
}

fn at(path: &Path) -> impl Fn(io::Error) -> String {
    move |error| {
        let path = path.display();
        format!(
            "pcscd cannot have its files in {path}: {error}; name a private directory with a short path"
        )
    }
}

fn unstarted(error: impl Display) -> String {
    format!("pcscd cannot be started: {error}")
}

/// A pcscd with a card in its reader.
#[derive(Debug)]
pub struct CardInReader {
    /// To pull it out.
    pub card: CardReader,
    /// To kill it.
    pub pcscd: PrivatePcscd,
    stopper: Stopper,
    serving: Option<JoinHandle<Result<(), VpcdError>>>,
    _directory: TempDir,
}

impl CardInReader {
    /// Starts one and inserts the card, which pcscd notices within 0.4 s.
    pub fn new(card: CardReader) -> Self {
        let directory = short_directory();
        let pcscd = PrivatePcscd::start(directory.path()).unwrap();
        let mut vpcd = Vpcd::connect(&pcscd.vpcd_address(), card.connect()).unwrap();
        Self {
            stopper: vpcd.stopper().unwrap(),
            serving: Some(std::thread::spawn(move || vpcd.serve())),
            card,
            pcscd,
            _directory: directory,
        }
    }

    /// Returns the value of `PCSCLITE_CSOCK_NAME` for its clients.
    pub fn socket(&self) -> &Path {
        self.pcscd.socket()
    }
}

impl Drop for CardInReader {
    fn drop(&mut self) {
        self.stopper.stop();
        let _ = self.serving.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_reader_passes_and_ours_does() {
        let filter = other_readers();
        let ignored = |name: &str| filter.split(':').any(|part| name.contains(part));
        assert!(!ignored(READER));
        for name in ["Nitrokey 3 [CCID/ICCD Interface]", "ACS ACR38U", "SPR532"] {
            assert!(ignored(name), "{name}");
        }
    }
}

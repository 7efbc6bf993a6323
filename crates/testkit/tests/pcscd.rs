//! The installed pcscd and scdaemon with the virtual card. It takes the packages pcscd,
//! vsmartcard-vpcd and scdaemon.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use keymark_stores::tokens::firmware::{Firmware, FirmwareOptions};
use keymark_stores::tokens::reader::Reader;
use keymark_testkit::pcscd::{Inserted, Isolation, PCSCD, PrivatePcscd};
use keymark_testkit::place::{said, short_directory};
use keymark_testkit::process::{naming, this_test_program};
use keymark_testkit::waiting::{found, until};

fn insert(pcscd: &PrivatePcscd, serial: [u8; 4]) -> Inserted {
    let options = FirmwareOptions {
        serial: Some(serial),
        ..FirmwareOptions::default()
    };
    let card = Reader::new(Box::new(Firmware::new(options).unwrap()));
    Inserted::new(pcscd, &card)
}

/// A `GNUPGHOME` whose scdaemon has that socket.
struct Home {
    path: tempfile::TempDir,
    socket: PathBuf,
}

impl Home {
    fn new(socket: &Path) -> Self {
        let path = short_directory();
        std::fs::write(path.path().join("scdaemon.conf"), "disable-ccid\n").unwrap();
        Self {
            path,
            socket: socket.to_owned(),
        }
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .arg("--homedir")
            .arg(self.path.path())
            .args(arguments)
            .env("PCSCLITE_CSOCK_NAME", &self.socket)
            .output()
            .unwrap();
        said(&output)
    }

    /// What gpg says of the card, once pcscd has noticed it (it looks every 0.4 s).
    fn card_status(&self) -> String {
        found("pcscd sees the card", || {
            let status = self.run("gpg", &["--batch", "--with-colons", "--card-status"]);
            status.contains("AID:D276").then_some(status)
        })
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.run("gpgconf", &["--kill", "all"]);
    }
}

fn named_by_a_process(path: &Path) -> bool {
    naming(path) > 0
}

/// Which mounts a process sees.
fn mounts(process: &str) -> PathBuf {
    std::fs::read_link(format!("/proc/{process}/ns/mnt")).unwrap()
}

#[test]
fn scdaemon_sees_the_card_however_pcscd_is_isolated() {
    for isolation in Isolation::possible() {
        let directory = short_directory();
        let pcscd = PrivatePcscd::start_with(directory.path(), isolation).unwrap();
        assert_eq!(
            mounts(&pcscd.id().to_string()) == mounts("self"),
            isolation == Isolation::Nothing
        );
        let _card = insert(&pcscd, [0xCA, 0xFE, 0x12, 0x34]);
        let home = Home::new(pcscd.socket());
        let status = home.card_status();
        assert!(
            status.contains("FF4BCAFE1234"),
            "{isolation:?}: {status}\n{}",
            pcscd.log()
        );
        assert!(status.contains("Virtual PCD 00 00"), "{status}");
    }
}

#[test]
fn two_at_once_have_a_card_each_and_one_survives_the_other() {
    let directories = [short_directory(), short_directory()];
    let mut one = PrivatePcscd::start(directories[0].path()).unwrap();
    let other = PrivatePcscd::start(directories[1].path()).unwrap();
    let _cards = [insert(&one, [0, 0, 0, 1]), insert(&other, [0, 0, 0, 2])];
    let homes = [Home::new(one.socket()), Home::new(other.socket())];
    let (first, second) = (homes[0].card_status(), homes[1].card_status());
    assert!(first.contains("FF4B00000001"), "{first}");
    assert!(second.contains("FF4B00000002"), "{second}");
    one.kill();
    assert!(UnixStream::connect(one.socket()).is_err());
    let gone = homes[0].run("gpg", &["--batch", "--card-status"]);
    assert!(!gone.contains("FF4B"), "{gone}");
    let second = homes[1].card_status();
    assert!(second.contains("FF4B00000002"), "{second}");
}

/// What stands in its file, once none of ours is starting, which may put its own there until it is up.
fn pid_of_the_systems() -> Option<Vec<u8>> {
    let pcscd = File::open(PCSCD).unwrap();
    pcscd.lock().unwrap();
    std::fs::read("/run/pcscd/pcscd.pid").ok()
}

#[test]
fn nothing_is_left_and_the_place_can_be_used_again() {
    let directory = short_directory();
    let system = pid_of_the_systems();
    for isolation in Isolation::possible() {
        let pcscd = PrivatePcscd::start_with(directory.path(), isolation).unwrap();
        assert!(named_by_a_process(directory.path()));
        assert!(pcscd.socket().exists());
        let address = pcscd.vpcd_address();
        drop(pcscd);
        assert!(!named_by_a_process(directory.path()));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(TcpStream::connect(&address).is_err());
        assert_eq!(pid_of_the_systems(), system);
    }
}

#[test]
fn it_outlives_the_thread_that_started_it() {
    let directory = short_directory();
    let path = directory.path().to_owned();
    let pcscd = std::thread::spawn(move || PrivatePcscd::start(&path).unwrap())
        .join()
        .unwrap();
    // Time for what would end it with the thread.
    std::thread::sleep(Duration::from_millis(50));
    assert!(UnixStream::connect(pcscd.socket()).is_ok());
    assert!(named_by_a_process(directory.path()));
}

#[test]
fn its_directory_may_lie_under_run() {
    let Ok(directory) = tempfile::tempdir_in("/run") else {
        return; // an ordinary user
    };
    let pcscd = PrivatePcscd::start(directory.path()).unwrap();
    assert!(UnixStream::connect(pcscd.socket()).is_ok());
}

const OWNER: &str = "KEYMARK_TEST_PCSCD_DIRECTORY";

/// Not a test by itself: the process that the next one kills.
#[test]
fn owner_of_one_for_each_isolation() {
    let Some(directory) = std::env::var_os(OWNER) else {
        return;
    };
    let owned: Vec<_> = Isolation::possible()
        .into_iter()
        .map(|isolation| {
            let own = Path::new(&directory).join(format!("{isolation:?}"));
            PrivatePcscd::start_with(&own, isolation).unwrap()
        })
        .collect();
    println!("\nowns {}", owned.len());
    // Until it is killed, or nobody is left who would.
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn it_ends_with_an_owner_that_is_killed() {
    let directory = short_directory();
    let mut owner = this_test_program("owner_of_one_for_each_isolation")
        .env(OWNER, directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let owns = lines
        .map_while(Result::ok)
        .find(|line| line.starts_with("owns"));
    let running = named_by_a_process(directory.path());
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert_eq!(
        owns.unwrap(),
        format!("owns {}", Isolation::possible().len())
    );
    assert!(running);
    until("pcscd ends with its owner", || {
        !named_by_a_process(directory.path())
    });
}

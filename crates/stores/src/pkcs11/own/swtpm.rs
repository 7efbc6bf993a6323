//! swtpm, a TPM 2.0 in software, behind tpm2-pkcs11.
//!
//! A TPM holds three keys at a time, and knows nothing of the programs that use it: a resource manager swaps
//! them. Before a real one that is the kernel (`/dev/tpmrm0`), before swtpm it is tpm2-abrmd, which is reached
//! over D-Bus. Its client starts threads in whoever loads it, so that tpm2-pkcs11 talks to a process that is the
//! client (`tpm2_send`, by the TCTI `cmd`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use keymark_bench::error::Error;
use keymark_places::private_dir::{PrivateDir, check_room_for_socket, record};
use keymark_places::program;

use super::super::module::ModuleFile;
use super::super::modules::Places;
use super::{OwnPlace, write};

/// The library's registration with p11-kit, or the name of its product.
const MODULES: [&str; 2] = ["tpm2", "tpm2_pkcs11"];
/// Starts and ends everything.
const SUPERVISOR: &str = include_str!("swtpm.sh");
/// It takes 0.1 s here.
const START: Duration = Duration::from_secs(10);
/// Where the programs complain.
const LOG: &str = "log";

/// Where they are, and Debian's packages of them. Some are for administrators, whose directories are not in
/// everybody's `PATH`.
const PROGRAMS: [(&str, &str); 5] = [
    ("swtpm", "swtpm"),
    ("dbus-daemon", "dbus-daemon"),
    ("dbus-send", "dbus-bin"),
    ("tpm2-abrmd", "tpm2-abrmd"),
    ("tpm2_send", "tpm2-tools"),
];
const ADMINISTRATORS: &str = "/usr/sbin";

/// A bus for whoever has this user's rights and finds its socket.
const BUS: &str = "<busconfig>
  <type>session</type>
  <listen>unix:path=PLACE/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context=\"default\">
    <allow own=\"com.intel.tss2.Tabrmd\"/>
    <allow send_destination=\"*\"/>
    <allow receive_sender=\"*\"/>
  </policy>
</busconfig>
";

/// The running programs: they end with the value, or with keymark if that is killed.
#[derive(Debug)]
pub(super) struct Emulator {
    supervisor: Child,
    log: PathBuf,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

pub(super) fn installed(places: &Places) -> Result<PathBuf, Error> {
    let mut modules = MODULES.iter().filter_map(|name| places.named(name));
    let module = modules.find(|module| module.file.exists());
    let lacking = missing("tpm2-pkcs11", "libtpm2-pkcs11-1");
    let library = module.map(|module| module.file).ok_or(lacking)?;
    programs().map(|_| library)
}

/// In the order in which they are told to the supervisor, `tpm2_send` last.
fn programs() -> Result<[PathBuf; 5], Error> {
    let mut found = PROGRAMS.map(|_| PathBuf::new());
    for (path, (program, package)) in found.iter_mut().zip(PROGRAMS) {
        *path = program::locate(None, program)
            .or_else(|| program::locate(Some(Path::new(ADMINISTRATORS)), program))
            .ok_or_else(|| missing(program, package))?;
    }
    Ok(found)
}

fn missing(what: &str, package: &str) -> Error {
    Error::Missing {
        what: what.to_owned(),
        reason: "the device 'swtpm' needs it".to_owned(),
        advice: format!(
            "apt-get install {package} brings it, 'make packages-soft' all that the device needs"
        ),
    }
}

pub(super) fn prepare(library: PathBuf) -> Result<OwnPlace, Error> {
    check_room_for_socket("tpm.ctrl")?;
    let [swtpm, dbus_daemon, dbus_send, broker, client] = programs()?;
    let place = PrivateDir::new()?;
    let path = plain(place.path())?.to_owned();
    place.subdirectory("state")?;
    let store = place.subdirectory("store")?;
    write(&place.path().join("bus.conf"), &BUS.replace("PLACE", &path))?;
    let emulator = started(&place, &[swtpm, dbus_daemon, dbus_send, broker])?;
    // Ctrl-C is keymark's to hear. The library ends its client by SIGTERM; one that is killed leaves it waiting for
    // input, since it holds the other end of that itself.
    let client = format!(
        "cmd:trap '' INT HUP; DBUS_SESSION_BUS_ADDRESS=unix:path={path}/bus \
         exec setpriv --pdeathsig KILL {} -T tabrmd:bus_type=session 2>/dev/null",
        client.display()
    );
    let variables: [(&str, OsString); 4] = [
        ("TPM2_PKCS11_STORE", store.into_os_string()),
        ("TPM2_PKCS11_TCTI", client.into()),
        // Errors come as return codes; on the terminal nobody knows whose they are.
        ("TPM2_PKCS11_LOG_LEVEL", "0".into()),
        ("TSS2_LOG", "all+none".into()),
    ];
    let environment = variables.map(|(name, value)| (name.to_owned(), value));
    Ok(OwnPlace {
        file: ModuleFile {
            path: library,
            environment: BTreeMap::from(environment),
        },
        emulator: Some(emulator),
        place,
    })
}

/// A path that a shell, a D-Bus address (D-Bus specification, "Server Addresses") and swtpm's options all take
/// as it is.
fn plain(path: &Path) -> Result<&str, Error> {
    let is_plain =
        |octet: u8| octet.is_ascii_alphanumeric() || matches!(octet, b'/' | b'.' | b'-' | b'_');
    let text = path.to_str().filter(|text| text.bytes().all(is_plain));
    text.ok_or_else(|| {
        Error::call(
            format!("starting swtpm in {path:?}"),
            "programs are told where it is in lines of text that cannot have this name",
            "set TMPDIR to a directory of letters, digits, '.', '-' and '_'",
        )
    })
}

fn started(place: &PrivateDir, programs: &[PathBuf]) -> Result<Emulator, Error> {
    let failed = |error: io::Error| Error::call("starting swtpm", error, "");
    let log = place.path().join(LOG);
    let mut command = program::command(Path::new("/bin/sh"));
    let script = place.path().join("start");
    write(&script, SUPERVISOR)?;
    command
        .args([script.as_path(), place.path()])
        .args(programs)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(&log).map_err(failed)?)
        // Ctrl-C is keymark's to hear.
        .process_group(0);
    let mut emulator = Emulator {
        supervisor: command.spawn().map_err(failed)?,
        log,
    };
    record(place.path(), emulator.supervisor.id())?;
    let told = emulator.supervisor.stdout.take();
    let line = told.ok_or_else(|| io::ErrorKind::BrokenPipe.into());
    let line = line.and_then(|told| program::first_line(told, START));
    let line = line.map_err(|error| emulator.explained(failed(error)))?;
    for process in line.split(' ').filter_map(|number| number.parse().ok()) {
        record(place.path(), process)?;
    }
    Ok(emulator)
}

impl Emulator {
    /// The error with the programs' last complaint.
    pub(super) fn explained(&self, error: Error) -> Error {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        match (log.lines().rfind(|line| !line.trim().is_empty()), error) {
            (
                Some(complaint),
                Error::Call {
                    call,
                    reason,
                    advice,
                },
            ) => Error::call(call, format!("{reason} ({complaint})"), advice),
            (_, error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_programs_cannot_be_told_is_refused_with_the_reason() {
        assert_eq!(plain(Path::new("/tmp/a-b_c.D1")).unwrap(), "/tmp/a-b_c.D1");
        for odd in ["/tmp/a b", "/tmp/a,b", "/tmp/$(x)", "/tmp/ä"] {
            let error = plain(Path::new(odd)).unwrap_err().to_string();
            assert!(error.contains("set TMPDIR"), "{error}");
        }
    }
}

//! swtpm, a TPM 2.0 in software, behind tpm2-pkcs11.
//!
//! A TPM holds three keys at a time, and knows nothing of the programs that use it: a resource manager swaps
//! them. Before a real one that is the kernel (`/dev/tpmrm0`), before swtpm it is tpm2-abrmd, which is reached
//! over D-Bus. Its client starts threads in the program that loads it, so that tpm2-pkcs11 talks to a process that is the
//! client (`tpm2_send`, by the TCTI `cmd`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::places::private_dir::{PrivateDir, check_room_for_socket};
use crate::places::program;
use keymark_bench::Error;

use super::{ManagedPlace, write};
use crate::emulator::{Emulator, plain};
use crate::pkcs11::module::ModuleFile;
use crate::pkcs11::module::modules::Places;

/// The library's registration with p11-kit, or the name of its product.
const MODULES: [&str; 2] = ["tpm2", "tpm2_pkcs11"];
/// Starts and ends everything.
const SUPERVISOR: &str = include_str!("swtpm.sh");
/// Paths of the programs, and Debian's packages of them. Some are for administrators, whose directories are not in
/// everybody's `PATH`.
const PROGRAMS: [(&str, &str); 5] = [
    ("swtpm", "swtpm"),
    ("dbus-daemon", "dbus-daemon"),
    ("dbus-send", "dbus-bin"),
    ("tpm2-abrmd", "tpm2-abrmd"),
    ("tpm2_send", "tpm2-tools"),
];
const ADMINISTRATORS: &str = "/usr/sbin";

/// A bus for programs that have this user's rights and find its socket.
const BUS: &str = include_str!("bus.conf");

pub(super) fn installed(places: &Places) -> Result<PathBuf, Error> {
    let library = MODULES.iter().find_map(|name| places.installed(name));
    let library = library.ok_or_else(|| missing("tpm2-pkcs11", "libtpm2-pkcs11-1"))?;
    programs().map(|_| library)
}

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
            "install it with 'apt-get install {package}', or everything for the device with 'make packages-soft'"
        ),
    }
}

pub(super) fn prepare(library: PathBuf) -> Result<ManagedPlace, Error> {
    check_room_for_socket("tpm.ctrl")?;
    let [swtpm, dbus_daemon, dbus_send, broker, client] = programs()?;
    let place = PrivateDir::new()?;
    let path = plain(place.path())?.to_owned();
    place.subdirectory("state")?;
    let store = place.subdirectory("store")?;
    write(&place.path().join("bus.conf"), &BUS.replace("PLACE", &path))?;
    let programs = [swtpm, dbus_daemon, dbus_send, broker];
    let emulator = Emulator::start(&place, SUPERVISOR, programs.map(OsString::from))?;
    // Ctrl-C is keymark's to hear, and the client has a handler for it: it gets a session of its own. When keymark is
    // killed it would wait for input, since it holds the other end of that itself.
    let client = format!(
        "cmd:DBUS_SESSION_BUS_ADDRESS=unix:path={path}/bus \
         exec setsid setpriv --pdeathsig KILL {} -T tabrmd:bus_type=session 2>/dev/null",
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
    Ok(ManagedPlace {
        file: ModuleFile {
            path: library,
            environment: BTreeMap::from(environment),
            reserved: None,
        },
        emulator: Some(emulator),
        place,
    })
}

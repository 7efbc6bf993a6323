//! A token's key, loaded once by the program `openssl` as the server will load it: for its public half, and so that a PIN
//! is tried once and no server tries it. And keymark's own module between a server and its token, which counts the calls.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use ::openssl::pkey::{PKey, Public};
use ::openssl::rsa::Rsa;
use der::asn1::{AnyRef, Utf8StringRef};
use der::pem::{LineEnding, PemLabel};
use der::{EncodePem, Sequence, Tag};
use keymark_bench::{During as _, Error};
use keymark_shim_protocol::pkcs11::settings::Settings;
use keymark_shim_protocol::pkcs11::trace;
use keymark_stores::pkcs11::ProgramKey;
use keymark_stores::pkcs11::wrapped;
use keymark_stores::places::memory_file::STANDARD_INPUT;
use keymark_stores::places::private_dir::PrivateDir;
use keymark_stores::places::program;

use crate::installed::SearchPath;
use crate::openssl::key::{complaint, pin_file, refuse_pin};
use crate::openssl::{PROGRAM, TokenWay};
use crate::programs::write_private;
use crate::templates::Comments;
use crate::tls::servers::kind::InstalledServer;
use crate::tls::servers::log::visible;
use crate::tls::servers::worker_user::WorkerUser;

/// Files that OpenSSL needs for a token's key, in a directory.
pub(crate) struct TokenFiles {
    /// The name of its configuration.
    pub(crate) configuration: PathBuf,
    /// The key's URI, as the way wants it.
    pub(crate) uri: String,
    /// File with the PIN, if it is the program's standard input.
    pub(crate) pin: Option<File>,
}

/// Writes the configuration there, for the key behind that module. The PIN is in no file of the directory: engine and provider open the program's standard
/// input by its name.
pub(crate) fn write(
    server: &InstalledServer,
    (key, way): (&ProgramKey, TokenWay),
    module: &Path,
    directory: &Path,
) -> Result<TokenFiles, Error> {
    let pin = pin_file(key)?;
    let by_name = pin.as_ref().map(|_| STANDARD_INPUT);
    let build = server.openssl()?;
    let text = build.configuration(way, module, by_name, 1, Comments::Left)?;
    let configuration = directory.join("openssl.cnf");
    write_private(&configuration, text.as_bytes())?;
    Ok(TokenFiles {
        configuration,
        uri: uri(key, way, by_name.map(Path::new)),
        pin,
    })
}

/// Variables that a line of a configuration can name.
pub(crate) fn variables(
    environment: &[(OsString, OsString)],
) -> impl Iterator<Item = (String, &OsString)> {
    let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    environment.iter().filter_map(move |(name, value)| {
        let name = name.to_str()?;
        (!name.is_empty() && name.chars().all(word)).then(|| (name.to_owned(), value))
    })
}

/// The engine finds the PIN by the URI, the provider by its configuration.
pub(crate) fn uri(key: &ProgramKey, way: TokenWay, pin_file: Option<&Path>) -> String {
    let uri = match way {
        TokenWay::Engine => key.uri(pin_file),
        TokenWay::Provider => key.uri(None),
    };
    // RFC 7512 allows them; in a configuration they would mean something.
    uri.replace('$', "%24").replace('\'', "%27")
}

/// The key's public half.
pub(crate) fn public_key(
    server: &InstalledServer,
    key: &ProgramKey,
    way: TokenWay,
) -> Result<PKey<Public>, Error> {
    const CALL: &str = "openssl pkey -pubout";
    let program = PROGRAM.locate(&SearchPath::of(None))?;
    let directory = PrivateDir::new()?;
    let files = write(server, (key, way), key.module(), directory.path())?;
    let mut command = program::command(&program);
    if let Some(pin) = files.pin {
        command.stdin(pin);
    }
    command
        .envs(key.environment.clone())
        .env("LC_ALL", "C")
        .env("OPENSSL_CONF", &files.configuration)
        .args(["pkey", "-pubout"]);
    match way {
        TokenWay::Engine => command.args(["-engine", "pkcs11", "-inform", "engine"]),
        TokenWay::Provider => &mut command,
    };
    let done = program::run(command.args(["-in", &files.uri]), program::WORK).during(CALL)?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(refused(CALL, &said));
    }
    let read = PKey::public_key_from_pem(&done.stdout).or_else(|_| {
        // pkcs11-provider 1.0 writes RSA keys in the form of PKCS#1.
        Rsa::public_key_from_pem_pkcs1(&done.stdout).and_then(PKey::from_rsa)
    });
    read.during(CALL)
}

fn refused(call: &str, said: &str) -> Error {
    let advice = if refuse_pin(said) {
        "the token refused the PIN, which was tried once; no server was started"
    } else {
        "no server was started"
    };
    Error::call(call, visible(complaint(said)), advice)
}

/// The file by which the provider passes for a key's file (pkcs11-provider's `uri2pem`).
#[derive(Sequence)]
struct UriFile<'u> {
    /// A VisibleString.
    description: AnyRef<'u>,
    uri: Utf8StringRef<'u>,
}

impl PemLabel for UriFile<'_> {
    const PEM_LABEL: &'static str = "PKCS#11 PROVIDER URI";
}

/// Writes such a file for a URI.
pub(crate) fn uri_pem(uri: &str) -> Result<String, Error> {
    let made = || {
        let file = UriFile {
            description: AnyRef::new(Tag::VisibleString, b"PKCS#11 Provider URI v1.0")?,
            uri: Utf8StringRef::new(uri)?,
        };
        file.to_pem(LineEnding::LF)
    };
    made().during("writing a key's URI")
}

/// The library, with its settings next to it.
const LIBRARY: &str = "keymark-pkcs11.so";

/// Counting of the calls to a token's module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tracing {
    /// Calls are counted.
    Calls,
    /// The server has the token's own module.
    #[default]
    Off,
}

/// The module that counts the calls of one server, in place of the only one that it would have loaded.
#[derive(Debug)]
pub(crate) struct TokenTrace {
    /// Module that the server loads.
    pub(crate) module: PathBuf,
    file: PathBuf,
}

/// Calls until now, threads and processes together.
#[derive(Debug, Clone, Default)]
pub struct CallsSoFar {
    /// Processes that have made any.
    pub processes: BTreeSet<u32>,
    /// Calls by function.
    pub calls: trace::Calls,
}

impl CallsSoFar {
    /// Both together.
    pub fn add(&mut self, other: Self) {
        self.processes.extend(other.processes);
        self.calls = trace::together(std::mem::take(&mut self.calls), &other.calls);
    }
}

impl TokenTrace {
    /// Makes the module that the server loads in place of `target`. Workers run as another user and count their
    /// calls: the file exists before they do, and they may write it.
    pub(crate) fn before(
        target: &Path,
        place: &PrivateDir,
        worker: Option<&WorkerUser>,
    ) -> Result<Self, Error> {
        let directory = place.subdirectory("traced")?;
        let file = directory.join("trace");
        let module = wrapped(&settings(target, &file)?, &directory, LIBRARY)?;
        trace::create(&file).during(format_args!("making {}", file.display()))?;
        if let Some(worker) = worker {
            worker.let_read(&directory)?;
            worker.let_read(&module)?;
            worker.let_read(&Settings::beside(&module))?;
            worker.let_write(&file)?;
        }
        Ok(Self { module, file })
    }

    /// Calls so far.
    pub(crate) fn read(&self) -> Result<CallsSoFar, Error> {
        let mut sum = CallsSoFar::default();
        for thread in trace::read(&self.file).during("reading what the server asked")? {
            sum.add(CallsSoFar {
                processes: BTreeSet::from([thread.process]),
                calls: thread.calls,
            });
        }
        Ok(sum)
    }
}

/// A twin counts itself: a module before it would not see who waits in it.
fn settings(module: &Path, file: &Path) -> Result<Settings, Error> {
    let beside = Settings::beside(module);
    let own = Settings::read(&beside).during("reading a module's settings")?;
    let target = own.module.clone().unwrap_or_else(|| module.to_owned());
    Ok(Settings {
        module: Some(target),
        trace: Some(file.to_owned()),
        ..own
    })
}

#[cfg(test)]
mod tests {
    use keymark_testkit::{assert_says, assert_silent};

    use super::*;

    #[test]
    fn a_uri_of_any_length_is_a_key_file() {
        for objects in [1, 20, 40] {
            let uri = format!("pkcs11:token=t;object={}", "object-".repeat(objects));
            let pem = uri_pem(&uri).unwrap();
            assert!(pem.lines().all(|line| line.len() <= 64), "{pem}");
            let (label, der) = der::Document::from_pem(&pem).unwrap();
            assert_eq!(label, UriFile::PEM_LABEL);
            assert_eq!(der.decode_msg::<UriFile<'_>>().unwrap().uri.as_str(), uri);
        }
    }

    #[test]
    fn a_refused_pin_is_told_apart() {
        let pin = refused("x", "Engine \"pkcs11\" set.\nLogin failed\n").to_string();
        assert_says(&pin, ["Login failed", "tried once"]);
        let other = refused("x", "The private key was not found\n").to_string();
        assert_silent(&other, ["PIN"]);
    }

    use keymark_shim_protocol::pkcs11::settings::TwinSettings;

    #[test]
    fn a_twin_counts_itself_and_another_module_is_wrapped() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("trace");
        let module = directory.path().join("libtoken.so");
        let of_token = settings(&module, &file).unwrap();
        assert_eq!(of_token.module.as_ref(), Some(&module));
        assert_eq!(
            (of_token.trace.as_ref(), of_token.twin),
            (Some(&file), None)
        );
        let twin = Settings {
            module: Some("/usr/lib/libsofthsm2.so".into()),
            twin: Some(TwinSettings {
                profile: "nitrokey-hsm".into(),
                device: Some("/device".into()),
                ..TwinSettings::default()
            }),
            ..Settings::default()
        };
        twin.write(&Settings::beside(&module)).unwrap();
        let of_twin = settings(&module, &file).unwrap();
        assert_eq!((of_twin.module, of_twin.twin), (twin.module, twin.twin));
        assert_eq!(of_twin.trace, Some(file));
    }
}

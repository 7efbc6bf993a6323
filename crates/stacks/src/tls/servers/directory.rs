//! The private directory of one server: keys, certificates, configuration, what is served, the log.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;
use keymark_stores::places::private_dir::PrivateDir;
use openssl::error::ErrorStack;

use crate::tls::servers::error::ServerError;
use crate::tls::servers::identity::{Identity, PrivateKey, TokenWay};
use crate::tls::servers::kind::Installed;
use crate::tls::servers::spec::{Capacity, ServerSpec};
use crate::tls::servers::text::{Frame, KeyReference, Pair, Purpose, QuotedPath, Tls};
use crate::tls::servers::token;
use crate::tls::servers::token_trace::{TokenTraces, Tracing};
use crate::tls::servers::worker_user::WorkerUser;

/// The file that is served.
pub(crate) const DOCUMENT: &str = "document";
/// Everything that a server reads and writes.
#[derive(Debug)]
pub(crate) struct ServerDirectory {
    pub(crate) worker: Option<WorkerUser>,
    pub(crate) configuration: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) capacity: Capacity,
    /// Of the server's process.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// What has the token's PIN: the process's standard input.
    pub(crate) pin: Option<File>,
    /// Before the tokens of keys whose calls are counted.
    pub(crate) traces: TokenTraces,
    /// Removed last.
    pub(crate) private: PrivateDir,
}

impl ServerDirectory {
    /// A directory with nothing but a log.
    pub(crate) fn empty() -> Result<Self, Error> {
        let private = PrivateDir::new()?;
        let worker = WorkerUser::needed()?;
        if let Some(worker) = &worker {
            worker.let_pass(private.path())?;
        }
        Ok(Self {
            worker,
            configuration: private.path().join("server.conf"),
            log: private.path().join("error.log"),
            capacity: Capacity::default(),
            environment: Vec::new(),
            pin: None,
            traces: TokenTraces::default(),
            private,
        })
    }

    /// Writes everything that the server needs, to listen at that port.
    pub(crate) fn make(
        server: &Installed,
        spec: &ServerSpec,
        port: u16,
    ) -> Result<Self, ServerError> {
        let mut made = Self::empty()?;
        made.capacity = spec.capacity;
        let documents = made.document(spec.body)?;
        let tls = made.tls(server, spec)?;
        let directory = made.private.path();
        let worker = made.worker.as_ref();
        let frame = Frame {
            directory: QuotedPath::new("the directory for temporary files", directory)?,
            documents: QuotedPath::new("the directory of what is served", &documents)?,
            log: QuotedPath::new("the log's file", &made.log)?,
            pid_file: QuotedPath::new("the file of the number", &directory.join("number"))?,
            worker: worker.map(|worker| (worker.name.as_str(), worker.group.as_str())),
            port,
            capacity: spec.capacity,
            environment: variables(&made.environment),
        };
        let text = server.kind.configuration(&frame, &tls)?;
        write_private(&made.configuration, text.as_bytes())?;
        Ok(made)
    }

    /// What is served, where the workers can read it.
    fn document(&self, size: u32) -> Result<PathBuf, Error> {
        let documents = self.private.subdirectory("documents")?;
        let document = documents.join(DOCUMENT);
        let line = b"A line of what keymark downloads: sixty-three letters and a feed.\n";
        let content = line.iter().copied().cycle().take(size as usize);
        write_private(&document, &content.collect::<Vec<u8>>())?;
        if let Some(worker) = &self.worker {
            worker.let_read(&documents)?;
            worker.let_read(&document)?;
        }
        Ok(documents)
    }

    fn tls<'s>(
        &mut self,
        server: &Installed,
        spec: &'s ServerSpec,
    ) -> Result<Tls<'s>, ServerError> {
        let dh = spec.handshakes.dh;
        let mut openssl_conf = None;
        let mut pairs = Vec::new();
        for (number, identity) in spec.certificates.iter().enumerate() {
            let directory = self.private.subdirectory(&format!("k{number}"))?;
            let mut pem = identity.certificate.to_pem().map_err(failed)?;
            if let Some(dh) = dh.filter(|_| number == 0) {
                // Apache reads them from the first certificate's file alone; others pass them over.
                pem.extend(dh.pem.as_bytes());
            }
            let certificate = directory.join("certificate.pem");
            write_private(&certificate, &pem)?;
            let key = self.key(server, identity, &directory, &mut openssl_conf)?;
            pairs.push(Pair {
                certificate: QuotedPath::new("the certificate's file", &certificate)?,
                key,
            });
        }
        let dh = match dh {
            Some(dh) => {
                let file = self.private.path().join("dh.pem");
                write_private(&file, dh.pem.as_bytes())?;
                Some(QuotedPath::new("the DH parameters' file", &file)?)
            }
            None => None,
        };
        let configuration = match openssl_conf {
            Some(file) => file,
            // Without one OpenSSL would read the system's.
            None => {
                let empty = self.private.path().join("openssl.cnf");
                write_private(&empty, b"")?;
                empty
            }
        };
        self.environment
            .push(("OPENSSL_CONF".into(), configuration.into_os_string()));
        Ok(Tls {
            pairs,
            handshakes: &spec.handshakes,
            level: spec.level(),
            purpose: Purpose::Measuring,
            dh,
        })
    }

    fn key(
        &mut self,
        server: &Installed,
        identity: &Identity,
        directory: &Path,
        openssl_conf: &mut Option<PathBuf>,
    ) -> Result<KeyReference, ServerError> {
        let (key, way) = match &identity.key {
            PrivateKey::File(key) => {
                let file = directory.join("key.pem");
                let pem = key.private_key_to_pem_pkcs8().map_err(failed)?;
                write_private(&file, &pem)?;
                return Ok(KeyReference::File(QuotedPath::new(
                    "the key's file",
                    &file,
                )?));
            }
            PrivateKey::Token(key, way) => (key, *way),
        };
        let files = match key.tracing {
            Tracing::Off => token::write(server, key, way, directory)?,
            Tracing::Calls => {
                let worker = self.worker.as_ref();
                let module = self.traces.before(&key.module, &self.private, worker)?;
                token::write(server, &key.behind(&module), way, directory)?
            }
        };
        openssl_conf.get_or_insert(files.configuration);
        self.pin = self.pin.take().or(files.pin);
        self.environment.extend(key.environment.iter().cloned());
        if let (Some(worker), Some(own)) = (&self.worker, &key.own_directory) {
            worker.let_use_token(own)?;
        }
        Ok(match way {
            TokenWay::Engine => KeyReference::Engine { uri: files.uri },
            TokenWay::Provider => {
                let file = directory.join("key-uri.pem");
                write_private(&file, token::uri_pem(&files.uri).as_bytes())?;
                KeyReference::Provider(QuotedPath::new("the file of the key's URI", &file)?)
            }
        })
    }
}

/// Names of variables that nginx can be told in a line.
fn variables(environment: &[(OsString, OsString)]) -> Vec<String> {
    let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let names = environment.iter().filter_map(|(name, _)| name.to_str());
    let mut names: Vec<String> = names
        .filter(|name| !name.is_empty() && name.chars().all(word))
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn failed(error: ErrorStack) -> Error {
    Error::call("PEM_write_bio", error, "")
}

/// Nobody else reads it.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> Result<(), Error> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(content))
        .map_err(|error| Error::call(format!("writing {}", path.display()), error, ""))
}

//! The private directory of one server: keys, certificates, configuration, what is served, the log.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use keymark_bench::{During as _, Error};
use keymark_stores::places::private_dir::PrivateDir;

use crate::openssl::TokenWay;
use crate::programs::write_private;
use crate::templates::quotable;
use crate::tls::servers::identity::{Identity, PrivateKey};
use crate::tls::servers::kind::InstalledServer;
use crate::tls::servers::spec::{Capacity, ServerSpec};
use crate::tls::servers::text::{Pair, ServerFrame, Tls};
use crate::tls::servers::token::{self, TokenTrace, Tracing};
use crate::tls::servers::worker_user::WorkerUser;

/// The file that is served.
pub(crate) const DOCUMENT: &str = "document";
/// Name of the directory in messages.
const TEMPORARY: &str = "the directory for temporary files";
const PEM: &str = "PEM_write_bio";

/// Everything that a server reads and writes.
#[derive(Debug)]
pub(crate) struct ServerDirectory {
    pub(crate) worker: Option<WorkerUser>,
    pub(crate) configuration: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) capacity: Capacity,
    /// Environment of the server's process.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// File with the token's PIN, the standard input of the process.
    pub(crate) pin: Option<File>,
    /// Module that counts the calls to the token.
    pub(crate) trace: Option<TokenTrace>,
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
            trace: None,
            private,
        })
    }

    /// Writes everything that the server needs, to listen at that port.
    pub(crate) fn make(
        server: &InstalledServer,
        spec: &ServerSpec,
        port: u16,
    ) -> Result<Self, Error> {
        let mut made = Self::empty()?;
        made.capacity = spec.capacity;
        made.document(spec.body)?;
        let tls = made.tls(server, spec)?;
        let frame = ServerFrame {
            directory: made.path()?,
            worker: made.worker.as_ref(),
            port,
            processes: spec.capacity.processes.get().into(),
            connections: spec.capacity.connections.get().into(),
            asks_clients: spec.client.is_some(),
        };
        let text = (server.kind.configuration)(server.kind, &tls, Some(&frame))?;
        write_private(&made.configuration, text.as_bytes())?;
        Ok(made)
    }

    fn path(&self) -> Result<&str, Error> {
        quotable(TEMPORARY, self.private.path())
    }

    /// Writes the served file, where the workers can read it.
    fn document(&self, size: u32) -> Result<(), Error> {
        let documents = self.private.subdirectory("documents")?;
        let document = documents.join(DOCUMENT);
        let line = b"A line of what keymark downloads: sixty-three letters and a feed.\n";
        let content = line.iter().copied().cycle().take(size as usize);
        write_private(&document, &content.collect::<Vec<u8>>())?;
        if let Some(worker) = &self.worker {
            worker.let_read(&documents)?;
            worker.let_read(&document)?;
        }
        Ok(())
    }

    fn tls<'s>(
        &mut self,
        server: &InstalledServer,
        spec: &'s ServerSpec,
    ) -> Result<Tls<'s>, Error> {
        let dh = spec.handshakes.dh;
        let mut openssl_conf = None;
        let mut pairs = Vec::new();
        for (number, identity) in spec.certificates.iter().enumerate() {
            let name = format!("k{number}");
            let directory = self.private.subdirectory(&name)?;
            let mut pem = identity.certificate.to_pem().during(PEM)?;
            if let Some(dh) = dh.filter(|_| number == 0) {
                // Apache reads them from the first certificate's file alone; others pass them over.
                pem.extend(dh.pem.as_bytes());
            }
            write_private(&directory.join("certificate.pem"), &pem)?;
            quotable(TEMPORARY, &directory)?;
            let key = self.key(server, identity, &directory, &mut openssl_conf)?;
            pairs.push(Pair {
                certificate: in_directory(&directory, "certificate.pem"),
                key,
                way: identity.way(),
            });
        }
        if let Some(dh) = dh {
            write_private(&self.private.path().join("dh.pem"), dh.pem.as_bytes())?;
        }
        if let Some(client) = &spec.client {
            let authority = client.authority.to_pem().during(PEM)?;
            write_private(&self.private.path().join("clients.pem"), &authority)?;
        }
        let dh = dh.map(|_| Ok::<_, Error>(format!("{}/dh.pem", self.path()?)));
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
        let variables = token::variables(&self.environment);
        let variables = variables.map(|(name, value)| (name, value.to_string_lossy().into_owned()));
        // One a name.
        let variables: BTreeMap<String, String> = variables.collect();
        Ok(Tls {
            pairs,
            handshakes: &spec.handshakes,
            ciphers: spec.cipher_string(),
            dh: dh.transpose()?,
            variables: variables.into_iter().collect(),
        })
    }

    fn key(
        &mut self,
        server: &InstalledServer,
        identity: &Identity,
        directory: &Path,
        openssl_conf: &mut Option<PathBuf>,
    ) -> Result<String, Error> {
        let (key, way) = match &identity.key {
            PrivateKey::File(key) => {
                let pem = key.private_key_to_pem_pkcs8().during(PEM)?;
                write_private(&directory.join("key.pem"), &pem)?;
                return Ok(in_directory(directory, "key.pem"));
            }
            PrivateKey::Token(key, way) => (key, *way),
        };
        if identity.tracing == Tracing::Calls && self.trace.is_none() {
            let worker = self.worker.as_ref();
            self.trace = Some(TokenTrace::before(key.module(), &self.private, worker)?);
        }
        // All keys on tokens are behind one module.
        let module = self
            .trace
            .as_ref()
            .map_or(key.module(), |own| own.module.as_path());
        let files = token::write(server, (key, way), module, directory)?;
        openssl_conf.get_or_insert(files.configuration);
        self.pin = self.pin.take().or(files.pin);
        self.environment.extend(key.environment.iter().cloned());
        if let (Some(worker), Some(own)) = (&self.worker, &key.own_place) {
            // It may write to the files that are there by now (a twin's device, a trace), and makes no new ones. Other
            // tokens' files are left as they are.
            worker.let_use_token(own)?;
        }
        Ok(match way {
            TokenWay::Engine => files.uri,
            TokenWay::Provider => {
                let pem = token::uri_pem(&files.uri)?;
                write_private(&directory.join("key-uri.pem"), pem.as_bytes())?;
                in_directory(directory, "key-uri.pem")
            }
        })
    }
}

/// A file in a directory whose name is valid in configurations.
fn in_directory(directory: &Path, file: &str) -> String {
    directory.join(file).display().to_string()
}

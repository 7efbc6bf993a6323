//! Apache's configuration: <https://httpd.apache.org/docs/2.4/mod/mod_ssl.html>.

use std::path::{Path, PathBuf};
use std::process::Command;

use keymark_bench::case::StackName;
use keymark_bench::error::Error;
use keymark_load::TlsVersion;

use crate::tls::servers::administrator::{EnvironmentPlace, Section};
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::error::ServerError;
use crate::tls::servers::kind::{Installed, Library, ServerKind};
use crate::tls::servers::log::Fault;
use crate::tls::servers::openssl::{self, LinkedOpenSsl};
use crate::tls::servers::program::{BroughtBy, Program};
use crate::tls::servers::spec::{Capacity, ServerSpec};
use crate::tls::servers::text::{
    Comments, Directive, ENGINE_WITHOUT_RSA_EXCHANGE, Frame, KeyReference, Purpose, QuotedPath,
    Tls, text,
};

/// Apache's modules that every configuration needs, where they are not in the program: `mod_so` is always there.
const MODULES: [&str; 4] = ["unixd", "log_config", "authz_core", "ssl"];
/// Debian's, Fedora's and Arch's directories of them.
const DIRECTORIES: [&str; 5] = [
    "/usr/lib/apache2/modules",
    "/usr/lib64/httpd/modules",
    "/usr/lib/httpd/modules",
    "/usr/lib64/apache2",
    "/usr/libexec/apache2",
];

const APACHE: Program = Program {
    name: "Apache",
    files: &["apache2", "httpd"],
    // Without the service, which would listen at port 80.
    brought_by: BroughtBy::Package("apache2-bin"),
    version: &[("-v", "Apache/")],
};

/// Apache with one of its ways to serve many clients at once (its Multi-Processing Modules).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Apache {
    /// Processes with threads, and one thread that waits for idle connections: what distributions choose.
    Event,
    /// A process a connection.
    Prefork,
    /// Processes with a thread a connection.
    Worker,
}

impl Apache {
    const fn mpm(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Prefork => "prefork",
            Self::Worker => "worker",
        }
    }

    /// The modules that are files: Debian builds some into the program.
    fn modules(self) -> Vec<(String, PathBuf)> {
        let directory = directory().unwrap_or(Path::new(DIRECTORIES[0]));
        let names = [format!("mpm_{}", self.mpm())].into_iter();
        names
            .chain(MODULES.map(str::to_owned))
            .map(|name| (directory.join(format!("mod_{name}.so")), name))
            .filter(|(file, _)| file.is_file())
            .map(|(file, name)| (name, file))
            .collect()
    }
}

fn directory() -> Option<&'static Path> {
    let mut directories = DIRECTORIES.iter().map(Path::new);
    directories.find(|directory| directory.join("mod_ssl.so").is_file())
}

impl ServerKind for Apache {
    fn stack(&self) -> StackName {
        StackName::of(match self {
            Self::Event => "apache",
            Self::Prefork => "apache-prefork",
            Self::Worker => "apache-worker",
        })
    }

    fn program(&self) -> Program {
        APACHE
    }

    fn library(&self, program: &Path) -> Result<Library, Error> {
        let directory = directory().ok_or_else(|| {
            APACHE.missing(format!(
                "{} is installed, but mod_ssl.so is not",
                program.display()
            ))
        })?;
        let mpm = directory.join(format!("mod_mpm_{}.so", self.mpm()));
        if !mpm.is_file() {
            return Err(APACHE.missing(format!("there is no {}", mpm.display())));
        }
        LinkedOpenSsl::of(&directory.join("mod_ssl.so")).map(Library::of_openssl)
    }

    fn check(&self, server: &Installed, spec: &ServerSpec) -> Result<(), ServerError> {
        openssl::check(server, spec)
    }

    fn configuration(&self, frame: &Frame<'_>, tls: &Tls<'_>) -> Result<String, ServerError> {
        configuration(*self, frame, tls)
    }

    fn command(&self, command: &mut Command, directory: &ServerDirectory) {
        command
            .arg("-f")
            .arg(&directory.configuration)
            .arg("-DFOREGROUND");
    }

    fn described(&self) -> Option<(&'static str, &'static str)> {
        Some(("mpm", self.mpm()))
    }

    fn faults(&self) -> &'static [(&'static str, Fault)] {
        &[
            ("could not bind to address", Fault::PortTaken),
            ("AH02565", Fault::KeyMismatch),
            ("AH01898", Fault::NoCipher),
            ("Unable to configure permitted SSL ciphers", Fault::NoCipher),
            ("SSL_CONF_cmd(\"Groups\"", Fault::NoGroup),
            ("SSLOpenSSLConfCmd Groups", Fault::NoGroup),
        ]
    }

    fn environment(&self) -> Option<EnvironmentPlace> {
        Some(EnvironmentPlace {
            file: "at the end of /etc/apache2/envvars",
            heading: "",
            assignment: "export ",
        })
    }

    fn guide(&self, tls: &Tls<'_>, _: &[String]) -> Vec<Section> {
        vec![
            Section::part(
                "mod_ssl ('a2enmod ssl')",
                "outside all virtual hosts, in /etc/apache2/mods-available/ssl.conf",
                &global_part(tls),
            ),
            Section::part(
                "The virtual host",
                "within <VirtualHost *:443>",
                &host_part(tls),
            ),
        ]
    }
}

/// The whole configuration.
fn configuration(kind: Apache, frame: &Frame<'_>, tls: &Tls<'_>) -> Result<String, ServerError> {
    let Frame {
        directory,
        documents,
        log,
        pid_file,
        port,
        ..
    } = frame;
    let mut out = format!(
        "ServerRoot {directory}\nDefaultRuntimeDir {directory}\nPidFile {pid_file}\nErrorLog {log}\n\
         LogLevel warn\nServerName localhost\nListen 127.0.0.1:{port}\n"
    );
    // `file:` wants the path without quotes around the whole.
    let mutex = directory.to_string().replacen('"', "\"file:", 1);
    out += &format!("Mutex {mutex} default\n");
    for (name, file) in kind.modules() {
        let file = QuotedPath::new("a module's file", &file)?;
        out += &format!("LoadModule {name}_module {file}\n");
    }
    if let Some((user, group)) = frame.worker {
        out += &format!("User {user}\nGroup {group}\n");
    }
    out += &capacity(kind, frame.capacity);
    // As many requests as a client likes, and nothing about files that are not there.
    out += &format!(
        "Timeout 60\nKeepAlive On\nMaxKeepAliveRequests 0\nKeepAliveTimeout 60\n\
         DocumentRoot {documents}\n<Directory {documents}>\n    Require all granted\n    AllowOverride None\n</Directory>\n"
    );
    out += &text(&global_part(tls), Comments::Left, "");
    out += &format!("<VirtualHost 127.0.0.1:{port}>\n");
    out += &text(&host_part(tls), Comments::Left, "    ");
    Ok(out + "</VirtualHost>\n")
}

/// Everything is started at the beginning and nothing ends for want of work: the load finds the same server at every
/// moment. With more to spare than one the log would complain, since there cannot be any.
fn capacity(kind: Apache, capacity: Capacity) -> String {
    let connections = u32::from(capacity.connections.get());
    match kind {
        Apache::Prefork => format!(
            "ServerLimit {connections}\nMaxRequestWorkers {connections}\nStartServers {connections}\n\
             MinSpareServers 1\nMaxSpareServers {}\nMaxConnectionsPerChild 0\n",
            connections + 1
        ),
        Apache::Event | Apache::Worker => {
            let processes = u32::from(capacity.processes.get());
            let threads = connections.div_ceil(processes);
            let all = threads * processes;
            format!(
                "ServerLimit {processes}\nStartServers {processes}\nThreadLimit {threads}\nThreadsPerChild {threads}\n\
                 MaxRequestWorkers {all}\nMinSpareThreads 1\nMaxSpareThreads {}\nMaxConnectionsPerChild 0\n",
                all + threads
            )
        }
    }
}

/// What stands outside all virtual hosts.
fn global_part(tls: &Tls<'_>) -> Vec<Directive> {
    let mut lines = Vec::new();
    if tls.by_engine() {
        lines.push(Directive::new("SSLCryptoDevice pkcs11").because(
            "Outside all virtual hosts. It makes mod_ssl ask the engine for keys that begin with 'pkcs11:'.",
        ));
    }
    match tls.purpose {
        Purpose::Measuring => lines.push(Directive::new("SSLSessionCache none")),
        Purpose::Administration => {}
    }
    lines
}

/// What stands in the virtual host.
fn host_part(tls: &Tls<'_>) -> Vec<Directive> {
    let mut versions = String::from("SSLProtocol -all");
    if tls.handshakes.has(TlsVersion::V1_2) {
        versions += " +TLSv1.2";
    }
    if tls.handshakes.has(TlsVersion::V1_3) {
        versions += " +TLSv1.3";
    }
    let mut lines = vec![
        Directive::new("SSLEngine on"),
        Directive::new(versions),
        Directive::new(format!("SSLCipherSuite \"{}\"", tls.ciphers())),
        Directive::new("SSLHonorCipherOrder on"),
        Directive::new(format!("SSLOpenSSLConfCmd Groups \"{}\"", tls.groups())),
    ];
    match tls.purpose {
        Purpose::Measuring => lines.push(Directive::new("SSLSessionTickets off")),
        Purpose::Administration => lines.push(Directive::warning(
            "Parameters for DHE go after the certificate in the first SSLCertificateFile: 'SSLOpenSSLConfCmd \
             DHParameters' is silently ignored.",
        )),
    }
    if tls.by_engine() {
        lines.push(Directive::warning(ENGINE_WITHOUT_RSA_EXCHANGE));
    }
    if tls.by_provider() {
        lines.push(Directive::warning(
            "A file with the URI, not the URI itself: with 'pkcs11:…' mod_ssl looks for the engine first. The \
             first handshake of each child takes a second: prefer mpm_event, with few processes.",
        ));
    }
    for pair in &tls.pairs {
        let key = match &pair.key {
            KeyReference::File(file) | KeyReference::Provider(file) => file.to_string(),
            KeyReference::Engine { uri } => format!("\"{uri}\""),
        };
        lines.push(Directive::new(format!(
            "SSLCertificateFile {}",
            pair.certificate
        )));
        lines.push(Directive::new(format!("SSLCertificateKeyFile {key}")));
    }
    lines
}

//! Apache httpd, with each of its ways to serve many clients at once.

use std::path::Path;
use std::process::Command;

use askama::Template;
use keymark_bench::{Error, StackName};

use crate::installed::Program;
use crate::templates::{quotable, written};
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::kind::{CryptoLibrary, ServerKind};
use crate::tls::servers::openssl;
use crate::tls::servers::text::{ServerFrame, Tls};

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

const PROGRAM: Program = Program {
    version: &[("-v", "Apache/")],
    // Without the service, which would listen at port 80.
    ..Program::of_package("Apache", &["apache2", "httpd"], "apache2-bin")
};

/// Processes with threads, and one thread that waits for idle connections: what distributions choose.
pub(crate) const EVENT: ServerKind = with_mpm(StackName::APACHE, "event");

/// A process a connection.
pub(crate) const PREFORK: ServerKind = with_mpm(StackName::of("apache-prefork"), "prefork");

/// Processes with a thread a connection.
pub(crate) const WORKER: ServerKind = with_mpm(StackName::of("apache-worker"), "worker");

/// Apache with one of its Multi-Processing Modules.
const fn with_mpm(stack: StackName, mpm: &'static str) -> ServerKind {
    ServerKind {
        stack,
        program: PROGRAM,
        library,
        check: openssl::check,
        configuration,
        command,
        mpm: Some(mpm),
    }
}

#[derive(Template)]
#[template(path = "apache.conf", escape = "none")]
struct ApacheConfig<'c> {
    tls: &'c Tls<'c>,
    frame: Option<&'c ServerFrame<'c>>,
    mpm: &'c str,
    /// Modules with their files.
    modules: Vec<(String, String)>,
}

/// The modules that are files: Debian builds some into the program.
fn modules(mpm: &str) -> Result<Vec<(String, String)>, Error> {
    let directory = directory().unwrap_or(Path::new(DIRECTORIES[0]));
    let mut modules = Vec::new();
    for name in [&format!("mpm_{mpm}")[..]].into_iter().chain(MODULES) {
        let file = directory.join(format!("mod_{name}.so"));
        if file.is_file() {
            let file = quotable("a module's file", &file)?;
            modules.push((name.to_owned(), file.to_owned()));
        }
    }
    Ok(modules)
}

fn directory() -> Option<&'static Path> {
    let mut directories = DIRECTORIES.iter().map(Path::new);
    directories.find(|directory| directory.join("mod_ssl.so").is_file())
}

fn library(kind: &ServerKind, program: &Path) -> Result<CryptoLibrary, Error> {
    let directory = directory().ok_or_else(|| {
        PROGRAM.missing(format!(
            "{} is installed, but mod_ssl.so is not",
            program.display()
        ))
    })?;
    let mpm = kind.mpm.unwrap_or_default();
    let mpm = directory.join(format!("mod_mpm_{mpm}.so"));
    if !mpm.is_file() {
        return Err(PROGRAM.missing(format!("there is no {}", mpm.display())));
    }
    openssl::linked(&directory.join("mod_ssl.so")).map(CryptoLibrary::of_openssl)
}

fn configuration(
    kind: &ServerKind,
    tls: &Tls<'_>,
    frame: Option<&ServerFrame<'_>>,
) -> Result<String, Error> {
    let mpm = kind.mpm.unwrap_or_default();
    let configuration = ApacheConfig {
        tls,
        frame,
        mpm,
        modules: modules(mpm)?,
    };
    written(&configuration, ServerFrame::comments(frame))
}

fn command(command: &mut Command, directory: &ServerDirectory) {
    command
        .arg("-f")
        .arg(&directory.configuration)
        .arg("-DFOREGROUND");
}

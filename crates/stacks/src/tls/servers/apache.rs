//! Apache httpd, with each of its ways to serve many clients at once.

use std::path::Path;
use std::process::Command;

use askama::Template;
use keymark_bench::case::StackName;
use keymark_bench::error::Error;

use crate::templates::written;
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::error::ServerError;
use crate::tls::servers::kind::{Installed, Library, ServerKind};
use crate::tls::servers::log::Fault;
use crate::tls::servers::openssl::{self, LinkedOpenSsl};
use crate::tls::servers::program::{BroughtBy, Program};
use crate::tls::servers::spec::ServerSpec;
use crate::tls::servers::text::{Frame, Tls, quotable};

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

/// Apache with one of its Multi-Processing Modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Apache {
    stack: StackName,
    mpm: &'static str,
}

/// Processes with threads, and one thread that waits for idle connections: what distributions choose.
pub(crate) const EVENT: Apache = Apache {
    stack: StackName::APACHE,
    mpm: "event",
};
/// A process a connection.
pub(crate) const PREFORK: Apache = Apache {
    stack: StackName::of("apache-prefork"),
    mpm: "prefork",
};
/// Processes with a thread a connection.
pub(crate) const WORKER: Apache = Apache {
    stack: StackName::of("apache-worker"),
    mpm: "worker",
};

#[derive(Template)]
#[template(path = "apache.conf", escape = "none")]
struct Configuration<'c> {
    tls: &'c Tls<'c>,
    frame: Option<&'c Frame<'c>>,
    mpm: &'c str,
    /// With their files.
    modules: Vec<(String, String)>,
}

impl Apache {
    /// The modules that are files: Debian builds some into the program.
    fn modules(self) -> Result<Vec<(String, String)>, ServerError> {
        let directory = directory().unwrap_or(Path::new(DIRECTORIES[0]));
        let mut modules = Vec::new();
        for name in [&format!("mpm_{}", self.mpm)[..]]
            .into_iter()
            .chain(MODULES)
        {
            let file = directory.join(format!("mod_{name}.so"));
            if file.is_file() {
                let file = quotable("a module's file", &file)?;
                modules.push((name.to_owned(), file.to_owned()));
            }
        }
        Ok(modules)
    }
}

fn directory() -> Option<&'static Path> {
    let mut directories = DIRECTORIES.iter().map(Path::new);
    directories.find(|directory| directory.join("mod_ssl.so").is_file())
}

impl ServerKind for Apache {
    fn stack(&self) -> StackName {
        self.stack
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
        let mpm = directory.join(format!("mod_mpm_{}.so", self.mpm));
        if !mpm.is_file() {
            return Err(APACHE.missing(format!("there is no {}", mpm.display())));
        }
        LinkedOpenSsl::of(&directory.join("mod_ssl.so")).map(Library::of_openssl)
    }

    fn check(&self, server: &Installed, spec: &ServerSpec) -> Result<(), ServerError> {
        openssl::check(server, spec)
    }

    fn configuration(
        &self,
        tls: &Tls<'_>,
        frame: Option<&Frame<'_>>,
    ) -> Result<String, ServerError> {
        let configuration = Configuration {
            tls,
            frame,
            mpm: self.mpm,
            modules: self.modules()?,
        };
        Ok(written(&configuration, Frame::comments(frame))?)
    }

    fn command(&self, command: &mut Command, directory: &ServerDirectory) {
        command
            .arg("-f")
            .arg(&directory.configuration)
            .arg("-DFOREGROUND");
    }

    fn described(&self) -> Option<(&'static str, &'static str)> {
        Some(("mpm", self.mpm))
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
}

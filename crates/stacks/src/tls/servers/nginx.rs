//! nginx.

use std::path::Path;
use std::process::Command;

use askama::Template;
use keymark_bench::case::StackName;
use keymark_bench::error::Error;

use crate::templates::written;
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::error::{Impossible, ServerError};
use crate::tls::servers::kind::{Installed, Library, ServerKind};
use crate::tls::servers::log::Fault;
use crate::tls::servers::openssl::{self, LinkedOpenSsl};
use crate::tls::servers::program::{BroughtBy, Program, Version};
use crate::tls::servers::spec::ServerSpec;
use crate::tls::servers::text::{Frame, Tls};

const NGINX: Program = Program {
    name: "nginx",
    files: &["nginx"],
    brought_by: BroughtBy::Package("nginx"),
    version: &[("-v", "nginx/")],
};

/// nginx.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nginx;

#[derive(Template)]
#[template(path = "nginx.conf", escape = "none")]
struct Configuration<'c> {
    tls: &'c Tls<'c>,
    frame: Option<&'c Frame<'c>>,
}

impl ServerKind for Nginx {
    fn stack(&self) -> StackName {
        StackName::of("nginx")
    }

    fn program(&self) -> Program {
        NGINX
    }

    fn library(&self, program: &Path) -> Result<Library, Error> {
        LinkedOpenSsl::of(program).map(Library::of_openssl)
    }

    fn check(&self, server: &Installed, spec: &ServerSpec) -> Result<(), ServerError> {
        openssl::check(server, spec)?;
        if spec.handshakes.dh.is_none() && openssl::is_dhe_alone(spec) {
            let ciphers = spec.handshakes.ciphers.to_string();
            return Err(Impossible::NoDhParameters(ciphers).into());
        }
        Ok(())
    }

    fn check_two(&self, version: &Version) -> Result<(), Impossible> {
        if version.is_at_least(1, 11, 0) {
            return Ok(());
        }
        Err(Impossible::TwoCertificates(version.clone()))
    }

    fn configuration(
        &self,
        tls: &Tls<'_>,
        frame: Option<&Frame<'_>>,
    ) -> Result<String, ServerError> {
        Ok(written(
            &Configuration { tls, frame },
            Frame::comments(frame),
        )?)
    }

    fn command(&self, command: &mut Command, directory: &ServerDirectory) {
        command
            .arg("-p")
            .arg(directory.private.path())
            .arg("-c")
            .arg(&directory.configuration)
            // What it says before it has read its configuration.
            .arg("-e")
            .arg(&directory.log);
    }

    fn faults(&self) -> &'static [(&'static str, Fault)] {
        &[
            ("no cipher match", Fault::NoCipher),
            ("set1_curves_list", Fault::NoGroup),
        ]
    }
}

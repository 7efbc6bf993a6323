//! nginx.

use std::process::Command;

use askama::Template;
use keymark_bench::StackName;

use crate::installed::{Program, Version};
use crate::templates::written;
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::error::{Impossible, ServerError};
use crate::tls::servers::kind::{InstalledServer, Library, ServerKind};
use crate::tls::servers::log::ServerFault;
use crate::tls::servers::openssl;
use crate::tls::servers::spec::ServerSpec;
use crate::tls::servers::text::{ServerFrame, Tls};

/// nginx.
pub(crate) const KIND: ServerKind = ServerKind {
    stack: StackName::of("nginx"),
    program: Program {
        version: &[("-v", "nginx/")],
        ..Program::of_package("nginx", &["nginx"], "nginx")
    },
    library: |_, program| openssl::linked(program).map(Library::of_openssl),
    check,
    check_two,
    configuration: |_, tls, frame| {
        let configuration = NginxConfig { tls, frame };
        Ok(written(&configuration, ServerFrame::comments(frame))?)
    },
    command,
    mpm: None,
    faults: &[
        ("no cipher match", ServerFault::NoCipher),
        ("set1_curves_list", ServerFault::NoGroup),
    ],
};

#[derive(Template)]
#[template(path = "nginx.conf", escape = "none")]
struct NginxConfig<'c> {
    tls: &'c Tls<'c>,
    frame: Option<&'c ServerFrame<'c>>,
}

fn check(server: &InstalledServer, spec: &ServerSpec) -> Result<(), ServerError> {
    openssl::check(server, spec)?;
    if spec.handshakes.dh.is_none() && openssl::is_dhe_alone(spec) {
        let ciphers = spec.handshakes.ciphers.to_string();
        return Err(Impossible::NoDhParameters(ciphers).into());
    }
    Ok(())
}

fn check_two(version: &Version) -> Result<(), Impossible> {
    if version.is_at_least(1, 11, 0) {
        return Ok(());
    }
    Err(Impossible::TwoCertificates(version.clone()))
}

fn command(command: &mut Command, directory: &ServerDirectory) {
    command
        .arg("-p")
        .arg(directory.private.path())
        .arg("-c")
        .arg(&directory.configuration)
        // What it says before it has read its configuration.
        .arg("-e")
        .arg(&directory.log);
}

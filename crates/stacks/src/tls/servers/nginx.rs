//! nginx.

use std::process::Command;

use askama::Template;
use keymark_bench::StackName;

use crate::installed::Program;
use crate::templates::written;
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::kind::{CryptoLibrary, ServerKind};
use crate::tls::servers::openssl;
use crate::tls::servers::text::{ServerFrame, Tls};

/// nginx.
pub(crate) const KIND: ServerKind = ServerKind {
    stack: StackName::of("nginx"),
    program: Program {
        version: &[("-v", "nginx/")],
        ..Program::of_package("nginx", &["nginx"], "nginx")
    },
    library: |_, program| openssl::linked(program).map(CryptoLibrary::of_openssl),
    check: openssl::check,
    configuration: |_, tls, frame| {
        let configuration = NginxConfig { tls, frame };
        written(&configuration, ServerFrame::comments(frame))
    },
    command,
    mpm: None,
};

#[derive(Template)]
#[template(path = "nginx.conf", escape = "none")]
struct NginxConfig<'c> {
    tls: &'c Tls<'c>,
    frame: Option<&'c ServerFrame<'c>>,
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

//! nginx's configuration: <https://nginx.org/en/docs/http/ngx_http_ssl_module.html>.

use std::path::Path;
use std::process::Command;

use keymark_bench::case::StackName;
use keymark_bench::error::Error;
use keymark_load::TlsVersion;

use crate::tls::servers::administrator::{EnvironmentPlace, Section};
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::error::{Impossible, ServerError};
use crate::tls::servers::kind::{Installed, Library, ServerKind};
use crate::tls::servers::log::Fault;
use crate::tls::servers::openssl::{self, LinkedOpenSsl};
use crate::tls::servers::program::{BroughtBy, Program, Version};
use crate::tls::servers::spec::ServerSpec;
use crate::tls::servers::text::{
    Comments, Directive, ENGINE_WITHOUT_RSA_EXCHANGE, Frame, KeyReference, Purpose, Tls, text,
};

const NGINX: Program = Program {
    name: "nginx",
    files: &["nginx"],
    brought_by: BroughtBy::Package("nginx"),
    version: &[("-v", "nginx/")],
};

/// nginx.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nginx;

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

    fn configuration(&self, frame: &Frame<'_>, tls: &Tls<'_>) -> Result<String, ServerError> {
        Ok(configuration(frame, tls))
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

    fn environment(&self) -> Option<EnvironmentPlace> {
        Some(EnvironmentPlace {
            file: "what 'systemctl edit nginx' opens",
            heading: "[Service]\n",
            assignment: "Environment=",
        })
    }

    fn guide(&self, tls: &Tls<'_>, environment: &[String]) -> Vec<Section> {
        vec![
            Section::part(
                "What workers need",
                "outside all blocks, in /etc/nginx/nginx.conf",
                &main_part(tls, environment),
            ),
            Section::part(
                "The server",
                "in the block server { listen 443 ssl; … }",
                &host_part(tls),
            ),
        ]
    }
}

/// What nginx makes when it starts, whether it uses them or not.
const TEMPORARY: [&str; 5] = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

/// The whole configuration.
fn configuration(frame: &Frame<'_>, tls: &Tls<'_>) -> String {
    let Frame {
        documents,
        log,
        pid_file,
        port,
        capacity,
        ..
    } = frame;
    let mut out = format!(
        "daemon off;\nworker_processes {};\npid {pid_file};\nerror_log {log} warn;\n",
        capacity.processes
    );
    if let Some((user, group)) = frame.worker {
        out += &format!("user {user} {group};\n");
    }
    out += &text(&main_part(tls, &frame.environment), Comments::Left, "");
    // Clients fall on the workers as they like: each has room for all.
    let connections = u32::from(capacity.connections.get()) + 16;
    out += &format!(
        "worker_rlimit_nofile {};\nevents {{\n    worker_connections {connections};\n}}\nhttp {{\n    access_log off;\n",
        // A connection and the file that it gets.
        connections * 2 + 64,
    );
    for name in TEMPORARY {
        let directory = frame.directory.to_string();
        let path = directory.trim_end_matches('"');
        out += &format!("    {name}_temp_path {path}/{name}\";\n");
    }
    out += &format!(
        "    server_tokens off;\n    keepalive_timeout 60s;\n    keepalive_requests 1000000000;\n    server {{\n        \
         listen 127.0.0.1:{port} ssl backlog=4096;\n        server_name localhost;\n        root {documents};\n"
    );
    out += &text(&host_part(tls), Comments::Left, "        ");
    out + "    }\n}\n"
}

/// What stands outside all blocks.
fn main_part(tls: &Tls<'_>, environment: &[String]) -> Vec<Directive> {
    let mut lines: Vec<Directive> = environment
        .iter()
        .map(|name| Directive::new(format!("env {name};")))
        .collect();
    if let Some(first) = lines.first_mut() {
        *first = first.clone().because(
            "nginx clears its environment, and each worker loads the module again after the fork.",
        );
    }
    if tls.is_on_token() {
        lines.push(Directive::warning(
            "nginx blocks a whole worker while the HSM signs: worker_processes is the number of concurrent \
             signatures.",
        ));
    }
    lines
}

/// What stands in the `server` block.
fn host_part(tls: &Tls<'_>) -> Vec<Directive> {
    let mut versions = String::from("ssl_protocols");
    if tls.handshakes.has(TlsVersion::V1_2) {
        versions += " TLSv1.2";
    }
    if tls.handshakes.has(TlsVersion::V1_3) {
        versions += " TLSv1.3";
    }
    let mut lines = vec![
        Directive::new(format!("{versions};")),
        Directive::new(format!("ssl_ciphers \"{}\";", tls.ciphers())),
        Directive::new("ssl_prefer_server_ciphers on;"),
        Directive::new(format!("ssl_ecdh_curve \"{}\";", tls.groups())),
    ];
    match tls.purpose {
        Purpose::Measuring => {
            lines.push(Directive::new("ssl_session_cache off;"));
            lines.push(Directive::new("ssl_session_tickets off;"));
        }
        Purpose::Administration => lines.push(Directive::warning(
            "DHE needs ssl_dhparam; without it nginx offers none.",
        )),
    }
    if let Some(dh) = &tls.dh {
        lines.push(Directive::new(format!("ssl_dhparam {dh};")));
    }
    if tls.by_engine() {
        lines.push(Directive::warning(ENGINE_WITHOUT_RSA_EXCHANGE));
    }
    if tls.by_provider() {
        lines.push(Directive::warning(
            "A file with the URI: nginx accepts 'store:pkcs11:…' only since 1.29.0.",
        ));
    }
    let mut why = "engine, its name, the URI. No ssl_engine: that would send all RSA and all random numbers through it.";
    for pair in &tls.pairs {
        lines.push(Directive::new(format!(
            "ssl_certificate {};",
            pair.certificate
        )));
        lines.push(match &pair.key {
            KeyReference::File(file) | KeyReference::Provider(file) => {
                Directive::new(format!("ssl_certificate_key {file};"))
            }
            KeyReference::Engine { uri } => {
                Directive::new(format!("ssl_certificate_key \"engine:pkcs11:{uri}\";"))
                    .because(std::mem::take(&mut why))
            }
        });
    }
    lines
}

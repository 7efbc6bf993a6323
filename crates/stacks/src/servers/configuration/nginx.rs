//! nginx's configuration: <https://nginx.org/en/docs/http/ngx_http_ssl_module.html>.

use crate::servers::configuration::{
    Comments, Directive, ENGINE_WITHOUT_RSA_EXCHANGE, KeyReference, Purpose, QuotedPath, Tls, text,
};
use crate::servers::spec::Capacity;

/// What stands around the part about TLS.
#[derive(Debug)]
pub(crate) struct Frame<'s> {
    pub(crate) directory: QuotedPath,
    pub(crate) documents: QuotedPath,
    pub(crate) log: QuotedPath,
    pub(crate) pid_file: QuotedPath,
    /// User and group.
    pub(crate) worker: Option<(&'s str, &'s str)>,
    pub(crate) port: u16,
    pub(crate) capacity: Capacity,
    /// Names of variables that modules read.
    pub(crate) environment: Vec<String>,
}

/// What nginx makes when it starts, whether it uses them or not.
const TEMPORARY: [&str; 5] = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

/// The whole configuration.
pub(crate) fn configuration(frame: &Frame<'_>, tls: &Tls<'_>) -> String {
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
pub(crate) fn main_part(tls: &Tls<'_>, environment: &[String]) -> Vec<Directive> {
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
pub(crate) fn host_part(tls: &Tls<'_>) -> Vec<Directive> {
    let protocol = tls.handshakes.protocol;
    let mut versions = String::from("ssl_protocols");
    if protocol.has_tls12() {
        versions += " TLSv1.2";
    }
    if protocol.has_tls13() {
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

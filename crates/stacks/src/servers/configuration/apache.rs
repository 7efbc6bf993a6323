//! Apache's configuration: <https://httpd.apache.org/docs/2.4/mod/mod_ssl.html>.

use crate::servers::configuration::{
    Comments, Directive, ENGINE_WITHOUT_RSA_EXCHANGE, KeyReference, Purpose, QuotedPath, Tls, text,
};
use crate::servers::software::Mpm;
use crate::servers::spec::Capacity;

/// What stands around the part about TLS.
#[derive(Debug)]
pub(crate) struct Frame<'s> {
    pub(crate) directory: QuotedPath,
    pub(crate) documents: QuotedPath,
    pub(crate) log: QuotedPath,
    pub(crate) pid_file: QuotedPath,
    /// Module and file.
    pub(crate) modules: Vec<(String, QuotedPath)>,
    /// User and group.
    pub(crate) worker: Option<(&'s str, &'s str)>,
    pub(crate) port: u16,
    pub(crate) mpm: Mpm,
    pub(crate) capacity: Capacity,
}

/// The whole configuration.
pub(crate) fn configuration(frame: &Frame<'_>, tls: &Tls<'_>) -> String {
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
    for (name, file) in &frame.modules {
        out += &format!("LoadModule {name}_module {file}\n");
    }
    if let Some((user, group)) = frame.worker {
        out += &format!("User {user}\nGroup {group}\n");
    }
    out += &capacity(frame.mpm, frame.capacity);
    // As many requests as a client likes, and nothing about files that are not there.
    out += &format!(
        "Timeout 60\nKeepAlive On\nMaxKeepAliveRequests 0\nKeepAliveTimeout 60\n\
         DocumentRoot {documents}\n<Directory {documents}>\n    Require all granted\n    AllowOverride None\n</Directory>\n"
    );
    out += &text(&global_part(tls), Comments::Left, "");
    out += &format!("<VirtualHost 127.0.0.1:{port}>\n");
    out += &text(&host_part(tls), Comments::Left, "    ");
    out + "</VirtualHost>\n"
}

/// Everything is started at the beginning and nothing ends for want of work: the load finds the same server at every
/// moment. With more to spare than one the log would complain, since there cannot be any.
fn capacity(mpm: Mpm, capacity: Capacity) -> String {
    let connections = u32::from(capacity.connections.get());
    match mpm {
        Mpm::Prefork => format!(
            "ServerLimit {connections}\nMaxRequestWorkers {connections}\nStartServers {connections}\n\
             MinSpareServers 1\nMaxSpareServers {}\nMaxConnectionsPerChild 0\n",
            connections + 1
        ),
        Mpm::Event | Mpm::Worker => {
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
pub(crate) fn global_part(tls: &Tls<'_>) -> Vec<Directive> {
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
pub(crate) fn host_part(tls: &Tls<'_>) -> Vec<Directive> {
    let protocol = tls.handshakes.protocol;
    let mut versions = String::from("SSLProtocol -all");
    if protocol.has_tls12() {
        versions += " +TLSv1.2";
    }
    if protocol.has_tls13() {
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

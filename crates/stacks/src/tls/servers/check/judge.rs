//! What a host offers.

use keymark_load::{CipherSuite, SuiteAuthentication, SuiteExchange};
use openssl::nid::Nid;
use openssl::pkey::Id;
use openssl::ssl::{SslContext, SslMethod};
use openssl::x509::X509;

use super::advice::{Finding, Problem};
use super::host::{Host, Order};
use super::{Dialect, HostReport, Setting, Verdict, files};
use crate::installed::Version;
use crate::tls::servers::openssl::resolved;

/// nginx's own (ssl_ciphers), and Apache's, which is OpenSSL's.
const NGINX_CIPHERS: &str = "HIGH:!aNULL:!MD5";
const APACHE_CIPHERS: &str = "DEFAULT";
/// What is added to a cipher string.
const ECDSA: &str = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384";
/// A string that has both.
const BOTH: &str = "ECDHE+ECDSA+AESGCM:ECDHE+aRSA+AESGCM:ECDHE+CHACHA20";
/// Curves that clients have.
const COMMON: [&str; 11] = [
    "auto",
    "x25519",
    "prime256v1",
    "secp256r1",
    "p-256",
    "secp384r1",
    "p-384",
    "x448",
    "x25519mlkem768",
    "secp256r1mlkem768",
    "default",
];
const GROUPS: &str = "X25519:prime256v1:secp384r1";

/// Of a certificate's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rsa,
    Ecdsa,
    /// EdDSA or ML-DSA.
    Other,
    Unknown,
}

/// What a host offers, and what to change.
pub(super) fn judged(host: Host, dialect: Dialect, nginx: Option<&Version>) -> HostReport {
    let mut judge = Judge {
        host: &host,
        dialect,
        findings: Vec::new(),
    };
    let kinds = judge.kinds();
    judge.pairs(nginx, &kinds);
    let tls12 = judge.has_protocol("TLSv1.2");
    let by_system = tls12 && judge.leaves_ciphers_to_system();
    let suited = !tls12 || by_system || judge.has_suite_for_ecdsa(&kinds);
    judge.groups();
    for setting in &host.ignored {
        let first = host.certificates.first().map_or("", Setting::first);
        judge.found(setting, Problem::DhParametersIgnored(first.to_owned()));
    }
    let verdict = match kinds.contains(&Kind::Ecdsa) {
        true if by_system => Verdict::Unknown,
        true if tls12 && suited => Verdict::Offered,
        true if judge.has_protocol("TLSv1.3") => Verdict::Tls13Only,
        false if kinds.contains(&Kind::Unknown) => Verdict::Unknown,
        true | false => Verdict::NotOffered,
    };
    let findings = judge.findings;
    HostReport {
        name: host.name,
        at: host.at,
        verdict,
        findings,
    }
}

struct Judge<'h> {
    host: &'h Host,
    dialect: Dialect,
    findings: Vec<Finding>,
}

impl Judge<'_> {
    fn found(&mut self, setting: &Setting, problem: Problem) {
        let at = setting.at.clone();
        self.findings.push(Finding { at, problem });
    }

    /// Of each certificate's key.
    fn kinds(&mut self) -> Vec<Kind> {
        let each = self.host.certificates.iter();
        each.map(|setting| {
            kind(self.host, setting).unwrap_or_else(|why| {
                let file = setting.first().to_owned();
                self.found(setting, Problem::UnreadCertificate { file, why });
                Kind::Unknown
            })
        })
        .collect()
    }

    /// Certificates with their keys.
    fn pairs(&mut self, nginx: Option<&Version>, kinds: &[Kind]) {
        let Self { host, dialect, .. } = *self;
        let Some(last) = host.certificates.last() else {
            let at = host.at.clone();
            let problem = Problem::NoCertificate;
            self.findings.push(Finding { at, problem });
            return;
        };
        let add = |kind: &str| match dialect {
            Dialect::Nginx => {
                format!("ssl_certificate {kind}.pem; ssl_certificate_key {kind}.key;")
            }
            Dialect::Apache => {
                format!("SSLCertificateFile {kind}.pem and SSLCertificateKeyFile {kind}.key")
            }
        };
        let unknown = kinds.contains(&Kind::Unknown);
        if !kinds.contains(&Kind::Ecdsa) && !unknown {
            self.found(last, Problem::NoEcdsaCertificate(add("ecdsa")));
        }
        if !kinds.contains(&Kind::Rsa) && !unknown {
            self.found(last, Problem::NoRsaCertificate(add("rsa")));
        }
        let (certificates, keys) = (host.certificates.len(), host.keys.len());
        // Apache finds a key in its certificate's file, too.
        let within = || match dialect {
            Dialect::Nginx => false,
            Dialect::Apache => keys == 0,
        };
        if certificates > keys && !within() {
            self.found(last, Problem::KeysMissing { certificates, keys });
        }
        let old =
            nginx.filter(|version| dialect == Dialect::Nginx && !version.is_at_least(1, 11, 0));
        if let Some(version) = old.filter(|_| certificates > 1) {
            self.found(last, Problem::TooOldForTwo(version.to_string()));
        }
    }

    /// Whether a version is on; all usual ones are by default.
    fn has_protocol(&self, version: &str) -> bool {
        let Some(setting) = &self.host.protocols else {
            return true;
        };
        let named = |value: &&String| {
            value
                .trim_start_matches(['+', '-'])
                .eq_ignore_ascii_case(version)
        };
        match self.dialect {
            Dialect::Nginx => setting.values.iter().any(|value| named(&value)),
            Dialect::Apache => {
                let mut on = false;
                for value in &setting.values {
                    let all = value
                        .trim_start_matches(['+', '-'])
                        .eq_ignore_ascii_case("all");
                    if all || named(&value) {
                        on = !value.starts_with('-');
                    } else if !value.starts_with(['+', '-']) {
                        // Without a sign it stands for itself alone.
                        on = false;
                    }
                }
                on
            }
        }
    }

    /// Whether the ciphers are those of Fedora's crypto-policies: another OpenSSL does not know them.
    fn leaves_ciphers_to_system(&mut self) -> bool {
        let by_system = |setting: &&Setting| {
            let string = setting.values.last().map_or("", String::as_str);
            string.to_ascii_uppercase().contains("PROFILE=SYSTEM")
        };
        let setting = self.host.ciphers.as_ref().filter(by_system);
        if let Some(setting) = setting {
            self.found(setting, Problem::SystemPolicy);
        }
        setting.is_some()
    }

    /// Whether TLS 1.2 has a suite for ECDSA.
    fn has_suite_for_ecdsa(&mut self, kinds: &[Kind]) -> bool {
        let Self { host, dialect, .. } = *self;
        let usual = match dialect {
            Dialect::Apache => APACHE_CIPHERS,
            Dialect::Nginx => NGINX_CIPHERS,
        };
        let given = host.ciphers.as_ref().map(|setting| {
            // Apache takes a string, or `SSL` before it.
            setting.values.last().map_or("", String::as_str)
        });
        let string = given.unwrap_or(usual);
        // Where it is the usual one there is no line to change, and nothing to say of it.
        let mut report = |problem| {
            if let Some(setting) = &host.ciphers {
                self.found(setting, problem);
            }
        };
        let suites = match resolved(string) {
            Ok(suites) => suites,
            Err(error) => {
                report(Problem::UnknownCiphers(error.to_string()));
                return false;
            }
        };
        let line = |string: &str| match dialect {
            Dialect::Apache => format!("SSLCipherSuite {string}"),
            Dialect::Nginx => format!("ssl_ciphers {string};"),
        };
        if !has_ecdsa(&suites) {
            report(Problem::NoEcdsaCipher(line(&with_ecdsa(string))));
            return false;
        }
        let with_rsa = kinds.contains(&Kind::Rsa);
        if host.order == Order::Servers && with_rsa && has_rsa_first(&suites) {
            report(Problem::RsaFirst(line(&format!("{ECDSA}:{string}"))));
        }
        true
    }

    /// Curves.
    fn groups(&mut self) {
        let Self { host, dialect, .. } = *self;
        let Some(setting) = &host.groups else { return };
        let names = setting
            .first()
            .split([':', ','])
            .filter(|name| !name.is_empty());
        let names: Vec<&str> = names
            .map(|name| name.trim_start_matches(['?', '*', '-']))
            .collect();
        let instead = match dialect {
            Dialect::Apache => format!("SSLOpenSSLConfCmd Groups {GROUPS}"),
            Dialect::Nginx => format!("ssl_ecdh_curve {GROUPS};"),
        };
        for name in &names {
            if !COMMON.contains(&name.to_ascii_lowercase().as_str()) && !is_known(name) {
                self.found(setting, Problem::UnknownGroup((*name).to_owned()));
            }
        }
        let mut common = names.iter();
        if !common.any(|name| COMMON.contains(&name.to_ascii_lowercase().as_str())) {
            self.found(setting, Problem::NoCommonGroup(instead));
        }
    }
}

/// Of a certificate's file: the first one in it is the server's.
fn kind(host: &Host, setting: &Setting) -> Result<Kind, String> {
    let name = setting.first();
    if name.contains('$') || name.starts_with("data:") || name.starts_with("pkcs11:") {
        return Err("only the server can resolve its name".to_owned());
    }
    let text = files::read(&host.root.join(name)).map_err(|error| error.to_string())?;
    let certificate =
        X509::from_pem(text.as_bytes()).map_err(|_| "there is no certificate in it".to_owned())?;
    let key = certificate
        .public_key()
        .map_err(|_| "OpenSSL does not support its key".to_owned())?;
    let curve = || key.ec_key().ok().and_then(|key| key.group().curve_name());
    Ok(match key.id() {
        Id::RSA | Id::RSA_PSS => Kind::Rsa,
        Id::EC if curve().is_some_and(is_for_tls) => Kind::Ecdsa,
        _ => Kind::Other,
    })
}

fn is_for_tls(curve: Nid) -> bool {
    [Nid::X9_62_PRIME256V1, Nid::SECP384R1, Nid::SECP521R1].contains(&curve)
}

fn has_ecdsa(suites: &[CipherSuite]) -> bool {
    let is = |suite: &CipherSuite| {
        suite.authentication() == SuiteAuthentication::Ecdsa
            && suite.exchange() == SuiteExchange::Ecdhe
    };
    suites.iter().any(is)
}

/// Of the suites of TLS 1.2 that have a certificate.
fn has_rsa_first(suites: &[CipherSuite]) -> bool {
    let mut kinds = suites.iter().map(|suite| suite.authentication());
    let first =
        kinds.find(|by| [SuiteAuthentication::Rsa, SuiteAuthentication::Ecdsa].contains(by));
    first == Some(SuiteAuthentication::Rsa)
}

/// The string with ECDSA in it: what is struck out for ever (`!`) has to go first (ciphers(1)).
fn with_ecdsa(string: &str) -> String {
    let works = |string: &str| resolved(string).is_ok_and(|suites| has_ecdsa(&suites));
    let added = format!("{ECDSA}:{string}");
    if works(&added) {
        return added;
    }
    let strikes = |part: &&str| {
        let name = part.trim_start_matches('!').to_ascii_lowercase();
        part.starts_with('!')
            && ["ecd", "aecd", "eecdh", "kee", "kecd"]
                .iter()
                .any(|word| name.starts_with(word))
    };
    let kept: Vec<&str> = string
        .split([':', ',', ' '])
        .filter(|part| !part.is_empty() && !strikes(part))
        .collect();
    let kept = format!("{ECDSA}:{}", kept.join(":"));
    if works(&kept) { kept } else { BOTH.to_owned() }
}

fn is_known(group: &str) -> bool {
    let context = SslContext::builder(SslMethod::tls());
    context.is_ok_and(|mut context| context.set_groups_list(group).is_ok())
}

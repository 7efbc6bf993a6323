//! A host as it is configured, and the words that Apache and nginx have for the same things.

use std::path::{Path, PathBuf};

use super::{At, Setting};

/// A directive, with its block if it has one.
#[derive(Debug)]
pub(super) struct Directive {
    pub(super) name: String,
    pub(super) setting: Setting,
    pub(super) block: Vec<Directive>,
}

/// A host as it is configured, what it inherits included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) at: At,
    pub(super) certificates: Vec<Setting>,
    pub(super) keys: Vec<Setting>,
    /// Of TLS 1.2.
    pub(super) ciphers: Option<Setting>,
    pub(super) groups: Option<Setting>,
    pub(super) protocols: Option<Setting>,
    /// Whether the server's order of ciphers counts.
    pub(super) order: Order,
    /// Apache's `SSLOpenSSLConfCmd DHParameters`.
    pub(super) ignored: Vec<Setting>,
    /// What relative paths begin at.
    pub(super) root: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Servers,
    Clients,
}

/// The words of a kind of configuration, lower case.
#[derive(Debug)]
pub(super) struct Words {
    /// A directive that makes a host one with TLS, with the values that do; any where there are none.
    tls: &'static [(&'static str, &'static [&'static str])],
    certificate: &'static str,
    key: &'static str,
    ciphers: &'static str,
    groups: &'static [&'static str],
    protocols: &'static str,
    order: &'static str,
    ignored: &'static str,
}

pub(super) const APACHE: Words = Words {
    tls: &[("sslengine", &["on"]), ("sslcertificatefile", &[])],
    certificate: "sslcertificatefile",
    key: "sslcertificatekeyfile",
    ciphers: "sslciphersuite",
    groups: &[
        "sslopensslconfcmd groups",
        "sslopensslconfcmd curves",
        "sslopensslconfcmd ecdhparameters",
    ],
    protocols: "sslprotocol",
    order: "sslhonorcipherorder",
    ignored: "sslopensslconfcmd dhparameters",
};

pub(super) const NGINX: Words = Words {
    tls: &[
        ("listen", &["ssl", "quic"]),
        ("ssl", &["on"]),
        ("ssl_certificate", &[]),
    ],
    certificate: "ssl_certificate",
    key: "ssl_certificate_key",
    ciphers: "ssl_ciphers",
    groups: &["ssl_ecdh_curve"],
    protocols: "ssl_protocols",
    order: "ssl_prefer_server_ciphers",
    // It has a directive for them.
    ignored: "",
};

impl Words {
    /// Whether a block itself says that it has TLS.
    pub(super) fn has_tls(&self, block: &[Directive]) -> bool {
        block.iter().any(|one| {
            let known = self.tls.iter().find(|(name, _)| *name == one.name);
            known.is_some_and(|(_, values)| {
                let is =
                    |value: &String| values.iter().any(|word| value.eq_ignore_ascii_case(word));
                values.is_empty() || one.setting.values.iter().any(is)
            })
        })
    }

    /// A host. What stands nearest counts: `levels` begins with the block itself.
    pub(super) fn host(&self, levels: &[&[Directive]], name: String, at: At, root: &Path) -> Host {
        let all = |names: &[&str]| -> Vec<Setting> {
            let of_level = |level: &&[Directive]| -> Vec<Setting> {
                let named = level
                    .iter()
                    .filter(|one| names.contains(&one.name.as_str()));
                named.map(|one| one.setting.clone()).collect()
            };
            let mut found = levels.iter().map(of_level);
            found.find(|found| !found.is_empty()).unwrap_or_default()
        };
        let order = all(&[self.order]).pop();
        let ours = order.is_some_and(|order| order.first().eq_ignore_ascii_case("on"));
        Host {
            name,
            at,
            certificates: all(&[self.certificate]),
            keys: all(&[self.key]),
            ciphers: all(&[self.ciphers]).pop(),
            groups: all(self.groups).pop(),
            protocols: all(&[self.protocols]).pop(),
            order: if ours { Order::Servers } else { Order::Clients },
            ignored: all(&[self.ignored]),
            root: root.to_owned(),
        }
    }
}

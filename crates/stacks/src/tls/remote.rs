//! A server that runs already, and that keymark knows by its answers only.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::{
    Algorithm, Case, Clock, DeviceName, Error, MonotonicClock, Plan, Provenance, ServerLoad,
    StackName, StoreIdentity, StoreKind,
};
use keymark_load::{
    Certificate, ClientLine, ClientOffer, Clients, Expected, Failure, Fingerprint, KeyExchange,
    LoadError, LoadSettings, Probed, ResumedShare, Target, Timeouts, TlsVersion, Weak, handshake,
    joined, probe,
};

use super::handshake::Handshake;
use super::trust;
use crate::loads::{Client, Driven, LoadFamily, Rounds, UnderLoad, Watch};

/// The stack of servers that are not keymark's.
pub const CONNECT: StackName = StackName::of("connect");
/// Limit of a handshake that is not measured.
const PATIENCE: Duration = Duration::from_secs(10);
/// Store of a key whose place is unknown.
const REMOTE: StoreKind = StoreKind::of("remote");

/// Address of a server: `www.example.org:443`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// Its addresses, by the names that the system knows.
    ///
    /// # Errors
    /// When it has none.
    pub fn resolve(&self) -> Result<Vec<SocketAddr>, Error> {
        let Self { host, port } = self;
        let call = format!("looking up {host}");
        let advice = "give its address, or check /etc/hosts and the name server";
        let found = (host.as_str(), *port)
            .to_socket_addrs()
            .map_err(|error| Error::call(&call, error, advice))?;
        let found: Vec<SocketAddr> = found.collect();
        if found.is_empty() {
            return Err(Error::call(call, NO_ADDRESS, advice));
        }
        Ok(found)
    }

    /// The name of where it is.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The device behind it: where the key is kept is not known.
    pub fn identity(&self) -> StoreIdentity {
        StoreIdentity::new(
            DeviceName::new(self.to_string()),
            REMOTE,
            Provenance::Measured,
            "the key of a server that was already running; keymark cannot tell where it is kept",
        )
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let wrong = || format!("'{word}' must be HOST:PORT, such as localhost:8443 or [::1]:443");
        let (host, port) = word.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().ok().filter(|port| *port > 0);
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let known = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        let host = match bare {
            Some(address) => address.parse::<std::net::Ipv6Addr>().ok().map(|_| address),
            None => Some(host).filter(|host| !host.is_empty() && host.chars().all(known)),
        };
        Ok(Self {
            host: host.ok_or_else(wrong)?.to_owned(),
            port: port.ok_or_else(wrong)?,
        })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

/// A server.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Its address.
    pub address: Address,
    /// Its name in the handshake and in requests, if that is not its host.
    pub server_name: Option<String>,
    /// Path of requests.
    pub path: String,
    /// The file with the authorities, in PEM, one of which has to have certified it for its name; none where the
    /// certificate that it shows first is the only one that counts in the run.
    pub authority: Option<PathBuf>,
    /// Acceptance of weak keys.
    pub weak: Weak,
}

/// A server that has answered.
#[derive(Debug, Clone)]
pub struct Reached {
    address: SocketAddr,
    probed: Probed,
}

impl Reached {
    /// Bytes of what it serves.
    pub fn body(&self) -> u32 {
        u32::try_from(self.probed.body).unwrap_or(u32::MAX)
    }

    /// The key of its certificate, if keymark knows the algorithm.
    pub fn key(&self) -> Option<Algorithm> {
        self.probed.shaken.key()
    }
}

impl Remote {
    /// Returns whether all of these addresses are this machine's.
    pub fn is_loopback(addresses: &[SocketAddr]) -> bool {
        addresses
            .iter()
            .all(|address| address.ip().to_canonical().is_loopback())
    }

    /// Makes one transaction with that version and key exchange.
    ///
    /// # Errors
    /// When it is to be had at none of the addresses, its certificate is not trusted, or it was stopped.
    pub fn reach(
        &self,
        addresses: &[SocketAddr],
        (version, exchange): (TlsVersion, KeyExchange),
        (clock, stop): (&dyn Clock, &AtomicBool),
    ) -> Result<Reached, Error> {
        let none = LoadError::Impossible(NO_ADDRESS.to_owned());
        let reached = first_of(addresses, none, |address| {
            let target = self.target(address, (version, exchange), Certificate::Any);
            let probed = probe(&target, self.weak, &Timeouts::ALONE, (clock, stop))?;
            Ok(Reached { address, probed })
        });
        let reached = reached.map_err(|error| {
            let call = format!(
                "asking {} for {} by {version} {exchange}",
                self.address, self.path
            );
            Error::call(call, &error, advice(&error))
        })?;
        if let Some(file) = &self.authority {
            trust::check(&reached.probed.shaken.chain, file, self.name())?;
        }
        Ok(reached)
    }

    /// The certificates that it shows in three handshakes, its own first, in DER: to a client that accepts every signature,
    /// and to those with RSA and with curves alone. Nothing else is asked of it.
    ///
    /// # Errors
    /// When no handshake succeeds at any of the addresses.
    pub fn certificates(&self, addresses: &[SocketAddr]) -> Result<Vec<Vec<u8>>, Error> {
        let none = LoadError::Impossible(NO_ADDRESS.to_owned());
        let shown = first_of(addresses, none, |address| {
            let mut chain = self.shown_at(address, Certificate::Any)?;
            // It refuses those for which it has no certificate.
            let others = [Certificate::Rsa, Certificate::Curve].into_iter();
            chain.extend(others.flat_map(|one| self.shown_at(address, one)).flatten());
            let mut seen = BTreeSet::new();
            chain.retain(|certificate| seen.insert(certificate.clone()));
            Ok(chain)
        });
        shown.map_err(|error| {
            let call = format!("asking {} for its certificates", self.address);
            let advice = "is a TLS server running and listening there?";
            Error::call(call, error, advice)
        })
    }

    /// Certificates that a client gets that accepts these.
    fn shown_at(
        &self,
        address: SocketAddr,
        accepted: Certificate,
    ) -> Result<Vec<Vec<u8>>, LoadError> {
        let clock = MonotonicClock::new();
        let limit = (&clock as &dyn Clock, clock.now().after(PATIENCE));
        let offer = ClientOffer::of_certificates(accepted);
        Ok(handshake((address, self.name()), &offer, limit)?.chain)
    }

    /// Name in the handshake.
    pub(super) fn name(&self) -> &str {
        self.server_name.as_deref().unwrap_or(&self.address.host)
    }

    fn target(
        &self,
        address: SocketAddr,
        (version, key_exchange): (TlsVersion, KeyExchange),
        certificate: Certificate,
    ) -> Target {
        Target {
            address,
            server_name: self.name().to_owned(),
            path: self.path.clone(),
            client: None,
            expected: Expected {
                version,
                key_exchange,
                certificate,
                body: None,
                resumed: ResumedShare::NONE,
            },
        }
    }

    fn describe(&self, reached: &Reached) -> BTreeMap<String, String> {
        let shaken = &reached.probed.shaken;
        let leaf = shaken.chain.first().map(|leaf| Fingerprint::of(leaf));
        let told = [
            ("server", "ran already".to_owned()),
            ("address", reached.address.to_string()),
            ("server_name", self.name().to_owned()),
            ("path", self.path.clone()),
            (
                "cipher",
                shaken.cipher.map_or("", |cipher| cipher.0).to_owned(),
            ),
            (
                "certificate",
                leaf.map(|leaf| leaf.to_string()).unwrap_or_default(),
            ),
            ("trust", trust::told(self.authority.as_deref())),
            ("sessions", "not known".to_owned()),
        ];
        told.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

/// Reason of a search among no addresses.
pub(crate) const NO_ADDRESS: &str = "it has no address";

/// Asks at each address in turn until one answers. Otherwise returns the last error, or `none` without an address.
pub(crate) fn first_of<T, E>(
    addresses: &[SocketAddr],
    none: E,
    mut ask: impl FnMut(SocketAddr) -> Result<T, E>,
) -> Result<T, E> {
    let mut answer = Err(none);
    for address in addresses {
        answer = ask(*address);
        if answer.is_ok() {
            break;
        }
    }
    answer
}

/// Returns the advice on a failure, if there is any.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "of the others nothing is known"
)]
const fn advice(error: &LoadError) -> &'static str {
    let LoadError::Transaction(failure) = error else {
        return "";
    };
    match failure {
        Failure::Status(_) => "name something that it serves with --path",
        Failure::Refused => "is the server running and listening there?",
        Failure::Http(_) => {
            "name a file with --path, of 16 MiB at most, whose length the server sends"
        }
        Failure::Alert(_) | Failure::Unexpected(_) => {
            "choose what it supports with --kex and --tls"
        }
        _ => "",
    }
}

/// A handshake that was asked for, and what came of it.
pub type Tried = ((TlsVersion, KeyExchange), Result<Reached, Error>);

/// Server that runs already, under loads.
#[derive(Debug)]
pub struct RemoteServer<'a> {
    /// The server.
    pub remote: &'a Remote,
    /// Its answers, by what was asked of the handshake.
    pub reached: &'a [Tried],
    /// Reports of several clients, in place of a load by this one.
    pub told: Option<&'a Clients>,
}

impl LoadFamily for RemoteServer<'_> {
    fn begin<'s>(
        &'s self,
        case: &Case,
        _: &Plan,
        (client, _): (&Client<'_>, &mut dyn Watch),
    ) -> Result<(Box<dyn UnderLoad + 's>, Rounds), Error> {
        let asked = Handshake::of(case)?;
        let wanted = (asked.version, asked.key_exchange);
        let found = self.reached.iter().find(|(asked, _)| *asked == wanted);
        let reached = match found {
            Some((_, Ok(reached))) => reached,
            Some((_, Err(error))) => return Err(error.clone()),
            None => return Err(Error::call("asking a server", "it was not tried", "")),
        };
        let leaf = reached.probed.shaken.chain.first();
        let certificate = leaf.map_or(Certificate::Any, |leaf| {
            Certificate::Pinned(Fingerprint::of(leaf))
        });
        let mut target = self.remote.target(reached.address, wanted, certificate);
        target.expected.resumed = asked.resumed;
        let server = LoadedRemote {
            asked,
            target,
            described: self.remote.describe(reached),
            told: self.told,
        };
        Ok((Box::new(server), Rounds::one(client.settings.duration)))
    }
}

struct LoadedRemote<'a> {
    asked: Handshake,
    target: Target,
    described: BTreeMap<String, String>,
    told: Option<&'a Clients>,
}

impl UnderLoad for LoadedRemote<'_> {
    fn load(
        &mut self,
        settings: &LoadSettings,
        (client, watch): (&Client<'_>, &mut dyn Watch),
    ) -> Result<Driven, Error> {
        let described = self.described.clone();
        let load = match self.told {
            Some(told) => joined(told, settings, described),
            None => {
                let measured = client.drive(&self.target, settings, &mut *watch)?;
                if let Some(tell) = watch.lines() {
                    tell(ClientLine::End((&measured).into()));
                }
                measured.record(described)
            }
        };
        Ok(Driven {
            load,
            settled: None,
            ended: None,
        })
    }

    fn conclude(
        self: Box<Self>,
        load: &mut ServerLoad,
        _: Option<&Error>,
        _: &dyn Clock,
    ) -> Result<Option<Error>, Error> {
        Ok(self.asked.missed_share(load))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for word in [
            "localhost:8443",
            "www.example.org:443",
            "127.0.0.1:1",
            "[::1]:443",
        ] {
            assert_eq!(word.parse::<Address>().unwrap().to_string(), word);
        }
        for word in [
            "localhost",
            ":443",
            "localhost:0",
            "localhost:x",
            "::1:443",
            "a b:1",
            "[x]:1",
            "h:70000",
        ] {
            assert!(word.parse::<Address>().is_err(), "{word}");
        }
    }

    #[test]
    fn this_machine_is_told_from_others() {
        let addresses = |words: &[&str]| -> Vec<SocketAddr> {
            words.iter().map(|word| word.parse().unwrap()).collect()
        };
        for own in [
            &["127.0.0.1:1", "[::1]:1"][..],
            &["127.8.9.1:1"],
            &["[::ffff:127.0.0.1]:1"],
        ] {
            assert!(Remote::is_loopback(&addresses(own)), "{own:?}");
        }
        for other in [
            &["127.0.0.1:1", "192.0.2.1:1"][..],
            &["0.0.0.0:1"],
            &["[2001:db8::1]:1"],
        ] {
            assert!(!Remote::is_loopback(&addresses(other)), "{other:?}");
        }
    }
}

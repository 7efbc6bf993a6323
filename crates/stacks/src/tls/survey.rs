//! Certificates, versions and key exchanges of a server that runs already, found by some 25 handshakes in which nothing is
//! asked of it.

use std::fmt;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use keymark_bench::{Algorithm, Clock, Error, Family, MonotonicClock, Timestamp};
use keymark_load::{
    Certificate, ClientOffer, Failure, KeyExchange, LoadError, Shaken, TlsVersion, handshake,
};

use super::Address;
use super::remote::{NO_ADDRESS, first_of};

/// Limit for all handshakes together.
const LIMIT: Duration = Duration::from_secs(60);
/// Limit for one connection at one of several addresses.
const CONNECT: Duration = Duration::from_secs(10);

/// A kind of client that servers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum ClientKind {
    /// Android before 4.4, Internet Explorer on Windows 7 and the like, at their worst.
    #[strum(to_string = "old: TLS 1.2, RSA only")]
    Old,
    /// Clients since 2013.
    #[strum(to_string = "TLS 1.2, RSA or ECDSA")]
    Middle,
    /// Browsers.
    #[strum(to_string = "modern: TLS 1.3, RSA or ECDSA")]
    Modern,
    /// No real client: it shows whether the server has such a certificate at all.
    #[strum(to_string = "ECDSA only")]
    EcdsaOnly,
}

impl ClientKind {
    const ALL: [Self; 4] = [Self::Old, Self::Middle, Self::Modern, Self::EcdsaOnly];

    fn offer(self) -> ClientOffer {
        let (version, certificate) = match self {
            Self::Old => (Some(TlsVersion::V1_2), Certificate::Rsa),
            Self::Middle => (Some(TlsVersion::V1_2), Certificate::Any),
            Self::Modern => (Some(TlsVersion::V1_3), Certificate::Any),
            Self::EcdsaOnly => (None, Certificate::Curve),
        };
        ClientOffer {
            version,
            ..ClientOffer::of_certificates(certificate)
        }
    }
}

/// Key of a certificate that a client got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownKey(pub Option<Algorithm>);

impl ShownKey {
    fn is_rsa(self) -> bool {
        self.0
            .is_some_and(|key| matches!(key.family(), Family::Rsa(_)))
    }
}

impl fmt::Display for ShownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(algorithm) => f.pad(algorithm.name()),
            None => f.pad("another key"),
        }
    }
}

/// Key exchange with the keys of the certificates that come with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeResult {
    /// The key exchange.
    pub key_exchange: KeyExchange,
    /// Key in TLS 1.2; none where the server refuses it.
    pub tls12: Option<ShownKey>,
    /// Key in TLS 1.3; none where the server refuses it.
    pub tls13: Option<ShownKey>,
}

/// Verdict on a server's certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Old clients get RSA, all others ECDSA.
    Nothing,
    /// The server has no certificate with ECDSA.
    AddEcdsa,
    /// The server has no certificate for old clients.
    AddRsa,
    /// The server has both, and gives RSA to clients that prefer ECDSA.
    PreferEcdsa,
    /// The server takes TLS 1.3 only, so that old clients cannot connect with any certificate.
    ModernOnly,
}

/// Offers of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The server's choice for each kind of client, or why there was none.
    pub clients: Vec<(ClientKind, Result<Shaken, Failure>)>,
    /// Every key exchange that keymark knows, as far as OpenSSL can offer it.
    pub exchanges: Vec<ExchangeResult>,
}

impl Survey {
    /// Asks a server, at the first of its addresses that takes a connection.
    ///
    /// # Errors
    /// When it takes no connection, succeeds in no handshake, or takes longer than a minute for all of them.
    pub fn of(address: &Address, server_name: Option<&str>) -> Result<Self, Error> {
        let clock = MonotonicClock::new();
        let failed = |reason: &dyn fmt::Display| {
            let advice = "is a TLS server running and listening there?";
            Error::call(format!("asking {address}"), reason, advice)
        };
        let place = first_of(&address.resolve()?, NO_ADDRESS.to_owned(), |place| {
            let connection = TcpStream::connect_timeout(&place, CONNECT);
            connection.map(|_| place).map_err(|error| error.to_string())
        });
        let survey = Asker {
            place: place.map_err(|refusal| failed(&refusal))?,
            server_name: server_name.unwrap_or_else(|| address.host()),
            clock: &clock,
            until: clock.now().after(LIMIT),
        }
        .survey()
        .map_err(|error| failed(&error))?;
        match survey
            .clients
            .iter()
            .find_map(|(_, result)| result.as_ref().err())
        {
            Some(failure) if survey.keys().next().is_none() => Err(failed(failure)),
            Some(_) | None => Ok(survey),
        }
    }

    /// Key of the certificate that a kind of client gets.
    pub fn key(&self, client: ClientKind) -> Option<ShownKey> {
        let (_, result) = self.clients.iter().find(|(one, _)| *one == client)?;
        let shaken = result.as_ref().ok()?;
        Some(ShownKey(shaken.key()))
    }

    /// Keys of all certificates, with repetitions.
    pub fn keys(&self) -> impl Iterator<Item = ShownKey> {
        let clients = ClientKind::ALL.into_iter().filter_map(|one| self.key(one));
        clients.chain(
            self.exchanges
                .iter()
                .flat_map(|one| [one.tls12, one.tls13].into_iter().flatten()),
        )
    }

    /// Verdict on the certificates.
    pub fn advice(&self) -> Advice {
        if self.key(ClientKind::EcdsaOnly).is_none() && self.keys().any(ShownKey::is_rsa) {
            return Advice::AddEcdsa;
        }
        if self.exchanges.iter().all(|one| one.tls12.is_none()) {
            return Advice::ModernOnly;
        }
        if self.key(ClientKind::Old).is_none() {
            return Advice::AddRsa;
        }
        let preferring = [ClientKind::Middle, ClientKind::Modern];
        let get_rsa = preferring
            .into_iter()
            .filter_map(|client| self.key(client))
            .any(ShownKey::is_rsa);
        if get_rsa {
            Advice::PreferEcdsa
        } else {
            Advice::Nothing
        }
    }
}

/// Maker of handshakes with one server.
struct Asker<'a> {
    place: SocketAddr,
    server_name: &'a str,
    clock: &'a dyn Clock,
    until: Timestamp,
}

impl Asker<'_> {
    fn survey(&self) -> Result<Survey, LoadError> {
        let mut clients = Vec::new();
        for client in ClientKind::ALL {
            clients.push((client, self.shake(&client.offer())?));
        }
        let mut exchanges = Vec::new();
        for &key_exchange in KeyExchange::ALL {
            exchanges.push(ExchangeResult {
                key_exchange,
                tls12: self.key_with(TlsVersion::V1_2, key_exchange)?,
                tls13: self.key_with(TlsVersion::V1_3, key_exchange)?,
            });
        }
        Ok(Survey { clients, exchanges })
    }

    /// Key that comes with a key exchange. Of Diffie-Hellman in TLS 1.2 the server chooses the length.
    fn key_with(
        &self,
        version: TlsVersion,
        key_exchange: KeyExchange,
    ) -> Result<Option<ShownKey>, LoadError> {
        let has_it = match version {
            TlsVersion::V1_2 => !key_exchange.is_hybrid(),
            TlsVersion::V1_3 => key_exchange != KeyExchange::Rsa,
        };
        if !has_it {
            return Ok(None);
        }
        let offer = ClientOffer {
            version: Some(version),
            key_exchange: Some(key_exchange),
            ..ClientOffer::of_certificates(Certificate::Any)
        };
        let shaken = self.shake(&offer)?.ok();
        let taken = shaken.filter(|shaken| shaken.key_exchange == Some(key_exchange));
        Ok(taken.map(|shaken| ShownKey(shaken.key())))
    }

    /// Makes one handshake, which the server may refuse.
    fn shake(&self, offer: &ClientOffer) -> Result<Result<Shaken, Failure>, LoadError> {
        let place = (self.place, self.server_name);
        match handshake(place, offer, (self.clock, self.until)) {
            Ok(shaken) => Ok(Ok(shaken)),
            Err(LoadError::Transaction(failure)) if self.clock.now() < self.until => {
                Ok(Err(failure))
            }
            // This client cannot offer it.
            Err(LoadError::Unsupported(what)) => Ok(Err(Failure::Tls(what))),
            Err(error) => Err(error),
        }
    }
}

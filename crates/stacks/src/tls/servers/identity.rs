//! Who a server is: its certificates, and where their private keys are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use keymark_bench::{Algorithm, Curve, During as _, Error, Family};
use keymark_stores::pkcs11::uri::{ObjectKind, ObjectPart, Pkcs11Uri};
use keymark_stores::pkcs11::{ProgramKey, is_known_to_programs};
use keymark_stores::test_key::TestKey;
use keymark_stores::user::Pin;
use openssl::pkey::{PKey, PKeyRef, Private, Public};
use openssl::x509::X509;

use crate::openssl::TokenWay;
use crate::tls::servers::certificate::{self, Authority, Purpose, private_key};
use crate::tls::servers::error::{Impossible, ServerError};
use crate::tls::servers::kind::Installed;
use crate::tls::servers::token::{self, Tracing};

/// A key on a PKCS#11 token, as a server is told of it.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
#[derive(Clone)]
pub struct TokenKey {
    /// The module that it is behind.
    pub module: PathBuf,
    uri: Pkcs11Uri,
    /// Whoever has it may sign.
    pub pin: Option<Pin>,
    /// What the module has to find in its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory of a token that keymark itself has made: where root starts the server, its worker user is let into
    /// it, and may write to the files that are there by then (a twin's device, a trace). It makes no new ones. Other tokens'
    /// files are left as they are.
    pub own_directory: Option<PathBuf>,
    /// Whether the server's calls for it are counted.
    pub tracing: Tracing,
}

impl TokenKey {
    /// The private key of that URI behind the module. A PIN's file in the URI is not used: the PIN is `pin`.
    ///
    /// # Errors
    /// When it is no URI of a key.
    pub fn new(module: &Path, uri: &str, pin: Option<Pin>) -> Result<Self, Error> {
        const CALL: &str = "reading a pkcs11: URI";
        let uri: Pkcs11Uri = uri.parse().during(CALL)?;
        if !uri.object.names_one() {
            let advice = "add object=LABEL or id=%NN";
            return Err(Error::call(CALL, "it names no key", advice));
        }
        // Without a type pkcs11-provider comes to the public key first, by chance.
        let object = ObjectPart {
            kind: Some(ObjectKind::Private),
            ..uri.object
        };
        Ok(Self {
            module: module.to_owned(),
            uri: Pkcs11Uri {
                object,
                pin_file: None,
                module_path: None,
                module_name: None,
                ..uri
            },
            pin,
            environment: Vec::new(),
            own_directory: None,
            tracing: Tracing::Off,
        })
    }

    /// The same key behind another module.
    pub(crate) fn behind(&self, module: &Path) -> Self {
        Self {
            module: module.to_owned(),
            ..self.clone()
        }
    }

    /// A key that a store has for other programs.
    ///
    /// # Errors
    /// When its URI names no key.
    pub fn of_program(key: ProgramKey) -> Result<Self, Error> {
        let made = Self::new(key.module(), &key.uri(None), key.pin.clone())?;
        Ok(Self {
            own_directory: key.own_place().map(Path::to_owned),
            environment: key.environment,
            ..made
        })
    }

    /// The private key's URI (RFC 7512), with the file of the PIN if that is to be in it.
    pub(crate) fn uri(&self, pin_file: Option<&Path>) -> String {
        let uri = Pkcs11Uri {
            pin_file: pin_file.map(Path::to_owned),
            ..self.uri.clone()
        };
        // RFC 7512 lets them stand; in a configuration they would mean something.
        uri.to_string().replace('$', "%24").replace('\'', "%27")
    }

    /// Whether both are known by one token behind one module, as far as their URIs say.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.module == other.module && self.uri.token == other.uri.token
    }
}

#[derive(Clone)]
pub(crate) enum PrivateKey {
    File(PKey<Private>),
    Token(Box<TokenKey>, TokenWay),
}

/// A certificate with its private key.
#[derive(Clone, derive_more::Debug)]
#[debug("Identity({algorithm}, {:?})", self.way())]
pub struct Identity {
    /// What the key is.
    pub algorithm: Algorithm,
    /// The server's certificate.
    pub certificate: X509,
    /// What a client has to trust; none of one that keymark has not made.
    pub authority: Option<X509>,
    pub(crate) key: PrivateKey,
}

impl Identity {
    /// A test key that the server gets as a file, with a new certificate.
    ///
    /// # Errors
    /// When no certificate for TLS can have such a key.
    pub fn in_file(key: &TestKey) -> Result<Self, ServerError> {
        let private = private_key(key)?;
        let public = private
            .public_key_to_der()
            .and_then(|der| PKey::public_key_from_der(&der))
            .during("i2d_PUBKEY")?;
        Self::certified(key.algorithm, &public, PrivateKey::File(private))
    }

    /// With a new certificate of an authority of its own.
    fn certified(
        algorithm: Algorithm,
        public: &PKeyRef<Public>,
        key: PrivateKey,
    ) -> Result<Self, ServerError> {
        let authority = Authority::signing_for(algorithm)?;
        Ok(Self {
            algorithm,
            certificate: authority.issue(public, Purpose::Server)?,
            authority: Some(authority.certificate().clone()),
            key,
        })
    }

    /// A new key in a file.
    ///
    /// # Errors
    /// When no certificate for TLS can have such a key.
    pub fn generate(algorithm: Algorithm) -> Result<Self, ServerError> {
        // Asked first: a large key takes its time.
        certificate::check(algorithm)?;
        Self::in_file(&TestKey::generate(algorithm)?)
    }

    /// A key on a token, with a new certificate. The installed program `openssl` loads the key once with what the server
    /// will use, so that a wrong PIN is tried once and no server tries it again.
    ///
    /// # Errors
    /// When the way cannot have such a key, or the token refuses.
    pub fn on_token(
        server: &Installed,
        algorithm: Algorithm,
        key: TokenKey,
        way: TokenWay,
    ) -> Result<Self, ServerError> {
        // libp11 0.4.12 has RSA and ECDSA, and no EdDSA.
        if way == TokenWay::Engine && !is_known_to_programs(algorithm.family()) {
            return Err(Impossible::NotByEngine(algorithm).into());
        }
        certificate::check(algorithm)?;
        let public = token::public_key(server, &key, way)?;
        Self::certified(algorithm, &public, PrivateKey::Token(Box::new(key), way))
    }

    /// What a client has to trust, in PEM.
    pub fn authority_pem(&self) -> Option<String> {
        let pem = self.authority.as_ref()?.to_pem().ok()?;
        String::from_utf8(pem).ok()
    }

    /// How the server gets at the private key; none where it is in a file.
    pub fn way(&self) -> Option<TokenWay> {
        self.token().map(|(_, way)| way)
    }

    pub(crate) fn token(&self) -> Option<(&TokenKey, TokenWay)> {
        match &self.key {
            PrivateKey::File(_) => None,
            PrivateKey::Token(key, way) => Some((key, *way)),
        }
    }
}

/// One certificate, or two on one host: clients that know ECDSA get that one, older ones the RSA one.
#[derive(Debug, Clone)]
pub struct Certificates(Vec<Identity>);

impl Certificates {
    /// One.
    pub fn one(identity: Identity) -> Self {
        Self(vec![identity])
    }

    /// Two, in either order.
    ///
    /// # Errors
    /// When they are not an RSA and an ECDSA one.
    pub fn of_two(one: Identity, other: Identity) -> Result<Self, Impossible> {
        Self::check_two(one.algorithm, other.algorithm)?;
        let mut both = vec![one, other];
        // RSA stands first.
        both.sort_by_key(|one| !matches!(one.algorithm.family(), Family::Rsa(_)));
        Ok(Self(both))
    }

    /// Whether two such keys are a pair.
    pub(crate) fn check_two(one: Algorithm, other: Algorithm) -> Result<(), Impossible> {
        let is_rsa = |of: Algorithm| matches!(of.family(), Family::Rsa(_));
        let is_ecdsa = |of: Algorithm| {
            let curve = Family::Weierstrass(Curve::NistP256);
            of.family() == curve || of.family() == Family::Weierstrass(Curve::NistP384)
        };
        let pair = is_rsa(one) && is_ecdsa(other) || is_ecdsa(one) && is_rsa(other);
        pair.then_some(())
            .ok_or(Impossible::NotADualPair(one, other))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Identity> {
        self.0.iter()
    }
}

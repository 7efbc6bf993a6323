//! Single transactions with a server or a service, and handshakes after which nothing is requested.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use keymark_bench::{Algorithm, Clock, Timestamp};
use mio::net::TcpStream;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::LoadError;
use crate::failure::{Failure, Phase};
use crate::key_exchange::{KeyExchange, TlsVersion};
use crate::protocol::CipherSuite;
use crate::service::Service;
use crate::settings::Timeouts;
use crate::target::{ClientOffer, Target};
use crate::tls::{Connector, Stop, Weak, key_of_certificate};
use crate::worker::{Conversation, ThreadContext};

/// Between two looks at a socket that is not ready.
const STEP: Duration = Duration::from_millis(1);

/// Answer of a server to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// Result of the handshake.
    pub shaken: Shaken,
    /// Bytes of the answer's body.
    pub body: u64,
}

/// Asks once. `stop` is looked at between all steps.
///
/// # Errors
/// When the server is not what the target expects, gives no answer in time or one without end: of which class the failure is.
/// [`LoadError::Stopped`] when it was.
pub fn probe(
    target: &Target,
    weak: Weak,
    timeouts: &Timeouts,
    (clock, stop): (&dyn Clock, &AtomicBool),
) -> Result<Probed, LoadError> {
    let numbers = ChaCha8Rng::seed_from_u64(clock.now().0);
    let mut means = ThreadContext::new(target.into(), clock, (weak, *timeouts), numbers)?;
    let conversation = alone(&mut means, stop)?;
    let nothing = || Failure::Tls("nothing was agreed on".to_owned());
    let session = conversation.session().ok_or_else(nothing)?;
    Ok(Probed {
        shaken: session.shaken(),
        body: conversation.body(),
    })
}

/// Choice of a server from a client's offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shaken {
    /// The version, if it is one of keymark's.
    pub version: Option<TlsVersion>,
    /// The key exchange, if it is one of keymark's.
    pub key_exchange: Option<KeyExchange>,
    /// The cipher suite.
    pub cipher: Option<CipherSuite>,
    /// The certificates that it sent, in DER, its own first.
    pub chain: Vec<Vec<u8>>,
}

impl Shaken {
    /// The algorithm of the certificate's key, if it is one of keymark's.
    pub fn key(&self) -> Option<Algorithm> {
        self.chain.first().and_then(|leaf| key_of_certificate(leaf))
    }
}

/// Makes a handshake and closes the connection, until an instant at the latest. Weak keys are accepted, and no chain is verified.
///
/// # Errors
/// When the server refuses the offer or takes too long, or OpenSSL cannot make the offer.
pub fn handshake(
    (address, server_name): (SocketAddr, &str),
    offer: &ClientOffer,
    (clock, until): (&dyn Clock, Timestamp),
) -> Result<Shaken, LoadError> {
    let mut connector = Connector::new(server_name, offer, Weak::Allowed)?;
    let left = until.since(clock.now()).max(STEP);
    let connected = std::net::TcpStream::connect_timeout(&address, left)
        .and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
    let socket = match connected {
        Ok(socket) => TcpStream::from_std(socket),
        Err(_) if clock.now() >= until => return Err(Failure::ConnectTimeout.into()),
        Err(error) => return Err(Failure::of_socket(&error, Phase::Connect).into()),
    };
    let mut session = connector.open(socket)?;
    loop {
        match session.handshake() {
            Ok(()) => return Ok(session.shaken()),
            Err(Stop::Failed(failure)) => return Err(failure.into()),
            Err(Stop::Blocked) if clock.now() >= until => {
                return Err(Failure::HandshakeTimeout.into());
            }
            Err(Stop::Blocked) => thread::sleep(STEP),
        }
    }
}

/// Asks a service that has nothing else to do once: the request's number, and the answer, which nobody has checked.
///
/// # Errors
/// As [`probe`].
pub fn ask(
    service: &Service,
    (clock, stop): (&dyn Clock, &AtomicBool),
) -> Result<(u64, Vec<u8>), LoadError> {
    let numbers = ChaCha8Rng::seed_from_u64(clock.now().0);
    let limits = (Weak::Refused, Timeouts::ALONE);
    let mut means = ThreadContext::new(service.into(), clock, limits, numbers)?;
    let answered = alone(&mut means, stop)?.unchecked();
    Ok(answered.ok_or(Failure::ShortBody)?)
}

/// Makes one transaction to its end.
fn alone(means: &mut ThreadContext<'_>, stop: &AtomicBool) -> Result<Conversation, LoadError> {
    let clock = means.clock;
    let request = means.spoken.request();
    let now = clock.now();
    let mut conversation = Conversation::start(means, request, (now, now), |_| Ok(()))?;
    // What never lets one wait has an end: longer answers are refused.
    while !stop.load(Ordering::Relaxed) {
        if let Some(late) = conversation.overdue(clock.now(), &means.timeouts) {
            return Err(late.into());
        }
        match conversation.advance(means) {
            Ok(_) => return Ok(conversation),
            Err(Stop::Failed(failure)) => return Err(failure.into()),
            Err(Stop::Blocked) => thread::sleep(STEP),
        }
    }
    Err(LoadError::Stopped)
}

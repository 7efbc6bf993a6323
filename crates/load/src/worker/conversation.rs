//! Transaction: connection, handshake, request, answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::{io, mem};

use keymark_bench::{Clock, Timestamp, Transaction, nanoseconds};
use mio::net::TcpStream;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::channel::Channel;
use crate::error::LoadError;
use crate::failure::{Failure, Phase};
use crate::http::{self, BodyProgress, HttpAnswer};
use crate::service::Service;
use crate::settings::Timeouts;
use crate::target::{Asked, Target};
use crate::tls::{Checker, Connector, Session, Stop, Weak};

/// A record of TLS (RFC 8446 §5.1).
const BUFFER: usize = 16 * 1024;

/// Checks whether a connection under way is open.
fn is_connected(socket: &TcpStream) -> Result<(), Stop> {
    let of_socket = |error: io::Error| Failure::of_socket(&error, Phase::Connect);
    if let Some(error) = socket.take_error().map_err(of_socket)? {
        return Err(of_socket(error).into());
    }
    match socket.peer_addr() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Err(Stop::Blocked),
        Err(error) => Err(of_socket(error).into()),
    }
}

/// State that all conversations of a thread share.
#[derive(Debug)]
pub(crate) struct ThreadContext<'a> {
    pub(crate) clock: &'a dyn Clock,
    pub(crate) address: SocketAddr,
    pub(crate) spoken: Spoken<'a>,
    pub(crate) timeouts: Timeouts,
    /// Buffer for one answer at a time.
    buffer: Vec<u8>,
}

impl<'a> ThreadContext<'a> {
    /// Creates the state of one thread, with the random numbers of a service's requests.
    pub(crate) fn new(
        asked: Asked<'a>,
        clock: &'a dyn Clock,
        (weak, timeouts): (Weak, Timeouts),
        numbers: ChaCha8Rng,
    ) -> Result<Self, LoadError> {
        let (address, spoken) = match asked {
            Asked::Tls(target) => (target.address, Spoken::tls(target, weak)?),
            Asked::Service(service) => {
                let numbers = Box::new(numbers);
                (service.address, Spoken::Http { service, numbers })
            }
        };
        Ok(Self {
            clock,
            address,
            spoken,
            timeouts,
            buffer: vec![0; BUFFER],
        })
    }
}

/// Protocol of the conversations.
#[derive(Debug)]
pub(crate) enum Spoken<'a> {
    /// TLS, and the same request over each connection.
    Tls {
        connector: Connector,
        request: Arc<[u8]>,
        body: Option<u64>,
        checker: Box<Checker>,
    },
    /// HTTP alone, each request another one.
    Http {
        service: &'a Service,
        numbers: Box<ChaCha8Rng>,
    },
}

/// A request that is ready.
#[derive(Debug)]
pub(crate) struct PreparedRequest {
    number: u64,
    bytes: Arc<[u8]>,
}

impl Spoken<'_> {
    fn tls(target: &Target, weak: Weak) -> Result<Self, LoadError> {
        Ok(Self::Tls {
            connector: Connector::new(&target.server_name, &target.into(), weak)?,
            request: http::request(&target.server_name, &target.path).into(),
            body: target.expected.body,
            checker: Box::new(Checker::new(target.expected.clone(), weak)),
        })
    }

    /// The next request.
    pub(crate) fn request(&mut self) -> PreparedRequest {
        match self {
            Self::Tls { request, .. } => PreparedRequest {
                number: 0,
                bytes: Arc::clone(request),
            },
            Self::Http { service, numbers } => {
                let number = numbers.random();
                let body = service.exchange.body(number);
                PreparedRequest {
                    number,
                    bytes: http::request_with(service, &body).into(),
                }
            }
        }
    }

    fn answer(&self) -> HttpAnswer {
        match self {
            Self::Tls { .. } => HttpAnswer::default(),
            Self::Http { .. } => HttpAnswer::kept(),
        }
    }

    fn check(&self, answer: &HttpAnswer) -> Result<(), Failure> {
        match self {
            Self::Tls { body, .. } => answer.check(*body),
            // Later, when nothing waits for it.
            Self::Http { .. } => Ok(()),
        }
    }

    /// The check of an answer that was kept for it.
    pub(super) fn check_kept(&self, number: u64, answer: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Tls { .. } => Ok(()),
            Self::Http { service, .. } => {
                let checked = service.exchange.check(number, answer);
                checked.map_err(Failure::Unexpected)
            }
        }
    }
}

/// Ends of the phases.
#[derive(Debug, Clone, Copy)]
struct Times {
    scheduled: Timestamp,
    started: Timestamp,
    connected: Timestamp,
    secured: Timestamp,
    first_byte: Option<Timestamp>,
}

#[derive(Debug)]
enum Stage {
    Connecting(TcpStream),
    Handshaking(Box<Session>),
    Asking(Channel),
    Reading(Channel),
    Done(Channel),
    Over,
}

/// A transaction under way. When it is dropped the socket is closed, without an alert of the client's own: the server has
/// sent its `close_notify` or is about to, and reads no more (RFC 8446 §6.1).
#[derive(Debug)]
pub(crate) struct Conversation {
    times: Times,
    stage: Stage,
    request: PreparedRequest,
    answer: HttpAnswer,
}

impl Conversation {
    /// Begins to connect; `watched` sees to it that the thread learns when the socket is ready.
    pub(crate) fn start(
        means: &ThreadContext<'_>,
        request: PreparedRequest,
        (scheduled, started): (Timestamp, Timestamp),
        watched: impl FnOnce(&mut TcpStream) -> io::Result<()>,
    ) -> Result<Self, Failure> {
        let of_socket = |error: io::Error| Failure::of_socket(&error, Phase::Connect);
        let mut socket = TcpStream::connect(means.address).map_err(of_socket)?;
        // The request follows the handshake's last flight without waiting for its acknowledgement. On a connection that
        // is refused already this fails, and the next call says why.
        let _ = socket.set_nodelay(true);
        watched(&mut socket).map_err(of_socket)?;
        Ok(Self {
            times: Times {
                scheduled,
                started,
                connected: started,
                secured: started,
                first_byte: None,
            },
            stage: Stage::Connecting(socket),
            request,
            answer: means.spoken.answer(),
        })
    }

    /// Goes on until the socket would block: `Blocked`; or until the last byte: when that came.
    pub(crate) fn advance(&mut self, means: &mut ThreadContext<'_>) -> Result<Timestamp, Stop> {
        loop {
            match mem::replace(&mut self.stage, Stage::Over) {
                Stage::Connecting(socket) => self.connect(socket, means)?,
                Stage::Handshaking(mut session) => match session.handshake() {
                    Ok(()) => {
                        self.times.secured = means.clock.now();
                        if let Spoken::Tls { checker, .. } = &mut means.spoken {
                            session.show(checker)?;
                        }
                        self.stage = Stage::Asking(Channel::Tls(session));
                    }
                    Err(stop) => return self.stopped(stop, Stage::Handshaking(session)),
                },
                Stage::Asking(mut channel) => match channel.send(&self.request.bytes) {
                    Ok(()) => self.stage = Stage::Reading(channel),
                    Err(stop) => return self.stopped(stop, Stage::Asking(channel)),
                },
                Stage::Reading(mut channel) => match channel.receive(&mut means.buffer) {
                    Ok(count) => {
                        if let Some(end) = self.received(count, means)? {
                            self.stage = Stage::Done(channel);
                            return Ok(end);
                        }
                        self.stage = Stage::Reading(channel);
                    }
                    Err(stop) => return self.stopped(stop, Stage::Reading(channel)),
                },
                Stage::Done(_) | Stage::Over => return Err(Stop::Blocked),
            }
        }
    }

    /// Continues a blocked conversation.
    fn stopped(&mut self, stop: Stop, stage: Stage) -> Result<Timestamp, Stop> {
        if stop == Stop::Blocked {
            self.stage = stage;
        }
        Err(stop)
    }

    fn connect(&mut self, socket: TcpStream, means: &mut ThreadContext<'_>) -> Result<(), Stop> {
        match is_connected(&socket) {
            Ok(()) => {
                self.times.connected = means.clock.now();
                self.times.secured = self.times.connected;
                self.stage = match &mut means.spoken {
                    Spoken::Tls { connector, .. } => {
                        Stage::Handshaking(Box::new(connector.open(socket)?))
                    }
                    Spoken::Http { .. } => Stage::Asking(Channel::Plain { socket, sent: 0 }),
                };
                Ok(())
            }
            Err(stop) => self.stopped(stop, Stage::Connecting(socket)).map(drop),
        }
    }

    /// Takes bytes that were read; none are the end.
    fn received(
        &mut self,
        count: usize,
        means: &ThreadContext<'_>,
    ) -> Result<Option<Timestamp>, Failure> {
        let now = means.clock.now();
        let progress = if count > 0 {
            self.times.first_byte.get_or_insert(now);
            self.answer.take(&means.buffer[..count])?
        } else {
            self.answer.end()?;
            BodyProgress::Whole
        };
        match progress {
            BodyProgress::More => Ok(None),
            BodyProgress::Whole => {
                means.spoken.check(&self.answer)?;
                Ok(Some(now))
            }
        }
    }

    /// The failure if one of its times is up.
    pub(crate) fn overdue(&self, now: Timestamp, timeouts: &Timeouts) -> Option<Failure> {
        let times = &self.times;
        // Of an open loop, time in the queue is not the server's fault.
        if now.since(times.started) > timeouts.whole {
            return Some(Failure::WholeTimeout);
        }
        match self.stage {
            Stage::Connecting(_) => {
                let late = now.since(times.started) > timeouts.connect;
                late.then_some(Failure::ConnectTimeout)
            }
            Stage::Handshaking(_) => {
                let late = now.since(times.connected) > timeouts.handshake;
                late.then_some(Failure::HandshakeTimeout)
            }
            Stage::Asking(_) | Stage::Reading(_) | Stage::Done(_) | Stage::Over => None,
        }
    }

    /// A transaction that ended, by the load's own clock.
    pub(super) fn transaction(&self, origin: Timestamp, end: Timestamp) -> Transaction {
        let times = &self.times;
        let between = |from: Timestamp, to: Timestamp| nanoseconds(to.since(from));
        Transaction {
            scheduled_ns: between(origin, times.scheduled),
            start_ns: between(origin, times.started),
            connect_ns: between(times.started, times.connected),
            handshake_ns: between(times.connected, times.secured),
            first_byte_ns: between(times.secured, times.first_byte.unwrap_or(end)),
            whole_ns: between(times.scheduled, end),
        }
    }

    /// Bytes of the answer's body.
    pub(crate) const fn body(&self) -> u64 {
        self.answer.body
    }

    /// The TLS session of a transaction that has ended.
    pub(crate) fn session(&self) -> Option<&Session> {
        let Stage::Done(Channel::Tls(session)) = &self.stage else {
            return None;
        };
        Some(session)
    }

    /// The request's number and the answer's body, where that is still to be checked.
    pub(crate) fn unchecked(&mut self) -> Option<(u64, Vec<u8>)> {
        Some((self.request.number, self.answer.kept.take()?))
    }
}

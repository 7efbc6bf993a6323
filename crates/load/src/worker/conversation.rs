//! One transaction: connection, handshake, request, answer.

use std::net::SocketAddr;
use std::{io, mem};

use keymark_bench::clock::{Clock, Timestamp};
use keymark_bench::server_load::Transaction;
use mio::net::TcpStream;

use crate::failure::{Failure, Phase};
use crate::http::{Answer, Progress};
use crate::latencies::nanoseconds;
use crate::settings::Timeouts;
use crate::tls::{Checker, Connector, Received, Session, Stop};

/// Whether the connection that was begun stands.
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

/// What all conversations of a thread share.
#[derive(Debug)]
pub(crate) struct Means<'a> {
    pub(crate) clock: &'a dyn Clock,
    pub(crate) connector: &'a Connector,
    pub(crate) address: SocketAddr,
    pub(crate) request: &'a [u8],
    pub(crate) body: Option<u64>,
    pub(crate) timeouts: Timeouts,
    pub(crate) checker: Checker,
    /// Where answers are read into, one at a time.
    pub(crate) buffer: Vec<u8>,
}

/// When which phase ended.
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
    Asking(Box<Session>),
    Reading(Box<Session>),
    Done(Box<Session>),
    Over,
}

/// A transaction under way. When it is dropped the socket is closed, without an alert of the client's own: the server has
/// sent its `close_notify` or is about to, and reads no more (RFC 8446 §6.1).
#[derive(Debug)]
pub(crate) struct Conversation {
    times: Times,
    stage: Stage,
    answer: Answer,
}

impl Conversation {
    /// Begins to connect; `watched` sees to it that somebody knows when the socket is ready.
    pub(crate) fn start(
        means: &Means<'_>,
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
            answer: Answer::default(),
        })
    }

    /// Goes on until the socket would block: `Blocked`; or until the last byte: when that came.
    pub(crate) fn advance(&mut self, means: &mut Means<'_>) -> Result<Timestamp, Stop> {
        loop {
            match mem::replace(&mut self.stage, Stage::Over) {
                Stage::Connecting(socket) => self.connect(socket, means)?,
                Stage::Handshaking(mut session) => match session.handshake() {
                    Ok(()) => {
                        self.times.secured = means.clock.now();
                        session.show(&mut means.checker)?;
                        self.stage = Stage::Asking(session);
                    }
                    Err(stop) => return self.stopped(stop, Stage::Handshaking(session)),
                },
                Stage::Asking(mut session) => match session.send(means.request) {
                    Ok(()) => self.stage = Stage::Reading(session),
                    Err(stop) => return self.stopped(stop, Stage::Asking(session)),
                },
                Stage::Reading(mut session) => match session.receive(&mut means.buffer) {
                    Ok(received) => {
                        if let Some(end) = self.received(received, means)? {
                            self.stage = Stage::Done(session);
                            return Ok(end);
                        }
                        self.stage = Stage::Reading(session);
                    }
                    Err(stop) => return self.stopped(stop, Stage::Reading(session)),
                },
                Stage::Done(_) | Stage::Over => return Err(Stop::Blocked),
            }
        }
    }

    /// What was blocked goes on from the same stage.
    fn stopped(&mut self, stop: Stop, stage: Stage) -> Result<Timestamp, Stop> {
        if stop == Stop::Blocked {
            self.stage = stage;
        }
        Err(stop)
    }

    fn connect(&mut self, socket: TcpStream, means: &Means<'_>) -> Result<(), Stop> {
        match is_connected(&socket) {
            Ok(()) => {
                self.times.connected = means.clock.now();
                self.stage = Stage::Handshaking(Box::new(means.connector.open(socket)?));
                Ok(())
            }
            Err(stop) => self.stopped(stop, Stage::Connecting(socket)).map(drop),
        }
    }

    fn received(
        &mut self,
        received: Received,
        means: &Means<'_>,
    ) -> Result<Option<Timestamp>, Failure> {
        let now = means.clock.now();
        let progress = match received {
            Received::Bytes(count) => {
                self.times.first_byte.get_or_insert(now);
                self.answer.take(&means.buffer[..count])?
            }
            Received::End => {
                self.answer.end()?;
                Progress::Whole
            }
        };
        match progress {
            Progress::More => Ok(None),
            Progress::Whole => {
                self.answer.check(means.body)?;
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

    /// The certificates that the server sent, in DER, its own first; none before the last byte.
    pub(crate) fn chain(&self) -> Vec<Vec<u8>> {
        match &self.stage {
            Stage::Done(session) => session.chain(),
            Stage::Connecting(_)
            | Stage::Handshaking(_)
            | Stage::Asking(_)
            | Stage::Reading(_)
            | Stage::Over => Vec::new(),
        }
    }
}

//! One transaction with a server that nobody here has started: what it is.

use std::net::TcpStream as Socket;
use std::thread;
use std::time::Duration;

use keymark_bench::clock::{Clock, Timestamp};
use mio::net::TcpStream;

use crate::error::Error;
use crate::failure::{Failure, Phase};
use crate::http::{self, Answer, Progress};
use crate::settings::Timeouts;
use crate::target::Target;
use crate::tls::{Checker, Engine, Negotiated, Received, Session, Stop, WeakSizes};

/// Between two looks at a socket that is not ready.
const STEP: Duration = Duration::from_millis(1);

/// What a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// What was agreed on.
    pub negotiated: Negotiated,
    /// The certificates that it sent, in DER, its own first.
    pub chain: Vec<Vec<u8>>,
    /// Bytes of the answer's body.
    pub body: u64,
}

/// Asks once, by OpenSSL, which knows more certificates than rustls does.
///
/// # Errors
/// When the server is not what the target expects, or gives no answer: of which class the failure is.
pub fn probe(
    target: &Target,
    weak: WeakSizes,
    timeouts: &Timeouts,
    clock: &dyn Clock,
) -> Result<Probed, Error> {
    let connector = Engine::OpenSsl.connector(target, weak)?;
    let of_socket =
        |error: std::io::Error| Error::Transaction(Failure::of_socket(&error, Phase::Connect));
    let socket = match Socket::connect_timeout(&target.address, timeouts.connect) {
        Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            return Err(Error::Transaction(Failure::ConnectTimeout));
        }
        connected => connected.map_err(of_socket)?,
    };
    socket.set_nonblocking(true).map_err(of_socket)?;
    let socket = TcpStream::from_std(socket);
    let mut session = connector.open(socket).map_err(Error::Transaction)?;
    let mut patience = Patience {
        clock,
        deadline: clock.now().after(timeouts.handshake),
        late: Failure::HandshakeTimeout,
    };
    patience.until(|| session.handshake())?;
    let mut checker = Checker::new(target.expected.clone(), weak);
    session.show(&mut checker).map_err(Error::Transaction)?;
    patience.late = Failure::WholeTimeout;
    patience.deadline = clock.now().after(timeouts.whole);
    let body = ask(target, session.as_mut(), &patience)?;
    let negotiated = checker.counts().into_keys().next();
    let negotiated = negotiated
        .ok_or_else(|| Error::Transaction(Failure::Tls("nothing was agreed on".to_owned())))?;
    Ok(Probed {
        negotiated,
        chain: session.chain(),
        body,
    })
}

fn ask(target: &Target, session: &mut dyn Session, patience: &Patience<'_>) -> Result<u64, Error> {
    let request = http::request(&target.server_name, &target.path);
    patience.until(|| session.send(&request))?;
    let mut answer = Answer::default();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let progress = match patience.until(|| session.receive(&mut buffer))? {
            Received::Bytes(count) => answer.take(&buffer[..count]),
            Received::End => answer.end().map(|()| Progress::Whole),
        };
        match progress.map_err(Error::Transaction)? {
            Progress::More => {}
            Progress::Whole => return Ok(answer.body),
        }
    }
}

/// How long a step is waited for.
struct Patience<'c> {
    clock: &'c dyn Clock,
    deadline: Timestamp,
    late: Failure,
}

impl Patience<'_> {
    fn until<T>(&self, mut step: impl FnMut() -> Result<T, Stop>) -> Result<T, Error> {
        loop {
            match step() {
                Ok(done) => return Ok(done),
                Err(Stop::Failed(failure)) => return Err(Error::Transaction(failure)),
                Err(Stop::Blocked) if self.clock.now() >= self.deadline => {
                    return Err(Error::Transaction(self.late.clone()));
                }
                Err(Stop::Blocked) => thread::sleep(STEP),
            }
        }
    }
}

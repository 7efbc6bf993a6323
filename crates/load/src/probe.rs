//! One transaction with a server that nobody here has started: what it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use keymark_bench::clock::{Clock, Timestamp};
use mio::net::TcpStream;

use crate::error::Error;
use crate::failure::{Failure, Phase};
use crate::http::{self, Answer, Progress};
use crate::settings::Timeouts;
use crate::target::Target;
use crate::tls::{Checker, Connector, Negotiated, Received, Session, Stop, Weak};
use crate::worker::is_connected;

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

/// Asks once. `stop` is looked at between all steps.
///
/// # Errors
/// When the server is not what the target expects, gives no answer in time or one without end: of which class the failure is.
/// [`Error::Stopped`] when it was.
pub fn probe(
    target: &Target,
    weak: Weak,
    timeouts: &Timeouts,
    (clock, stop): (&dyn Clock, &AtomicBool),
) -> Result<Probed, Error> {
    let connector = Connector::new(target, weak)?;
    let whole = clock.now().after(timeouts.whole);
    let within = |limit: Duration, late: Failure| Patience {
        clock,
        stop,
        deadline: clock.now().after(limit).min(whole),
        late,
    };
    let socket = TcpStream::connect(target.address).map_err(of_socket)?;
    within(timeouts.connect, Failure::ConnectTimeout).until(|| is_connected(&socket))?;
    let mut session = connector.open(socket).map_err(Error::Transaction)?;
    within(timeouts.handshake, Failure::HandshakeTimeout).until(|| session.handshake())?;
    let mut checker = Checker::new(target.expected.clone(), weak);
    session.show(&mut checker).map_err(Error::Transaction)?;
    let patience = within(timeouts.whole, Failure::WholeTimeout);
    let body = ask(target, &mut session, &patience)?;
    let negotiated = checker.counts().into_keys().next();
    let negotiated = negotiated
        .ok_or_else(|| Error::Transaction(Failure::Tls("nothing was agreed on".to_owned())))?;
    Ok(Probed {
        negotiated,
        chain: session.chain(),
        body,
    })
}

fn of_socket(error: std::io::Error) -> Error {
    Error::Transaction(Failure::of_socket(&error, Phase::Connect))
}

fn ask(target: &Target, session: &mut Session, patience: &Patience<'_>) -> Result<u64, Error> {
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

/// How long a step is waited for, and whether it still is.
struct Patience<'c> {
    clock: &'c dyn Clock,
    stop: &'c AtomicBool,
    deadline: Timestamp,
    late: Failure,
}

impl Patience<'_> {
    fn until<T>(&self, mut step: impl FnMut() -> Result<T, Stop>) -> Result<T, Error> {
        // Before each step: a server that never lets one wait is given up as well.
        while !self.stop.load(Ordering::Relaxed) {
            if self.clock.now() >= self.deadline {
                return Err(Error::Transaction(self.late.clone()));
            }
            match step() {
                Ok(done) => return Ok(done),
                Err(Stop::Failed(failure)) => return Err(Error::Transaction(failure)),
                Err(Stop::Blocked) => thread::sleep(STEP),
            }
        }
        Err(Error::Stopped)
    }
}

//! One transaction with a server that nobody here has started: what it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use keymark_bench::clock::Clock;

use crate::error::Error;
use crate::failure::Failure;
use crate::http;
use crate::settings::Timeouts;
use crate::target::Target;
use crate::tls::{Checker, Connector, Negotiated, Stop, Weak};
use crate::worker::{Conversation, Means};

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
    let request = http::request(&target.server_name, &target.path);
    let mut means = Means {
        clock,
        connector: &connector,
        address: target.address,
        request: &request,
        body: target.expected.body,
        timeouts: *timeouts,
        checker: Checker::new(target.expected.clone(), weak),
        buffer: vec![0; 16 * 1024],
    };
    let now = clock.now();
    let mut conversation =
        Conversation::start(&means, (now, now), |_| Ok(())).map_err(Error::Transaction)?;
    // What never lets one wait has an end: longer answers are refused.
    while !stop.load(Ordering::Relaxed) {
        if let Some(late) = conversation.overdue(clock.now(), timeouts) {
            return Err(Error::Transaction(late));
        }
        match conversation.advance(&mut means) {
            Ok(_) => {
                let negotiated = means.checker.counts().into_keys().next();
                let nothing = || Failure::Tls("nothing was agreed on".to_owned());
                return Ok(Probed {
                    negotiated: negotiated.ok_or_else(|| Error::Transaction(nothing()))?,
                    chain: conversation.chain(),
                    body: conversation.body(),
                });
            }
            Err(Stop::Failed(failure)) => return Err(Error::Transaction(failure)),
            Err(Stop::Blocked) => thread::sleep(STEP),
        }
    }
    Err(Error::Stopped)
}

//! A home with the keys of one algorithm, or of one card. Where the time of an operation on a card goes is measured while it is
//! done: processor time of GnuPG's daemons, and the PC/SC calls that keymark's library takes down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::workload::{Calculates, Input, KeyHandle, Performed};
use keymark_bench::{Case, CpuTime, During as _, Error, Operation, Part, PartSums};
use keymark_shim_protocol::trace::{TraceReader, TracedCall};
use keymark_stores::card::{CardAccess, Slot, TouchPolicy};
use keymark_stores::tokens::socket::CardServer;
use keymark_stores::user::Pin;
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use parking_lot::Mutex;

use super::home::Home;
use super::listing::{self, ListedKey};
use super::scdaemon::ScdaemonReader;
use super::signatures::Signer;

/// The home.
#[derive(Debug)]
pub struct KeyHome {
    /// The home; its agent ends before the card that it uses.
    pub home: Home,
    pub(super) keys: Vec<ListedKey>,
    pub(super) meter: Option<Arc<Meter>>,
    /// PIN for each signature, if the card wants that.
    pub(super) signing_pin: Option<SigningPin>,
    /// A card in a reader; it may want its owner's finger.
    pub(super) inserted: Option<Arc<dyn CardAccess>>,
    /// Server of a card in this process, which lives as long as the home.
    pub(super) _server: Option<CardServer>,
}

/// The PIN of a card that wants it for each signature, until it is refused.
#[derive(derive_more::Debug)]
#[debug("SigningPin")]
pub(super) struct SigningPin {
    pub(super) pin: Pin,
    pub(super) refused: AtomicBool,
}

impl KeyHome {
    /// Makes a home with those keys.
    pub(super) fn new(home: Home, keys: Vec<ListedKey>) -> Result<Self, Error> {
        Ok(Self {
            meter: Meter::of(&home)?.map(Arc::new),
            home,
            keys,
            signing_pin: None,
            inserted: None,
            _server: None,
        })
    }

    /// Returns the meter for the parts of a case's operations, if there is a card and one worker.
    pub fn meter(&self, case: &Case) -> Option<Arc<Meter>> {
        self.meter.clone().filter(|_| case.workers() == 1)
    }

    /// Tells the user to touch the card's button, if the key of the operation wants that.
    pub(crate) fn ask_for_touch(&self, operation: Operation) {
        if let Some((card, slot)) = self.in_reader(operation)
            && let Ok(TouchPolicy::Each | TouchPolicy::Cached) = card.check_touch(slot)
        {
            card.ask_for_touch();
        }
    }

    /// Checks that the card admits several workers: if it needs its PIN each time, each of them would cost a try
    /// before the first refusal is known.
    pub(crate) fn check_workers(&self, case: &Case) -> Result<(), Error> {
        if case.workers() == 1 || self.pin_for(case.operation)?.is_none() {
            return Ok(());
        }
        Err(Error::call(
            format!("letting {} workers use one card", case.workers()),
            "it needs its PIN for every signature: a refused PIN would cost several tries",
            "--stack raw asks it in turn; gpg --card-edit, admin, forcesig makes the card remember its PIN",
        ))
    }

    /// The PIN that the card's operation needs, told each time; refused before, it is not tried again.
    pub(crate) fn pin_for(&self, operation: Operation) -> Result<Option<Pin>, Error> {
        let Some(signing) = self
            .signing_pin
            .as_ref()
            .filter(|_| operation == Operation::Sign)
        else {
            return Ok(None);
        };
        if signing.refused.load(Ordering::Acquire) {
            return Err(Error::call(
                "VERIFY",
                "a signature with this PIN failed before; no PIN is tried twice",
                "",
            ));
        }
        Ok(Some(signing.pin.clone()))
    }

    /// An operation failed that was given this PIN, if any.
    pub(crate) fn pin_was_refused(&self, pin: Option<&Pin>) {
        if let (Some(_), Some(signing)) = (pin, &self.signing_pin) {
            signing.refused.store(true, Ordering::Release);
        }
    }

    /// The key that does the operation: that in the card's slot, by the fingerprint that the card has of it, or
    /// else that which gpg would use.
    pub fn key(&self, operation: Operation) -> Result<&ListedKey, Error> {
        if let Some((card, slot)) = self.in_reader(operation)
            && let Some(fingerprint) = card.fingerprint(slot)?
        {
            let key = self.keys.iter().find(|key| key.fingerprint == fingerprint);
            let key = key.ok_or_else(|| {
                Error::call(
                    "gpg --list-secret-keys",
                    format!(
                        "your keyring has no public key for the key in slot {slot}, {fingerprint}"
                    ),
                    "import it (gpg --card-edit, fetch), or measure with --stack raw",
                )
            })?;
            key.check(operation)?;
            return Ok(key);
        }
        listing::chosen(&self.keys, operation)
    }

    /// The check of the key's signatures.
    ///
    /// # Errors
    /// When keymark cannot check signatures by such a key.
    pub(crate) fn signer(&self) -> Result<Signer, Error> {
        let key = self.key(Operation::Sign)?;
        let certificate = self.certificate(key)?;
        let none = || {
            Error::call(
                "gpg --export",
                "keymark cannot check signatures by such a key",
                "choose another --algorithm",
            )
        };
        Signer::find(&certificate, &key.fingerprint).ok_or_else(none)
    }

    pub(super) fn certificate(&self, key: &ListedKey) -> Result<Vec<u8>, Error> {
        let minimal = ["--export-options", "export-minimal", "--export"];
        let exactly = key.exactly();
        let arguments = [&minimal[..], &[&exactly]].concat();
        let (certificate, _) = self.home.run("gpg --export", &arguments)?;
        Ok(certificate)
    }

    /// The card in a reader, and its slot whose key does the operation.
    fn in_reader(&self, operation: Operation) -> Option<(&dyn CardAccess, Slot)> {
        Some((self.inserted.as_deref()?, Slot::of(operation)?))
    }
}

/// The clocks of one home. One operation at a time: what two did at once cannot be told apart.
#[derive(Debug)]
pub struct Meter {
    agent: ClockId,
    scdaemon: ClockId,
    /// True if the calls tell how much of them was the card's own work: of a real reader nobody knows.
    knows_card_time: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    trace: TraceReader,
    agent: Duration,
    scdaemon: Duration,
}

impl Meter {
    /// Finds the daemons of a home that has a card; `None` for one that has none.
    pub fn of(home: &Home) -> Result<Option<Self>, Error> {
        let link = home.card();
        let Some((link, trace)) = link.and_then(|link| Some((link, link.trace.as_deref()?))) else {
            return Ok(None);
        };
        let mut connection = home.connect()?;
        let mut clock = |question: &str| -> Result<ClockId, Error> {
            let process = connection.process(question)?.cast_signed();
            clock_getcpuclockid(Pid::from_raw(process)).during("clock_getcpuclockid")
        };
        Ok(Some(Self {
            agent: clock("GETINFO pid")?,
            scdaemon: clock("SCD GETINFO pid")?,
            knows_card_time: matches!(link.reader, ScdaemonReader::Served { .. }),
            state: Mutex::new(State {
                trace: TraceReader::new(trace),
                agent: Duration::ZERO,
                scdaemon: Duration::ZERO,
            }),
        }))
    }

    /// Starts the clocks before an operation.
    pub fn begin(&self) {
        let mut state = self.state.lock();
        // What came before belongs to nobody.
        let _ = state.trace.read();
        state.agent = read(self.agent);
        state.scdaemon = read(self.scdaemon);
    }

    /// Adds the parts of an operation: `gpg` is the processor time of its process, if there was one.
    pub fn end(&self, latency: Duration, gpg: Option<CpuTime>, into: &mut PartSums) {
        let mut state = self.state.lock();
        let Ok(calls) = state.trace.read() else {
            return;
        };
        let called: Duration = calls.iter().map(TracedCall::duration).sum();
        let mut parts = vec![
            (Part::Agent, read(self.agent).saturating_sub(state.agent)),
            (
                Part::Scdaemon,
                read(self.scdaemon).saturating_sub(state.scdaemon),
            ),
        ];
        let mut known = Duration::ZERO;
        if self.knows_card_time {
            let card: Duration = calls.iter().filter_map(|call| call.card).sum();
            into.add_remainder(Part::Transport, called, card);
            into.add(Part::Card, card);
            known += called;
        } else {
            parts.push((Part::Calls, called));
        }
        parts.extend(gpg.map(|time| (Part::Gpg, time.total())));
        known += parts.iter().map(|(_, time)| *time).sum::<Duration>();
        into.add_remainder(Part::Waiting, latency, known);
        for (part, time) in parts {
            into.add(part, time);
        }
    }
}

/// Processor time of a process so far; zero once it is gone.
fn read(clock: ClockId) -> Duration {
    clock_gettime(clock).map_or(Duration::ZERO, Duration::from)
}

/// The handle of a key of a home: its owner is asked for a finger where the card wants one, and where one worker has the
/// card to itself, the parts of each operation are measured.
pub(crate) fn metered(
    handle: Box<dyn KeyHandle>,
    case: &Case,
    home: &Arc<KeyHome>,
) -> Box<dyn KeyHandle> {
    Box::new(Metered {
        handle,
        operation: case.operation,
        meter: home.meter(case),
        home: Arc::clone(home),
        cpu: None,
    })
}

struct Metered {
    handle: Box<dyn KeyHandle>,
    operation: Operation,
    meter: Option<Arc<Meter>>,
    home: Arc<KeyHome>,
    /// Processor time of the last operation's process, if it had one.
    cpu: Option<CpuTime>,
}

impl KeyHandle for Metered {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        self.handle.arm(input)?;
        self.home.ask_for_touch(self.operation);
        if let Some(meter) = &self.meter {
            meter.begin();
        }
        Ok(())
    }

    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let performed = self.handle.perform(input, output)?;
        self.cpu = performed.cpu;
        Ok(performed)
    }

    fn collect(&mut self, performed: Performed, output: &mut [u8]) -> Result<usize, Error> {
        self.handle.collect(performed, output)
    }

    fn calculates(&self) -> Calculates {
        self.handle.calculates()
    }

    fn parts(&mut self, latency: Duration, into: &mut PartSums) {
        if let Some(meter) = &self.meter {
            meter.end(latency, self.cpu, into);
        }
    }
}

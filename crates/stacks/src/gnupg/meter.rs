//! Where the time of an operation on a card goes, measured while it is done: processor time of
//! GnuPG's daemons, and the PC/SC calls that keymark's library takes down.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use keymark_bench::case::Case;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::parts::{Part, PartSums};
use keymark_bench::sample::CpuTime;
use keymark_bench::workload::{Calculates, Input, KeyHandle, Performed};
use keymark_shim_protocol::trace::{TraceReader, TracedCall};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use super::home::Home;
use super::key_home::KeyHome;
use super::scdaemon::ScdaemonReader;

/// The clocks of one home. One operation at a time: what two did at once cannot be told apart.
#[derive(Debug)]
pub struct Meter {
    agent: ClockId,
    scdaemon: ClockId,
    /// Whether the calls tell how much of them was the card's own work: of a real reader nobody knows.
    card_time: CardTime,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CardTime {
    Known,
    Unknown,
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
        let Some(link) = home.card() else {
            return Ok(None);
        };
        let Some(trace) = link.trace.as_deref() else {
            return Ok(None);
        };
        let mut connection = home.connect()?;
        let mut clock = |question: &str| -> Result<ClockId, Error> {
            let answer = connection.command(question)?;
            let pid = String::from_utf8_lossy(&answer).trim().parse();
            let pid = pid.map_err(|error| Error::call(question, error, ""))?;
            clock_getcpuclockid(Pid::from_raw(pid))
                .map_err(|error| Error::call("clock_getcpuclockid", error, ""))
        };
        Ok(Some(Self {
            agent: clock("GETINFO pid")?,
            scdaemon: clock("SCD GETINFO pid")?,
            card_time: match link.reader {
                ScdaemonReader::Served { .. } => CardTime::Known,
                ScdaemonReader::Pcscd { .. } => CardTime::Unknown,
            },
            state: Mutex::new(State {
                trace: TraceReader::new(trace),
                agent: Duration::ZERO,
                scdaemon: Duration::ZERO,
            }),
        }))
    }

    /// Before an operation.
    pub fn begin(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // What came before belongs to nobody.
        let _ = state.trace.read();
        state.agent = read(self.agent);
        state.scdaemon = read(self.scdaemon);
    }

    /// After it: `gpg` is the processor time of its process, if there was one.
    pub fn end(&self, latency: Duration, gpg: Option<CpuTime>, into: &mut PartSums) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
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
        match self.card_time {
            CardTime::Known => {
                let card: Duration = calls.iter().filter_map(|call| call.card).sum();
                into.add_remainder(Part::Transport, called, card);
                into.add(Part::Card, card);
                known += called;
            }
            CardTime::Unknown => parts.push((Part::Calls, called)),
        }
        if let Some(CpuTime { user_us, system_us }) = gpg {
            let time = Duration::from_micros(u64::from(user_us) + u64::from(system_us));
            parts.push((Part::Gpg, time));
        }
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

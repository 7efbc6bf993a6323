//! Where the time of an operation on a card goes, measured while it is done: processor time of
//! GnuPG's daemons, and the PC/SC calls that keymark's library takes down.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use keymark_bench::error::Error;
use keymark_bench::parts::{Part, PartSums};
use keymark_bench::sample::CpuTime;
use keymark_shim_protocol::trace::{TraceReader, TracedCall};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use super::card_link::ScdaemonReader;
use super::home::Home;

/// The clocks of one home. One operation at a time: what two did at once cannot be told apart.
#[derive(Debug)]
pub struct Meter {
    agent: ClockId,
    scdaemon: ClockId,
    told: Told,
    state: Mutex<State>,
}

/// What is known of a PC/SC call besides its duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// How much of it was the card's own work.
    CardTime,
    /// Nothing: the reader is a real one.
    Nothing,
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
            told: match link.reader {
                ScdaemonReader::Served { .. } => Told::CardTime,
                ScdaemonReader::Pcscd { .. } => Told::Nothing,
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
        match self.told {
            Told::CardTime => {
                let card: Duration = calls.iter().filter_map(|call| call.card).sum();
                into.add_remainder(Part::Transport, called, card);
                into.add(Part::Card, card);
                known += called;
            }
            Told::Nothing => parts.push((Part::Calls, called)),
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

//! Thread of the client: an event loop over its connections.

mod channel;
mod conversation;
mod source;
mod timer;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use keymark_bench::{Clock, Timestamp, Transaction};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(crate) use self::conversation::{Conversation, ThreadContext};
pub(crate) use self::source::Share;
use self::source::{Turn, TurnEnding, TurnSource};
use self::timer::Timer;
use crate::error::LoadError;
use crate::failure::Failure;
use crate::recorder::{Recent, Recorder};
use crate::sample::Reservoir;
use crate::settings::LoadSettings;
use crate::target::Asked;
use crate::tls::{Session, Stop};

/// Interval between checks of timeouts.
const SCAN: Duration = Duration::from_millis(10);
/// The longest wait, after which a thread looks whether it is to stop.
const LONGEST_WAIT: Duration = Duration::from_millis(50);
/// Interval between a thread's reports to the observer.
const PUBLISH: Duration = Duration::from_millis(200);
const EVENTS: usize = 256;
/// Token of the timer; connections have their slots.
const TIMER: Token = Token(usize::MAX - 1);

/// Task that all threads share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadJob<'a> {
    pub(crate) asked: Asked<'a>,
    pub(crate) settings: &'a LoadSettings,
    pub(crate) tells_seconds: bool,
    pub(crate) clock: &'a dyn Clock,
    /// The load's start.
    pub(crate) origin: Timestamp,
    pub(crate) stop: &'a AtomicBool,
}

/// Result of a thread.
#[derive(Debug)]
pub(crate) struct ThreadReport {
    pub(crate) recorder: Recorder,
    pub(crate) settled: Option<Duration>,
    pub(crate) ended: Duration,
    pub(crate) cut_off: u64,
    pub(crate) waiting: u64,
}

/// Streams of pauses, schedules and samples are below.
const NUMBERS: u64 = 1 << 33;

/// A connection's place. Its generation tells late events of an earlier connection from its own.
#[derive(Debug, Default)]
struct ConnectionSlot {
    conversation: Option<Conversation>,
    generation: u32,
}

#[derive(Debug)]
pub(crate) struct Worker<'a> {
    job: LoadJob<'a>,
    means: ThreadContext<'a>,
    poll: Poll,
    timer: Timer,
    source: TurnSource,
    slots: Vec<ConnectionSlot>,
    open: u64,
    recorder: Recorder,
    /// Answers that nobody has looked at yet, with the numbers of their requests, by their ends.
    unchecked: VecDeque<(Transaction, u64, Vec<u8>)>,
    published: &'a Mutex<Recent>,
    next_scan: Timestamp,
    next_publication: Timestamp,
    /// Start of the current stretch of work.
    awake: Timestamp,
    processor: Duration,
    busy: Duration,
    /// The second to which work is booked.
    accounted: u64,
    /// Transactions that ended after the load did.
    late: u64,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        job: LoadJob<'a>,
        share: Share,
        published: &'a Mutex<Recent>,
    ) -> Result<Self, LoadError> {
        let settings = job.settings;
        let poll = Poll::new().map_err(|error| LoadError::system("epoll_create1", error))?;
        let timer = Timer::new(poll.registry(), TIMER)?;
        let mut numbers = ChaCha8Rng::seed_from_u64(settings.seed);
        numbers.set_stream(NUMBERS + u64::from(share.thread));
        let limits = (settings.weak, settings.timeouts);
        let means = ThreadContext::new(job.asked, job.clock, limits, numbers)?;
        let reservoir = Reservoir::new(settings.sample, settings.seed, share.thread);
        Ok(Self {
            means,
            poll,
            timer,
            source: TurnSource::new(settings, share),
            slots: Vec::new(),
            open: 0,
            recorder: Recorder::new(reservoir, job.tells_seconds.then_some(0)),
            unchecked: VecDeque::new(),
            published,
            next_scan: job.origin.after(SCAN),
            next_publication: job.origin.after(PUBLISH),
            awake: job.origin,
            processor: Duration::ZERO,
            busy: Duration::ZERO,
            accounted: 0,
            late: 0,
            job,
        })
    }

    /// Drives its share of the load until that is over or is to stop.
    pub(crate) fn run(mut self) -> Result<ThreadReport, LoadError> {
        let end = self.job.origin.after(self.job.settings.duration);
        let mut events = Events::with_capacity(EVENTS);
        self.job.clock.wait_until(self.job.origin);
        self.awake = self.job.clock.now();
        self.processor = self.job.clock.processor().unwrap_or_default();
        let ended = loop {
            let now = self.job.clock.now();
            if now >= end || self.job.stop.load(Ordering::Relaxed) {
                break now.min(end);
            }
            self.keep_up(now);
            while let Some(turn) = self.turn(end) {
                self.begin(turn);
            }
            self.wait(&mut events, end)?;
            for event in &events {
                self.attend(event.token());
            }
        };
        Ok(self.report(ended))
    }

    fn turn(&mut self, end: Timestamp) -> Option<Turn> {
        let now = self.job.clock.now();
        if now < end {
            self.source.take(self.time(now))
        } else {
            None
        }
    }

    fn report(mut self, ended: Timestamp) -> ThreadReport {
        self.check_all();
        self.account(ended);
        let time = self.time(ended);
        self.recorder.end(time);
        self.publish();
        let ended = time;
        ThreadReport {
            settled: self.source.settled(),
            waiting: self.source.waiting(ended),
            cut_off: self.open + self.late,
            recorder: self.recorder,
            ended,
        }
    }

    fn time(&self, at: Timestamp) -> Duration {
        at.since(self.job.origin)
    }

    fn keep_up(&mut self, now: Timestamp) {
        let time = self.time(now);
        if self.accounted < time.as_secs() {
            self.account(now);
            self.accounted = time.as_secs();
            self.check_all();
            self.recorder.roll(time);
        }
        if now >= self.next_scan {
            self.next_scan = now.after(SCAN);
            self.give_up_late_ones(now);
        }
        if now >= self.next_publication {
            self.next_publication = now.after(PUBLISH);
            self.publish();
        }
    }

    /// Books the time at work since this was last done to the second under way.
    fn account(&mut self, now: Timestamp) {
        self.busy += now.since(self.awake);
        self.awake = now;
        let processor = self.job.clock.processor().unwrap_or_default();
        let spent = processor.saturating_sub(self.processor);
        self.processor = processor;
        let busy = std::mem::take(&mut self.busy);
        self.recorder.worked(self.accounted, busy, spent);
    }

    fn publish(&mut self) {
        let mut over = self.recorder.over(self.source.settled());
        let totals = &self.recorder.totals;
        let mut published = self
            .published
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        published.transactions = totals.transactions;
        published.failed = totals.failed;
        published.over.append(&mut over);
    }

    fn give_up_late_ones(&mut self, now: Timestamp) {
        for slot in 0..self.slots.len() {
            let conversation = self.slots[slot].conversation.as_ref();
            let late = conversation.and_then(|it| it.overdue(now, &self.means.timeouts));
            if let Some(failure) = late {
                self.slots[slot].conversation = None;
                self.open -= 1;
                self.fail(slot, failure);
            }
        }
    }

    fn wait(&mut self, events: &mut Events, end: Timestamp) -> Result<(), LoadError> {
        let now = self.job.clock.now();
        let mut limit = LONGEST_WAIT
            .min(end.since(now))
            .min(self.next_publication.since(now));
        if self.open > 0 {
            limit = limit.min(self.next_scan.since(now));
        }
        let due = self
            .source
            .next()
            .map(|due| self.job.origin.after(due).since(now));
        if let Some(due) = due.filter(|due| *due < limit) {
            if due.is_zero() {
                limit = Duration::ZERO;
            } else {
                self.timer.set(self.job.origin.after(due).0, due)?;
            }
        }
        if !self.unchecked.is_empty() {
            limit = Duration::ZERO;
        }
        self.busy += now.since(self.awake);
        let polled = self.poll.poll(events, Some(limit));
        self.awake = self.job.clock.now();
        if events.is_empty() {
            self.check_one();
        }
        match polled {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                Err(LoadError::system("epoll_wait", error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn begin(&mut self, turn: Turn) {
        if self.slots.len() <= turn.slot {
            self.slots
                .resize_with(turn.slot + 1, ConnectionSlot::default);
        }
        let request = self.means.spoken.request();
        let started = self.job.clock.now();
        let scheduled = turn
            .scheduled
            .map_or(started, |due| self.job.origin.after(due));
        let slot = &mut self.slots[turn.slot];
        slot.generation = slot.generation.wrapping_add(1);
        let token = token(turn.slot, slot.generation);
        let registry = self.poll.registry();
        let interests = Interest::READABLE | Interest::WRITABLE;
        let watched = |socket: &mut TcpStream| registry.register(socket, token, interests);
        match Conversation::start(&self.means, request, (scheduled, started), watched) {
            Ok(conversation) => {
                self.open += 1;
                self.advance(turn.slot, conversation);
            }
            Err(failure) => self.fail(turn.slot, failure),
        }
    }

    /// A socket is ready.
    fn attend(&mut self, token: Token) {
        if token == TIMER {
            self.timer.rang();
            return;
        }
        let (slot, generation) = (token.0 & SLOTS, (token.0 >> SLOT_BITS) as u32);
        let Some(place) = self.slots.get_mut(slot) else {
            return;
        };
        if place.generation & GENERATIONS == generation
            && let Some(conversation) = place.conversation.take()
        {
            self.advance(slot, conversation);
        }
    }

    fn advance(&mut self, slot: usize, mut conversation: Conversation) {
        match conversation.advance(&mut self.means) {
            Err(Stop::Blocked) => self.slots[slot].conversation = Some(conversation),
            Err(Stop::Failed(failure)) => {
                self.open -= 1;
                self.fail(slot, failure);
            }
            Ok(end) => {
                self.open -= 1;
                let transaction = conversation.transaction(self.job.origin, end);
                if transaction.ended() > self.job.settings.duration {
                    self.late += 1;
                } else if let Some((number, answer)) = conversation.unchecked() {
                    self.unchecked.push_back((transaction, number, answer));
                } else {
                    self.recorder.succeeded(&transaction, conversation.body());
                    let session = conversation.session();
                    let is_resumed = session.is_some_and(Session::is_resumed);
                    self.recorder.resumed(is_resumed.into());
                }
                drop(conversation);
                let now = self.time(self.job.clock.now());
                self.source.ended(slot, now, TurnEnding::Success);
            }
        }
    }

    /// Looks at the answer that came first. What is wrong is a failure of the second in which it came.
    fn check_one(&mut self) {
        let Some((transaction, number, answer)) = self.unchecked.pop_front() else {
            return;
        };
        match self.means.spoken.check_kept(number, &answer) {
            Ok(()) => self.recorder.succeeded(&transaction, answer.len() as u64),
            Err(failure) => self.recorder.failed(failure, transaction.ended()),
        }
    }

    /// Books work before a second is closed.
    fn check_all(&mut self) {
        while !self.unchecked.is_empty() {
            self.check_one();
        }
    }

    fn fail(&mut self, slot: usize, failure: Failure) {
        self.check_all();
        let now = self.time(self.job.clock.now());
        self.recorder.failed(failure, now);
        self.source.ended(slot, now, TurnEnding::Failure);
    }
}

/// A million connections are more than a machine of 32 bits has.
const SLOT_BITS: u32 = if usize::BITS < 64 { 20 } else { 32 };
const SLOTS: usize = (1 << SLOT_BITS) - 1;
/// Limit of generations, one bit below the room, so that no connection has the timer's token.
const GENERATIONS: u32 = (1 << (usize::BITS - SLOT_BITS - 1)) - 1;

const fn token(slot: usize, generation: u32) -> Token {
    Token(((generation & GENERATIONS) as usize) << SLOT_BITS | slot)
}

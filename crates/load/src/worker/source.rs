//! Turns of users who come back, or of arrivals by a schedule. Time comes from outside.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use keymark_bench::runner::arrivals::{Poisson, Thoughts};
use keymark_bench::{Pacing, Rate};

use crate::settings::LoadSettings;

/// A user whose transaction failed waits this long at least, so that a server that refuses is not asked without end.
const AFTER_FAILURE: Duration = Duration::from_millis(10);

/// Number of a thread among several.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub(crate) thread: u32,
    pub(crate) threads: u32,
}

/// Result of a transaction, for the next turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnEnding {
    Success,
    Failure,
}

/// A transaction that is to begin, in a slot of its own. Times are since the load's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) slot: usize,
    /// Start of its latency; `None` means its own start.
    pub(crate) scheduled: Option<Duration>,
}

/// The turns of one thread.
#[derive(Debug)]
pub(crate) enum TurnSource {
    Users(Loop),
    Arrivals(Box<ArrivalQueue>),
}

#[derive(Debug)]
pub(crate) struct Loop {
    thoughts: Vec<Thoughts>,
    /// The longest pause.
    longest: Duration,
    due: BinaryHeap<Reverse<(Duration, usize)>>,
    /// Users who have had a transaction.
    had: Vec<bool>,
    left: usize,
    settled: Option<Duration>,
}

#[derive(Debug)]
pub(crate) struct ArrivalQueue {
    arrivals: Poisson,
    free: Vec<usize>,
    slots: usize,
    most: usize,
}

impl TurnSource {
    pub(crate) fn new(settings: &LoadSettings, share: Share) -> Self {
        match settings.load.pacing {
            Pacing::Closed => Self::Users(Loop::new(Duration::ZERO, settings, share)),
            Pacing::Thinking(longest) => Self::Users(Loop::new(longest, settings, share)),
            Pacing::Open(rate) => {
                Self::Arrivals(Box::new(ArrivalQueue::new(rate, settings, share)))
            }
        }
    }

    /// A turn that is due, if there is one, and a slot for it.
    pub(crate) fn take(&mut self, now: Duration) -> Option<Turn> {
        let due = self.next()? <= now;
        match self {
            Self::Users(_) | Self::Arrivals(_) if !due => None,
            Self::Users(users) => users.due.pop().map(|Reverse((_, slot))| Turn {
                slot,
                scheduled: None,
            }),
            Self::Arrivals(queue) => {
                let scheduled = queue.arrivals.next();
                let slot = queue.free.pop().unwrap_or_else(|| {
                    queue.slots += 1;
                    queue.slots - 1
                });
                Some(Turn { slot, scheduled })
            }
        }
    }

    /// Returns when the next turn is due; `None` if that depends on one under way.
    pub(crate) fn next(&self) -> Option<Duration> {
        match self {
            Self::Users(users) => users.due.peek().map(|Reverse((due, _))| *due),
            Self::Arrivals(queue) => {
                let room = !queue.free.is_empty() || queue.slots < queue.most;
                room.then(|| queue.arrivals.due())
            }
        }
    }

    /// The transaction in a slot is over.
    pub(crate) fn ended(&mut self, slot: usize, now: Duration, ending: TurnEnding) {
        match self {
            Self::Users(users) => users.ended(slot, now, ending),
            Self::Arrivals(queue) => queue.free.push(slot),
        }
    }

    /// Since when every user has had a transaction.
    pub(crate) fn settled(&self) -> Option<Duration> {
        match self {
            Self::Users(users) => users.settled,
            Self::Arrivals(_) => Some(Duration::ZERO),
        }
    }

    /// Arrivals that were due by `end` and have not begun.
    pub(crate) fn waiting(self, end: Duration) -> u64 {
        match self {
            Self::Users(_) => 0,
            Self::Arrivals(mut queue) => queue.arrivals.due_by(end),
        }
    }
}

impl Loop {
    fn new(longest: Duration, settings: &LoadSettings, share: Share) -> Self {
        let count = settings.load.workers.get();
        let mine = (share.thread..count).step_by(share.threads as usize);
        let mut due = BinaryHeap::new();
        let mut thoughts = Vec::new();
        for user in mine {
            let mut of_user = Thoughts::new(settings.seed, user);
            let there = settings.ramp.mul_f64(f64::from(user) / f64::from(count));
            due.push(Reverse((there + of_user.first(longest), thoughts.len())));
            thoughts.push(of_user);
        }
        Self {
            left: thoughts.len(),
            had: vec![false; thoughts.len()],
            settled: thoughts.is_empty().then_some(Duration::ZERO),
            thoughts,
            longest,
            due,
        }
    }

    fn ended(&mut self, user: usize, now: Duration, ending: TurnEnding) {
        if !std::mem::replace(&mut self.had[user], true) {
            self.left -= 1;
            if self.left == 0 {
                self.settled = Some(now);
            }
        }
        let pause = self.thoughts[user].next(self.longest);
        let pause = match ending {
            TurnEnding::Success => pause,
            TurnEnding::Failure => pause.max(AFTER_FAILURE),
        };
        self.due.push(Reverse((now + pause, user)));
    }
}

impl ArrivalQueue {
    fn new(rate: Rate, settings: &LoadSettings, share: Share) -> Self {
        let most = settings.most_in_flight.get().div_ceil(share.threads);
        let own = rate.per_second() / f64::from(share.threads);
        Self {
            arrivals: Poisson::new(own, settings.seed, share.thread.into()),
            free: Vec::new(),
            slots: 0,
            most: most as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use keymark_bench::Load;

    use super::*;

    const ALONE: Share = Share {
        thread: 0,
        threads: 1,
    };
    const MS: Duration = Duration::from_millis(1);

    fn users(count: u32) -> Load {
        Load::closed(NonZeroU32::new(count).unwrap())
    }

    fn settings(load: Load) -> LoadSettings {
        LoadSettings {
            seed: 1,
            ..LoadSettings::new(load, Duration::from_secs(1))
        }
    }

    #[test]
    fn users_come_one_after_the_other_within_the_ramp() {
        let ramped = LoadSettings {
            ramp: 400 * MS,
            ..settings(users(4))
        };
        let mut source = TurnSource::new(&ramped, ALONE);
        let at = |source: &mut TurnSource, now| std::iter::from_fn(|| source.take(now)).count();
        assert_eq!(at(&mut source, Duration::ZERO), 1);
        assert_eq!(source.next(), Some(100 * MS));
        assert_eq!(at(&mut source, 250 * MS), 2);
        assert_eq!(at(&mut source, 299 * MS), 0);
        assert_eq!(at(&mut source, 300 * MS), 1);
    }

    #[test]
    fn users_start_and_come_back() {
        let mut source = TurnSource::new(&settings(users(4)), ALONE);
        let started = std::iter::from_fn(|| source.take(Duration::ZERO));
        let started: Vec<usize> = started.map(|turn| turn.slot).collect();
        assert_eq!(started, [0, 1, 2, 3]);
        assert_eq!((source.next(), source.settled()), (None, None));
        for slot in 0..4 {
            source.ended(slot, 50 * MS, TurnEnding::Success);
        }
        assert_eq!(source.settled(), Some(50 * MS));
        assert_eq!(source.next(), Some(50 * MS));
        assert_eq!(source.take(50 * MS).unwrap().slot, 0);
        source.ended(0, 60 * MS, TurnEnding::Failure);
        (0..3).for_each(|_| assert!(source.take(60 * MS).is_some()));
        assert_eq!(
            source.next(),
            Some(70 * MS),
            "a failure is not repeated at once"
        );
    }

    #[test]
    fn threads_share_the_users() {
        let count = |thread| {
            let share = Share { thread, threads: 3 };
            let mut source = TurnSource::new(&settings(users(8)), share);
            std::iter::from_fn(|| source.take(Duration::ZERO)).count()
        };
        assert_eq!([count(0), count(1), count(2)], [3, 3, 2]);
        let share = Share {
            thread: 2,
            threads: 3,
        };
        let idle = TurnSource::new(&settings(users(1)), share);
        assert_eq!((idle.next(), idle.settled()), (None, Some(Duration::ZERO)));
    }

    #[test]
    fn an_arrival_that_waits_keeps_its_time() {
        let open = Load {
            pacing: Pacing::Open("100/s".parse().unwrap()),
            ..Load::single()
        };
        let two_at_once = LoadSettings {
            most_in_flight: NonZeroU32::new(2).unwrap(),
            ..settings(open)
        };
        let mut source = TurnSource::new(&two_at_once, ALONE);
        let late = 500 * MS;
        let due = Poisson::new(100.0, two_at_once.seed, 0).take_while(|due| *due <= late);
        let due: Vec<Duration> = due.collect();
        assert!(due.len().abs_diff(50) < 25, "{due:?}");
        let scheduled = |turn: Option<Turn>| turn.unwrap().scheduled.unwrap();
        assert_eq!(scheduled(source.take(late)), due[0]);
        assert_eq!(scheduled(source.take(late)), due[1]);
        assert_eq!((source.take(late), source.next()), (None, None));
        source.ended(1, late, TurnEnding::Failure);
        let turn = source.take(late);
        assert_eq!(turn.unwrap().slot, 1);
        assert_eq!(scheduled(turn), due[2]);
        assert_eq!(source.waiting(late), due.len() as u64 - 3);
    }
}

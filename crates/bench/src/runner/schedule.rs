//! Schedule: all cases get the same time, in visits as short as possible.

use std::time::Duration;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// Visits that every case should get if they take at most this in all, and however long one takes: fewer say
/// little of what visits have in common.
const VISITS: u32 = 16;
const AT_MOST: Duration = Duration::from_secs(4);
const LEAST_VISITS: u32 = 8;

/// No visit takes less, whatever a coarse clock says.
const SHORTEST: Duration = Duration::from_micros(1);

/// Credit of a case for visits, and the cost of its next one.
#[derive(Debug)]
pub(super) struct Account {
    cost: Duration,
    credit: Duration,
    visits: u32,
}

impl Account {
    /// Starts the account of a case that was not visited yet; the first visit is free.
    pub(super) const fn new(cost: Duration) -> Self {
        Self {
            cost,
            credit: cost,
            visits: 0,
        }
    }

    pub(super) const fn cost(&self) -> Duration {
        self.cost
    }

    /// Gives it its part of a round. Returns whether that is enough for a visit.
    pub(super) fn receive(&mut self, shares: &Shares) -> bool {
        self.credit = self.credit.saturating_add(shares.of(self)).min(self.cost);
        self.credit >= self.cost
    }

    /// Time for the visits that it should get at least.
    fn needed(&self) -> Duration {
        let in_time = AT_MOST.as_secs_f64() / self.cost.max(SHORTEST).as_secs_f64();
        let wanted = in_time.clamp(LEAST_VISITS.into(), VISITS.into()) as u32;
        self.cost.saturating_mul(wanted.saturating_sub(self.visits))
    }

    /// A visit was made, and took so long. What takes turns after the first is anywhere between two of its
    /// visits, so that not all that is slow comes in one round.
    pub(super) fn pay(&mut self, took: Duration, rng: &mut impl Rng) {
        self.credit = match self.visits {
            0 => took.mul_f64(rng.random()),
            _ => self.credit.saturating_sub(took),
        };
        self.cost = took;
        self.visits += 1;
    }
}

/// Shares of the cases in a round: deficit round robin (Shreedhar & Varghese, SIGCOMM 1995).
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    /// Fair share of the remaining time, if it exceeds the need; none without a limit.
    fair: Option<Duration>,
    /// Rounds in that time: as many as the quickest has visits.
    rounds: f64,
}

impl Shares {
    /// Divides the remaining time; without a limit every case is visited in each round.
    pub(super) fn new<'a>(
        accounts: impl Iterator<Item = &'a Account> + Clone,
        left: Option<Duration>,
    ) -> Self {
        let Some(left) = left else {
            return Self {
                fair: None,
                rounds: 1.0,
            };
        };
        let given = |fair: Duration| -> Duration {
            let of_each = accounts.clone().map(|account| account.needed().max(fair));
            of_each.fold(Duration::ZERO, Duration::saturating_add)
        };
        let (mut fair, mut above) = (Duration::ZERO, left);
        // To a microsecond in half an hour.
        for _ in 0..32 {
            let middle = (fair + above) / 2;
            if given(middle) <= left {
                fair = middle;
            } else {
                above = middle;
            }
        }
        let visits = |account: &Account| {
            let given = account.needed().max(fair).as_secs_f64();
            given / account.cost.max(SHORTEST).as_secs_f64()
        };
        Self {
            fair: Some(fair),
            rounds: accounts.map(visits).fold(1.0, f64::max),
        }
    }

    fn of(&self, account: &Account) -> Duration {
        let Some(fair) = self.fair else {
            return account.cost;
        };
        let given = account.needed().max(fair);
        Duration::try_from_secs_f64(given.as_secs_f64() / self.rounds).unwrap_or(given)
    }
}

/// The order of a round: compared cases are neighbors. Groups come in a random order, and so do the
/// members of each.
pub(super) fn shuffle<T, G: PartialEq>(
    members: &mut Vec<T>,
    group: impl Fn(&T) -> G,
    rng: &mut impl Rng,
) {
    let mut groups: Vec<(G, Vec<T>)> = Vec::new();
    for member in members.drain(..) {
        let wanted = group(&member);
        match groups.iter_mut().find(|(group, _)| *group == wanted) {
            Some((_, group)) => group.push(member),
            None => groups.push((wanted, vec![member])),
        }
    }
    groups.shuffle(rng);
    for (_, mut group) in groups {
        group.shuffle(rng);
        members.extend(group);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn groups_stay_together_in_every_order() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut members: Vec<u32> = (0..9).collect();
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..20 {
            shuffle(&mut members, |member| member % 3, &mut rng);
            for group in members.chunks(3) {
                assert!(group.iter().all(|member| member % 3 == group[0] % 3));
            }
            orders.insert(members.clone());
        }
        assert!(orders.len() > 15, "{}", orders.len());
    }
}

//! Whose turn it is: all cases get the same time, in visits as short as they can be.

use std::time::Duration;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// Visits that every case should get, however long one takes: an interval from fewer says little.
const LEAST_VISITS: u32 = 6;

/// What a case was given to spend on visits, and what its next one costs.
#[derive(Debug)]
pub(super) struct Account {
    cost: Duration,
    credit: Duration,
    visits: u32,
}

impl Account {
    /// Of a case that was not visited yet; the first visit is for nothing.
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
    pub(super) fn receive(&mut self, quantum: Duration) -> bool {
        self.credit = (self.credit + quantum).min(self.cost);
        self.credit >= self.cost
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

/// What each case gets in a round: deficit round robin (Shreedhar & Varghese, SIGCOMM 1995). The smaller, the more rounds,
/// in which what is slow has no part; so it is the smallest that still has the slowest visited often enough in
/// the time that is left, or what pays for a visit of each.
pub(super) fn quantum<'a>(
    accounts: impl Iterator<Item = &'a Account> + Clone,
    left: Option<Duration>,
) -> Duration {
    let slowest = accounts.clone().map(|account| account.cost).max();
    let (Some(slowest), Some(left)) = (slowest, left) else {
        return slowest.unwrap_or_default();
    };
    let enough = |quantum: Duration| {
        let round: f64 = accounts
            .clone()
            .map(|account| account.cost.min(quantum).as_secs_f64())
            .sum();
        let rounds = left.as_secs_f64() / round.max(f64::MIN_POSITIVE);
        accounts.clone().all(|account| {
            let part = quantum.as_secs_f64() / account.cost.as_secs_f64().max(f64::MIN_POSITIVE);
            f64::from(account.visits) + rounds * part.min(1.0) >= f64::from(LEAST_VISITS)
        })
    };
    let (mut low, mut high) = (Duration::ZERO, slowest);
    // To a microsecond in half an hour.
    for _ in 0..32 {
        let middle = (low + high) / 2;
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let quickest = accounts.map(|account| account.cost).min();
    high.max(quickest.unwrap_or_default())
}

/// The order of a round: what is compared stands side by side. Groups come in a random order, and so do the
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

    const SECOND: Duration = Duration::from_secs(1);

    /// How often cases of these costs, in milliseconds, are visited in a time.
    fn visits(costs: &[u64], time: Duration) -> Vec<u32> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let cost = |ms: &u64| Account::new(Duration::from_millis(*ms));
        let mut accounts: Vec<Account> = costs.iter().map(cost).collect();
        let mut left = time;
        while !left.is_zero() {
            let quantum = quantum(accounts.iter(), Some(left));
            for account in &mut accounts {
                if account.receive(quantum) {
                    let cost = account.cost();
                    left = left.saturating_sub(cost);
                    account.pay(cost, &mut rng);
                }
            }
        }
        accounts.iter().map(|account| account.visits).collect()
    }

    #[test]
    fn what_is_slow_is_visited_often_enough_and_what_is_fast_as_often_as_its_time_allows() {
        let visits = visits(&[1, 10, 10, 100, 2_000], 40 * SECOND);
        assert!(
            visits.iter().all(|visits| *visits >= LEAST_VISITS),
            "{visits:?}"
        );
        // 12 s go to the slowest; 28 are left for the others, that of 100 ms the slowest of them.
        assert!(visits[0] > 200 && visits[3] > 90, "{visits:?}");
        assert!(visits[4] < 10, "{visits:?}");
    }

    #[test]
    fn alike_cases_are_visited_alike() {
        let visits = visits(&[50; 8], 20 * SECOND);
        assert!(
            visits.iter().all(|visits| (49..=51).contains(visits)),
            "{visits:?}"
        );
    }

    #[test]
    fn where_time_is_too_short_all_are_visited_in_turn() {
        let visits = visits(&[10, 10, 3_000], 9 * SECOND);
        assert_eq!(visits, [3, 3, 3]);
    }

    #[test]
    fn without_a_limit_everybody_is_visited_in_each_round() {
        let accounts = [1, 500].map(|ms| Account::new(Duration::from_millis(ms)));
        assert_eq!(quantum(accounts.iter(), None), accounts[1].cost());
    }

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

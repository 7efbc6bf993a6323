//! The answer in words, and the table that it rests on.

use std::time::Duration;

use keymark_report::units::{self, counted};
use keymark_report::{Block, Cell, Column, Document, Section, TableOf};
use keymark_stats::{Demand, Distribution, PerSecond, QUEUE_PRECISION, Ratio, Seconds};

use super::{CapacityQuestion, CapacityRow, MOST_TOKENS, Plan};
use crate::{answered, basis};

/// The way that answers are about.
pub(super) const BEST: Distribution = Distribution::LeastConn;
/// Rows of each way that are shown below the number of tokens that suffices.
const BELOW: u32 = 2;
/// Smallest share of operations that differs from none.
const HARDLY: f64 = 1e-4;

const fn words(way: Distribution) -> &'static str {
    match way {
        Distribution::Shared => "one shared queue",
        Distribution::LeastConn => "least-connections",
        Distribution::RoundRobin => "round-robin",
        Distribution::Random => "random choice",
    }
}

fn chosen(time: Seconds) -> String {
    units::chosen(Duration::from_secs_f64(time.0))
}

impl CapacityQuestion {
    pub fn document(&self, plan: &Plan) -> Document {
        let network = plan
            .fewest(BEST)
            .and_then(|tokens| self.over_network(tokens));
        let said = [self.answer(plan), self.limits(plan), network];
        let mut sections = vec![Section::bare(vec![self.table(plan)])];
        sections.extend(self.over_users(plan));
        sections.push(Section::bare(vec![self.basis()]));
        answered(said.into_iter().flatten(), sections)
    }

    /// `2.00/s with 99 % within 3 s`, `60 users`
    fn asked(&self) -> String {
        let who = match self.demand {
            Demand::Arrivals(rate) => units::rate(rate),
            Demand::Users { count, .. } => counted(count, "user"),
        };
        let within = self
            .p99
            .map(|limit| format!(" with 99 % within {}", chosen(limit)));
        who + &within.unwrap_or_default()
    }

    fn answer(&self, plan: &Plan) -> Option<String> {
        let asked = self.asked();
        let Some(tokens) = plan.fewest(BEST) else {
            let alone = units::duration(self.service.times.level(0.99));
            let least = self.least();
            if let Some((quota, share)) = self.refused() {
                let (quota, share) = (units::rate(quota), units::percent(share));
                return Some(format!(
                    "No number of tokens does {asked}: the quota is {quota}, so {share} of the operations are refused."
                ));
            }
            return Some(if self.is_possible() {
                format!(
                    "{asked} takes more than {MOST_TOKENS} tokens; {least} keep up with the rate."
                )
            } else {
                format!("No number of tokens does {asked}: an operation alone takes {alone}.")
            });
        };
        let p99 = units::estimated_duration(&plan.row(BEST, tokens)?.response?.p99);
        let spare = match self.spare {
            0 => String::new(),
            broken => format!(" With {broken} of them broken: {}.", tokens + broken),
        };
        let others = Distribution::ALL.into_iter().filter(|way| *way != BEST);
        let others = others.map(|way| {
            let fewest = plan.fewest(way).map(|fewest| fewest.to_string());
            format!("{} {}", words(way), fewest.as_deref().unwrap_or("none"))
        });
        let others: Vec<String> = others.collect();
        Some(format!(
            "{} behind {} serve {asked}: p99 is {p99}.{spare} Other ways: {}.",
            counted(tokens, "token"),
            words(BEST),
            others.join(", ")
        ))
    }

    /// Why one token fewer does not suffice.
    fn limits(&self, plan: &Plan) -> Option<String> {
        let row = plan.row(BEST, plan.fewest(BEST)?.checked_sub(1)?)?;
        let why = match (row.response, row.utilisation) {
            (None, _) => return self.beyond(row.tokens),
            (_, ..0.95) => "Queueing is the limit",
            _ => "The tokens themselves are the limit",
        };
        Some(format!(
            "{why}: {} would be busy {} of the time, with a p99 of {}.",
            counted(row.tokens, "token"),
            units::percent(row.utilisation),
            units::duration(row.response?.p99.value)
        ))
    }

    /// Returns the excess of a rate over what the tokens can do.
    fn beyond(&self, tokens: u32) -> Option<String> {
        let load = self.queue(BEST, tokens, self.demand).load()?;
        let rate = f64::from(tokens) / self.service.times.mean().0;
        let (asked, most) = (
            units::rate(PerSecond(rate * load)),
            units::rate(PerSecond(rate)),
        );
        let tokens = counted(tokens, "token");
        Some(if load < 1.0 + HARDLY {
            format!("{asked} is all that {tokens} can do: the queue would grow for ever.")
        } else {
            let more = units::percent(load - 1.0);
            format!("{asked} is {more} more than {tokens} can do ({most}).")
        })
    }

    /// Returns the rows around the answer of each way of distribution.
    fn table(&self, plan: &Plan) -> Block {
        let last = plan.0.last().map_or(0, |row| row.tokens);
        let shown = |row: &&CapacityRow| {
            let (from, to) = plan
                .fewest(row.distribution)
                .map_or((last, last), |fewest| (fewest, fewest + self.spare.max(1)));
            let range = from.saturating_sub(BELOW)..=to;
            range.contains(&row.tokens)
        };
        let mut rows: Vec<&CapacityRow> = plan.0.iter().filter(shown).collect();
        rows.sort_by_key(|row| (row.distribution, row.tokens));
        let late = |limit| Column::value(format!("> {}", chosen(limit)));
        let closed = matches!(self.demand, Demand::Users { .. });
        let table = TableOf::new(rows)
            .label("distribution", |row| words(row.distribution))
            .value("tokens", |row| row.tokens)
            .value("busy", |row| Cell::share(Ratio(row.utilisation)))
            .maybe(closed.then(|| Column::value("rate")), |row| {
                Some(row.response?.rate)
            })
            .value("mean", |row| match row.response {
                Some(response) => response.mean.into(),
                None => Cell::text("overloaded"),
            })
            .value("p95", |row| Some(row.response?.p95))
            .value("p99", |row| Some(row.response?.p99))
            .maybe(self.p99.map(late), |row| match row.response?.late? {
                ..HARDLY => Some(Cell::text("< 0.01 %")),
                late => Some(Cell::share(Ratio(late))),
            })
            .value("enough", |row| ["no", "yes"][usize::from(row.enough)]);
        Block::Table(table.table())
    }

    /// Rate and response time of fewer users, behind the tokens that suffice.
    fn over_users(&self, plan: &Plan) -> Option<Section> {
        let tokens = plan.fewest(BEST).unwrap_or(1);
        let knee = self.demand.knee(&self.service.times, tokens)?;
        let Demand::Users { count, pause } = self.demand else {
            return None;
        };
        let steps = (0..6).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u32.pow(power)));
        let steps = steps.filter(|step| *step < count).chain([count]);
        let rows = steps.filter_map(|count| {
            let queue = self.queue(BEST, tokens, Demand::Users { count, pause });
            Some((count, queue.response(None)?))
        });
        let table = TableOf::new(rows)
            .value("users", |(users, _)| *users)
            .value("rate", |(_, found)| found.rate)
            .value("mean", |(_, found)| found.mean)
            .value("p95", |(_, found)| found.p95)
            .value("p99", |(_, found)| found.p99.value);
        let knee = format!("the knee is at {knee:.1} users: more of them wait for each other");
        let blocks = vec![Block::Table(table.table()), basis(knee)];
        let tokens = counted(tokens, "token");
        let heading = format!("over users, {tokens} behind {}", words(BEST));
        Some(Section::headed(heading, blocks))
    }

    fn basis(&self) -> Block {
        let service = &self.service;
        let asking = match self.demand {
            Demand::Arrivals(_) => "arrive at random (Poisson)".to_owned(),
            Demand::Users { pause, .. } => format!("follow pauses from 0 s to {}", chosen(pause)),
        };
        let open = if service.times.is_uncertain() {
            ", with what the measurement leaves open (bootstrap over its blocks)"
        } else {
            ""
        };
        let text = format!(
            "service time: {} ({}){}; operations {asking}; p99 by simulation, within {:.0} % unless its \
             interval says otherwise{open}, seed {}",
            service.words(),
            service.source,
            self.network_words(),
            QUEUE_PRECISION * 100.0,
            self.seed
        );
        basis(text)
    }
}

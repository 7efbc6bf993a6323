//! The answer in words, and the table that it rests on.

use std::time::Duration;

use keymark_bench::case::{DeviceName, Provenance};
use keymark_report::answers::{Statement, Topic};
use keymark_report::document::{
    Block, Cell, Column, Document, Narrow, RemarkKind, Section, TableOf,
};
use keymark_report::units::{self, counted};
use keymark_stats::{Demand, Distribution, PerSecond, QUEUE_PRECISION, Ratio};

use super::{MOST_TOKENS, Plan, Question, Row};

/// Rows of each way: so many fewer tokens than suffice are shown, too.
const BELOW: u32 = 2;

/// A share of operations that so few of them do not tell from none.
const HARDLY: f64 = 1e-4;

/// In words.
const fn words(way: Distribution) -> &'static str {
    match way {
        Distribution::Shared => "one shared queue",
        Distribution::LeastConnections => "least-connections",
        Distribution::RoundRobin => "round-robin",
        Distribution::Random => "random choice",
    }
}

impl Question {
    /// For people.
    pub fn document(&self, plan: &Plan) -> Document {
        let said = [self.answer(plan), self.limits(plan), self.there(plan)];
        let said = said.into_iter().flatten();
        let mut sections = vec![Section::bare(vec![self.table(plan)])];
        sections.extend(self.over_users(plan));
        sections.push(Section::bare(vec![self.basis()]));
        Document {
            answers: said
                .map(|text| Statement::new(Topic::Choice, text, []))
                .collect(),
            ..Document::of(sections)
        }
    }

    /// `2.00/s`, `60 users`
    fn asked(&self) -> String {
        match self.demand {
            Demand::Arrivals(rate) => units::rate(rate),
            Demand::Users { count, .. } => counted(count, "user"),
        }
    }

    fn answer(&self, plan: &Plan) -> Option<String> {
        let (asked, best) = (self.asked(), Distribution::LeastConnections);
        let within = self
            .p99
            .map(|limit| format!(" with 99 % within {}", units::chosen(limit)));
        let within = within.unwrap_or_default();
        let Some(tokens) = plan.fewest(best) else {
            let alone = self.service.times.level(0.99);
            return Some(if self.is_possible() {
                format!("{asked}{within} take more than {MOST_TOKENS} tokens.")
            } else {
                let alone = units::duration(alone);
                format!("No number of tokens does that{within}: an operation alone takes {alone}.")
            });
        };
        let found = plan.row(best, tokens)?.response?;
        let others = [
            Distribution::Shared,
            Distribution::RoundRobin,
            Distribution::Random,
        ];
        let others = others.map(|way| {
            let fewest = plan.fewest(way).map(|fewest| fewest.to_string());
            format!("{} {}", words(way), fewest.as_deref().unwrap_or("none"))
        });
        let spare = (self.spare > 0).then(|| {
            let broken = counted(self.spare, "of them");
            let broken = broken
                .trim_end_matches('s')
                .replace("of them", "of them broken");
            format!(" With {broken}: {}.", tokens + self.spare)
        });
        Some(format!(
            "{} behind {} for {asked}{within}: p99 is {}.{} Other ways: {}.",
            counted(tokens, "token"),
            words(best),
            units::estimated_duration(&found.p99),
            spare.unwrap_or_default(),
            others.join(", ")
        ))
    }

    /// Why one token fewer does not suffice.
    fn limits(&self, plan: &Plan) -> Option<String> {
        let fewer = plan
            .fewest(Distribution::LeastConnections)?
            .checked_sub(1)?;
        let row = plan.row(Distribution::LeastConnections, fewer)?;
        let tokens = counted(fewer, "token");
        let Some(response) = row.response else {
            return self.beyond(fewer);
        };
        let (busy, p99) = (
            units::percent(row.utilisation),
            units::duration(response.p99.value),
        );
        let what = if row.utilisation > 0.95 {
            "The tokens themselves are the limit"
        } else {
            "Waiting is the limit, not the work"
        };
        Some(format!(
            "{what}: {tokens} would be busy {busy} of the time, with a p99 of {p99}."
        ))
    }

    /// By how much a rate is above what so many can do.
    fn beyond(&self, tokens: u32) -> Option<String> {
        let load = self
            .queue(Distribution::Shared, tokens, self.demand)
            .load()?;
        let most = units::rate(PerSecond(f64::from(tokens) / self.service.times.mean().0));
        let (asked, tokens) = (self.asked(), counted(tokens, "token"));
        Some(if load < 1.0 + HARDLY {
            format!("{asked} is all that {tokens} can do, so that the queue would grow for ever.")
        } else {
            let more = units::percent(load - 1.0);
            format!("{asked} is {more} more than {tokens} can do ({most}).")
        })
    }

    /// Whether those that there are suffice.
    fn there(&self, plan: &Plan) -> Option<String> {
        let there = self.tokens?;
        let row = plan.row(Distribution::LeastConnections, there)?;
        if self.suffices(row) {
            return Some(format!("The {there} that there are suffice."));
        }
        let missing = plan.fewest(Distribution::LeastConnections);
        let missing = missing.map(|fewest| {
            let more = fewest - there;
            format!(" It takes {more} more.")
        });
        let beyond = row.response.is_none().then(|| self.beyond(there)).flatten();
        let beyond = beyond.map(|text| format!("{text} "));
        Some(format!(
            "{}The {there} that there are do not suffice.{}",
            beyond.unwrap_or_default(),
            missing.unwrap_or_default()
        ))
    }

    fn predicted(&self) -> (DeviceName, Provenance) {
        (self.service.device.clone(), Provenance::Predicted)
    }

    fn table(&self, plan: &Plan) -> Block {
        let last = plan.rows.last().map_or(0, |row| row.tokens);
        let shown = |row: &&Row| {
            let fewest = plan.fewest(row.distribution);
            let from = fewest.map_or(last - last.min(BELOW), |fewest| fewest - fewest.min(BELOW));
            let to = fewest.map_or(last, |fewest| fewest + self.spare.max(1));
            (from..=to).contains(&row.tokens) || self.tokens == Some(row.tokens)
        };
        let mut rows: Vec<&Row> = plan.rows.iter().filter(shown).collect();
        rows.sort_by_key(|row| (row.distribution, row.tokens));
        let late = self
            .p99
            .map(|limit| Column::value(format!("> {}", units::chosen(limit))));
        let closed = matches!(self.demand, Demand::Users { .. });
        let table = TableOf::new(rows, |_| self.predicted())
            .column(Column::name("distribution").narrow(Narrow::Keep), |row| {
                words(row.distribution)
            })
            .value("tokens", |row| row.tokens)
            .value("busy", |row| Cell::Share(Ratio(row.utilisation)))
            .maybe(closed.then(|| Column::value("rate")), |row| {
                Some(row.response?.rate)
            })
            .value("mean", |row| match row.response {
                Some(response) => Cell::Duration(response.mean),
                None => Cell::text("overloaded"),
            })
            .value("p95", |row| Some(row.response?.p95))
            .value("p99", |row| Some(row.response?.p99))
            .shorten(0)
            .maybe(late, |row| Some(Cell::Share(Ratio(row.response?.late?))))
            .value(
                "enough",
                |row| if self.suffices(row) { "yes" } else { "no" },
            );
        Block::Table(table.table())
    }

    /// Rate and response time of fewer users, behind the tokens that there are or suffice.
    fn over_users(&self, plan: &Plan) -> Option<Section> {
        let Demand::Users { count, pause } = self.demand else {
            return None;
        };
        let way = Distribution::LeastConnections;
        let tokens = self.tokens.or(plan.fewest(way)).unwrap_or(1);
        let rows = super::picture::steps(count)
            .into_iter()
            .filter_map(|count| {
                let demand = Demand::Users { count, pause };
                Some((count, self.queue(way, tokens, demand).response(None)?))
            });
        let table = TableOf::new(rows, |_| self.predicted())
            .value("users", |(count, _)| *count)
            .value("rate", |(_, found)| found.rate)
            .value("mean", |(_, found)| found.mean)
            .value("p95", |(_, found)| found.p95)
            .value("p99", |(_, found)| found.p99.value)
            .table();
        let knee = self.demand.knee(&self.service.times, tokens)?;
        let knee = format!("the knee is at {knee:.1} users: more of them wait for each other");
        let blocks = vec![Block::Table(table), Block::remark(RemarkKind::Basis, knee)];
        let tokens = counted(tokens, "token");
        Some(Section::headed(
            format!("over users, {tokens} behind least-connections"),
            blocks,
        ))
    }

    fn basis(&self) -> Block {
        let service = &self.service;
        let asking = match self.demand {
            Demand::Arrivals(_) => "arrive at random (Poisson)".to_owned(),
            Demand::Users { pause, .. } => {
                let pause = units::chosen(Duration::from_secs_f64(pause.0));
                format!("follow pauses from 0 s to {pause}")
            }
        };
        let open = if service.times.is_constant() || service.measured.is_empty() {
            ""
        } else {
            ", with what the measurement leaves open (bootstrap over its blocks)"
        };
        let text = format!(
            "service time: {} ({}); operations {asking}; p99 by simulation, within {:.0} % unless its \
             interval says otherwise{open}, seed {}",
            service.words(),
            service.source,
            QUEUE_PRECISION * 100.0,
            self.seed
        );
        Block::remark(RemarkKind::Basis, text)
    }
}

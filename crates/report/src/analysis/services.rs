//! Timestamps a second: what services that sign do with each key, beside gpg alone, and what limits each.

use keymark_bench::case::{StackName, StoreKind};
use keymark_bench::operation::Operation;
use keymark_bench::record::Record;
use keymark_bench::server_load::LoadLimit;

use super::{Analysis, Row, Scaling, asks_the_same};
use crate::document::{Block, RemarkKind};
use crate::document::{Cell, Column, Section, TableOf};
use crate::exchange::Shipped;
use crate::units;

/// Busy for such a share of the time is busy.
const BUSY: f64 = 0.9;
/// Who does no more than so many times what one client gets waits for one thing.
const NOTHING: f64 = 1.2;

impl Row {
    /// Whether it is of a service that signs.
    pub(crate) fn is_service(&self) -> bool {
        self.under_load.is_some() && self.case.operation == Operation::Sign
    }
}

impl Analysis {
    /// Services, with gpg's signatures; none where there is no service.
    pub(crate) fn services(&self) -> Option<Section> {
        self.rows.iter().find(|row| row.is_service())?;
        let signs = |row: &&Row| {
            row.is_service()
                || (row.case.stack, row.case.operation) == (StackName::GNUPG, Operation::Sign)
        };
        let article = Shipped::named("zeitgitter-2019");
        let article = article.ok().and_then(|known| known.record().ok());
        let published = |row: &Row| published(row, article.as_ref()?);
        let busy = |row: &Row| row.under_load.as_ref()?.busy;
        let some = self.rows.iter().any(|row| published(row).is_some());
        let column = some.then(|| Column::value("published").leave(3));
        let table = TableOf::new(self.rows.iter().filter(signs), |row| {
            (row.case.device.clone(), row.case.provenance)
        })
        .case("algorithm", |row| row.case.algorithm)
        .device()
        .case("service", |row| row.case.way())
        .optional(4, "mean", |row| row.mean())
        .optional(1, "p99", |row| Some(row.summary.as_ref()?.p99?.value))
        .optional(0, "cores busy", |row| {
            busy(row).map(|busy| Cell::Share(busy.cores))
        })
        .optional(0, "agents busy", |row| busy(row)?.agents.map(Cell::Share))
        .if_any()
        .optional(2, "failed", |row| Some(row.under_load.as_ref()?.failed))
        .maybe(column, |row| published(row).map(Cell::text))
        .value("limit", |row| self.limit_of(row).map(Cell::text))
        .value("timestamps a second", |row| row.throughput)
        .shorten(3)
        .provenance()
        .table();
        let explained = "limit: what is busy nine tenths of the time or more, or all clients wait for; 'one client' \
                         waits for its own answer. Published: 1 over the mean of one signature after the other, on the \
                         slowest and fastest of six machines (zeitgitter-2019)";
        let remark = Block::remark(RemarkKind::Basis, explained);
        let blocks = vec![Block::Table(table), remark];
        Some(Section::headed("timestamps a second", blocks).first())
    }

    /// What keeps more from being done.
    fn limit_of(&self, row: &Row) -> Option<String> {
        let mut scaling = self.scaling.iter();
        let scaling = scaling.find(|group| group.is_of(&row.case));
        row.throughput?;
        let Some(load) = &row.under_load else {
            let alone = row.case.concurrency() == 1;
            let limit = scaling.and_then(Scaling::limit).filter(|_| !alone);
            return Some(
                limit.map_or_else(|| "one at a time".to_owned(), |limit| limit.to_string()),
            );
        };
        let above = |share: f64| share >= BUSY;
        let gained = || {
            let mut gains = scaling?.gains.iter();
            let own = gains.find(|(level, _)| *level == row.case.concurrency());
            own?.1.high
        };
        let is_token = row.case.store != StoreKind::SOFTWARE;
        Some(
            match load.busy {
                _ if load.limit == LoadLimit::Client => "keymark's client",
                Some(busy) if busy.agents.is_some_and(|agents| above(agents.0)) => "agent",
                Some(busy) if above(busy.cores.0) => "cores",
                _ if row.case.load.pacing.rate().is_some() => "arrivals",
                _ if row.case.concurrency() == 1 => "one client",
                _ if gained().is_some_and(|gain| gain.0 < NOTHING) => {
                    if is_token {
                        "token"
                    } else {
                        "lock"
                    }
                }
                _ => "undecided",
            }
            .to_owned(),
        )
    }
}

/// What an article's machines do a second, one signature after the other.
fn published(row: &Row, article: &Record) -> Option<String> {
    let alike = article.cases.iter();
    let alike = alike.filter(|each| asks_the_same(&each.case, &row.case));
    let means = alike.filter_map(|each| Some(each.published.as_ref()?.mean.0));
    let mut rates: Vec<f64> = means.map(|mean| 1.0 / mean).collect();
    rates.sort_by(f64::total_cmp);
    let [least, most] =
        [rates.first()?, rates.last()?].map(|rate| units::rate(keymark_stats::PerSecond(*rate)));
    Some(format!("[{}–{most}]", least.trim_end_matches("/s")))
}

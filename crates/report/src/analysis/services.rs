//! Timestamps per second of services that sign, with each key, compared with gpg alone, and what limits each.

use keymark_bench::{LoadLimit, Operation, Record, StackName, StoreKind};

use super::{Analysis, Row, Scaling, asks_the_same};
use crate::units;
use crate::{Block, Cell, Column, RemarkKind, Section, TableOf};
use keymark_records::published::PublishedTable;
use keymark_stats::PerSecond;

/// Busy for such a share of the time is busy.
const BUSY: f64 = 0.9;
/// Gain below which all clients wait for one thing.
const NOTHING: f64 = 1.2;

/// A signer of PE files, not of timestamps.
const RELIC: StackName = StackName::of("relic");

impl Row {
    pub(crate) fn is_service(&self) -> bool {
        self.under_load.is_some() && self.case.operation == Operation::Sign
    }

    pub(crate) fn makes(&self) -> &'static str {
        if self.case.stack == RELIC {
            "signatures"
        } else {
            "timestamps"
        }
    }
}

impl Analysis {
    /// Services, with gpg's signatures; none where there is no service.
    pub(crate) fn services(&self) -> Option<Section> {
        let makes = self.rows.iter().find(|row| row.is_service())?.makes();
        let heading = format!("{makes} per second");
        let signs = |row: &&Row| {
            row.is_service()
                || (row.case.stack, row.case.operation) == (StackName::GPG, Operation::Sign)
        };
        let article = PublishedTable::named("zeitgitter-2019");
        let article = article.ok().and_then(|known| known.record().ok());
        let published = |row: &Row| published(row, article.as_ref()?);
        let busy = |row: &Row| row.under_load.as_ref()?.busy;
        let some = self.rows.iter().any(|row| published(row).is_some());
        let column = some.then(|| Column::value("published").leave(3));
        let table = TableOf::new(self.rows.iter().filter(signs))
            .name("algorithm", |row| row.case.algorithm)
            .name("device", |row| Cell::text(&row.case.device))
            .name("service", |row| row.case.way())
            .optional(4, "mean", |row| row.mean())
            .optional(1, "p99", |row| Some(row.summary.as_ref()?.p99?.value))
            .optional(0, "cores busy", |row| {
                busy(row).map(|busy| Cell::share(busy.cores))
            })
            .optional(0, "agents busy", |row| busy(row)?.agents.map(Cell::share))
            .if_any()
            .optional(2, "failed", |row| Some(row.under_load.as_ref()?.failed))
            .maybe(column, |row| published(row).map(Cell::text))
            .value("limit", |row| self.limit_of(row).map(Cell::text))
            .optional(3, "predicted", |row| row.predicted.map(|by| by.rate))
            .if_any()
            .value(heading.clone(), |row| row.throughput)
            .provenance(|row| row.case.provenance)
            .table();
        let published = "; published: 1 over the mean of one signature after the other, on the slowest and fastest of six \
                         machines (zeitgitter-2019)";
        let explained = format!(
            "limit: what is busy nine tenths of the time or more, or what all clients wait for; 'one client' waits for its own \
             answer{}",
            if some { published } else { "" }
        );
        let remark = Block::remark(RemarkKind::Basis, explained);
        let blocks = vec![Block::Table(table), remark];
        Some(Section::headed(heading, blocks).first())
    }

    /// Returns the limit of a row's rate.
    fn limit_of(&self, row: &Row) -> Option<String> {
        let scaling = self.scaling.iter().find(|group| group.is_of(&row.case));
        row.throughput?;
        let single = row.case.workers() == 1;
        let Some(load) = &row.under_load else {
            let limit = scaling.and_then(Scaling::limit).filter(|_| !single);
            return Some(match limit {
                Some(limit) => limit.to_string(),
                None if single => "one at a time".to_owned(),
                None => "undecided".to_owned(),
            });
        };
        let above = |share: f64| share >= BUSY;
        let gained = || {
            let mut gains = scaling?.gains.iter();
            let own = gains.find(|(level, _)| *level == row.case.workers());
            own?.1.high
        };
        // Nobody knows what is busy in a service that keymark has not started.
        let on_token = row.case.store != StoreKind::SOFTWARE && load.busy.is_some();
        let arrives = row.case.load.pacing.rate().is_some();
        let alone = single && !arrives;
        let nothing = !alone && gained().is_some_and(|gain| gain.0 < NOTHING);
        Some(
            match load.busy {
                Some(busy) if busy.agents.is_some_and(|agents| above(agents.0)) => "agent",
                // Other programs may keep the cores busy meanwhile.
                _ if on_token && alone => "one client",
                _ if on_token && nothing => "token",
                Some(busy) if above(busy.cores.0) => "cores",
                _ if load.limit == LoadLimit::Client => "keymark's client",
                _ if arrives => "arrivals",
                _ if alone => "one client",
                Some(_) if nothing => "lock",
                None if nothing => "service",
                _ => "undecided",
            }
            .to_owned(),
        )
    }
}

/// Returns the rates of an article's machines, one signature after the other.
fn published(row: &Row, article: &Record) -> Option<String> {
    let alike = article
        .cases
        .iter()
        .filter(|each| asks_the_same(&each.case, &row.case));
    let means = alike.filter_map(|each| Some(each.published.as_ref()?.mean.0));
    let mut rates: Vec<f64> = means.map(|mean| 1.0 / mean).collect();
    rates.sort_by(f64::total_cmp);
    let [least, most] = [rates.first()?, rates.last()?].map(|rate| units::rate(PerSecond(*rate)));
    Some(format!("[{}–{most}]", least.trim_end_matches("/s")))
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::Case;
    use keymark_bench::record::CaseRecord;
    use keymark_bench::server_load::{ServerLoad, ServiceCpu};
    use keymark_testkit::assert_says;
    use keymark_testkit::record::{batch, case, mixed, server_load};

    use super::*;

    /// A service that has answered, whose machine and agent were busy for that share of the time.
    fn load(machine: f64, agent: f64) -> ServerLoad {
        let mut load = server_load();
        let steady = load.steady.as_mut().unwrap();
        steady.batches = (0..20).map(|part| batch(part, 50, 1_000_000_000)).collect();
        let of = |share: f64, all: u64| (share * (load.elapsed_ns * all) as f64) as u64;
        load.service_cpu = Some(ServiceCpu {
            agent_ns: Some(of(agent, 1)),
            machine_ns: of(machine, 2),
            cores: 2,
        });
        load
    }

    fn limit(load: ServerLoad) -> String {
        let mut record = mixed("run");
        let mut own = CaseRecord::new(Case {
            operation: Operation::Sign,
            ..case("rsa2048", ZEITGITTERD)
        });
        own.server_load = Some(Box::new(load));
        record.plan.cases = vec![own.case.clone()];
        record.cases = vec![own];
        let analysis = Analysis::of(&record, &[]);
        assert_says(
            &format!("{:?}", analysis.services().unwrap()),
            ["timestamps per second", "rsa2048"],
        );
        analysis.limit_of(&analysis.rows[0]).unwrap()
    }

    const ZEITGITTERD: StackName = StackName::of("zeitgitterd");

    #[test]
    fn what_is_busy_all_the_time_is_the_limit() {
        assert_eq!(limit(load(0.5, 0.95)), "agent");
        assert_eq!(limit(load(0.95, 0.5)), "cores");
        assert_eq!(limit(load(0.5, 0.5)), "one client");
        let slow = ServerLoad {
            limit: LoadLimit::Client,
            ..load(0.5, 0.5)
        };
        assert_eq!(limit(slow), "keymark's client");
    }

    #[test]
    fn without_a_service_nothing_is_said() {
        let analysis = Analysis::of(&mixed("run"), &[]);
        assert!(analysis.services().is_none());
    }

    #[test]
    fn published_means_are_rates_of_the_slowest_and_the_fastest() {
        let article = PublishedTable::named("zeitgitter-2019")
            .unwrap()
            .record()
            .unwrap();
        let of = |algorithm: &str| {
            let mut record = mixed("run");
            let own = CaseRecord::new(Case {
                operation: Operation::Sign,
                ..case(algorithm, StackName::GPG)
            });
            record.plan.cases = vec![own.case.clone()];
            record.cases = vec![own];
            published(&Analysis::of(&record, &[]).rows[0], &article)
        };
        assert_eq!(of("dsa3072").as_deref(), Some("[2.51–100/s]"));
        assert_eq!(of("rsa2048"), None);
    }
}

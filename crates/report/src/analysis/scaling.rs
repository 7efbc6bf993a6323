//! What concurrency gains, and what limits it.

use std::collections::HashMap;
use std::num::NonZeroU32;

use keymark_bench::case::{Case, CaseKey, Load};
use keymark_bench::layers::{Bottleneck, Layers, Point};
use keymark_bench::record::Record;
use keymark_stats::{Estimate, Level, PerSecond, Ratio, Seconds, Usl, UslError, fit_usl};

use super::{Row, windows};

/// A law of three parameters says nothing of three levels that it would not say of noise.
const LEVELS_OF_A_LAW: usize = 5;

/// One case at several concurrencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The case at its lowest concurrency.
    pub case: Case,
    /// Concurrency and observed throughput, ascending.
    pub levels: Vec<(u32, Estimate<PerSecond>)>,
    /// The Universal Scalability Law fitted to them, or why not.
    pub law: Result<Usl, UslError>,
    /// What bounds the gain, by the operational laws; only for stacks whose parts were measured.
    pub bounds: Option<Bounds>,
}

/// Upper bounds of the throughput relative to one worker (Denning & Buzen, "The Operational
/// Analysis of Queueing Network Models", ACM Computing Surveys 10 (1978), §6: no resource is busy
/// for more than the whole time).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Time of one operation alone.
    pub alone: Seconds,
    /// What workers queue for.
    pub bottleneck: Bottleneck,
    /// Time its one thread needs for its part.
    pub server: Seconds,
    /// Processor time of an operation: the process started for it and the server.
    pub processor: Seconds,
    /// Processors there are.
    pub cores: u32,
}

impl Bounds {
    /// Gain at which the server would be busy all the time.
    #[must_use]
    pub fn by_server(&self) -> Ratio {
        Ratio(self.alone.0 / self.server.0)
    }

    /// Gain at which all processors would be busy all the time.
    #[must_use]
    pub fn by_cores(&self) -> Ratio {
        Ratio(f64::from(self.cores) * self.alone.0 / self.processor.0)
    }
}

type Measured = (u32, Estimate<PerSecond>);

impl Scaling {
    /// Throughput at each concurrency over that at the lowest.
    #[must_use]
    pub fn speed_ups(&self) -> Vec<(u32, Ratio)> {
        let Some((_, first)) = self.levels.first() else {
            return Vec::new();
        };
        self.levels
            .iter()
            .map(|(c, rate)| (*c, Ratio(rate.value.0 / first.value.0)))
            .collect()
    }

    /// What limits the gain, if the parts were measured.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        let bounds = self.bounds?;
        Some(if bounds.by_server() < bounds.by_cores() {
            Limit::Server(bounds.bottleneck.name)
        } else {
            Limit::Cores
        })
    }

    /// The concurrency of the highest throughput that was measured, and one beyond at which it was lower for
    /// certain: the intervals are apart.
    #[must_use]
    pub fn falls(&self) -> Option<(u32, u32)> {
        let highest = |a: &&Measured, b: &&Measured| a.1.value.0.total_cmp(&b.1.value.0);
        let (best, highest) = self.levels.iter().max_by(highest)?;
        let floor = highest.low?;
        let mut beyond = self.levels.iter().filter(|(level, _)| level > best);
        let (lower, _) = beyond.find(|(_, rate)| rate.high.is_some_and(|high| high < floor))?;
        Some((*best, *lower))
    }
}

/// What is busy all the time first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The one thread of the server of this name.
    Server(&'static str),
    /// The processors.
    Cores,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Server(name) => name,
            Self::Cores => "cores",
        })
    }
}

/// Groups of closed-loop cases that differ in nothing but the number of workers.
pub(super) fn scaling(record: &Record, rows: &[Row], families: &[Layers]) -> Vec<Scaling> {
    let mut found: Vec<Scaling> = Vec::new();
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    let mut places: HashMap<CaseKey, usize> = HashMap::new();
    for row in rows
        .iter()
        .filter(|row| row.case.load.is_closed() && row.case.replica == 0)
        // Nothing is said of a level that has failed, nor by it of others.
        .filter(|row| row.failure.is_none())
    {
        let alone = CaseKey {
            load: Load {
                concurrency: NonZeroU32::MIN,
                ..row.case.load
            },
            ..row.case.key()
        };
        let place = *places.entry(alone).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        if let (Some(group), true) = (groups.get_mut(place), row.throughput.is_some()) {
            group.push(row);
        }
    }
    for mut group in groups {
        if group.len() < 2 {
            continue;
        }
        group.sort_by_key(|other| other.case.concurrency());
        let levels: Vec<Level> = group
            .iter()
            .map(|other| Level {
                concurrency: other.case.concurrency(),
                windows: windows(&record.cases[other.id.0 as usize]),
            })
            .collect();
        found.push(Scaling {
            case: group[0].case.clone(),
            levels: group
                .iter()
                .filter_map(|r| Some((r.case.concurrency(), r.throughput?)))
                .collect(),
            law: if levels.len() < LEVELS_OF_A_LAW {
                Err(UslError::TooFewLevels(levels.len()))
            } else {
                fit_usl(&levels, record.plan.settings.seed)
            },
            bounds: bounds(record, rows, group[0], families),
        });
    }
    found
}

/// Where the server that workers queue for was measured alone as well.
fn bounds(record: &Record, rows: &[Row], alone: &Row, families: &[Layers]) -> Option<Bounds> {
    if alone.case.concurrency() != 1 {
        return None;
    }
    let mut bottlenecks = families.iter().filter_map(|layers| layers.bottleneck);
    let bottleneck = bottlenecks.find(|found| found.point == Point::of(&alone.case))?;
    let server = Case {
        load: Load::single(),
        ..bottleneck.server.applied(&alone.case)
    };
    let server = server.key();
    let server = rows
        .iter()
        .find(|row| row.case.has_key(&server))?
        .summary
        .as_ref()?
        .mean
        .value;
    let (user, system) = alone.child_cpu?;
    Some(Bounds {
        alone: alone.summary.as_ref()?.mean.value,
        bottleneck,
        server,
        processor: Seconds(user.0 + system.0 + server.0),
        cores: record.environment.cores,
    })
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{Parameters, StackName};

    use super::*;

    fn bounds(agent: f64) -> Bounds {
        Bounds {
            alone: Seconds(0.008),
            bottleneck: Bottleneck {
                name: "agent",
                point: Point::new(StackName::GNUPG, Parameters::None),
                server: Point::new(StackName::AGENT, Parameters::None),
                explanation: "",
            },
            server: Seconds(agent),
            processor: Seconds(0.0075),
            cores: 2,
        }
    }

    #[test]
    fn the_agent_bounds_only_its_part() {
        // The puzzle: 1.6 of 8 ms at the agent would let five gpg run at once; two cores 2.1.
        assert!((bounds(0.0016).by_server().0 - 5.0).abs() < 1e-9);
        assert!((bounds(0.0016).by_cores().0 - 2.0 * 8.0 / 7.5).abs() < 1e-9);
    }

    #[test]
    fn the_lower_bound_is_the_limit() {
        let scaling = |agent| Scaling {
            case: crate::testing::record("20260101-000000-0001").cases[0]
                .case
                .clone(),
            levels: Vec::new(),
            law: Err(UslError::TooFewLevels(2)),
            bounds: Some(bounds(agent)),
        };
        assert_eq!(scaling(0.0016).limit(), Some(Limit::Cores));
        assert_eq!(scaling(0.006).limit(), Some(Limit::Server("agent")));
    }
}

//! Services that sign: why ten signatures of gpg at once take less than ten times one, although one agent makes them one
//! after the other.

use keymark_bench::{Operation, StackName};
use keymark_stats::Ratio;

use super::{Statement, Topic};
use crate::analysis::{Analysis, Scaling};
use crate::units::{self, counted};

/// The key of the article's riddle.
const ARTICLE: &str = "dsa3072";

/// A key's signatures, alone and at once.
struct Riddle<'a> {
    scaling: &'a Scaling,
    /// Number at once.
    most: u32,
    /// Their time over that of as many in a row.
    time: Ratio,
    is_less: bool,
    /// The agent's share of the time of one.
    agent: f64,
    cores: u32,
}

impl<'a> Riddle<'a> {
    fn of(scaling: &'a Scaling) -> Option<Self> {
        let case = &scaling.case;
        let bounds = scaling.bounds.as_ref()?;
        let (_, agent) = bounds.server.as_ref()?;
        let (most, gain) = scaling.gains.iter().rfind(|(level, _)| *level > 1)?;
        let is_gpg = (case.stack, case.operation) == (StackName::GNUPG, Operation::Sign);
        is_gpg.then_some(Self {
            scaling,
            most: *most,
            time: gain.inverse().value,
            is_less: gain.low.is_some_and(|low| low.0 > 1.0),
            agent: agent.0 / bounds.alone.0,
            cores: bounds.cores,
        })
    }
}

/// Explains the article's key, or the one with the least of the agent, beside the one with the most.
pub(super) fn services(analysis: &Analysis) -> Option<Statement> {
    analysis.rows.iter().find(|row| row.is_service())?;
    let mut known: Vec<Riddle<'_>> = analysis.scaling.iter().filter_map(Riddle::of).collect();
    known.sort_by(|a, b| a.agent.total_cmp(&b.agent));
    let named = |riddle: &&Riddle<'_>| riddle.scaling.case.algorithm.name() == ARTICLE;
    let first = known.iter().find(named).or(known.first());
    let first = first.filter(|first| first.is_less)?;
    let last = known.last().filter(|last| last.agent > first.agent);
    let last = last.map(|last| {
        format!(
            " With {} it is {}, and they take {} of the time.",
            last.scaling.case.algorithm,
            units::percent(last.agent),
            units::ratio(last.time)
        )
    });
    let text = format!(
        "{} signatures by gpg at once take {} of the time of {0} in a row with {}: one gpg-agent makes them one by one, but \
         that is {} of such a signature's time, and the rest (starting gpg, reading the key, writing) runs on {}.{}",
        first.most,
        units::ratio(first.time),
        first.scaling.case.algorithm,
        units::percent(first.agent),
        counted(first.cores, "core"),
        last.unwrap_or_default()
    );
    let rows = analysis
        .rows
        .iter()
        .filter(|row| known.iter().any(|riddle| riddle.scaling.is_of(&row.case)));
    Some(Statement::new(
        Topic::Striking,
        text,
        rows.map(|row| row.id),
    ))
}

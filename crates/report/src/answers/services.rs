//! Services that sign: how the riddle of their article comes about, that ten signatures of gpg at once take less than ten
//! times one although one agent makes them one after the other.

use keymark_bench::{Operation, StackName};

use super::{Statement, Topic};
use crate::analysis::{Analysis, Row, Scaling};
use crate::units::{self, counted};

/// The key of the article's riddle.
const ARTICLE: &str = "dsa3072";

/// What is known of a key's signatures, alone and at once.
struct Riddle<'a> {
    scaling: &'a Scaling,
    /// So many at once.
    most: u32,
    /// Their time, over so many times that of one.
    time: f64,
    /// Whether it is less for certain.
    is_less: bool,
    /// Of the time of one, that of the agent.
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
            time: 1.0 / gain.value.0,
            is_less: gain.low.is_some_and(|low| low.0 > 1.0),
            agent: agent.0 / bounds.alone.0,
            cores: bounds.cores,
        })
    }

    fn words(&self) -> String {
        units::ratio(keymark_stats::Ratio(self.time))
    }
}

/// With the article's key or that of which the agent has least, beside the one of which it has most; where services were
/// measured.
pub(super) fn services(analysis: &Analysis) -> Option<Statement> {
    analysis.rows.iter().find(|row| row.is_service())?;
    let known = analysis.scaling.iter().filter_map(Riddle::of);
    let mut known: Vec<Riddle<'_>> = known.collect();
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
            last.words()
        )
    });
    let text = format!(
        "{} signatures by gpg at once take {} of the time of {0} in a row with {}: one gpg-agent makes them one by one, but \
         that is {} of such a signature's time, and the rest (starting gpg, reading the key, writing) runs on {}.{}",
        first.most,
        first.words(),
        first.scaling.case.algorithm,
        units::percent(first.agent),
        counted(first.cores, "core"),
        last.unwrap_or_default()
    );
    let of = |row: &&Row| known.iter().any(|riddle| riddle.scaling.is_of(&row.case));
    let rows = analysis.rows.iter().filter(of).map(|row| row.id);
    Some(Statement::new(Topic::Striking, text, rows))
}

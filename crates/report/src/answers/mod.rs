//! What a run means, in three to six sentences: first what nobody would expect, then what a decision depends on, at last
//! how certain it is. Each has its figure, the rows that it rests on, and says nothing that their intervals do not
//! carry: what overlaps is alike.

mod certainty;
mod changes;
mod devices;
mod figure;
mod keys;
mod layers;
mod patience;
mod predictions;
mod servers;
mod striking;
#[cfg(test)]
mod tests;
mod titles;
mod workers;

use keymark_bench::record::Record;

use crate::analysis::Analysis;
use crate::grouped::grouped;

pub use crate::document::{Statement, Topic};
pub use changes::{of_comparison, of_history};
pub(crate) use figure::between;
pub use predictions::WAITING;
pub use titles::title_of;

/// More sentences than this are not read; the last one says how certain the others are.
const MOST: usize = 6;

/// What most readers come for.
pub fn answers(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    if analysis.rows.iter().all(|row| row.mean().is_none()) {
        return vec![certainty::nothing(&analysis.rows)];
    }
    let mut all = striking::striking(analysis);
    all.extend(devices::devices(analysis));
    all.extend(patience::patience(analysis, record));
    all.extend(predictions::predictions(analysis, record));
    all.extend(servers::servers(analysis, record));
    all.extend(keys::keys(analysis));
    all.extend(workers::workers(analysis, record.environment.cores));
    all.extend(layers::layers(analysis));
    let mut chosen = chosen(all, MOST - 1);
    if chosen.len() < MOST - 1 && chosen.iter().all(|said| said.topic != Topic::Patience) {
        chosen.extend(patience::nothing_is_slow(analysis, record));
    }
    chosen.push(certainty::certainty(analysis, record));
    chosen
}

/// The first of each topic, then the second, until there are enough; in the order of the topics.
fn chosen(all: Vec<Statement>, most: usize) -> Vec<Statement> {
    let topics = grouped(all, |statement| statement.topic);
    let turns = topics.into_iter().flat_map(|(topic, of)| {
        // What a token's software does on this CPU is said where there is room.
        let last = if topic == Topic::Tokens { most } else { 0 };
        (last..).zip(of)
    });
    let mut turns: Vec<(usize, Statement)> = turns.collect();
    turns.sort_by_key(|(turn, statement)| (*turn, statement.topic));
    turns.truncate(most);
    turns.sort_by_key(|(turn, statement)| (statement.topic, *turn));
    turns.into_iter().map(|(_, statement)| statement).collect()
}

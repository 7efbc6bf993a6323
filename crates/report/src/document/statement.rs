//! Sentences of an answer.

use keymark_bench::case::CaseId;
use serde::Serialize;

/// What a sentence is about, in the order in which they are said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// What stands out beyond expectation.
    Striking,
    /// Which device is the fastest, and by how much.
    Devices,
    /// What users have to wait for.
    Patience,
    /// Firmware that is simulated.
    Predictions,
    /// Servers under load.
    Servers,
    /// Which key is the fastest, and how strong it is.
    Keys,
    /// Several workers at once.
    Workers,
    /// What the time goes into.
    Layers,
    /// A token's software beside this CPU, on which it runs.
    Tokens,
    /// What is not as it was.
    Change,
    /// Which key, device or policy follows from what was asked.
    Choice,
    /// How far to trust the others.
    Certainty,
}

/// One sentence of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// What it is about.
    pub topic: Topic,
    /// In words.
    pub text: String,
    /// The rows that it rests on; all of them where it names none.
    pub rows: Vec<CaseId>,
}

impl Statement {
    /// A sentence that rests on those rows, or on none of a run.
    pub fn new(topic: Topic, text: String, rows: impl IntoIterator<Item = CaseId>) -> Self {
        let mut rows: Vec<CaseId> = rows.into_iter().collect();
        rows.sort_unstable_by_key(|id| id.0);
        rows.dedup();
        Self { topic, text, rows }
    }
}

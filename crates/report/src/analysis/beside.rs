//! Published figures of a run's operations.

use keymark_bench::{Algorithm, Case, DeviceName, Load, Operation, Record, StackName};
use keymark_stats::Seconds;

use super::Analysis;

/// A published figure of a twin's device.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedFigure {
    /// The twin.
    pub device: DeviceName,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    pub operation: Operation,
    /// Through which stack.
    pub stack: StackName,
    /// The card's own time, which was derived from the figure.
    pub card: Seconds,
    /// The figure.
    pub whole: Seconds,
}

impl PublishedFigure {
    pub(crate) fn is_beside(&self, case: &Case) -> bool {
        let of_case = (&case.device, case.algorithm, case.operation, case.stack);
        case.load == Load::single()
            && of_case == (&self.device, self.algorithm, self.operation, self.stack)
    }
}

impl Analysis {
    /// Tells if articles have an operation of this run.
    pub fn has_operation_of(&self, articles: &[Record]) -> bool {
        let mut published = articles.iter().flat_map(|article| &article.cases);
        published.any(|record| {
            self.rows
                .iter()
                .any(|row| asks_the_same(&record.case, &row.case))
        })
    }
}

/// Returns whether two cases ask the same, maybe of different devices. The messages of articles differ in length by bytes
/// only.
pub(crate) fn asks_the_same(a: &Case, b: &Case) -> bool {
    let asked = |case: &Case| (case.algorithm, case.operation, case.stack, case.load);
    asked(a) == asked(b) && a.parameters == b.parameters
}

//! `keymark mcu explain`

use std::cmp::Ordering;

use derive_more::Display;
use itertools::Itertools;
use keymark_mcu::predict::Prediction;
use keymark_mcu::timing::{Account, Stall, Tally};
use keymark_report::TableOf;
use keymark_report::units;
use serde::Serialize;
use serde_json::json;

use super::count;
use super::predict::predict_all;
use crate::args::ExplainArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

pub(super) fn run(arguments: &ExplainArguments) -> Outcome {
    let kernel = arguments.algorithm;
    let wanted = [(&arguments.first, kernel), (&arguments.second, kernel)];
    let both: Result<Vec<Prediction>, _> = predict_all(&wanted).into_iter().collect();
    let [first, second] = <[Prediction; 2]>::try_from(both.map_err(Failure::failed)?)
        .map_err(|_| Failure::failed("expected two predictions"))?;
    let differences = differences(&first.account, &second.account);
    if arguments.form.is_json() {
        let side = |prediction: &Prediction| {
            json!({
                "target": prediction.name(),
                "cycles": prediction.cycles(),
                "seconds": prediction.seconds(),
            })
        };
        output::print_json(&json!({
            "algorithm": kernel.name(),
            "provenance": "predicted",
            "first": side(&first),
            "second": side(&second),
            "differences": differences,
        }));
        return Ok(Exit::Fine);
    }
    output::heading(&format!(
        "{kernel}: {} against {} (predicted)",
        first.name(),
        second.name()
    ));
    let total = ("cycles in all".to_owned(), first.cycles(), second.cycles());
    let rows = differences
        .iter()
        .map(|one| (one.what.to_string(), one.first, one.second));
    let table = TableOf::new(rows.chain([total]))
        .name("", |(what, ..)| what.clone())
        .value("first", |(_, first, _)| count(*first))
        .value("second", |(.., second)| count(*second))
        .value("difference", |(_, first, second)| {
            let sign = match second.cmp(first) {
                Ordering::Less => "-",
                Ordering::Equal => "",
                Ordering::Greater => "+",
            };
            format!("{sign}{}", count(second.abs_diff(*first)))
        });
    output::table(table);
    output::line("");
    output::paragraph(&verdict(&first, &second, &differences));
    Ok(Exit::Fine)
}

/// Kind of cycles.
#[derive(Serialize, Display)]
#[serde(rename_all = "kebab-case")]
enum What {
    /// Issuing an instruction of the kind.
    #[display("issuing {_0}")]
    Issuing(&'static str),
    #[display("stalled: {}", _0.name())]
    Stalled(Stall),
}

/// Cycles of one kind on both sides.
#[derive(Serialize)]
struct Difference {
    #[serde(flatten)]
    what: What,
    first: u64,
    second: u64,
}

impl Difference {
    fn cycles(&self) -> i64 {
        self.second.cast_signed() - self.first.cast_signed()
    }
}

/// The kinds of cycles, the largest difference first: one a retired instruction by class, stalls by cause.
fn differences(first: &Account, second: &Account) -> Vec<Difference> {
    // Of IT that folds away there are more instructions than cycles.
    let issued = |tally: &Tally| tally.count.min(tally.cycles);
    let kinds = first.kinds().into_iter().zip(second.kinds());
    let classes = kinds.map(|((name, first), (_, second))| Difference {
        what: What::Issuing(name),
        first: issued(&first),
        second: issued(&second),
    });
    let stalls = Stall::ALL.iter().map(|&stall| Difference {
        what: What::Stalled(stall),
        first: first.stall(stall),
        second: second.stall(stall),
    });
    let mut differences: Vec<Difference> = classes
        .chain(stalls)
        .filter(|difference| difference.first + difference.second > 0)
        .collect();
    differences.sort_by_key(|difference| std::cmp::Reverse(difference.cycles().unsigned_abs()));
    differences
}

/// The largest of both directions, in a sentence.
fn verdict(first: &Prediction, second: &Prediction, differences: &[Difference]) -> String {
    let ratio = first.seconds().0 / second.seconds().0;
    let clocks = f64::from(second.target.mcu.clock.0) / f64::from(first.target.mcu.clock.0);
    let largest = |sign: i64, most: usize| {
        let chosen = differences
            .iter()
            .filter(|difference| difference.cycles().signum() == sign);
        let words = chosen.take(most).map(|difference| {
            let cycles = count(difference.cycles().unsigned_abs());
            format!("{cycles} {}", difference.what)
        });
        let words = words.collect_vec();
        if words.is_empty() {
            return "none".to_owned();
        }
        words.join(", ")
    };
    format!(
        "{} takes {} and {} {}: {ratio:.2}× as fast, {clocks:.2} by the clock and {:.2} by the cycles\n\
         cycles saved: {}; added: {}",
        first.name(),
        units::duration(first.seconds()),
        second.name(),
        units::duration(second.seconds()),
        ratio / clocks,
        largest(-1, 4),
        largest(1, 2),
    )
}

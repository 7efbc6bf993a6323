//! Rates beside the case that differs in one thing, as families compare theirs. Loads take their turns one after the
//! other, so that both sides are independent.

use keymark_bench::case::Case;
use keymark_bench::layers::{Comparison, Times};
use keymark_bench::record::CaseRecord;
use keymark_stats::{Estimate, Ratio, independent_gain};

use super::windows;

/// Rates of cases over those of the ones beside them, as a family compares its cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Heading of their table.
    pub heading: &'static str,
    /// How quotients are said.
    pub times: Times,
    /// In the order of the plan.
    pub relative: Vec<RelativeRate>,
}

/// The rate of a case over that of the one beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelativeRate {
    /// Place of the case in the plan.
    pub case: usize,
    /// Place of the one beside it; its own where it is that one.
    pub beside: usize,
    /// The quotient.
    pub gain: Estimate<Ratio>,
}

/// Of every case that has one beside it, those included that stand beside others.
pub(super) fn relative<'c>(
    cases: &[CaseRecord],
    comparisons: impl Iterator<Item = &'c Comparison>,
    seed: u64,
) -> Vec<Rates> {
    let all_windows: Vec<_> = cases.iter().map(windows).collect();
    let gain = |(case, beside): (usize, usize)| {
        let gain = independent_gain(&all_windows[case], &all_windows[beside], seed)?;
        Some(RelativeRate {
            case,
            beside,
            gain: if case == beside {
                gain.map(|_| Ratio(1.0))
            } else {
                gain
            },
        })
    };
    let rates = comparisons.map(|comparison| Rates {
        heading: comparison.heading,
        times: comparison.times,
        relative: pairs(cases, comparison)
            .into_iter()
            .filter_map(gain)
            .collect(),
    });
    rates.collect()
}

/// Each case with the one beside it.
fn pairs(cases: &[CaseRecord], comparison: &Comparison) -> Vec<(usize, usize)> {
    let pairs = cases.iter().enumerate().filter_map(|(index, record)| {
        let wanted = Case {
            parameters: (comparison.beside)(&record.case.parameters)?,
            ..record.case.clone()
        };
        let mut others = cases.iter();
        Some((index, others.position(|other| other.case == wanted)?))
    });
    let pairs: Vec<(usize, usize)> = pairs.collect();
    // Alone it tells nothing.
    let compared = |beside: usize| {
        let mut others = pairs.iter();
        others.any(|&(one, other)| other == beside && one != other)
    };
    let told = pairs.iter().filter(|&&(_, beside)| compared(beside));
    told.copied().collect()
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{Parameters, StackName, USUAL};

    use super::*;
    use keymark_testkit::record::{batch, case, server_load};

    const COLOUR: Comparison = Comparison {
        heading: "what colours cost",
        times: Times::Cost,
        beside: |own| {
            own.get("colour")?;
            Some(own.clone().replaced("colour", "grey"))
        },
    };
    const NUMBER: Comparison = Comparison {
        heading: "what more of them bring",
        times: Times::Gain,
        beside: |own| {
            own.get("number")?;
            Some(own.clone().replaced("number", "1"))
        },
    };

    fn loaded(colour: &str, number: &str, completed: u64) -> CaseRecord {
        let mut load = server_load();
        let steady = load.steady.as_mut().unwrap();
        let of = |part| batch(part, completed + u64::from(part % 2), 1_000_000_000);
        steady.batches = (0..20).map(of).collect();
        let of = Case {
            parameters: Parameters::from([("colour", colour), ("number", number)]),
            ..case("rsa2048", StackName::of("server"))
        };
        CaseRecord {
            server_load: Some(Box::new(load)),
            ..CaseRecord::new(of)
        }
    }

    #[test]
    fn rates_stand_beside_the_case_that_differs_in_one_thing() {
        let cases = [
            loaded("red", USUAL, 50),
            loaded("grey", USUAL, 100),
            loaded("red", "1", 40),
            loaded("red", "4", 120),
        ];
        let rates = relative(&cases, [COLOUR, NUMBER].iter(), 1);
        let told = |rates: &Rates| -> Vec<_> {
            let each = rates.relative.iter();
            each.map(|rate| (rate.case, rate.beside)).collect()
        };
        assert_eq!(rates[0].heading, COLOUR.heading);
        assert_eq!(told(&rates[0]), [(0, 1), (1, 1)]);
        assert_eq!(told(&rates[1]), [(2, 2), (3, 2)]);
        let half = rates[0].relative[0].gain;
        assert!((half.value.0 - 50.5 / 100.5).abs() < 1e-9, "{half:?}");
        assert!(half.low.unwrap().0 > 0.49 && half.high.unwrap().0 < 0.52);
        assert_eq!(rates[0].relative[1].gain.value, Ratio(1.0));
        assert!((rates[1].relative[1].gain.value.0 - 120.5 / 40.5).abs() < 1e-9);
    }

    #[test]
    fn other_sizes_are_no_comparison() {
        let mut other = loaded("grey", USUAL, 100);
        other.case.algorithm = "rsa3072".parse().unwrap();
        let cases = [loaded("red", USUAL, 50), other];
        assert_eq!(relative(&cases, [COLOUR].iter(), 1)[0].relative, []);
    }
}

//! What is seen in a picture, in words for its head: nothing that the answer's rules do not say.

use std::time::Duration;

use itertools::Itertools;
use keymark_bench::Record;
use keymark_stats::{PerSecond, Ratio, Seconds};

use super::figure::{Bounded, between, listed};
use super::{devices, keys, layers, workers};
use crate::analysis::{Analysis, figures};
use crate::grouped;
use crate::units::{self, counted};
use crate::{Distribution, Figure, LoadCurve, LoadUnit, Mean, Plot, Predicted};

/// The percentile by which a single distribution is told.
const NEARLY: u32 = 90;

/// None where nothing can be said; then a picture keeps the title that says what it shows.
pub fn title_of(analysis: &Analysis, record: &Record, figure: &Figure) -> Option<String> {
    match &figure.plot {
        Plot::Layers { .. } => {
            let mut families = analysis.breakdowns.iter();
            let family = families.find(|family| figures::layers_title(family) == figure.title)?;
            layers::title(family)
        }
        Plot::Throughput { .. } => workers::title(analysis, record.environment.cores),
        Plot::Means { means, .. } => {
            devices::title(analysis).or_else(|| keys::title(analysis, means))
        }
        Plot::Samples { timelines, of, .. } => {
            let drifted = analysis.rows.iter().filter(|row| row.has_drifted()).count();
            (drifted > 0 && timelines.len() <= drifted).then(|| {
                let all = counted(*of, "case");
                format!("{drifted} of {all} changed during the run")
            })
        }
        Plot::ResponseTimes { load, curves } => of_loads(*load, curves),
        Plot::Security { means, .. } => of_security(means),
        Plot::Predictions {
            tolerance,
            predictions,
        } => of_predictions(*tolerance, predictions),
        Plot::Distributions { distributions } => of_distributions(distributions),
        Plot::Histograms { .. } | Plot::Rates { .. } => None,
    }
}

/// From how many users on more of them only wait, or from which rate on the queue grows.
fn of_loads(load: LoadUnit, curves: &[LoadCurve]) -> Option<String> {
    match load {
        LoadUnit::Users => {
            let knees: Option<Vec<f64>> = curves.iter().map(|curve| curve.knee).collect();
            let (least, most) = knees?.into_iter().minmax_by(f64::total_cmp).into_option()?;
            let users = between(&least.to_string(), &most.to_string());
            let noun = if most > 1.0 { "users" } else { "user" };
            Some(format!("beyond {users} {noun}, more only wait"))
        }
        LoadUnit::Arrivals => {
            let first = |curve: &LoadCurve| curve.overloaded.iter().copied().reduce(f64::min);
            let found = curves.iter().filter_map(first).minmax_by(f64::total_cmp);
            let (least, most) = found.into_option()?;
            let rate = |rate| units::rate(PerSecond(rate));
            let rates = between(&rate(least), &rate(most));
            Some(match curves {
                [_] => format!("at {rates} the queue grows for ever"),
                _ => format!("the queue of some grows for ever at {rates}"),
            })
        }
    }
}

/// A stronger key that takes less time than a weaker one on the same device, or what the strongest costs.
fn of_security(means: &[(u32, Mean)]) -> Option<String> {
    let pairs = || {
        let pairs = means.iter().cartesian_product(means);
        pairs.filter(|(weak, strong)| strong.0 > weak.0 && strong.1.of.device == weak.1.of.device)
    };
    let factor =
        |weak: &(u32, Mean), strong: &(u32, Mean)| weak.1.mean.value.0 / strong.1.mean.value.0;
    let named = |(bits, mean): &(u32, Mean)| format!("{} ({bits}-bit security)", mean.algorithm);
    let below = |a: &Mean, b: &Mean| Bounded::from(a.mean).is_below(&Bounded::from(b.mean));
    let gratis = pairs().filter(|(weak, strong)| below(&strong.1, &weak.1));
    let gratis = gratis.max_by(|a, b| factor(a.0, a.1).total_cmp(&factor(b.0, b.1)));
    if let Some((weak, strong)) = gratis {
        return Some(format!(
            "a stronger key may be faster: {} takes less time than {}",
            named(strong),
            named(weak)
        ));
    }
    let costly = pairs().filter(|(weak, strong)| below(&weak.1, &strong.1));
    let (weak, strong) = costly.min_by(|a, b| factor(a.0, a.1).total_cmp(&factor(b.0, b.1)))?;
    Some(format!(
        "strength costs time: {} takes {} times as long as {}",
        named(strong),
        units::ratio(Ratio(1.0 / factor(weak, strong))),
        named(weak)
    ))
}

/// Which predictions are too long for users, whatever the assumptions.
fn of_predictions(tolerance: Seconds, predictions: &[Predicted]) -> Option<String> {
    let limit = Duration::try_from_secs_f64(tolerance.0)
        .ok()
        .map(units::chosen)?;
    let slow = predictions
        .iter()
        .filter(|one| one.band.low.0 > tolerance.0);
    let slow: Vec<&Predicted> = slow.collect();
    let fast = predictions
        .iter()
        .filter(|one| one.band.high.0 <= tolerance.0);
    match (slow.as_slice(), fast.count()) {
        ([], fast) if fast == predictions.len() => {
            Some(format!("nothing is predicted to take longer than {limit}"))
        }
        ([], _) => None,
        (slow, 0) if slow.len() == predictions.len() => Some(format!(
            "all of it is predicted to take longer than {limit}"
        )),
        (slow, _) => {
            let keys = grouped(slow, |one| one.what.as_str()).into_iter();
            let keys = keys.map(|(what, on)| {
                format!("{what} on {}", listed(on.iter().map(|one| &one.device)))
            });
            let keys = listed(keys);
            Some(format!("predicted to exceed {limit}: {keys}"))
        }
    }
}

/// Within which time nearly all operations of a single case are done.
fn of_distributions(distributions: &[Distribution]) -> Option<String> {
    let [only] = distributions else {
        return None;
    };
    let (_, within) = only
        .percentiles
        .iter()
        .find(|(level, _)| *level == NEARLY)?;
    within.high?;
    Some(format!(
        "{NEARLY} % of {} are done within {}",
        only.of.label,
        units::duration(within.value)
    ))
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{Provenance, StackName};
    use keymark_stats::{Band, Estimate};
    use keymark_testkit::record::case;

    use super::*;
    use crate::document::Subject;

    fn curve(knee: Option<f64>, overloaded: Vec<f64>) -> LoadCurve {
        LoadCurve {
            of: Subject::of(&case("rsa2048", StackName::RAW)),
            points: Vec::new(),
            knee,
            overloaded,
        }
    }

    #[test]
    fn a_load_is_told_by_where_it_saturates() {
        let users = |knees: &[Option<f64>]| {
            let curves: Vec<LoadCurve> =
                knees.iter().map(|knee| curve(*knee, Vec::new())).collect();
            of_loads(LoadUnit::Users, &curves)
        };
        assert_eq!(
            users(&[Some(4.0), Some(16.0)]).as_deref(),
            Some("beyond 4 to 16 users, more only wait")
        );
        assert_eq!(users(&[Some(4.0), None]), None);
        let rates = of_loads(LoadUnit::Arrivals, &[curve(None, vec![80.0, 60.0])]);
        assert_eq!(rates.as_deref(), Some("at 60.0/s the queue grows for ever"));
        assert_eq!(
            of_loads(LoadUnit::Arrivals, &[curve(None, Vec::new())]),
            None
        );
    }

    fn mean(algorithm: &str, milliseconds: f64) -> Mean {
        let time = |factor: f64| Some(Seconds(milliseconds * factor * 1e-3));
        let case = case(algorithm, StackName::RAW);
        Mean {
            of: Subject::of(&case),
            algorithm: case.algorithm,
            operation: case.operation,
            stack: case.stack,
            way: case.way(),
            mean: Estimate {
                low: time(0.99),
                high: time(1.01),
                ..Estimate::bare(Seconds(milliseconds * 1e-3))
            },
        }
    }

    #[test]
    fn strength_may_cost_nothing() {
        let gratis = of_security(&[(112, mean("rsa2048", 7.0)), (128, mean("ed25519", 5.0))]);
        assert_eq!(
            gratis.as_deref(),
            Some(
                "a stronger key may be faster: ed25519 (128-bit security) takes less time than rsa2048 (112-bit security)"
            )
        );
        let costly = of_security(&[(112, mean("rsa2048", 5.0)), (128, mean("rsa3072", 15.0))]);
        assert_eq!(
            costly.as_deref(),
            Some(
                "strength costs time: rsa3072 (128-bit security) takes 3.00 times as long as rsa2048 (112-bit security)"
            )
        );
        assert_eq!(
            of_security(&[(112, mean("rsa2048", 5.0)), (128, mean("ed25519", 5.0))]),
            None
        );
    }

    #[test]
    fn predictions_are_told_by_what_users_tolerate() {
        let one = |device: &str, seconds: f64| Predicted {
            device: keymark_bench::case::DeviceName::new(device),
            what: "rsa4096 decrypt".to_owned(),
            time: Seconds(seconds),
            band: Band {
                low: Seconds(seconds * 0.9),
                high: Seconds(seconds * 1.1),
            },
        };
        let title = |predictions: &[Predicted]| of_predictions(Seconds(2.0), predictions);
        assert_eq!(
            title(&[one("slow", 6.5), one("fast", 1.3)]).as_deref(),
            Some("predicted to exceed 2 s: rsa4096 decrypt on slow")
        );
        assert_eq!(
            title(&[one("fast", 1.3)]).as_deref(),
            Some("nothing is predicted to take longer than 2 s")
        );
        assert_eq!(title(&[one("between", 2.0)]), None);
    }

    #[test]
    fn one_distribution_is_told_by_nearly_all_of_it() {
        let case = case("rsa2048", StackName::RAW);
        let of = |high| Distribution {
            of: Subject::of(&case),
            algorithm: case.algorithm,
            operation: case.operation,
            way: case.way(),
            n: 100,
            percentiles: vec![(
                NEARLY,
                Estimate {
                    high,
                    ..Estimate::bare(Seconds(0.012))
                },
            )],
            quantiles: Vec::new(),
        };
        assert_eq!(case.provenance, Provenance::Measured);
        let known = of(Some(Seconds(0.013)));
        assert_eq!(
            of_distributions(std::slice::from_ref(&known)).as_deref(),
            Some("90 % of rsa2048 decrypt software raw are done within 12.0 ms")
        );
        assert_eq!(of_distributions(&[of(None)]), None);
        assert_eq!(of_distributions(&[known.clone(), known]), None);
    }
}

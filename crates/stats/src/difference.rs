//! Difference of two means: of cases that took turns, from what each stretch of the run says of it; of estimates with
//! independent errors, from their intervals, kept in shape by MOVER, the method of variance estimates recovery: Zou &
//! Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008), eq. 5.

use crate::blocks::Blocks;
use crate::dependence::dependence;
use crate::estimate::{CONFIDENCE, Estimate, Method};
use crate::pairing::{Pair, Stretches, difference_residuals};
use crate::prior::Weights;
use crate::quantity::{NS, Quantity, Seconds};
use crate::ratio::{ENOUGH_STRETCHES, MIN_STRETCHES};
use crate::resample::{standard_error, t_half_width};

/// The mean of `a` less that of `b`, given with their blocks; as [`difference`] has it where there are too few
/// stretches in which both were measured.
pub fn paired_difference(
    (a, blocks_of_a): (&Estimate<Seconds>, &Blocks),
    (b, blocks_of_b): (&Estimate<Seconds>, &Blocks),
) -> Estimate<Seconds> {
    let Stretches { shared, alone } = Stretches::new(blocks_of_a, blocks_of_b);
    let stretches = shared.len();
    let of_pairs =
        (stretches >= MIN_STRETCHES).then(|| of_stretches(a.value.0 - b.value.0, shared, alone));
    let apart = recovered(a, b);
    let chosen =
        of_pairs.filter(|pairs| stretches >= ENOUGH_STRETCHES || pairs.is_narrower_than(&apart));
    chosen.unwrap_or(apart).widened()
}

fn of_stretches(value: f64, mut shared: Vec<Pair>, alone: Vec<Pair>) -> Estimate<f64> {
    // The means are those of all blocks, so what one did alone is part of the error.
    let units = shared.len();
    shared.extend(alone);
    let residuals = difference_residuals(shared.iter().copied());
    let squares = residuals.iter().map(|residual| residual.powi(2)).sum();
    let half = t_half_width(standard_error(squares, residuals.len()), units) / NS;
    let dependence = dependence(&residuals, &Weights::of_pairs());
    let interval = dependence.widen(value, (value - half, value + half));
    Estimate::new(value, interval, Method::PairedDifference)
}

/// `a - b`; a side without the bounds it needs stays open.
pub fn difference<T: Quantity>(a: &Estimate<T>, b: &Estimate<T>) -> Estimate<T> {
    recovered(a, b).widened()
}

fn recovered<T: Quantity>(a: &Estimate<T>, b: &Estimate<T>) -> Estimate<f64> {
    let (value_a, value_b) = (a.value.to_f64(), b.value.to_f64());
    let value = value_a - value_b;
    let reach = |from_a: Option<T>, from_b: Option<T>| {
        let (da, db) = (value_a - from_a?.to_f64(), from_b?.to_f64() - value_b);
        Some(da.hypot(db))
    };
    let low = reach(a.low, b.high).map(|reach| value - reach);
    let high = reach(a.high, b.low).map(|reach| value + reach);
    Estimate {
        confidence: CONFIDENCE,
        value,
        low,
        high,
        method: Method::Mover,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate<f64> {
        Estimate::new(value, (low, high), Method::StudentT).widened()
    }

    #[test]
    fn half_widths_add_in_quadrature() {
        // By hand: sqrt(3² + 4²) = 5 below, sqrt(6² + 8²) = 10 above.
        let d = difference(&estimate(100.0, 97.0, 106.0), &estimate(40.0, 32.0, 44.0));
        assert_eq!((d.value, d.low, d.high), (60.0, Some(55.0), Some(70.0)));
    }

    #[test]
    fn an_open_side_stays_open() {
        let open = Estimate {
            high: None,
            ..estimate(100.0, 97.0, 106.0)
        };
        let d = difference(&open, &estimate(40.0, 36.0, 44.0));
        assert_eq!((d.low, d.high), (Some(55.0), None));
    }
}

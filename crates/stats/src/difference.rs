//! Difference of two estimates with independent errors, their intervals kept in shape.
//!
//! MOVER, the method of variance estimates recovery: Zou & Donner, "Construction of confidence
//! limits about effect measures", Statistics in Medicine 27 (2008), eq. 5.

use crate::estimate::{Computed, Estimate, Method};
use crate::quantity::Quantity;

/// `a - b`; a side without the bounds it needs stays open.
#[must_use]
pub fn difference<T: Quantity>(a: &Estimate<T>, b: &Estimate<T>) -> Estimate<T> {
    let (value_a, value_b) = (a.value.to_f64(), b.value.to_f64());
    let value = value_a - value_b;
    let reach = |from_a: Option<T>, from_b: Option<T>| {
        let (da, db) = (value_a - from_a?.to_f64(), from_b?.to_f64() - value_b);
        Some(da.hypot(db))
    };
    let low = reach(a.low, b.high).map(|reach| value - reach);
    let high = reach(a.high, b.low).map(|reach| value + reach);
    let computed = Computed {
        value,
        low,
        high,
        method: Method::Mover,
    };
    computed.widened()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate<f64> {
        Computed::new(value, (low, high), Method::StudentT).widened()
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

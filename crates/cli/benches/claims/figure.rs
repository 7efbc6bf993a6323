//! A figure with the limit it has to keep, and how figures are taken.

use std::fmt;
use std::time::Duration;

use keymark_bench::clock::{Clock, MonotonicClock};

/// Anything that keeps a measurement from being made.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Figure and its limit, in one unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: String,
    value: f64,
    limit: Limit,
    unit: &'static str,
}

/// Side of the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Figure {
    pub(crate) fn new(
        name: impl Into<String>,
        value: f64,
        limit: Limit,
        unit: &'static str,
    ) -> Self {
        Self {
            name: name.into(),
            value,
            limit,
            unit,
        }
    }

    pub(crate) fn is_kept(&self) -> bool {
        match self.limit {
            Limit::AtMost(limit) => self.value <= limit,
            Limit::AtLeast(limit) => self.value >= limit,
        }
    }

    pub(crate) fn value_text(&self) -> String {
        format!("{:.4}{}", self.value, self.unit)
    }

    pub(crate) fn limit_text(&self) -> String {
        let (sign, limit) = match self.limit {
            Limit::AtMost(limit) => ("≤", limit),
            Limit::AtLeast(limit) => ("≥", limit),
        };
        // Computed limits have at most these digits of meaning.
        format!("{sign} {}{}", (limit * 1e3).round() / 1e3, self.unit)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missed = if self.is_kept() { "" } else { "  MISSED" };
        let (value, limit) = (self.value_text(), self.limit_text());
        write!(f, "{}: {value}, {limit}{missed}", self.name)
    }
}

/// The median; 0 of nothing.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    keymark_stats::median(&mut values).unwrap_or(0.0)
}

pub(crate) fn time<E>(run: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let clock = MonotonicClock::new();
    let start = clock.now();
    run()?;
    Ok(clock.now().since(start))
}

/// Median of the ratios of two figures that take turns, `own` over `other`, each told which pair it is for.
pub(crate) fn in_turn(
    pairs: usize,
    mut own: impl FnMut(usize) -> Result<f64, Failure>,
    mut other: impl FnMut(usize) -> Result<f64, Failure>,
) -> Result<f64, Failure> {
    let mut ratios = Vec::with_capacity(pairs);
    for pair in 0..pairs {
        // Who goes first changes, so that neither drift nor the other's caches favor one.
        let (own, other) = if pair % 2 == 0 {
            let own = own(pair)?;
            (own, other(pair)?)
        } else {
            let other = other(pair)?;
            (own(pair)?, other)
        };
        ratios.push(own / other);
    }
    Ok(median(ratios))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn sides_take_turns_and_the_first_changes() {
        let order = RefCell::new(String::new());
        let say = |who, rate| {
            order.borrow_mut().push(who);
            Ok(rate)
        };
        let ratio = in_turn(4, |_| say('k', 3.0), |_| say('c', 2.0)).unwrap();
        assert!((ratio - 1.5).abs() < 1e-12);
        assert_eq!(*order.borrow(), "kcckkcck");
    }
}

//! What keymark claims about itself, measured: one module a claim, and one for their page.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

pub mod across;
pub mod analysis;
pub mod card;
mod kryoptic;
pub mod markdown;
pub mod mcu;
pub mod pcsc;
pub mod pkcs11;
mod pkcs11_loop;
pub mod pkcs11_module;
pub mod raw;
pub mod setting;
pub mod signature;
pub mod spawn;
pub mod start;
pub mod view;

use std::time::Duration;

/// One figure and the limit it has to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The figure.
    pub value: f64,
    pub limit: Limit,
    /// Unit of both.
    pub unit: &'static str,
}

/// On which side of the limit the figure has to lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
}

impl Figure {
    /// Whether the limit is kept.
    pub fn is_kept(&self) -> bool {
        match self.limit {
            Limit::AtMost(limit) => self.value <= limit,
            Limit::AtLeast(limit) => self.value >= limit,
        }
    }

    /// The figure with its unit.
    pub fn value_text(&self) -> String {
        format!("{:.4}{}", self.value, self.unit)
    }

    /// The limit with its side and unit.
    pub fn limit_text(&self) -> String {
        let (sign, limit) = match self.limit {
            Limit::AtMost(limit) => ("≤", limit),
            Limit::AtLeast(limit) => ("≥", limit),
        };
        // Limits that are computed have no more than these digits of meaning.
        format!("{sign} {}{}", (limit * 1e3).round() / 1e3, self.unit)
    }
}

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let missed = if self.is_kept() { "" } else { "  MISSED" };
        let (value, limit) = (self.value_text(), self.limit_text());
        write!(f, "{}: {value}, {limit}{missed}", self.name)
    }
}

/// The median; 0 of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

/// Anything that keeps a measurement from being made.
pub type Failure = Box<dyn std::error::Error>;

/// Seconds as a number, for figures.
pub fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

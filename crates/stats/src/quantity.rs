//! Numbers with a unit, so that a duration is never a bare `f64`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number with a unit, convertible to and from the plain number.
pub trait Quantity: Copy {
    /// Wraps a plain number given in the quantity's own unit.
    fn from_f64(value: f64) -> Self;
    /// The plain number in the quantity's own unit.
    fn to_f64(self) -> f64;
}

impl Quantity for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl Quantity for $name {
            fn from_f64(value: f64) -> Self {
                Self(value)
            }
            fn to_f64(self) -> f64 {
                self.0
            }
        }
    };
}

quantity! {
    /// A duration in seconds.
    Seconds
}
quantity! {
    /// A quotient of two quantities of one kind; 1 means equal.
    Ratio
}
quantity! {
    /// A rate in events a second.
    PerSecond
}

/// Nanoseconds in a second.
pub(crate) const NS: f64 = 1e9;

impl Seconds {
    /// From a number of nanoseconds, whole or not.
    pub fn from_nanos(nanos: f64) -> Self {
        Self(nanos / NS)
    }
}

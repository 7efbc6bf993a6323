//! The lossy number conversions, in one place.

/// Conversion of a count or of nanoseconds to floating point.
pub(crate) trait Float {
    /// The nearest `f64`; exact up to 2^53 (104 days in nanoseconds).
    fn float(self) -> f64;
}

impl Float for u64 {
    #[allow(clippy::cast_precision_loss, reason = "exact below 2^53")]
    fn float(self) -> f64 {
        self as f64
    }
}

impl Float for usize {
    #[allow(clippy::cast_precision_loss, reason = "exact below 2^53")]
    fn float(self) -> f64 {
        self as f64
    }
}

/// Whole part as an index; negative numbers and NaN give 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is what an index wants"
)]
pub(crate) fn index(value: f64) -> usize {
    value as usize
}

//! The distributions needed here, by name.
//!
//! Student's t, the normal and χ² come from `statrs`. The binomial is summed
//! term by term (Abramowitz & Stegun 1964, 26.1.20), since a continued
//! fraction with a fixed number of steps fails for millions of trials.

use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};
use statrs::function::erf::erfc;

/// The `p` quantile of Student's t with `df` degrees of freedom.
///
/// Positive infinity where the distribution does not exist (`df` not positive).
pub(crate) fn t_quantile(p: f64, df: f64) -> f64 {
    // The t quantile is odd around one half, and the solver is best below it.
    match StudentsT::new(0.0, 1.0, df) {
        Ok(t) if p > 0.5 => -t.inverse_cdf(1.0 - p),
        Ok(t) => t.inverse_cdf(p),
        Err(_) => f64::INFINITY,
    }
}

/// P(T > `x`) of Student's t with `df` degrees of freedom; 1 where the distribution does not exist.
pub(crate) fn t_sf(x: f64, df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).map_or(1.0, |t| t.sf(x))
}

/// P(|Z| > `z`) of a standard normal Z.
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2).clamp(0.0, 1.0)
}

/// P(X > `x`) of a χ² variable with `df` degrees of freedom; 1 if `df` is not positive.
pub(crate) fn chi_square_sf(x: f64, df: f64) -> f64 {
    ChiSquared::new(df).map_or(1.0, |chi| chi.sf(x))
}

/// P(N ≤ `n`) of a Poisson variable with that mean, which must be positive (Abramowitz & Stegun 1964, 26.4.21).
pub fn poisson_cdf(n: u64, mean: f64) -> f64 {
    chi_square_sf(2.0 * mean, 2.0 * (n as f64 + 1.0))
}

/// Ranks (from 1) of the order statistics that bound the `p` quantile of `n`
/// samples, each side missed with probability at most `tail`.
///
/// `None` where no rank is extreme enough (Hahn & Meeker 1991, §5.2.1).
pub(crate) fn binomial_ranks(n: usize, p: f64, tail: f64) -> (Option<usize>, Option<usize>) {
    let (first, mass) = binomial_mass(n, p);
    let mut cumulative = 0.0;
    let mut low = first;
    let mut high = None;
    for (i, m) in mass.iter().enumerate() {
        cumulative += m;
        let k = first + i;
        if cumulative <= tail {
            low = k + 1;
        }
        if cumulative >= 1.0 - tail {
            high = Some(k + 1);
            break;
        }
    }
    ((low >= 1).then_some(low), high.filter(|&rank| rank <= n))
}

/// Probabilities of `first..` successes in `n` trials, without negligible tails.
fn binomial_mass(n: usize, p: f64) -> (usize, Vec<f64>) {
    const NEGLIGIBLE: f64 = 1e-20;
    let odds = p / (1.0 - p);
    let mode = (((n as f64 + 1.0) * p) as usize).min(n);
    // Relative to the mode: normalized below, so no gamma function is needed.
    let mut below = Vec::new();
    let (mut k, mut mass) = (mode, 1.0);
    while k > 0 && mass > NEGLIGIBLE {
        mass *= k as f64 / ((n - k + 1) as f64 * odds);
        k -= 1;
        below.push(mass);
    }
    below.reverse();
    below.push(1.0);
    let (mut up, mut mass) = (mode, 1.0);
    while up < n && mass > NEGLIGIBLE {
        mass *= (n - up) as f64 * odds / (up + 1) as f64;
        up += 1;
        below.push(mass);
    }
    let total: f64 = below.iter().sum();
    for m in &mut below {
        *m /= total;
    }
    (k, below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_t_table() {
        // Abramowitz & Stegun, table 26.10.
        for (df, q975, q995) in [
            (1.0, 12.706, 63.657),
            (2.0, 4.303, 9.925),
            (5.0, 2.571, 4.032),
            (30.0, 2.042, 2.750),
            (120.0, 1.980, 2.617),
            (100_000.0, 1.960, 2.576),
        ] {
            assert!((t_quantile(0.975, df) - q975).abs() < 6e-4, "{df}");
            assert!((t_quantile(0.995, df) - q995).abs() < 6e-4, "{df}");
            assert!((t_quantile(0.025, df) + q975).abs() < 6e-4, "{df}");
        }
        assert!(t_quantile(0.975, 0.0).is_infinite());
        assert!((t_quantile(0.975, 2.5) - 3.558).abs() < 0.02);
    }

    #[test]
    fn student_t_tails() {
        for (df, x) in [(1.0, 12.706), (5.0, 2.571), (30.0, 2.042), (1000.0, 1.962)] {
            assert!((t_sf(x, df) - 0.025).abs() < 1e-4, "{df}");
            assert!((t_sf(-x, df) - 0.975).abs() < 1e-4, "{df}");
        }
        // Far out, where a complement would be lost: Abramowitz & Stegun, 26.7.3 for one degree.
        assert!((t_sf(1e6, 1.0) * 1e6 * std::f64::consts::PI - 1.0).abs() < 1e-6);
        assert!((t_sf(9.0, 0.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn poisson_probabilities_are_the_sums_of_their_terms() {
        for (n, mean, sum) in [(0, 1.0, (-1.0_f64).exp()), (2, 3.0, 8.5 * (-3.0_f64).exp())] {
            assert!((poisson_cdf(n, mean) - sum).abs() < 1e-9, "{n}, {mean}");
        }
    }

    #[test]
    fn normal_and_chi_square_tables() {
        assert!((normal_two_sided(1.959_964) - 0.05).abs() < 1e-7);
        assert!((normal_two_sided(-2.575_829) - 0.01).abs() < 1e-7);
        // Abramowitz & Stegun, table 26.8.
        assert!((chi_square_sf(3.841_46, 1.0) - 0.05).abs() < 1e-6);
        assert!((chi_square_sf(23.2093, 10.0) - 0.01).abs() < 1e-6);
    }

    #[test]
    fn ranks_of_the_median() {
        // Hahn & Meeker 1991, tables of order statistics; CDF(39) = 0.0176, CDF(60) = 0.9824.
        assert_eq!(binomial_ranks(100, 0.5, 0.025), (Some(40), Some(61)));
        // The sign test needs six observations at 5 %.
        assert_eq!(binomial_ranks(5, 0.5, 0.025), (None, None));
        assert_eq!(binomial_ranks(6, 0.5, 0.025), (Some(1), Some(6)));
    }

    #[test]
    fn ranks_of_the_tail() {
        // 0.99^367 = 0.02502 > 0.025 >= 0.99^368.
        assert_eq!(binomial_ranks(30, 0.99, 0.025).1, None);
        assert_eq!(binomial_ranks(367, 0.99, 0.025).1, None);
        assert_eq!(binomial_ranks(368, 0.99, 0.025).1, Some(368));
        let (low, high) = binomial_ranks(1_000_000, 0.99, 0.025);
        // Normal approximation: 990 000 ± 1.96 × 99.5.
        assert!(low.unwrap().abs_diff(989_805) <= 2);
        assert!(high.unwrap().abs_diff(990_196) <= 2);
    }
}

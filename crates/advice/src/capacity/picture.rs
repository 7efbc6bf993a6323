//! Response times over rates, a curve for each number of tokens.

use keymark_bench::Provenance;
use keymark_report::charts::Chart;
use keymark_report::pictures::{LoadCurve, LoadPoint, LoadUnit, of_curves};
use keymark_report::units::{self, counted};
use keymark_stats::{Demand, Estimate, PerSecond};

use super::document::BEST;
use super::{CapacityQuestion, MOST_TOKENS};

/// Rates within a decade: round, and at nearly equal distances.
const ROUND: [f64; 9] = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0];
/// Curves of more numbers of tokens are not told apart.
const CURVES: u32 = 6;
/// Least rate where none is given.
const TENTH: f64 = 0.1;

impl CapacityQuestion {
    /// Returns the picture from that rate, or a tenth, to the wanted rate, behind least-connections.
    pub fn picture(&self, from: Option<PerSecond>) -> Option<Chart> {
        let service = self.service.words();
        let title = format!("response times by the number of tokens ({service})");
        of_curves(&title, LoadUnit::Arrivals, &self.curves(from))
    }

    /// Returns a curve for each number of tokens.
    pub(super) fn curves(&self, from: Option<PerSecond>) -> Vec<LoadCurve> {
        let rates = match self.demand {
            Demand::Arrivals(to) => rates(from.map_or(to.0 * TENTH, |from| from.0), to.0),
            Demand::Users { .. } => Vec::new(),
        };
        let last = self.least().saturating_add(1).min(MOST_TOKENS);
        let tokens = (1..=last).step_by(last.div_ceil(CURVES) as usize);
        tokens.map(|tokens| self.curve(tokens, &rates)).collect()
    }

    fn curve(&self, tokens: u32, rates: &[f64]) -> LoadCurve {
        let label = counted(tokens, "token");
        let point = |rate: &f64| {
            let rate = PerSecond(*rate);
            let found = self
                .queue(BEST, tokens, Demand::Arrivals(rate))
                .response(None)?;
            Some(LoadPoint {
                load: rate.0,
                label: format!("{label} at {}", units::rate(rate)),
                mean: Estimate::bare(found.mean),
                p99: Some(found.p99),
                rate: None,
            })
        };
        LoadCurve {
            points: rates.iter().filter_map(point).collect(),
            knee: None,
            overloaded: Vec::new(),
            label,
            provenance: Provenance::Predicted,
        }
    }
}

/// Both ends, and what is round between them.
fn rates(first: f64, last: f64) -> Vec<f64> {
    let decades = first.log10().floor() as i32..=last.log10().floor() as i32;
    let round = decades.flat_map(|decade| ROUND.map(|rate| rate * 10_f64.powi(decade)));
    let between = round.filter(|rate| first < *rate && *rate < last);
    std::iter::once(first)
        .chain(between)
        .chain([last])
        .collect()
}

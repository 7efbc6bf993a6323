//! Response times over the load, a curve for each number of tokens.

use keymark_bench::case::Provenance;
use keymark_report::document::{Figure, LoadCurve, LoadPoint, LoadUnit, Subject};
use keymark_report::units::{self, counted};
use keymark_stats::{Demand, Distribution, Estimate, PerSecond};

use super::{MOST_TOKENS, Question};

/// Rates of a curve.
const POINTS: u32 = 12;
/// As many curves are told apart.
const CURVES: u32 = 6;
/// Where nobody says from which rate on.
const TENTH: f64 = 0.1;

impl Question {
    /// From the lowest load to that which is asked, behind least-connections.
    pub fn figure(&self) -> Figure {
        let (unit, loads) = self.loads();
        let first = loads.first().map_or(1, |demand| self.at(*demand).least());
        let last = (self.least() + 1).clamp(first + 1, MOST_TOKENS.max(first + 1));
        let step = (last - first).div_ceil(CURVES).max(1) as usize;
        let curves = (first..=last).step_by(step);
        Figure::ResponseTimes {
            title: format!(
                "{} by the number of tokens, behind least-connections",
                self.service.words()
            ),
            load: unit,
            curves: curves.map(|tokens| self.curve(tokens, &loads)).collect(),
        }
    }

    fn at(&self, demand: Demand) -> Self {
        Self {
            demand,
            ..self.clone()
        }
    }

    fn loads(&self) -> (LoadUnit, Vec<Demand>) {
        match self.demand {
            Demand::Arrivals(to) => {
                let from = self.from.map_or(to.0 * TENTH, |from| from.0);
                let part = |point: u32| f64::from(point) / f64::from(POINTS - 1);
                let rate = |point| PerSecond(from * (to.0 / from).powf(part(point)));
                let rates = (0..POINTS).map(|point| Demand::Arrivals(rate(point)));
                (LoadUnit::Arrivals, rates.collect())
            }
            Demand::Users { count, pause } => {
                let users = steps(count).into_iter();
                let users = users.map(|count| Demand::Users { count, pause });
                (LoadUnit::Users, users.collect())
            }
        }
    }

    fn curve(&self, tokens: u32, loads: &[Demand]) -> LoadCurve {
        let mut curve = LoadCurve {
            of: Subject {
                device: self.service.device.clone(),
                provenance: Provenance::Predicted,
                label: counted(tokens, "token"),
            },
            points: Vec::new(),
            knee: self.demand.knee(&self.service.times, tokens),
            overloaded: Vec::new(),
        };
        for demand in loads {
            let (load, words) = match demand {
                Demand::Arrivals(rate) => (rate.0, units::rate(*rate)),
                Demand::Users { count, .. } => (f64::from(*count), counted(*count, "user")),
            };
            let queue = self.queue(Distribution::LeastConnections, tokens, *demand);
            if let Some(found) = queue.response(None) {
                curve.points.push(LoadPoint {
                    load,
                    label: format!("{}, {words}", curve.of.label),
                    mean: Estimate::bare(found.mean),
                    p99: Some(found.p99),
                    rate: matches!(demand, Demand::Users { .. }).then_some(found.rate),
                });
            }
        }
        curve
    }
}

/// 1, 2, 5, 10, 20, … and that number.
pub(super) fn steps(most: u32) -> Vec<u32> {
    let decades = (0..9).map(|power| 10_u32.pow(power));
    let steps = decades.flat_map(|decade| [1, 2, 5].map(|digit| digit * decade));
    let mut steps: Vec<u32> = steps.take_while(|step| *step < most).collect();
    steps.push(most);
    steps
}

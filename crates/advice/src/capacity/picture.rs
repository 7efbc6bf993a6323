//! Response times over the load, a curve for each number of tokens.

use keymark_report::document::{Figure, LoadCurve, LoadPoint, LoadUnit, Subject};
use keymark_report::units::counted;
use keymark_stats::{Demand, Estimate, PerSecond};

use super::Question;
use super::document::BEST;

/// Loads within a decade, in tenths: round, and at nearly equal distances.
const TENTHS: [u32; 9] = [10, 12, 15, 20, 25, 30, 40, 50, 70];
/// Curves of more numbers of tokens are not told apart.
const CURVES: u32 = 6;
/// Where nobody says from which rate on.
const TENTH: f64 = 0.1;

impl Question {
    /// From that rate, or the lowest load, to what is asked, behind least-connections.
    pub fn figure(&self, from: Option<PerSecond>) -> Figure {
        let loads = self.loads(from);
        let last = self.least() + 1;
        let step = last.div_ceil(CURVES) as usize;
        let curves = (1..=last).step_by(step);
        Figure::ResponseTimes {
            title: format!(
                "response times by the number of tokens ({})",
                self.service.words()
            ),
            load: match self.demand {
                Demand::Arrivals(_) => LoadUnit::Arrivals,
                Demand::Users { .. } => LoadUnit::Users,
            },
            curves: curves.map(|tokens| self.curve(tokens, &loads)).collect(),
        }
    }

    /// Rates or numbers of users up to what is asked.
    pub(super) fn loads(&self, from: Option<PerSecond>) -> Vec<(f64, Demand)> {
        let (first, last) = match self.demand {
            Demand::Arrivals(to) => (from.map_or(to.0 * TENTH, |from| from.0), to.0),
            Demand::Users { count, .. } => (1.0, f64::from(count)),
        };
        let decades = first.log10().floor() as i32..=last.log10().ceil() as i32;
        let round = |decade| TENTHS.map(|tenth| f64::from(tenth) / 10.0 * 10_f64.powi(decade));
        let between = decades
            .flat_map(round)
            .filter(|load| first < *load && *load < last);
        let mut loads: Vec<f64> = std::iter::once(first)
            .chain(between)
            .chain([last])
            .collect();
        if let Demand::Users { .. } = self.demand {
            loads.retain(|users| users.fract() == 0.0);
        }
        loads.dedup();
        let demand = |load: f64| match self.demand {
            Demand::Arrivals(_) => Demand::Arrivals(PerSecond(load)),
            Demand::Users { pause, .. } => Demand::Users {
                count: load as u32,
                pause,
            },
        };
        loads.into_iter().map(|load| (load, demand(load))).collect()
    }

    fn curve(&self, tokens: u32, loads: &[(f64, Demand)]) -> LoadCurve {
        let (device, provenance) = self.predicted();
        let label = counted(tokens, "token");
        let point = |(load, demand): &(f64, Demand)| {
            let found = self.queue(BEST, tokens, *demand).response(None)?;
            Some(LoadPoint {
                load: *load,
                label: format!("{label} at {load:.2}"),
                mean: Estimate::bare(found.mean),
                p99: Some(found.p99),
                rate: None,
            })
        };
        LoadCurve {
            points: loads.iter().filter_map(point).collect(),
            knee: None,
            overloaded: Vec::new(),
            of: Subject {
                device,
                provenance,
                label: label.clone(),
            },
        }
    }
}

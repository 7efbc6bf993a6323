//! The time of each layer above the one below it, for the same key and message.

use itertools::Itertools;
use keymark_bench::{
    Algorithm, Case, DeviceName, Layers, Load, Operation, OwnLibrary, Point, Provenance,
};
use keymark_stats::{Estimate, Ratio, Seconds, difference, paired_difference};

use super::{Latencies, Row};

/// Time that a layer adds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layer {
    /// The difference is above zero with 95 % confidence.
    Adds(Estimate<Seconds>),
    /// The interval of the difference holds zero: at most so much.
    AtMost(Seconds),
    /// The upper layer is faster than the lower: its library does the arithmetic in less time.
    Less(Estimate<Seconds>),
}

/// The figure below the first layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The family's own library.
    Own,
    /// The figure of another library, as theirs was not measured: the layer above it also holds the difference of
    /// the two libraries.
    StandIn,
}

/// A family of stacks, with every key and operation that was measured through more than one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyBreakdown {
    pub layers: Layers,
    /// A line each.
    pub breakdowns: Vec<Breakdown>,
}

impl FamilyBreakdown {
    /// Returns the complete breakdowns: every layer up to the whole was measured, as far up as for any of them.
    pub fn complete(&self) -> impl Iterator<Item = &Breakdown> {
        let layers = &self.layers;
        let way = layers.steps.iter().enumerate();
        let way = way.filter(|(_, step)| !layers.is_aside(step));
        let taken = |at: &usize| self.breakdowns.iter().any(|line| line.steps[*at].is_some());
        let taken: Vec<usize> = way.map(|(at, _)| at).filter(taken).collect();
        let whole = self.breakdowns.iter().any(|line| line.whole.is_some());
        self.breakdowns.iter().filter(move |line| {
            let up = taken.iter().all(|at| line.steps[*at].is_some());
            layers.whole.is_none() || line.base.is_some() && up && (line.whole.is_some() || !whole)
        })
    }
}

/// The layers of one key and operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakdown {
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    pub operation: Operation,
    pub device: DeviceName,
    /// The kind of all figures of the line.
    pub provenance: Provenance,
    /// The bare operation.
    pub base: Option<Estimate<Seconds>>,
    /// The library below the layers.
    pub basis: Basis,
    /// Time of the bare operation in another library.
    pub beside: Option<Estimate<Seconds>>,
    /// Times of the family's steps, in their order.
    pub steps: Vec<Option<Layer>>,
    /// All layers together.
    pub whole: Option<Estimate<Seconds>>,
    /// Each way from the key to the end of a path, as far as all of it was measured.
    pub paths: Vec<Path>,
}

/// A way from the key upwards, of which all steps are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    pub end: Point,
    /// Name of its lowest part: the key with its library, or with the first program where the library was not measured.
    pub bottom: String,
    /// Time of the lowest part.
    pub key: Estimate<Seconds>,
    /// Places of the family's steps, from below.
    pub steps: Vec<usize>,
    /// All of it, as it was measured at its end.
    pub whole: Estimate<Seconds>,
}

impl Breakdown {
    pub(crate) fn is_about(&self, case: &Case) -> bool {
        self.algorithm == case.algorithm
            && self.operation == case.operation
            && self.device == case.device
            && self.provenance == case.provenance
    }

    /// Returns the key's share of the whole, unless another library replaces the program's own.
    pub fn own_share(&self) -> Option<Ratio> {
        match self.basis {
            Basis::Own => Some(Ratio(self.base?.value.0 / self.whole?.value.0)),
            Basis::StandIn => None,
        }
    }
}

/// The families of which anything was measured through several stacks.
pub(super) fn breakdowns(
    rows: &[Row],
    latencies: &[Latencies],
    families: &[Layers],
) -> Vec<FamilyBreakdown> {
    let of_key = rows.iter().into_group_map_by(key);
    let keys: Vec<&[&Row]> = rows
        .iter()
        .unique_by(key)
        .map(|row| &*of_key[&key(&row)])
        .collect();
    let of_family = |layers: &Layers| {
        let of_rows = |rows: &&[&Row]| {
            let mut cases = rows.iter().map(|row| &row.case);
            cases.find_map(|case| breakdown(rows, case, latencies, layers))
        };
        let breakdowns: Vec<Breakdown> = keys.iter().filter_map(of_rows).collect();
        let layers = layers.clone();
        (!breakdowns.is_empty()).then_some(FamilyBreakdown { layers, breakdowns })
    };
    families.iter().filter_map(of_family).collect()
}

/// Key and operation that a row is about.
type KeyOperation<'r> = (&'r DeviceName, Provenance, Algorithm, Operation);

fn key<'r>(row: &&'r Row) -> KeyOperation<'r> {
    let case = &row.case;
    (
        &case.device,
        case.provenance,
        case.algorithm,
        case.operation,
    )
}

/// Returns the layers of the key and operation of these rows, with the message of one of their cases.
fn breakdown(
    rows: &[&Row],
    case: &Case,
    latencies: &[Latencies],
    layers: &Layers,
) -> Option<Breakdown> {
    let mean = |point: &Point| mean(rows, case, point);
    let own_library = layers.own_library.as_ref();
    let own = own_library.filter(|own| own.store == case.store);
    let mut basis = Basis::Own;
    let mut below = |point: &Point| {
        let (found, of) = standing(rows, case, point, own_library);
        if found.is_some() && of == Basis::StandIn {
            basis = of;
        }
        found
    };
    let base = below(&layers.base.point);
    let steps = layers.steps.iter().map(|step| {
        let (upper, lower) = (mean(&step.upper)?, below(&step.lower)?);
        added(latencies, upper, lower).map(layer)
    });
    let steps: Vec<Option<Layer>> = steps.collect();
    steps.iter().any(Option::is_some).then(|| Breakdown {
        algorithm: case.algorithm,
        operation: case.operation,
        device: case.device.clone(),
        provenance: case.provenance,
        base: base.and_then(Row::time),
        basis,
        // A replacement of the own library is not compared with it.
        beside: own
            .filter(|_| basis == Basis::Own)
            .and_then(|own| mean(&own.beside.point)?.time()),
        whole: (layers.whole.as_ref()).and_then(|whole| mean(&whole.point)?.time()),
        paths: paths(rows, case, layers, &steps),
        steps,
    })
}

/// Every way from the key to where no step leads on.
fn paths(rows: &[&Row], case: &Case, layers: &Layers, steps: &[Option<Layer>]) -> Vec<Path> {
    let own_library = layers.own_library.as_ref();
    let mean = |point: &Point| mean(rows, case, point);
    let ends = layers.steps.iter().map(|step| &step.upper);
    let ends = ends.filter(|end| layers.steps.iter().all(|step| step.lower != **end));
    let paths = ends.filter_map(|end| {
        let (point, mut taken) = down(layers, steps, end)?;
        let (mut key, of) = standing(rows, case, point, own_library);
        // A token calculates for itself.
        let is_its = |_: &&str| own_library.is_some_and(|own| own.store == case.store);
        let bottom = match (of, point.parameters.get("library").filter(is_its)) {
            (Basis::Own, Some(library)) => format!("{} ({library})", layers.base.name),
            (Basis::Own, None) => layers.base.name.to_owned(),
            (Basis::StandIn, _) if taken.len() > 1 => {
                let first = &layers.steps[taken.remove(0)];
                key = mean(&first.upper);
                format!("key and {}", first.heading.trim_start_matches("+ "))
            }
            (Basis::StandIn, _) => return None,
        };
        Some(Path {
            end: end.clone(),
            bottom,
            key: key?.time()?,
            steps: taken,
            whole: mean(end)?.time()?,
        })
    });
    paths.collect()
}

/// Returns the start of a path and the steps to its end, if all of them are costs.
fn down<'l>(
    layers: &'l Layers,
    steps: &[Option<Layer>],
    end: &'l Point,
) -> Option<(&'l Point, Vec<usize>)> {
    let (mut at, mut taken) = (end, Vec::new());
    while let Some(place) = layers.steps.iter().position(|step| step.upper == *at) {
        match steps.get(place)? {
            Some(Layer::Adds(_) | Layer::AtMost(_)) => taken.insert(0, place),
            Some(Layer::Less(_)) | None => return None,
        }
        at = &layers.steps[place].lower;
    }
    Some((at, taken))
}

/// Returns the mean below a layer: at the point of the family's own library, that of the case's device.
fn standing<'r>(
    rows: &[&'r Row],
    case: &Case,
    point: &Point,
    own: Option<&OwnLibrary>,
) -> (Option<&'r Row>, Basis) {
    match own {
        Some(own) if own.point == *point && own.store == case.store => {
            match mean(rows, case, point) {
                Some(measured) => (Some(measured), Basis::Own),
                None => (mean(rows, case, &Point::RAW), Basis::StandIn),
            }
        }
        // A card calculates itself.
        Some(own) if own.point == *point => (mean(rows, case, &Point::RAW), Basis::Own),
        Some(_) | None => (mean(rows, case, point), Basis::Own),
    }
}

/// Measured at a point one at a time, with the same key and message on the same device.
fn mean<'r>(rows: &[&'r Row], case: &Case, point: &Point) -> Option<&'r Row> {
    let wanted = point.applied(case).key().loaded(Load::single());
    // Kinds of figures are never subtracted from one another.
    let alone = |row: &&&Row| row.case.is_alone() && row.case.provenance == case.provenance;
    let mut alone = rows.iter().filter(alone);
    let row = *alone.find(|row| row.case.has_key(&wanted))?;
    row.summary.is_some().then_some(row)
}

/// Returns the difference of two ways; where they took turns, over the same stretches of the run.
fn added(latencies: &[Latencies], upper: &Row, lower: &Row) -> Option<Estimate<Seconds>> {
    let (above, below) = (upper.time()?, lower.time()?);
    let of = |row: &Row| latencies.get(row.id.0 as usize);
    let paired = of(upper).zip(of(lower)).and_then(|(a, b)| {
        let (a, b) = Latencies::behind_means(a, b)?;
        Some(paired_difference((&above, a), (&below, b)))
    });
    paired.or_else(|| Some(difference(&above, &below)))
}

/// A difference below zero is never shown as a cost.
fn layer(difference: Estimate<Seconds>) -> Layer {
    match (difference.low, difference.high) {
        (_, Some(high)) if high.0 < 0.0 => Layer::Less(difference),
        (Some(low), _) if low.0 > 0.0 => Layer::Adds(difference),
        (_, Some(high)) => Layer::AtMost(high),
        // No interval from so few samples: the value is all there is, if it is a cost at all.
        (_, None) if difference.value.0 > 0.0 => Layer::Adds(difference),
        (_, None) => Layer::AtMost(Seconds(difference.value.0.max(0.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keymark_stats::Method;

    fn estimate(value: f64, half: f64) -> Estimate<Seconds> {
        let (low, high) = (Some(Seconds(value - half)), Some(Seconds(value + half)));
        Estimate {
            value: Seconds(value),
            low,
            high,
            confidence: 0.95,
            method: Method::BootstrapT,
        }
    }

    #[test]
    fn a_disturbed_difference_is_never_negative_time() {
        assert!(
            matches!(layer(difference(&estimate(5.0, 0.1), &estimate(1.0, 0.1))), Layer::Adds(d) if (d.value.0 - 4.0).abs() < 1e-9)
        );
        let Layer::AtMost(high) = layer(difference(&estimate(1.0, 0.3), &estimate(1.1, 0.4)))
        else {
            panic!()
        };
        assert!((high.0 - 0.4).abs() < 1e-9, "-0.1 + 0.5");
        assert!(matches!(
            layer(difference(&estimate(1.0, 0.1), &estimate(2.0, 0.1))),
            Layer::Less(_)
        ));
    }
}

//! What nobody would expect: a library that takes many times another's time for the same operation, and a device that is
//! slower than its published figures.

use keymark_bench::case::{Case, Provenance, StackName};

use super::figure::{Figure, alone, library, what};
use super::{Statement, Topic};
use crate::analysis::Analysis;
use crate::exchange::Shipped;
use crate::grouped::grouped;
use crate::units::counted;

/// So many times another library's time are more than anybody expects.
const MANY: f64 = 2.0;
/// So many times the published time are more than another computer explains.
const SLOWER: f64 = 1.2;

/// The worst of each.
pub(super) fn striking(analysis: &Analysis) -> Vec<Statement> {
    libraries(analysis)
        .into_iter()
        .chain(published(analysis))
        .collect()
}

/// The same key and operation in several libraries of one CPU.
fn libraries(analysis: &Analysis) -> Option<Statement> {
    let raw = alone(&analysis.rows).filter(|figure| figure.case().stack == StackName::RAW);
    let besides = |case: &Case| {
        let pairs = case
            .parameters
            .pairs()
            .filter(|(name, _)| *name != "library");
        pairs.map(|(_, word)| word.to_owned()).collect::<Vec<_>>()
    };
    let groups = grouped(raw, |figure| {
        let case = figure.case();
        (&case.device, case.capability(), besides(case))
    });
    let pairs = groups.into_iter().filter_map(|(_, mut group)| {
        group.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let (first, last) = (*group.first()?, *group.last()?);
        (last.at_least(&first) > MANY).then_some((first, last))
    });
    let mut pairs: Vec<(Figure<'_>, Figure<'_>)> = pairs.collect();
    pairs.sort_by(|(a, b), (c, d)| (d.mean / c.mean).total_cmp(&(b.mean / a.mean)));
    let (fast, slow) = pairs.first()?;
    let (quick, long) = (library(fast.case()), library(slow.case()));
    let same = pairs
        .iter()
        .filter(|(fast, slow)| library(fast.case()) == quick && library(slow.case()) == long);
    let others = same.clone().skip(1).map(|(fast, slow)| slow.times(fast));
    let others = others.last().map(|times| {
        let of = counted(same.clone().count() - 1, "other case");
        format!("; {times} or more in {of}")
    });
    let text = format!(
        "{long} takes {} {quick}'s time for {} on the same CPU ({} against {}){}.",
        slow.times(fast),
        what(slow.case()),
        slow.time(),
        fast.time(),
        others.unwrap_or_default()
    );
    let rows = same.flat_map(|(fast, slow)| [fast.id(), slow.id()]);
    Some(Statement::new(Topic::Striking, text, rows))
}

/// A device that takes longer than the article that has its name.
fn published(analysis: &Analysis) -> Option<Statement> {
    let devices =
        alone(&analysis.rows).filter(|figure| figure.case().provenance == Provenance::Measured);
    let devices: Vec<Figure<'_>> = devices
        .filter(|figure| figure.case().stack != StackName::RAW)
        .collect();
    let plain = |name: &str| name.to_lowercase().replace(['-', ' ', '_'], "");
    let products: Vec<String> = devices
        .iter()
        .map(|figure| plain(figure.case().device.as_str()))
        .collect();
    let articles = Shipped::of_times().filter_map(|article| article.record().ok());
    let articles: Vec<_> = articles.collect();
    let mut slower: Vec<(f64, &Figure<'_>, f64)> = Vec::new();
    for (figure, product) in devices.iter().zip(&products) {
        let case = figure.case();
        let of = articles
            .iter()
            .flat_map(|article| &article.cases)
            .filter(|other| {
                let name = plain(other.case.device.as_str());
                (other.case.capability(), other.case.stack) == (case.capability(), case.stack)
                    && name.len() > 3
                    && product.contains(&name)
            });
        let means = of.filter_map(|other| Some(other.published.as_ref()?.mean.0));
        if let Some(mean) = means.max_by(f64::total_cmp)
            && figure.least() > SLOWER * mean
        {
            slower.push((figure.mean / mean, figure, mean));
        }
    }
    let (times, figure, mean) = slower.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let text = format!(
        "{} takes {} times as long for {} as was published of it ({} against {}).",
        figure.case().device,
        crate::units::ratio(keymark_stats::Ratio(times)),
        what(figure.case()),
        figure.time(),
        crate::units::duration(keymark_stats::Seconds(mean))
    );
    Some(Statement::new(Topic::Striking, text, [figure.id()]))
}

//! What a passphrase costs that gpg-agent has cached: it derives the key that protects the private key for every operation.

use keymark_bench::{Case, Operation, StackName};
use keymark_stats::Seconds;

use super::figure::{Figure, alone, between};
use super::patience::MESSAGES;
use super::{Statement, Topic};
use crate::analysis::Analysis;
use crate::pivot::published_keycards;
use crate::units;

/// GnuPG's parameter, and its word for a key behind a passphrase.
const PROTECTION: (&str, &str) = ("protection", "cached");
/// What multiplies the time by less stands out to nobody.
const STRIKING: f64 = 2.0;

/// Whether the key of a case is behind a passphrase.
pub(super) fn has_passphrase(case: &Case) -> bool {
    case.parameters.get(PROTECTION.0) == Some(PROTECTION.1)
}

/// Compares keys behind a passphrase with the same ones in the clear, through the program that takes longest.
pub(super) fn passphrase(analysis: &Analysis) -> Option<Statement> {
    let figures: Vec<Figure<'_>> = alone(&analysis.rows).collect();
    let in_clear = |case: &Case| {
        let others = case
            .parameters
            .pairs()
            .filter(|(name, _)| *name != PROTECTION.0);
        let others: Vec<(String, String)> = others
            .map(|(name, word)| (name.into(), word.into()))
            .collect();
        (case.device.clone(), case.capability(), case.stack, others)
    };
    let pairs = figures
        .iter()
        .filter(|figure| has_passphrase(figure.case()));
    let pairs = pairs.filter_map(|cached| {
        let wanted = in_clear(cached.case());
        let mut plain = figures
            .iter()
            .filter(|figure| !has_passphrase(figure.case()));
        let plain = plain.find(|figure| in_clear(figure.case()) == wanted)?;
        plain.is_below(cached).then_some((cached, plain))
    });
    let mut pairs: Vec<(&Figure<'_>, &Figure<'_>)> = pairs.collect();
    let slowest = pairs
        .iter()
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let stack = slowest.1.case().stack;
    pairs.retain(|(_, plain)| plain.case().stack == stack);
    let is_striking = pairs
        .iter()
        .all(|(cached, plain)| cached.low > STRIKING * plain.high);
    let least = pairs.iter().map(|(cached, _)| cached.value);
    let card = faster_card(Seconds(least.fold(f64::INFINITY, f64::min)));
    let cached = range(pairs.iter().map(|(cached, _)| cached.value));
    let plain = range(pairs.iter().map(|(_, plain)| plain.value));
    let mut decrypted = pairs
        .iter()
        .filter(|(cached, _)| cached.case().operation == Operation::Decrypt);
    let thread = decrypted.next().map(|(cached, _)| {
        let time = units::duration(Seconds(cached.value * f64::from(MESSAGES)));
        format!(
            " Decrypting {MESSAGES} messages then takes {time} with {}.",
            cached.case().algorithm
        )
    });
    let text = format!(
        "With a cached passphrase an operation through {stack} takes {cached}, without one {plain}: gpg-agent derives a key \
         from the passphrase every time.{}{}",
        thread.unwrap_or_default(),
        card.unwrap_or_default()
    );
    let topic = if is_striking {
        Topic::Striking
    } else {
        Topic::Layers
    };
    let rows = pairs
        .iter()
        .flat_map(|(cached, plain)| [cached.id(), plain.id()]);
    Some(Statement::new(topic, text, rows))
}

/// A sentence about published keycards, if one of them decrypts through gpg within that time.
fn faster_card(limit: Seconds) -> Option<String> {
    let article = published_keycards()?;
    let decrypts = article.cases.iter().filter(|record| {
        record.case.operation == Operation::Decrypt && record.case.stack == StackName::GNUPG
    });
    let means = decrypts.filter_map(|record| Some(record.published.as_ref()?.mean.0));
    let least = means
        .min_by(f64::total_cmp)
        .filter(|least| *least < limit.0)?;
    Some(format!(
        " A keycard can be faster: those of 2017 decrypt in {} or more (published).",
        units::duration(Seconds(least))
    ))
}

fn range(values: impl Iterator<Item = f64> + Clone) -> String {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    between(
        &units::duration(Seconds(least)),
        &units::duration(Seconds(most)),
    )
}

//! Advice on keys of a service that signs for years: signatures per second, dates, and a mix of families among several
//! nodes, so that the end of one algorithm is not the end of the service.

use itertools::Itertools;
use keymark_bench::{Algorithm, KeyFamily};
use keymark_report::units;
use keymark_report::{Block, Column, Section, TableOf};
use keymark_stats::PerSecond;

use super::{AdviceQuestion, Answer, Candidate};
use crate::key_spec::KeySpec;
use crate::policy::{Act, Policy, Use};

impl AdviceQuestion {
    pub(super) fn of_timestamping(&self, answers: &[Candidate<'_>]) -> Answer {
        let fastest = [self.fastest(answers)].into_iter();
        let said = fastest.chain(diversity(answers)).collect();
        (said, self.lives(answers).into_iter().collect())
    }

    fn fastest(&self, answers: &[Candidate<'_>]) -> String {
        let until = self.until;
        let Some(first) = answers.first() else {
            return format!("For timestamps until {until}, nothing fits all that is asked.");
        };
        match first.cost {
            Some(figure) => format!(
                "For timestamps until {until}, {} signs most of those measured through {}: {}, one after the other ({}, {}).",
                first.algorithm,
                first.through,
                units::rate(PerSecond(1.0 / figure.time.value.0)),
                figure.provenance,
                figure.source
            ),
            None => format!(
                "For timestamps until {until}, {} fit; there is no figure of their speed here: 'keymark bench --algorithm {} \
                 --operation sign --stack raw' measures it, or --measure.",
                units::counted(answers.len(), "algorithm"),
                first.algorithm
            ),
        }
    }

    fn lives(&self, answers: &[Candidate<'_>]) -> Option<Section> {
        answers.first()?;
        let table = TableOf::new(answers)
            .label("key", |one| one.algorithm)
            .value("signatures", |one| {
                one.cost.map(|figure| PerSecond(1.0 / figure.time.value.0))
            })
            .label("figure", |one| {
                one.cost.map(|figure| figure.provenance.word())
            })
            .value("bits", |one| one.strength.map(|bits| bits.0))
            .label("its life", |one| self.life(one.algorithm))
            .column(Column::name("from").leave(0), |one| {
                one.cost.map(|figure| figure.source.clone())
            })
            .table();
        Some(Section::bare(vec![Block::Table(table)]).first())
    }

    /// The first end that a policy, draft or not, sets to signing with it.
    fn life(&self, algorithm: Algorithm) -> String {
        let ends = Policy::all().iter().filter_map(|policy| {
            if policy.superseded_by.is_some() {
                return None;
            }
            let key = KeySpec::from(algorithm);
            let verdict = policy.verdict(key, Use::Signature, Act::Applying, self.today);
            let permitted = verdict.status.permits();
            let (last, _) = verdict.until.filter(|_| permitted)?;
            let draft = if policy.draft { ", draft" } else { "" };
            Some((last, format!("until {last} ({}{draft})", policy.body)))
        });
        ends.min()
            .map_or_else(|| "no end set".to_owned(), |(_, words)| words)
    }
}

/// The best of each family: nodes that do not fail together.
fn diversity(answers: &[Candidate<'_>]) -> Option<String> {
    let families = answers
        .iter()
        .map(|answer| (KeyFamily::of(answer.algorithm), answer.algorithm));
    let mix: Vec<_> = families.unique_by(|(family, _)| *family).collect();
    if mix.len() < 2 {
        return None;
    }
    let mut words = mix
        .iter()
        .map(|(family, algorithm)| format!("{algorithm} ({})", family.name()));
    Some(format!(
        "With several nodes, a mix keeps timestamps valid when one family falls: {}.",
        words.join(", ")
    ))
}

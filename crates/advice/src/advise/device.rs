//! Advice on devices and keys: the first ones, what the others lack, and what would change that.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use keymark_bench::Algorithm;
use keymark_records::published::catalogue::in_words;
use keymark_report::{Block, Column, RemarkKind, Section, TableOf};
use keymark_report::{grouped, units};
use keymark_stats::Seconds;

use super::{AdviceQuestion, Answer, Candidate, Constraint, Refusal};
use crate::basis;
use crate::catalogue::Catalogue;
use crate::cost::{CostFigure, SOFTWARE};

/// Answers that are shown.
const FIRST: usize = 8;

/// Keys of a device that are named.
const KEYS: usize = 3;

/// Lines that are read about what is left out.
const MOST: usize = 12;

impl AdviceQuestion {
    pub(super) fn of_devices(
        &self,
        answers: &[Candidate<'_>],
        candidates: &[Candidate<'_>],
    ) -> Answer {
        let choice = [self.choice(answers)].into_iter();
        let said = choice
            .chain(against(answers))
            .chain(self.unknown(candidates));
        let said = said.collect();
        let ranked = self.ranked(answers).into_iter();
        (said, ranked.chain(described(answers)).collect())
    }

    /// The answer in a sentence. Without a figure it names none: nothing ranks them.
    fn choice(&self, answers: &[Candidate<'_>]) -> String {
        let Some(first) = answers.first() else {
            return "Nothing fits all that is asked.".to_owned();
        };
        let fit = units::counted(answers.len(), "key");
        let Some(figure) = first.cost else {
            let verb = if answers.len() == 1 { "fits" } else { "fit" };
            return format!(
                "{fit} {verb}, but there is no figure through {}.",
                first.through
            );
        };
        let (time, what) = (units::duration(figure.time.value), named(first));
        let same = answers.iter().filter(|one| one.rank() == first.rank());
        let known = same.clone().count();
        let sale = if first.sale == Some(true) {
            " in sale"
        } else {
            ""
        };
        let among = match known {
            1 => format!(
                "It is the only one{sale} of {fit} with a figure through {}.",
                first.through
            ),
            _ => format!(
                "It is the fastest of {known}{sale} with a figure through {}.",
                first.through
            ),
        };
        let alike = same
            .skip(1)
            .filter(|one| !first.is_below(one) && !one.is_below(first));
        let alike = alike.map(named).join(", ");
        let alike = if alike.is_empty() {
            String::new()
        } else {
            format!(" No clear difference: {alike}.")
        };
        format!(
            "Choose {what}: {time} to {} ({}). {among}{alike}",
            first.operation,
            kind(figure)
        )
    }

    pub(super) fn ranked(&self, answers: &[Candidate<'_>]) -> Option<Section> {
        answers.first()?;
        let shown = &answers[..answers.len().min(FIRST)];
        let mut table = TableOf::new(shown)
            .label("device", |one| one.device)
            .label("key", |one| one.algorithm)
            .value("time", |one| one.cost.map(|figure| figure.time.value))
            .label("figure", |one| one.cost.map(kind))
            .label("through", |one| one.cost.map(|_| one.through))
            .value("bits", |one| one.strength.map(|bits| bits.0));
        for policy in &self.policies {
            table = table.column(Column::name(&policy.body).leave(3), |one| {
                self.status(policy, one).word()
            });
        }
        let table = table
            .column(Column::name("firmware").leave(1), |one| {
                in_words(one.open_firmware, ["open", "closed"])
            })
            .column(Column::name("sale").leave(2), |one| {
                let words = in_words(one.sale, ["in sale", "discontinued"]);
                (one.id != SOFTWARE).then_some(words)
            })
            .if_any()
            .label("known issues", |one| weaknesses(one))
            .column(Column::name("from").leave(0), |one| {
                one.cost.map(|figure| figure.source.clone())
            });
        let mut blocks = vec![Block::Table(table.table())];
        if answers.len() > FIRST {
            let more = format!(
                "and {}; --format json has all",
                units::counted(answers.len() - FIRST, "other")
            );
            blocks.push(Block::remark(RemarkKind::Capped, more));
        }
        let estimates = shown.iter().filter_map(|one| {
            let parts = one.cost?.parts?;
            let card = units::duration(parts.card);
            let program = units::duration(parts.program);
            let command = if parts.command == one.operation {
                String::new()
            } else {
                format!(" to {}", parts.command)
            };
            let what = named(one);
            Some(format!(
                "{what}: estimated: card {card} published{command} + gpg {program} here"
            ))
        });
        blocks.extend(estimates.map(basis));
        Some(Section::bare(blocks).first())
    }

    /// Names devices that fit but for a figure, those in sale first, and the command that measures it.
    fn unknown(&self, candidates: &[Candidate<'_>]) -> Option<String> {
        let fits = |one: &&Candidate<'_>| {
            let refusals = self.refusals(one);
            one.cost.is_none() && refusals.iter().all(|refusal| *refusal == Refusal::NoFigure)
        };
        let mut devices: Vec<(bool, &str, Vec<String>)> = Vec::new();
        let mut has_command = false;
        for one in candidates.iter().filter(fits) {
            has_command |= one.command.is_some();
            let command = one.command.map(|figure| units::duration(figure.time.value));
            let command = command.map(|time| format!(" (card alone {time})"));
            let key = format!("{}{}", one.algorithm, command.unwrap_or_default());
            match devices
                .iter_mut()
                .find(|(_, device, _)| *device == one.device)
            {
                Some((.., keys)) => keys.push(key),
                None => devices.push((one.sale != Some(true), one.device, vec![key])),
            }
        }
        devices.sort();
        let named = devices.iter().map(|(_, device, keys)| {
            let keys = units::first_names(keys, KEYS);
            format!("{device} with {keys}")
        });
        let named = named.collect_vec().join("; ");
        (!named.is_empty()).then(|| {
            let command = &self.purpose.facts().measurement;
            let estimate = if has_command {
                " With gpg measured here ('keymark bench --device software --stack raw,gpg --operation decrypt'), keymark estimates the others."
            } else {
                ""
            };
            format!("Fits, speed unknown: {named}. Measure yours with '{command}'.{estimate}")
        })
    }

    /// Returns the sources of the programs that have to take the first keys.
    pub(super) fn taken(&self, answers: &[Candidate<'_>]) -> Option<Section> {
        let shown = answers.iter().take(FIRST);
        let peers = |answer: &Candidate<'_>| {
            let key = answer.algorithm;
            let peers = self.peers().into_iter();
            peers.filter_map(move |peer| peer.source(key))
        };
        let lines: BTreeSet<String> = shown.flat_map(peers).collect();
        headed("software support", lines.into_iter().collect())
    }

    /// Devices and keys that are not among the answers, by what refuses them; where that is much, how many each cause does.
    pub(super) fn left_out(&self, candidates: &[Candidate<'_>]) -> Option<Section> {
        let refused = candidates.iter().map(|one| (one, self.refusals(one)));
        let refused: Vec<_> = refused.filter(|(_, by)| !by.is_empty()).collect();
        let rows = refused
            .iter()
            .map(|(one, by)| ((one.device, by.iter().join("; ")), one.algorithm));
        let rows = rows.into_group_map();
        if rows.len() <= MOST {
            let line = |((device, because), keys): ((&str, String), Vec<Algorithm>)| {
                format!("{device}, {}: {because}", keys.iter().join(" "))
            };
            let lines = rows.into_iter().sorted().map(line).collect();
            return headed("left out", lines);
        }
        let causes = refused.iter().flat_map(|(one, by)| {
            let cause = |refusal: &Refusal| {
                let is_slow = matches!(refusal, Refusal::Slow(_) | Refusal::Few(_));
                if is_slow {
                    "too slow".to_owned()
                } else {
                    refusal.to_string()
                }
            };
            by.iter().map(move |refusal| (cause(refusal), one.device))
        });
        let lines = causes.into_group_map().into_iter().sorted();
        let lines = lines.map(|(cause, of)| {
            let devices = units::counted(of.iter().unique().count(), "device");
            format!("{cause}: {} on {devices}", units::counted(of.len(), "key"))
        });
        headed(
            "left out, some by several causes (--format json names each)",
            lines.collect(),
        )
    }

    /// Names for each relaxable constraint the nearest candidate that it alone refuses.
    pub(super) fn changes(&self, candidates: &[Candidate<'_>]) -> Option<String> {
        let mut nearest: BTreeMap<Constraint, (f64, &Candidate<'_>, Refusal)> = BTreeMap::new();
        for candidate in candidates {
            let mut refusals = self.refusals(candidate);
            let (1, Some(refusal)) = (refusals.len(), refusals.pop()) else {
                continue;
            };
            // No option takes away the key's own purpose.
            let is_meant = matches!(&refusal, Refusal::Incompatible(peer, _)
                if Some(peer) == self.purpose.facts().program.as_ref());
            let Some((constraint, by)) = refusal.constraint().filter(|_| !is_meant) else {
                continue;
            };
            let nearer = nearest.get(&constraint).is_none_or(|(known, other, _)| {
                let faster = |one: &Candidate<'_>| one.time().map_or(f64::INFINITY, |time| time.0);
                (by, faster(candidate)) < (*known, faster(other))
            });
            if nearer {
                nearest.insert(constraint, (by, candidate, refusal));
            }
        }
        let said: Vec<String> = nearest
            .into_values()
            .map(|(_, candidate, refusal)| relaxed(candidate, &refusal))
            .collect();
        (!said.is_empty()).then(|| format!("What would change the answer: {}.", said.join("; ")))
    }
}

/// Describes the first devices, as far as their sources do.
fn described(answers: &[Candidate<'_>]) -> Option<Section> {
    let line = |answer: &Candidate<'_>| {
        let mut tokens = Catalogue::shipped().tokens.iter();
        let token = tokens.find(|token| token.id == answer.id)?;
        let reached = Some(token.interface.join(", ")).filter(|words| !words.is_empty());
        let told = [
            ("", token.form_factor.as_deref()),
            ("reached by ", reached.as_deref()),
            ("keys: ", token.keys_from.as_deref()),
            ("touch: ", token.touch()),
            ("hardware: ", token.hardware_open.as_deref()),
            ("certified: ", token.certification.as_deref()),
        ];
        let said = told.map(|(what, words)| words.map(|words| format!("{what}{words}")));
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| format!("{}: {}", answer.device, said.join("; ")))
    };
    let lines = answers.iter().take(FIRST).filter_map(line);
    let lines = lines.unique().collect();
    headed("the devices", lines)
}

/// Lines below a heading, if there are any.
fn headed(heading: &str, lines: Vec<String>) -> Option<Section> {
    let lines: Vec<Block> = lines.into_iter().map(basis).collect();
    (!lines.is_empty()).then(|| Section::headed(heading, lines).first())
}

/// Names the constraint to relax for a candidate.
fn relaxed(candidate: &Candidate<'_>, refusal: &Refusal) -> String {
    let what = named(candidate);
    match refusal {
        Refusal::Slow(time) => {
            let enough = units::chosen(std::time::Duration::from_secs_f64(enough(*time)));
            format!(
                "with {enough}, {what} would do ({})",
                units::duration(*time)
            )
        }
        Refusal::Few(rate) => format!("with {}, {what} would do", units::rate(*rate)),
        Refusal::Closed(Some(_)) => format!("with closed firmware, {what} would do"),
        Refusal::Closed(None) => {
            format!("with firmware of unknown openness, {what} would do")
        }
        Refusal::Policy(policy, _) => format!("without {policy}, {what} would do"),
        Refusal::Incompatible(peer, _) => format!("without {peer}, {what} would do"),
        Refusal::Quantum => format!("against today's computers, {what} would do"),
        Refusal::Discontinued | Refusal::Vulnerable(_) | Refusal::NoFigure | Refusal::Weak(_) => {
            format!("{what} would do")
        }
    }
}

/// The next round time.
fn enough(time: Seconds) -> f64 {
    let step = 10f64.powf(time.0.log10().floor());
    (time.0 / step).ceil() * step
}

/// Returns the kind of a figure.
fn kind(figure: &CostFigure) -> &'static str {
    match figure.parts {
        Some(_) => "estimated",
        None => figure.provenance.word(),
    }
}

fn named(candidate: &Candidate<'_>) -> String {
    format!("{} with {}", candidate.device, candidate.algorithm)
}

fn weaknesses(candidate: &Candidate<'_>) -> Option<String> {
    let mut names: Vec<&str> = candidate.weaknesses.iter().map(|one| one.name()).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Names the first answer's drawbacks with their sources.
fn against(answers: &[Candidate<'_>]) -> Option<String> {
    let first = answers.first()?;
    let known = grouped(&first.weaknesses, |one| one.at_length()).into_iter();
    let known =
        known.map(|(words, of)| format!("{words} ({})", of.iter().map(|one| &one.id).join(", ")));
    let device = first.device;
    let open = match first.open_firmware {
        Some(true) => None,
        Some(false) => Some("its firmware is closed".to_owned()),
        None => Some("no source says whether its firmware is open".to_owned()),
    };
    let all: Vec<String> = open.into_iter().chain(known).collect();
    (!all.is_empty()).then(|| format!("Against {device}: {}.", all.join("; ")))
}

//! Advice on a web server's certificate and key exchange, by the archive's TLS figures, else by published ratios.

use keymark_bench::{Algorithm, KeyFamily, Provenance};
use keymark_records::published::PublishedTable;
use keymark_report::units;
use keymark_report::{Block, Column, Section, TableOf};
use keymark_stats::{PerSecond, Ratio};

use super::{AdviceQuestion, Answer, Candidate};
use crate::basis;
use crate::cost::{Figures, Handshakes};

/// The published table, and its claim that is asked for: RSA-2048 costs N× P-256, both with ECDHE on P-256.
const RATIOS: &str = "kario-2014-tls-ratios";
const CLAIM: [&str; 2] = ["nistp256 kex=ecdhe-p256", "rsa2048 kex=ecdhe-p256"];

/// Cost of an RSA certificate, in handshakes with one on a curve.
struct Cost {
    ratio: f64,
    kind: Provenance,
    source: String,
}

impl AdviceQuestion {
    pub(super) fn of_servers(&self, answers: &[Candidate<'_>], figures: &Figures) -> Answer {
        let shortest = |kind: fn(&Candidate<'_>) -> bool| {
            let of_kind = answers.iter().filter(move |one| kind(one));
            let usual = of_kind.clone().min_by_key(|one| one.algorithm.length().1)?;
            // The fastest measured one comes first.
            let fastest = of_kind.clone().next().filter(|one| one.is_below(usual));
            Some(fastest.unwrap_or(usual).algorithm)
        };
        let curve = shortest(|one| KeyFamily::of(one.algorithm) == KeyFamily::EllipticCurve);
        let rsa = shortest(|one| one.algorithm.length().0 == "rsa");
        let mut said = vec![self.certificates(curve, rsa, figures)];
        said.extend(exchange(figures));
        said.extend(self.configuration(curve, rsa));
        let ranked = self.ranked(answers).into_iter();
        (said, ranked.chain(handshakes(figures)).collect())
    }

    fn certificates(
        &self,
        curve: Option<Algorithm>,
        rsa: Option<Algorithm>,
        figures: &Figures,
    ) -> String {
        let share = self.old_clients;
        match (curve, rsa) {
            (None, None) => {
                "For a server, no certificate that browsers take fits all that is asked.".to_owned()
            }
            (Some(curve), _) if share == 0.0 => {
                format!(
                    "For a server, one certificate with {curve} is enough where every client has elliptic curves."
                )
            }
            (Some(curve), None) => format!(
                "For a server, {curve} alone fits what is asked; {} of its clients cannot connect.",
                units::percent(share)
            ),
            (None, Some(rsa)) => format!("For a server, {rsa} alone fits what is asked."),
            (Some(curve), Some(rsa)) => {
                let cost = cost(curve, rsa, figures).map_or_else(
                    || {
                        "'keymark tls suite dual' measures what that costs".to_owned()
                    },
                    |cost| {
                        let both = (1.0 - share) + share * cost.ratio;
                        format!(
                            "a handshake then costs {} times one with {curve}, against {} with {rsa} for all ({}, {})",
                            units::ratio(Ratio(both)),
                            units::ratio(Ratio(cost.ratio)),
                            cost.kind,
                            cost.source
                        )
                    },
                );
                format!(
                    "For a server with {} old clients, two certificates: {curve}, and {rsa} for these; {cost}.",
                    units::percent(share)
                )
            }
        }
    }

    fn configuration(&self, curve: Option<Algorithm>, rsa: Option<Algorithm>) -> Option<String> {
        let both = [curve, rsa.filter(|_| self.old_clients > 0.0)];
        let words: Vec<String> = both.iter().flatten().map(ToString::to_string).collect();
        (!words.is_empty()).then(|| {
            format!(
                "Its configuration: 'keymark tls config --server nginx --algorithm {}'.",
                words.join(",")
            )
        })
    }
}

/// Returns the archive's cost of the same key exchange with both, if their intervals are apart; else the published one
/// of RSA-2048 and P-256.
fn cost(curve: Algorithm, rsa: Algorithm, figures: &Figures) -> Option<Cost> {
    let best = figures.handshakes();
    for one in best.iter().filter(|one| one.algorithm == curve) {
        let same = |other: &&&Handshakes| {
            let alike = (other.stack, &other.conditions) == (one.stack, &one.conditions);
            let apart = alike && (one.rate.low > other.rate.high || other.rate.low > one.rate.high);
            other.algorithm == rsa && other.exchange == one.exchange && apart
        };
        if let Some(other) = best.iter().find(same) {
            return Some(Cost {
                ratio: one.rate.value.0 / other.rate.value.0,
                kind: Provenance::Measured,
                source: one.source.clone(),
            });
        }
    }
    if (curve.name(), rsa.name()) != ("nistp256", "rsa2048") {
        return None;
    }
    let (_, rows) = PublishedTable::named(RATIOS).ok()?.cells()?;
    let row = rows
        .iter()
        .find(|row| row.get(1..3).is_some_and(|cells| cells == CLAIM))?;
    Some(Cost {
        ratio: row.get(3)?.parse().ok()?,
        kind: Provenance::Published,
        source: "Kario 2014".to_owned(),
    })
}

/// Advises a key exchange with forward secrecy.
fn exchange(figures: &Figures) -> Option<String> {
    let best = figures.handshakes();
    let forward = || best.iter().filter(|one| one.exchange != "rsa");
    let beside = |one: &&&Handshakes| {
        let same = |other: &&&Handshakes| {
            (other.algorithm, other.stack, &other.conditions)
                == (one.algorithm, one.stack, &one.conditions)
                && other.exchange != one.exchange
        };
        // The best rates come first: the next of the same kind is the one to beat.
        let next = forward().find(same);
        next.is_some_and(|next| one.rate.low > next.rate.high)
    };
    let fastest = forward().find(beside);
    Some(match fastest {
        Some(one) => format!(
            "Key exchange: {} was the fastest with forward secrecy ({} with {}); RSA key exchange \
             has none and is not in TLS 1.3.",
            one.exchange,
            units::rate(PerSecond(one.rate.value.0)),
            one.algorithm
        ),
        None => {
            "Key exchange: X25519 or P-256, for forward secrecy, which RSA key exchange lacks; \
                 'keymark tls suite key-exchange' measures what each costs here."
                .to_owned()
        }
    })
}

fn handshakes(figures: &Figures) -> Option<Section> {
    let best = figures.handshakes();
    if best.is_empty() {
        let text = "no handshakes in the archive; 'keymark tls suite key-exchange' measures them";
        return Some(Section::bare(vec![basis(text)]).first());
    }
    let table = TableOf::new(best)
        .label("certificate", |one| one.algorithm)
        .label("key exchange", |one| one.exchange.clone())
        .value("handshakes", |one| one.rate)
        .column(Column::name("server").leave(1), |one| one.stack.word())
        .column(Column::name("from").leave(0), |one| one.source.clone())
        .table();
    let heading = "handshakes, the best rate of each";
    Some(Section::headed(heading, vec![Block::Table(table)]).first())
}

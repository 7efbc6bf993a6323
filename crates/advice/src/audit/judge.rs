//! One key against everything that can be said of it without the others.

use jiff::civil::Date;
use keymark_bench::algorithm::Family;

use super::finding::{Finding, Kind, Level};
use super::key::{FoundKey, Numbers, PublicKey};
use super::weakness::known::{Listed, Lists};
use super::weakness::{fermat, roca, small};
use super::{Question, Standing};
use crate::Table;
use crate::key_spec::KeySpec;
use crate::policy::{self, Act, Policy, Status, Use};

/// What is wrong with its numbers.
pub(super) fn numbers(key: &PublicKey, lists: &mut Lists) -> Vec<Finding> {
    let error = |kind, text: &str| Finding::new(Level::Error, kind, text);
    let mut findings = Vec::new();
    let listed = match &key.numbers {
        Numbers::Rsa { n, e } => {
            findings.extend(small::exponent(e));
            // What is no product of two primes is not looked at more closely.
            if let Some(factor) = small::factor(n) {
                let found = error(Kind::SmallFactor, "its modulus has a small factor");
                findings.push(found.with(factor.to_string()));
            } else {
                if roca::has_fingerprint(n) {
                    let text =
                        "its modulus has ROCA's fingerprint: Infineon's weak library made it";
                    findings.push(error(Kind::Roca, text));
                }
                if fermat::factored_in(n).is_some() {
                    findings.push(error(
                        Kind::Fermat,
                        "its primes are too close to each other",
                    ));
                }
            }
            lists.has_rsa(n, e)
        }
        Numbers::Dsa { p, q, g, y } => {
            let all = [p, q, g, y].map(Vec::as_slice);
            let outside = small::outside_of_subgroup(all).filter(|_| !p.is_empty());
            findings.extend(outside.map(|why| error(Kind::SmallSubgroup, why)));
            lists.has_dsa(all)
        }
        Numbers::Discrete { p, y } => {
            if small::is_trivial([p, y]) {
                let text = "its public number is 0, 1 or -1";
                findings.push(error(Kind::SmallSubgroup, text));
            }
            lists.has_number(y)
        }
        Numbers::Point(point) => {
            let mut is_string = false;
            if let Ok(KeySpec::Family(family)) = key.spec {
                is_string = !matches!(family, Family::Weierstrass(_));
                if small::is_of_small_order(point, family) {
                    let text = "its point has an order of 8 or less";
                    findings.push(error(Kind::SmallSubgroup, text));
                }
            }
            match point.as_slice() {
                // What is on no curve of Weierstrass is a string, whatever it begins with (RFC 7748, 8032).
                string if is_string => lists.has_number(string),
                // badkeys' list has x alone (SEC 1 §2.3.3).
                [4, both @ ..] => lists.has_number(&both[..both.len() / 2]),
                [2 | 3, x @ ..] => lists.has_number(x),
                string => lists.has_number(string),
            }
        }
        Numbers::Opaque(octets) => lists.has(octets),
    };
    findings.extend(listed.map(|list| match list {
        Listed::Debian => error(
            Kind::Debian,
            "Debian's OpenSSL made it between 2006 and 2008",
        ),
        Listed::Badkeys(list) => {
            let text = "its private key was published";
            error(Kind::Published, text).with(format!("list {list}"))
        }
    }));
    findings
}

/// What is wrong with what stands around the key: its end, its signature.
pub(super) fn surroundings(key: &FoundKey, today: Date) -> Vec<Finding> {
    let expired = key.expires.filter(|end| *end < today).map(|end| {
        Finding::new(Level::Warning, Kind::Expired, "its time is over").with(format!("since {end}"))
    });
    let revoked = key
        .is_revoked
        .then(|| Finding::new(Level::Note, Kind::Revoked, "its owner has revoked it"));
    let broken = key.broken.map(|broken| {
        let hash = broken.hash;
        if broken.is_root {
            let text = "a root certificate signed itself with a broken hash, which nobody verifies";
            return Finding::new(Level::Note, Kind::Sha1Signature, text).with(hash);
        }
        let text = "what binds it to its name is signed with a broken hash";
        Finding::new(Level::Warning, Kind::Sha1Signature, text).with(hash)
    });
    [expired, revoked, broken].into_iter().flatten().collect()
}

/// Whether it is short, whatever policies say of it.
pub(super) fn strength(key: &PublicKey) -> Option<Finding> {
    let spec = key.spec.as_ref().ok()?;
    let is_short = match spec.strength(Table::nist()) {
        Some(strength) => strength.is_weak(),
        // Below the first row of the table.
        None => spec.modulus_bits().or(spec.order_bits()).is_some(),
    };
    let text = "it has less than 112 bits of security";
    is_short.then(|| Finding::new(Level::Error, Kind::Short, text))
}

/// The status by each policy, and what follows from it.
pub(super) fn policies(key: &FoundKey, question: &Question) -> (Vec<Standing>, Vec<Finding>) {
    let Ok(spec) = key.key.spec else {
        let text = "keymark does not know its algorithm";
        let unknown = Finding::new(Level::Note, Kind::UnknownAlgorithm, text);
        return (Vec::new(), vec![unknown.with(key.key.name())]);
    };
    let own = |usage: &Use| policy::Kind::of(spec, *usage).is_some();
    let mut uses: Vec<Use> = key.uses.iter().copied().filter(own).collect();
    if uses.is_empty() {
        // What nobody says a use of signs, if it can.
        uses.extend(Use::ALL.iter().copied().find(own));
    }
    let mut standings = Vec::new();
    let mut findings = Vec::new();
    for policy in &question.policies {
        for usage in &uses {
            let at = |date| policy.verdict(spec, *usage, Act::Applying, date).status;
            let standing = Standing {
                policy: policy.id.clone(),
                usage: *usage,
                today: at(question.today),
                until: question.until.map(at),
            };
            findings.extend(against(spec, policy, &standing, question));
            standings.push(standing);
        }
    }
    findings.dedup();
    (standings, findings)
}

fn against(
    spec: KeySpec,
    policy: &Policy,
    standing: &Standing,
    question: &Question,
) -> Option<Finding> {
    let today = standing.today;
    let later = standing
        .until
        .filter(|_| today.permits())
        .zip(question.until);
    let (status, date) = match later {
        Some((status, date)) => (status, Some(date)),
        None => (today, None),
    };
    let level = match status {
        Status::Recommended | Status::Allowed => return None,
        Status::Disallowed => Level::Error,
        Status::Legacy | Status::HybridOnly => Level::Warning,
        Status::Deprecated | Status::NotListed => Level::Note,
    };
    // A policy that comes to an end is something to plan for, and no weakness of today.
    let level = if date.is_some() {
        level.max(Level::Warning)
    } else {
        level
    };
    let verdict = policy.verdict(spec, standing.usage, Act::Applying, question.today);
    let when = match (date, verdict.until) {
        (Some(_), Some((last, _))) => format!(" after {last}"),
        (Some(date), None) => format!(" on {date}"),
        (None, _) => String::new(),
    };
    let rule = verdict.rule.map_or("", |rule| rule.source.as_str());
    let (id, usage) = (&policy.id, noun(standing.usage));
    let text = if status == Status::NotListed {
        format!("{id} does not list {spec} for {usage}")
    } else {
        format!("{spec} for {usage} is {status}{when} by {id}")
    };
    let source = [policy.title.as_str(), rule].join(", ");
    Some(Finding {
        source: source.trim_end_matches([',', ' ']).to_owned(),
        ..Finding::new(level, Kind::Policy, text)
    })
}

const fn noun(usage: Use) -> &'static str {
    match usage {
        Use::Signature => "signatures",
        Use::Encryption => "encryption",
    }
}

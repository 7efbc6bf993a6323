//! Judgement of a single key.

use jiff::civil::Date;
use keymark_bench::Family;

use super::finding::{Finding, FindingKind, Level};
use super::key::{FoundKey, Numbers, PublicKey};
use super::weakness::known::{Listed, Lists};
use super::weakness::{TESTED_BITS, bits, fermat, roca, small};
use super::{AuditQuestion, Standing};
use keymark_advice::key_spec::KeySpec;
use keymark_advice::policy::{self, Act, Policy, PolicyVerdict, Status, Use};

/// Returns weaknesses of its numbers.
pub(super) fn numbers(key: &PublicKey, lists: &mut Lists) -> Vec<Finding> {
    let subgroup = |text: &str| Finding::new(Level::Error, FindingKind::SmallSubgroup, text);
    let mut findings = Vec::new();
    let listed = match &key.numbers {
        Numbers::Rsa { n, e } => {
            findings.extend(small::exponent(e));
            // What is no product of two primes is not looked at more closely.
            if bits(n) > TESTED_BITS {
                findings.push(untested());
            } else if let Some(factor) = small::factor(n) {
                findings.push(Finding::of(FindingKind::SmallFactor).with(factor.to_string()));
            } else {
                if roca::has_fingerprint(n) {
                    findings.push(Finding::of(FindingKind::Roca));
                }
                if fermat::factored_in(n).is_some() {
                    findings.push(Finding::of(FindingKind::Fermat));
                }
            }
            lists.has_rsa(n, e)
        }
        Numbers::Dsa { p, q, g, y } => {
            let all = [p, q, g, y].map(Vec::as_slice);
            if all.iter().any(|number| bits(number) > TESTED_BITS) {
                findings.push(untested());
            } else {
                let outside = small::outside_of_subgroup(all).filter(|_| !p.is_empty());
                findings.extend(outside.map(subgroup));
            }
            lists.has_dsa(all)
        }
        Numbers::Discrete { p, y } => {
            if small::is_trivial([p, y]) {
                findings.push(subgroup("its public number is 0, 1 or -1"));
            }
            lists.has_number(y)
        }
        Numbers::Point(point) => {
            let mut is_string = false;
            if let Ok(KeySpec::Family(family)) = key.spec {
                is_string = !matches!(family, Family::Weierstrass(_));
                if small::is_of_small_order(point, family) {
                    findings.push(subgroup("its point has an order of 8 or less"));
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
        Listed::Debian => Finding::of(FindingKind::Debian),
        Listed::Badkeys(list) => Finding::of(FindingKind::Published).with(format!("list {list}")),
    }));
    findings
}

/// Returns a finding for numbers too large to test.
fn untested() -> Finding {
    let text = format!("it has more than {TESTED_BITS} bits, and its numbers were not tested");
    Finding {
        source: "OpenSSL, OPENSSL_RSA_MAX_MODULUS_BITS".to_owned(),
        ..Finding::new(Level::Warning, FindingKind::Malformed, text)
    }
}

/// Returns problems of its end and its signature.
pub(super) fn surroundings(key: &FoundKey, today: Date) -> Vec<Finding> {
    let expired = key.expires.filter(|end| *end < today);
    let expired = expired.map(|end| Finding::of(FindingKind::Expired).with(format!("since {end}")));
    let revoked = key.is_revoked.then(|| Finding::of(FindingKind::Revoked));
    let broken = key.broken.map(|broken| {
        let hash = broken.hash;
        if broken.is_root {
            let text = "a root certificate signed itself with a broken hash, which nobody verifies";
            return Finding::new(Level::Note, FindingKind::Sha1Signature, text).with(hash);
        }
        Finding::of(FindingKind::Sha1Signature).with(hash)
    });
    [expired, revoked, broken].into_iter().flatten().collect()
}

/// Returns a finding for a short key, whatever policies say of it.
pub(super) fn strength(key: &PublicKey) -> Option<Finding> {
    let spec = key.spec.as_ref().ok()?;
    let is_short = match key.strength() {
        Some(strength) => strength.is_weak(),
        // Below the first row of the table.
        None => spec.modulus_bits().or(spec.order_bits()).is_some(),
    };
    is_short.then(|| Finding::of(FindingKind::Short))
}

/// The status by each policy, and what follows from it.
pub(super) fn policies(key: &FoundKey, question: &AuditQuestion) -> (Vec<Standing>, Vec<Finding>) {
    let Ok(spec) = key.key.spec else {
        let unknown = Finding::of(FindingKind::UnknownAlgorithm).with(key.key.name());
        return (Vec::new(), vec![unknown]);
    };
    let own = |usage: &Use| policy::KeyKind::of(spec, *usage).is_some();
    let mut uses: Vec<Use> = key.uses.iter().copied().filter(own).collect();
    if uses.is_empty() {
        // What nobody says a use of signs, if it can.
        uses.extend(Use::ALL.iter().copied().find(own));
    }
    let mut standings = Vec::new();
    let mut findings = Vec::new();
    for policy in &question.policies {
        for usage in uses.iter().copied() {
            let at = |date| policy.verdict(spec, usage, Act::Applying, date);
            let now = at(question.today);
            let later = question.until.map(|date| (at(date).status, date));
            findings.extend(against(spec, policy, usage, (now, later)));
            standings.push(Standing {
                policy: policy.id.clone(),
                usage,
                today: now.status,
                until: later.map(|(status, _)| status),
            });
        }
    }
    findings.dedup();
    (standings, findings)
}

fn against(
    spec: KeySpec,
    policy: &Policy,
    usage: Use,
    (now, later): (PolicyVerdict<'_>, Option<(Status, Date)>),
) -> Option<Finding> {
    let later = later.filter(|_| now.status.permits());
    let status = later.map_or(now.status, |(status, _)| status);
    let level = match (status, later) {
        (Status::Recommended | Status::Allowed, _) => return None,
        (Status::Disallowed, None) => Level::Error,
        // A policy that comes to an end is something to plan for, and no weakness of today.
        (Status::Disallowed, Some(_)) | (Status::Legacy | Status::HybridOnly, _) => Level::Warning,
        (Status::Deprecated | Status::NotListed, _) => Level::Note,
    };
    let when = match (later, now.until) {
        (Some(_), Some((last, _))) => format!(" after {last}"),
        (Some((_, date)), None) => format!(" on {date}"),
        (None, _) => String::new(),
    };
    let rule = now.rule.map_or("", |rule| rule.source.as_str());
    let (id, usage) = (&policy.id, noun(usage));
    let text = if status == Status::NotListed {
        format!("{id} does not list {spec} for {usage}")
    } else {
        format!("{spec} for {usage} is {status}{when} by {id}")
    };
    let source = [policy.title.as_str(), rule].join(", ");
    Some(Finding {
        source: source.trim_end_matches([',', ' ']).to_owned(),
        ..Finding::new(level, FindingKind::Policy, text)
    })
}

const fn noun(usage: Use) -> &'static str {
    match usage {
        Use::Signature => "signatures",
        Use::Encryption => "encryption",
    }
}

use keymark_advice::key_spec::KeySpec;
use keymark_bench::outside::visible::is_unseen;
use rug::integer::Order;

use super::*;
use crate::key::Broken;

fn question(until: Option<&str>) -> AuditQuestion {
    AuditQuestion {
        policies: Policy::find("nist").unwrap(),
        today: "2026-11-24".parse().unwrap(),
        until: until.map(|date| date.parse().unwrap()),
    }
}

fn no_lists() -> Lists {
    Lists::at(Places {
        openssl: "/nonexistent".into(),
        openssh: "/nonexistent".into(),
        badkeys: None,
    })
}

fn key(name: &str, key: PublicKey) -> FoundKey {
    let place = Location {
        within: name.to_owned(),
        line: Some(1),
    };
    FoundKey::new(place, name, Form::Ssh, key)
}

fn judged(keys: Vec<FoundKey>, question: &AuditQuestion) -> Audit {
    Audit::of(
        Read {
            keys,
            ..Default::default()
        },
        question,
        &mut no_lists(),
    )
}

/// A key that is judged alone.
fn alone(key: FoundKey, until: Option<&str>) -> FoundKey {
    judged(vec![key], &question(until)).keys.remove(0)
}

fn kinds(audit: &FoundKey) -> Vec<FindingKind> {
    audit.findings.iter().map(|finding| finding.kind).collect()
}

/// Primes of 89, 107, 127 and 521 bits: Mersenne's.
fn prime(bits: u32) -> Integer {
    (Integer::from(1_u32) << bits) - 1_u32
}

fn octets(number: &Integer) -> Vec<u8> {
    number.to_digits(Order::Msf)
}

fn of_primes(one: u32, other: u32) -> PublicKey {
    PublicKey::rsa(&octets(&(prime(one) * prime(other))), &[1, 0, 1])
}

/// A modulus of that number of bits without a small factor, which nothing else is wrong with.
fn sound(bits: u32) -> PublicKey {
    let mut modulus = vec![0xb5; bits.div_ceil(8) as usize];
    let spare = modulus.len() as u32 * 8 - bits;
    modulus[0] = 0xff >> spare;
    let last = modulus.len() - 1;
    modulus[last] |= 1;
    let mut step = 0_u8;
    while super::weakness::small::factor(&modulus).is_some() {
        step = step.wrapping_add(1);
        modulus[last - 1] = step;
    }
    PublicKey::rsa(&modulus, &[1, 0, 1])
}

#[test]
fn keys_with_a_prime_in_common_name_each_other() {
    let keys = vec![
        key("one", of_primes(521, 607)),
        key("alone", of_primes(1279, 2203)),
        key("two", of_primes(607, 89)),
    ];
    let audit = judged(keys, &question(None));
    let shared = |at: usize| {
        let mut findings = audit.keys[at].findings.iter();
        findings
            .find(|finding| finding.kind == FindingKind::SharedFactor)
            .map(|finding| finding.detail.as_str())
    };
    assert_eq!(
        [shared(0), shared(1), shared(2)],
        [Some("with two:1"), None, Some("with one:1")]
    );
}

#[test]
fn the_same_key_twice_is_one_and_shares_nothing() {
    let mut plain = key("plain", of_primes(521, 607));
    plain.form = Form::Plain;
    plain.owner.clear();
    let mut again = key("one", of_primes(521, 607));
    again.place.within = "elsewhere".to_owned();
    let keys = vec![plain, key("one", of_primes(521, 607)), again];
    let audit = judged(keys, &question(None));
    assert_eq!(audit.keys.len(), 1);
    assert_eq!(audit.keys[0].place.to_string(), "one:1");
    let also: Vec<String> = audit.keys[0].also.iter().map(ToString::to_string).collect();
    assert_eq!(also, ["elsewhere:1", "plain:1"]);
    assert!(!kinds(&audit.keys[0]).contains(&FindingKind::SharedFactor));
}

/// nist-sp800-57pt1r5, rules rsa-below-112, rsa-112 and rsa-128.
#[test]
fn a_bit_less_or_a_day_more_changes_the_status() {
    let with = |bits: u32, until: Option<&str>| {
        let found = alone(key("one", sound(bits)), until).findings.into_iter();
        let levels = found.map(|finding| (finding.kind, finding.level));
        levels.collect::<Vec<_>>()
    };
    let errors = [FindingKind::Short, FindingKind::Policy].map(|kind| (kind, Level::Error));
    assert_eq!(with(2047, None), errors);
    assert_eq!(with(2048, None), []);
    assert_eq!(with(2048, Some("2030-12-31")), []);
    assert_eq!(
        with(2048, Some("2031-01-01")),
        [(FindingKind::Policy, Level::Warning)]
    );
    assert_eq!(with(3072, Some("2031-01-01")), []);
    assert_eq!(with(1000, None)[0], (FindingKind::Short, Level::Error));
}

#[test]
fn a_key_ends_with_its_last_day_and_a_broken_hash_matters_where_it_is_verified() {
    let found = |end: Option<&str>, broken: Option<bool>| {
        let key = FoundKey {
            expires: end.map(|end| end.parse().unwrap()),
            broken: broken.map(|is_root| Broken {
                hash: "SHA-1",
                is_root,
            }),
            ..key("one", sound(3072))
        };
        let found = alone(key, None);
        (kinds(&found), found.is_weak())
    };
    assert_eq!(
        found(Some("2026-11-23"), None),
        (vec![FindingKind::Expired], true)
    );
    assert_eq!(found(Some("2026-11-24"), None), (vec![], false));
    for is_root in [false, true] {
        let broken = (vec![FindingKind::Sha1Signature], !is_root);
        assert_eq!(found(None, Some(is_root)), broken);
    }
}

#[test]
fn weak_numbers_are_found_of_each_kind() {
    let rsa = |one: Integer, other: Integer, e: &[u8]| PublicKey::rsa(&octets(&(one * other)), e);
    let (small, large, f4) = (prime(1279), prime(2203), &[1, 0, 1]);
    let dh = |y| PublicKey::discrete(KeySpec::Dh, &octets(&prime(3217)), y);
    for (weak, kind) in [
        (
            rsa(large.clone(), Integer::from(3), f4),
            FindingKind::SmallFactor,
        ),
        (rsa(large.clone(), large.clone(), f4), FindingKind::Fermat),
        (
            rsa(small.clone(), large.clone(), &[3]),
            FindingKind::SmallExponent,
        ),
        (rsa(small, large, &[2]), FindingKind::InvalidExponent),
        (
            PublicKey::on_curve("ed25519", &[0; 32]),
            FindingKind::SmallSubgroup,
        ),
        (dh(&[1]), FindingKind::SmallSubgroup),
        (PublicKey::on_curve("nistp192", &[4]), FindingKind::Short),
        (
            PublicKey::named("1.2.3", &[1]),
            FindingKind::UnknownAlgorithm,
        ),
    ] {
        let found = kinds(&alone(key("one", weak), None));
        assert!(found.contains(&kind), "{kind}: {found:?}");
    }
}

/// The maker of a key chooses its size: above what programs take nothing is calculated, and that is a finding.
#[test]
fn numbers_beyond_every_program_are_not_calculated_with() {
    let long = |bits: u32| octets(&((Integer::from(1_u32) << bits) - 1_u32));
    let (p, few) = (long(2_000_000), long(160));
    for (key, what) in [
        (PublicKey::dsa([&p, &few, &[2], &[4]]), "a prime"),
        (PublicKey::dsa([&long(1024), &p, &[2], &[4]]), "an order"),
        (PublicKey::rsa(&p, &[1, 0, 1]), "a modulus"),
        (PublicKey::rsa(&long(16_385), &[1, 0, 1]), "one bit"),
    ] {
        let both = vec![
            self::key("one", key.clone()),
            self::key("two", of_primes(521, 607)),
        ];
        let audit = judged(both, &question(None));
        let kinds = kinds(&audit.keys[0]);
        assert!(
            audit.keys[0].is_weak() && kinds.contains(&FindingKind::Malformed),
            "{what}: {kinds:?}"
        );
        for calculated in [
            FindingKind::SmallFactor,
            FindingKind::SmallSubgroup,
            FindingKind::Fermat,
            FindingKind::SharedFactor,
        ] {
            assert!(!kinds.contains(&calculated), "{what}: {calculated}");
        }
    }
    assert_eq!(kinds(&alone(key("one", sound(16_384)), None)), []);
}

#[test]
fn sarif_has_a_rule_for_each_result_and_a_place() {
    let name = "a b#c?d%41.pem\n::error::\u{1b}[2J";
    let mut key = key(name, sound(2047));
    key.place.line = Some(1);
    assert_eq!(
        key.place.to_string(),
        "a b#c?d%41.pem\\n::error::\\u{1b}[2J:1"
    );
    assert!(key.owner.contains(is_unseen));
    let audit = judged(vec![key], &question(None));
    let log = sarif::log(&audit, "1", "https://example.org");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]));
        assert_eq!(result["level"], "error");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["region"]["startLine"], 1);
        let uri = "a%20b%23c%3Fd%2541.pem%0A%3A%3Aerror%3A%3A%1B%5B2J";
        assert_eq!(place["artifactLocation"]["uri"], uri);
    }
}

/// badkeys, docs/BLOCKLISTFORMAT.md: numbers without zeros that lead, x of points, strings whatever they begin with.
#[test]
fn published_keys_are_told_by_the_number_that_badkeys_hashes() {
    use sha2::{Digest as _, Sha256};

    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("blocklist.dat");
    let point = |form: u8, x: &[u8], y: &[u8]| [&[form], x, y].concat();
    let (x, y) = ([&[0][..], &[9; 31]].concat(), [5; 32]);
    for (key, hashed) in [
        (PublicKey::on_curve("ed25519", &[4; 32]), vec![4; 32]),
        (PublicKey::on_curve("ed25519", &x), vec![9; 31]),
        (
            PublicKey::on_curve("nistp256", &point(4, &x, &y)),
            vec![9; 31],
        ),
        (
            PublicKey::on_curve("nistp256", &point(3, &x, &[])),
            vec![9; 31],
        ),
        (PublicKey::named("mldsa44", &[0, 8, 8]), vec![0, 8, 8]),
    ] {
        let entry = [&Sha256::digest(&hashed)[..15], &[1]].concat();
        std::fs::write(&file, entry).unwrap();
        let mut lists = Lists::at(Places {
            openssl: "/nonexistent".into(),
            openssh: "/nonexistent".into(),
            badkeys: Some(file.clone()),
        });
        let found = super::judge::numbers(&key, &mut lists);
        let published = found.iter().any(|one| one.kind == FindingKind::Published);
        assert!(published, "{key:?}");
    }
}

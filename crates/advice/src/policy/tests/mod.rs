use std::collections::BTreeSet;

use keymark_testkit::assert_says;

use super::*;

fn policy(id: &str) -> &'static Policy {
    let found = Policy::all().iter().find(|policy| policy.id == id);
    found.unwrap_or_else(|| panic!("no policy {id}"))
}

fn status(id: &str, key: &str, usage: Use, act: Act, date: &str) -> (Status, Option<String>) {
    let key = key.parse().unwrap();
    let verdict = policy(id).verdict(key, usage, act, date.parse().unwrap());
    (verdict.status, verdict.rule.map(|rule| rule.id.clone()))
}

#[test]
fn every_statement_of_every_policy_holds() {
    let rows = include_str!("statements.txt").lines();
    let mut quoted = BTreeSet::new();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let words: Vec<&str> = row.split(' ').collect();
        let [policy, rule, key, usage, days @ ..] = words.as_slice() else {
            panic!("{row}: five columns at least");
        };
        assert!(!days.is_empty(), "{row}: no day");
        quoted.insert((*policy, *rule));
        for day in days {
            let (date, stated) = day.split_once('=').expect(row);
            let (applying, processing) = stated.split_once('/').expect(row);
            for (act, expected) in [(Act::Applying, applying), (Act::Processing, processing)] {
                let found = status(policy, key, usage.parse().unwrap(), act, date);
                let wanted = (expected.parse().unwrap(), Some((*rule).to_owned()));
                assert_eq!(found, wanted, "{policy} {key} {act} {date}");
            }
        }
    }
    for policy in Policy::all() {
        assert!(policy.url.starts_with("https://"), "{}", policy.id);
        let by = policy.superseded_by.as_deref();
        assert!(by.is_none_or(|by| Policy::all().iter().any(|other| other.id == by)));
        assert!(policy.rules.iter().all(|rule| !rule.source.is_empty()));
    }
    let all = Policy::all().iter();
    let all: BTreeSet<_> = all
        .flat_map(|policy| policy.rules.iter().map(|rule| (&*policy.id, &*rule.id)))
        .collect();
    assert_eq!(quoted, all, "a statement without a test, or the reverse");
}

/// One bit less or more than what a rule begins or ends with is another rule's, or nobody's.
#[test]
fn bounds_are_bits() {
    let rule = |id: &str, key: &str, usage| status(id, key, usage, Act::Applying, "2026-01-01").1;
    for (id, key, expected) in [
        ("nist-sp800-57pt1r5", "rsa2047", Some("rsa-below-112")),
        ("nist-sp800-57pt1r5", "rsa2048", Some("rsa-112")),
        ("nist-sp800-57pt1r5", "rsa2049", Some("rsa-112")),
        ("nist-sp800-57pt1r5", "rsa3071", Some("rsa-112")),
        ("nist-sp800-57pt1r5", "rsa3072", Some("rsa-128")),
        ("nist-sp800-57pt1r5", "rsa7680", Some("rsa-192")),
        ("nist-ir-8547-ipd", "rsa2047", None),
        ("bsi-tr-02102-1-2024-01", "rsa1999", None),
        ("bsi-tr-02102-1-2024-01", "rsa2999", Some("rsa-2000")),
        ("bsi-tr-02102-1-2024-01", "rsa3000", Some("rsa-3000")),
        ("anssi-rgs-b1", "rsa2047", None),
        ("rfc9580", "rsa2047", Some("rsa-below-2048-signature")),
        ("rfc9580", "rsa2048", Some("rsa-below-3072")),
        ("cnsa-2.0", "rsa3071", None),
        ("nist-sp800-57pt1r5", "nistp224", Some("ecc-112")),
        ("nist-sp800-57pt1r5", "secp192k1", Some("ecc-below-112")),
        ("nist-sp800-57pt1r5", "sect233k1", Some("ecc-112")),
        // The order of Curve25519 has 253 bits, which would put it below P-256: documents name it, or do not have it.
        ("nist-sp800-57pt1r5", "ed25519", Some("ecc-128")),
        ("bsi-tr-02102-1-2024-01", "ed25519", None),
        ("cnsa-1.0", "ed25519", None),
    ] {
        assert_eq!(
            rule(id, key, Use::Signature).as_deref(),
            expected,
            "{id} {key}"
        );
    }
    let encrypts = rule("nist-sp800-57pt1r5", "cv25519", Use::Encryption);
    assert_eq!(encrypts, None);
}

#[test]
fn the_stronger_statement_about_a_part_is_a_composites() {
    let (signs, encrypts) = ("mldsa65+ed25519", "mlkem768+x25519");
    let (nist, bsi) = ("nist-sp800-57pt1r5", "bsi-tr-02102-1-2024-01");
    let (now, later) = ("2026-06-01", "2036-01-01");
    for (id, key, date, status, rule) in [
        // Ed25519's.
        (nist, signs, now, Status::Allowed, Some("ecc-128")),
        (
            "nist-ir-8547-ipd",
            signs,
            later,
            Status::Disallowed,
            Some("ecc-128"),
        ),
        // ML-DSA only combined, and the combination of ML-KEM itself.
        (bsi, signs, now, Status::Allowed, Some("ml-dsa")),
        (bsi, encrypts, now, Status::Recommended, Some("hybrid-kem")),
        ("cnsa-2.0", signs, now, Status::Disallowed, None),
        (nist, encrypts, now, Status::NotListed, None),
    ] {
        let usage = Use::ALL[usize::from(key == encrypts)];
        let (found, by) = self::status(id, key, usage, Act::Applying, date);
        assert_eq!((found, by.as_deref()), (status, rule), "{id} {key}");
    }
}

#[test]
fn one_rule_at_most_is_about_a_key() {
    let lengths = (512..=16_384).map(|bits| format!("rsa{bits}"));
    let measured =
        keymark_bench::algorithm::Algorithm::all().map(|algorithm| algorithm.to_string());
    let curves = [
        "nistp224",
        "secp160r1",
        "brainpoolp320r1",
        "dh2048",
        "dh3072",
    ];
    let curves = curves.map(str::to_owned);
    for key in lengths.chain(measured).chain(curves) {
        let key: KeySpec = key.parse().unwrap();
        for policy in Policy::all() {
            for usage in Use::ALL {
                let about = |rule: &&Rule| rule.is_about(key, *usage);
                let count = policy.rules.iter().filter(about).count();
                assert!(count <= 1, "{}: {key} {usage}: {count} rules", policy.id);
            }
        }
    }
}

/// A file that was named by mistake may have a password in the line.
#[test]
fn what_is_wrong_with_a_file_is_told_without_its_text() {
    for text in [
        "id = \"a\"\npassword hunter2\n",
        "id = \"a\"\ndraft = \"hunter2\"\n",
        "id = \"a\"\nx = \"hunter2",
    ] {
        let error = Policy::parse(text).unwrap_err();
        assert!(
            error.starts_with("line 2: ") && !error.contains("hunter2"),
            "{error}"
        );
    }
}

#[test]
fn a_change_is_the_last_day_of_what_holds() {
    let nist = policy("nist-sp800-57pt1r5");
    let verdict = |act, day: &str| {
        let key = KeySpec::rsa(2048);
        nist.verdict(key, Use::Signature, act, day.parse().unwrap())
            .until
    };
    let last = "2030-12-31".parse().unwrap();
    let until = verdict(Act::Applying, "2030-12-31");
    assert_eq!(until, Some((last, Status::Disallowed)));
    let until = verdict(Act::Processing, "2026-01-01");
    assert_eq!(until, Some((last, Status::Legacy)));
    assert_eq!(verdict(Act::Applying, "2031-01-01"), None);
}

#[test]
fn a_body_means_its_policies_in_force() {
    let ids = |word| {
        let found = Policy::find(word).unwrap().into_iter();
        found.map(|policy| policy.id).collect::<Vec<_>>()
    };
    assert_eq!(ids("bsi"), ["bsi-tr-02102-1-2026-01"]);
    assert_eq!(ids("NIST"), ["nist-sp800-57pt1r5"]);
    assert_eq!(ids("nist-ir-8547-ipd"), ["nist-ir-8547-ipd"]);
    let error = Policy::find("nict").unwrap_err();
    assert_says(&error, ["nict", "bsi", "cnsa-1.0"]);
}

#[test]
fn a_users_own_policy_has_the_same_form() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("house.toml");
    let text = r#"
        id = "house"
        body = "house"
        title = "Our own"
        version = "1"
        date = "2026-01-01"
        url = "https://example.org/keys"
        unlisted = "disallowed"
        [[rule]]
        id = "ed25519"
        of = ["EdDSA"]
        names = ["ed25519"]
        periods = [{ applying = "recommended" }, { from = "2030-07-01", applying = "legacy" }]
        verified = "primary"
        source = "page 1"
    "#;
    std::fs::write(&path, text).unwrap();
    let house = Policy::find(path.to_str().unwrap()).unwrap().remove(0);
    let at = |key: &str, day: &str| {
        let date = day.parse().unwrap();
        let key = key.parse().unwrap();
        house
            .verdict(key, Use::Signature, Act::Applying, date)
            .status
    };
    assert_eq!(at("ed25519", "2030-06-30"), Status::Recommended);
    assert_eq!(at("ed25519", "2030-07-01"), Status::Legacy);
    assert_eq!(at("rsa4096", "2030-06-30"), Status::Disallowed);
    for (wrong, says) in [
        (text.replace("primary", "unverified"), "unverified"),
        (
            text.replace("\"ed25519\"]", "\"ed25518\"]"),
            "does not know",
        ),
        (text.replace("2030-07-01", "soon"), "line 13: "),
    ] {
        std::fs::write(&path, wrong).unwrap();
        let error = Policy::read(&path).unwrap_err();
        assert_says(&error, ["house.toml", says]);
    }
    let error = Policy::find("/nowhere/x.toml").unwrap_err();
    assert_says(&error, ["/nowhere/x.toml"]);
}

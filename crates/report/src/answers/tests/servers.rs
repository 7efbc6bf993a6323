//! Answers on servers under load.

use super::*;

pub(super) fn served(
    algorithm: &str,
    kex: &str,
    arrangement: Option<&str>,
    a_part: u64,
    key_ns: u64,
) -> CaseRecord {
    let steady = Steady {
        stretches: vec![(1, 3)],
        batches: (0..20)
            .map(|part| batch(part, a_part + u64::from(part % 2), 100_000_000))
            .collect(),
    };
    let alone = OperationAlone {
        operation: Operation::Sign,
        by: Calculator::Libcrypto("3.5.4".to_owned()),
        durations: Durations(vec![(key_ns, 3)]),
    };
    let load = ServerLoad {
        steady: Some(steady),
        alone: Some(alone),
        token_calls: None,
        saturation: None,
        ..server_load()
    };
    let parameters = Parameters::from([("tls", "tls1.2"), ("kex", kex)]);
    let parameters = match arrangement {
        Some(word) => parameters.replaced("arrangement", word),
        None => parameters,
    };
    let key = case(algorithm, StackName::of("nginx"));
    let case = Case {
        operation: Operation::Handshake,
        load: Load::closed(NonZeroU32::new(8).unwrap()),
        strength: key.strength(),
        ..with(key, parameters)
    };
    CaseRecord {
        server_load: Some(Box::new(load)),
        ..CaseRecord::new(case)
    }
}

#[test]
fn servers_are_compared_by_their_keys() {
    // A transaction takes 40/9 ms of the server's processor time.
    let pair = |rsa| {
        vec![
            served("rsa2048", "x25519", None, rsa, 3_000_000),
            served("nistp256", "x25519", None, 200, 100_000),
        ]
    };
    let both = vec![0, 1];
    let apart = rows(pair(100), Topic::Servers);
    assert_eq!(
        apart,
        [both.clone(), both.clone(), both.clone()],
        "and a second certificate"
    );
    assert_says(
        &text(pair(100), Topic::Servers),
        ["2005", "nistp256", "1005 (2.00 times fewer)"],
    );
    assert_eq!(rows(pair(200), Topic::Servers), [both.clone(), both]);
    assert_says(&text(pair(200), Topic::Servers), ["about the same"]);
    let mut found = served("rsa2048", "x25519", None, 100, 3_000_000);
    let tried = |users, rate| Tried {
        demand: TriedDemand::Users(users),
        rate,
        p99_ns: 1_000_000,
        failed: 0.0,
        unfinished: 0.0,
    };
    found.server_load.as_mut().unwrap().saturation = Some(Saturation {
        tried: vec![tried(4, 980.0), tried(16, 1005.0)],
        best_users: 16,
        knee_users: 4,
        rate_within_limit: None,
    });
    let found = said(vec![found]);
    assert!(
        found.iter().any(|one| one.text.contains("4 users")),
        "{found:?}"
    );
}

/// What arrives at a given rate says nothing of what a server can do.
#[test]
fn servers_under_one_load_are_drawn_by_their_rates() {
    let mut arriving = served("rsa3072", "x25519", None, 50, 5_000_000);
    arriving.case.load.pacing = Pacing::Open("500/s".parse().unwrap());
    let run = run(vec![
        served("rsa2048", "x25519", None, 100, 3_000_000),
        served("nistp256", "x25519", None, 200, 100_000),
        arriving,
    ]);
    let chart = Analysis::of(&run, &[]).picture(&run).unwrap();
    let Axis::Rows(groups) = &chart.panels[0].y else {
        panic!("no rows");
    };
    let rows = groups.iter().flat_map(|group| &group.rows);
    let rows = Vec::from_iter(rows.map(|row| row.value.as_str()));
    assert_eq!(rows, ["1005/s", "2005/s"]);
}

#[test]
fn servers_are_compared_with_the_one_that_differs_in_one_thing() {
    let pair = |kex, arrangement: [Option<&str>; 2], own| {
        let [one, other] = arrangement;
        let cases = vec![
            served("rsa2048", kex, one, own, 1_000),
            served("rsa2048", "rsa", other, 200, 1_000),
        ];
        said(cases)
            .into_iter()
            .map(|one| one.text)
            .collect::<String>()
    };
    assert_says(
        &pair("x25519", [None; 2], 100),
        ["2.00 times as much with x25519 as with rsa"],
    );
    assert_says(
        &pair("x25519", [None; 2], 200),
        ["x25519 and rsa are alike"],
    );
    let servers = ["4 servers round-robin", "1 server round-robin"].map(Some);
    assert_says(&pair("rsa", servers, 400), ["2.00 times the handshakes"]);
    assert_silent(&pair("rsa", servers, 200), ["times the handshakes"]);
}

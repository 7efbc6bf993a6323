//! Findings on workers and on servers under load.

use super::*;

pub(super) fn served(algorithm: &str, kex: &str, a_part: u64, key_ns: u64) -> CaseRecord {
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
fn a_search_finds_the_users_that_fill_a_server() {
    let mut found = served("rsa2048", "x25519", 100, 3_000_000);
    assert_eq!(finding(vec![found.clone()], "saturation"), None);
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
    let users = |found| finding(vec![found], "saturation").unwrap()["knees"][0]["users"].clone();
    assert_eq!(users(found.clone()), 4);
    let steady = found.server_load.as_mut().unwrap().steady.as_mut();
    let few = [(0, 0), (1, 1), (2, 2)].map(|(part, done)| batch(part, done, 1_000_000_000));
    steady.unwrap().batches = few.to_vec();
    assert_eq!(users(found), 4, "the rate's interval reaches 0");
}

/// A load whose transactions take so much of the server's processor time, of which that many in a hundred resumed a session.
pub(super) fn resumed(share: u64, key_ns: u64, each_ns: u64) -> CaseRecord {
    let mut record = served("rsa2048", "x25519", 100, key_ns);
    let load = record.server_load.as_mut().unwrap();
    load.server_cpu_ns = Some(each_ns * load.totals.transactions);
    load.seconds = vec![Second {
        whole: Durations(vec![(1_000_000, 100)]),
        resumed: share,
        ..Second::default()
    }];
    load.steady.as_mut().unwrap().stretches = vec![(0, 1)];
    if share > 0 {
        let parameters = record.case.parameters.clone();
        record.case.parameters = parameters.replaced("resumed-percent", &share.to_string());
    }
    record
}

#[test]
fn from_some_share_of_resumed_sessions_on_the_key_does_not_matter() {
    let limit = |cases: Vec<CaseRecord>| {
        let found = finding(cases, "resumption")?;
        let number = |name: &str| found["limits"][0][name].as_f64().unwrap();
        Some([number("full"), number("resumed"), number("from")])
    };
    // A full handshake takes 1 ms, of which the key has 0.7; a resumed one 0.3: at a share r the key has
    // (1 - r) 0.7 of (1 - r) 1 + r 0.3.
    let pair = |key_ns| vec![resumed(0, key_ns, 1_000_000), resumed(80, key_ns, 440_000)];
    let [full, again, from] = limit(pair(700_000)).unwrap();
    assert!((full - 1e-3).abs() < 1e-9 && (again - 0.3e-3).abs() < 1e-9);
    assert!((from - 0.6 / 0.63).abs() < 1e-9);
    let key_part = (1.0 - from) * 0.7 / ((1.0 - from) + from * 0.3);
    assert!((key_part - 0.1).abs() < 1e-9);
    // This one never had a tenth.
    assert!(limit(pair(90_000)).unwrap()[2] < 1e-9);
    // One share does not tell full handshakes from resumed ones, nor do two that are nearly the same.
    assert_eq!(limit(vec![resumed(80, 700_000, 440_000)]), None);
    let near = vec![resumed(80, 700_000, 440_000), resumed(84, 700_000, 412_000)];
    assert_eq!(limit(near), None);
    // Without a full load both costs follow from the line.
    let line = vec![resumed(50, 700_000, 650_000), resumed(80, 700_000, 440_000)];
    assert!((limit(line).unwrap()[2] - from).abs() < 1e-9);
}

/// Three batches of a slow token: the interval of the rate reaches 0, and yet it is below what was asked for.
#[test]
fn a_saturated_server_is_named_however_wide_its_interval_is() {
    let told = |completed: [u64; 3], waiting| {
        let mut few = served("rsa2048", "x25519", 0, 740_000_000);
        few.case.load.pacing = Pacing::Open("50/s".parse().unwrap());
        let load = few.server_load.as_mut().unwrap();
        (load.totals.failed, load.cut_off, load.waiting) = (0, 0, waiting);
        let batches = completed.iter().zip(0..);
        let batches = batches.map(|(count, part)| batch(part, *count, 1_000_000_000));
        load.steady.as_mut().unwrap().batches = batches.collect();
        finding(vec![few], "rates").map(|found| found["rates"][0]["saturated"].clone())
    };
    assert_eq!(told([0, 1, 2], 9), Some(true.into()));
    assert_eq!(told([1, 2, 1], 9), Some(true.into()));
    assert_eq!(told([0, 2, 13], 0), None);
}

/// What arrives at a given rate says nothing of what a server can do.
#[test]
fn servers_under_one_load_are_drawn_by_their_rates() {
    let mut arriving = served("rsa3072", "x25519", 50, 5_000_000);
    arriving.case.load.pacing = Pacing::Open("500/s".parse().unwrap());
    let run = run(vec![
        served("rsa2048", "x25519", 100, 3_000_000),
        served("nistp256", "x25519", 200, 100_000),
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

fn scaled(rates: &[(u32, f64)], agent: f64) -> super::WorkerGain {
    let run = run(vec![took(here("rsa4096", GNUPG), 10_000)]);
    let mut analysis = Analysis::of(&run, &layers());
    let [gnupg] = layers();
    let bottleneck = gnupg
        .bottleneck
        .map(|bottleneck| (bottleneck, Seconds(agent)));
    let first = rates[0].1;
    analysis.scaling = vec![Scaling {
        case: here("rsa4096", GNUPG),
        levels: rates
            .iter()
            .map(|(workers, rate)| (*workers, near(*rate, PerSecond)))
            .collect(),
        gains: rates
            .iter()
            .map(|(workers, rate)| (*workers, near(rate / first, Ratio)))
            .collect(),
        refused: None,
        finding: None,
        law: Err(UslError::TooFewLevels(3)),
        bounds: Some(Bounds {
            alone: Seconds(0.010),
            server: bottleneck,
            processor: Seconds(0.009),
            cores: 2,
        }),
    }];
    let found = crate::verdict::workers::workers(&analysis).unwrap();
    let Finding::Workers { gains } = found else {
        panic!("{found:?}");
    };
    gains.into_iter().next().unwrap()
}

#[test]
fn workers_are_useless_from_the_limit_on() {
    let cores = scaled(&[(1, 100.0), (2, 180.0), (4, 183.0)], 0.001);
    assert_eq!(
        (cores.enough, cores.nothing, cores.limit),
        (Some(2), false, Limit::Cores)
    );
    let agent = scaled(&[(1, 100.0), (2, 108.0), (10, 109.0)], 0.009);
    assert_eq!(
        (agent.workers, agent.nothing, agent.limit),
        (10, true, Limit::Server("agent"))
    );
    let near_the_bound = scaled(&[(1, 100.0), (10, 160.0)], 0.006);
    assert_eq!(near_the_bound.limit, Limit::Server("agent"));
    let open = scaled(&[(1, 100.0), (2, 150.0), (4, 190.0)], 0.001);
    assert_eq!((open.enough, open.limit), (None, Limit::NoneSeen));
    // It may be a gain, but for certain a small one.
    assert!(scaled(&[(1, 100.0), (4, 99.0)], 0.001).nothing);
    assert_eq!(
        finding(vec![took(here("rsa4096", GNUPG), 10_000)], "workers"),
        None
    );
}

use keymark_bench::server_load::{Durations, LoadLimit, Second, Totals};
use keymark_bench::{Load, Pacing};

use super::*;

/// Transactions of 200 ms, one after the other, by that number of users; all of a client's seconds but for the lost ones.
fn second(number: u64, users: u64) -> ClientSecond {
    let done = 5 * users;
    ClientSecond {
        number,
        second: Second {
            whole: Durations(vec![(200_000_000, done)]),
            ..Second::default()
        },
        ends: (0..5).map(|i| (200 * i + 199, users as u32)).collect(),
        totals: Totals {
            transactions: done * (number + 1),
            ..Totals::default()
        },
        busiest_ns: 100_000_000,
        processor_ns: 50_000_000,
        settled_ns: Some(200_000_000),
    }
}

fn line(client: &str, at: Duration, told: &ClientLine) -> String {
    let told = serde_json::to_string(told).unwrap();
    format!(
        "{{\"client\":\"{client}\",\"at_ns\":{},\"told\":{told}}}\n",
        nanoseconds(at)
    )
}

/// What a client tells that began then, on a clock that is anybody's; its lines take `late` to come.
fn load(client: &str, began: Duration, seconds: u64, late: impl Fn(u64) -> Duration) -> String {
    let mut lines = String::new();
    for number in 0..seconds {
        let at = began + Duration::from_secs(number + 1) + late(number);
        lines += &line(client, at, &ClientLine::Second(second(number, 10)));
    }
    lines
}

fn end(client: &str, seconds: u64) -> String {
    let transaction = Transaction {
        scheduled_ns: 0,
        start_ns: 0,
        connect_ns: 1,
        handshake_ns: 1,
        first_byte_ns: 1,
        whole_ns: 200_000_000,
    };
    let end = ClientLine::End(ClientEnd {
        elapsed_ns: seconds * SECOND,
        cut_off: 10,
        waiting: 2,
        sample: vec![transaction; 1000],
    });
    line(client, Duration::from_secs(1000), &end)
}

fn settings() -> LoadSettings {
    let arrivals = Load {
        pacing: Pacing::Open("1/s".parse().unwrap()),
        ..Load::single()
    };
    LoadSettings::new(arrivals, Duration::from_secs(20))
}

fn read(lines: &str) -> Result<ServerLoad, LoadError> {
    let clients = clients(lines.as_bytes())?;
    Ok(joined(&clients, &settings(), BTreeMap::new()))
}

const NEVER_LATE: fn(u64) -> Duration = |_| Duration::ZERO;
const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn rates_are_added_and_histograms_too() {
    let lines = load("a", HOUR, 20, NEVER_LATE) + &end("a", 20);
    let lines =
        lines + &load("b", HOUR, 20, |n| Duration::from_millis(300 * (n % 3))) + &end("b", 20);
    let load = read(&lines).unwrap();
    let steady = load.steady.unwrap();
    assert_eq!(steady.stretches, [(2, 20)].map(|(from, to)| (from - 1, to)));
    assert!(
        (steady.rate().0 - 100.0).abs() < 1e-9,
        "{}",
        steady.rate().0
    );
    assert_eq!(load.totals.transactions, 2000);
    assert!(
        load.seconds
            .iter()
            .all(|second| second.transactions() == 100)
    );
    assert_eq!((load.cut_off, load.waiting), (20, 4));
    assert_eq!(load.sample.len(), 1000);
    let both = ["a", "b"].map(|name| (name.to_owned(), None));
    assert_eq!(load.clients, both.into());
    assert_eq!(
        (load.limit, load.client_cpu_ns),
        (LoadLimit::Elsewhere, 2_000_000_000)
    );
}

#[test]
fn steady_is_what_all_clients_load() {
    // The second client comes three seconds late and is lost after seven.
    let late = HOUR + Duration::from_secs(3);
    let lines = load("a", HOUR, 20, NEVER_LATE) + &end("a", 20) + &load("b", late, 7, NEVER_LATE);
    let lines = lines + &line("b", HOUR, &ClientLine::Lost("no heartbeat".to_owned()));
    let load = read(&lines).unwrap();
    let steady = load.steady.unwrap();
    assert_eq!(steady.stretches, [(4, 10)]);
    assert!(
        (steady.rate().0 - 100.0).abs() < 1e-9,
        "{}",
        steady.rate().0
    );
    assert_eq!(load.elapsed_ns, 20 * SECOND);
    let says = load.clients["b"].as_deref();
    assert_eq!(says, Some("no heartbeat; it reported 7 s of load"));
    assert_eq!(load.totals.transactions, 50 * 27);
}

#[test]
fn a_client_without_time_is_the_limit() {
    let busy = |number| ClientSecond {
        busiest_ns: 950_000_000,
        ..second(number, 10)
    };
    let mut lines = load("a", HOUR, 9, NEVER_LATE);
    for number in 0..9 {
        let at = HOUR + Duration::from_secs(number + 1);
        lines += &line("b", at, &ClientLine::Second(busy(number)));
    }
    assert_eq!(read(&lines).unwrap().limit, LoadLimit::Client);
}

#[test]
fn a_client_that_never_settled_leaves_no_steady_state() {
    let mut unsettled = second(0, 10);
    unsettled.settled_ns = None;
    let at = HOUR + Duration::from_secs(1);
    let lines = load("a", HOUR, 9, NEVER_LATE) + &line("b", at, &ClientLine::Second(unsettled));
    let load = read(&lines).unwrap();
    assert_eq!(load.steady, None);
    assert!(
        load.unsteady.unwrap().contains("not every user"),
        "says why"
    );
}

#[test]
fn nonsense_is_refused_and_repetition_ignored() {
    let good = load("a", HOUR, 3, NEVER_LATE);
    assert_eq!(
        read(&(good.clone() + &good)).unwrap().totals.transactions,
        150
    );
    for wrong in [
        "",
        "x",
        "{}",
        r#"{"client":"a","at_ns":1,"told":{"command":"rm"}}"#,
        &line("a", HOUR, &ClientLine::Lost("gone".to_owned())),
        &(good + &load("b", 30 * HOUR, 1, NEVER_LATE)),
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

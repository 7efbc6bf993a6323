//! A twin behind a network: which calls travel, what overlaps, and what is refused. How exactly round trips are kept is a
//! figure of `make overhead`.

use keymark_shim_protocol::pkcs11::trace::{RemoteCalls, read};
use keymark_shim_protocol::pkcs11::{Call, Traced};

use crate::world::{World, done, parsed};

const MS: u64 = 1_000_000;

#[test]
fn calls_that_travel_are_counted_up_to_the_first_signature_and_to_the_last() {
    let (world, trace) = World::new().traced();
    world.operations((1, 1), 4, &["length"]);
    let threads = read(&trace).unwrap();
    let signing: Vec<RemoteCalls> = threads
        .iter()
        .map(|thread| thread.remote)
        .filter(|remote| remote.first > 0)
        .collect();
    // C_OpenSession, C_Login, C_FindObjectsInit and C_Sign; then C_Sign alone, and no C_SignInit.
    let expected = RemoteCalls {
        all: 7,
        first: 4,
        last: 7,
    };
    assert_eq!(signing, [expected]);
}

#[test]
fn every_call_that_travels_takes_a_round_trip_and_no_other_does() {
    let network = "round_trip_s = 0.04\nlogin_s = 0.06";
    let (world, trace) = World::new().remote(network).traced();
    let all = world.operations((1, 1), 3, &["sign"]);
    assert!(
        all.iter().all(|one| one.end - one.begin >= 60 * MS),
        "{all:?}"
    );
    let threads = read(&trace).unwrap();
    let calls = || threads.iter().flat_map(|thread| &thread.calls);
    for (traced, times) in calls() {
        let least = match traced {
            Traced::Whole(Call::C_Login) => 100,
            Traced::Whole(Call::C_Sign) => 60,
            traced if traced.is_remote() => 40,
            Traced::Load | Traced::Whole(_) | Traced::Length(_) => 0,
        };
        let shortest = times.quantile(0.0).as_millis();
        // The histogram knows a time within 1.6 %.
        assert!(shortest + 2 >= least, "{traced:?}: {shortest} ms");
    }
    let told = calls().filter(|(traced, _)| traced.is_remote()).count();
    assert_eq!(told, 4, "C_OpenSession, C_Login, C_FindObjectsInit, C_Sign");
}

#[test]
fn calls_of_several_sessions_travel_at_the_same_time() {
    let world = World::new().remote("round_trip_s = 0.2");
    let all = world.operations((1, 8), 1, &["sign"]);
    let overlapping = |one: &crate::world::Operation| {
        let others = all
            .iter()
            .filter(|other| other.begin < one.end && one.begin < other.end);
        others.count()
    };
    assert!(all.iter().any(|one| overlapping(one) > 2), "{all:?}");
}

#[test]
fn threads_that_share_two_sessions_are_served_two_at_a_time() {
    let world = World::new().remote("round_trip_s = 0.05\nsessions = 2");
    let mut client = world.client((1, 8), 2, &["sign"]);
    let all = done(&client.env("CLIENT_SESSIONS", "2").output().unwrap());
    assert_eq!(all.len(), 16);
    // Each of the two serves eight, one after the other. A busy machine only makes that longer.
    let begin = all.iter().map(|operation| operation.begin).min().unwrap();
    let end = all.iter().map(|operation| operation.end).max().unwrap();
    assert!(end - begin >= 8 * 65 * MS, "{all:?}");
}

#[test]
fn a_program_with_more_sessions_than_the_device_allows_is_told_what_to_do() {
    let world = World::new().remote("sessions = 3");
    let output = world.client((1, 4), 1, &["sign"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("C_OpenSession: 0xb1"), "{said}");
    let expected = "twin:x allows a program 3 sessions: close one before you open another";
    assert!(said.contains(expected), "{said}");
    // Each program has its own. The one that ended may have been writing to its token.
    let world = World::new().remote("sessions = 3");
    assert_eq!(world.operations((3, 3), 1, &["sign"]).len(), 9);
}

#[test]
fn what_exceeds_the_quota_is_refused_and_the_key_can_be_used_again() {
    for (error, code) in [
        ("CKR_DEVICE_ERROR", "0x30"),
        ("CKR_FUNCTION_REJECTED", "0x200"),
    ] {
        let quota = format!("quota_per_s = 5\nquota_burst = 2\nquota_error = '{error}'");
        let world = World::new().remote(&quota);
        let output = world.client((1, 1), 4, &["again"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let (refused, signed): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("refused"));
        assert!(!refused.is_empty());
        let expected = format!("refused {code}");
        assert!(
            refused.iter().all(|line| **line == *expected),
            "{refused:?}"
        );
        let signed = parsed(signed.join("\n").as_bytes());
        assert_eq!(signed.len(), 4);
        // Two at once, and the others 200 ms after each other.
        assert!(
            signed[3].end - signed[0].begin >= 2 * 200 * MS,
            "{signed:?}"
        );
    }
}

#[test]
fn a_profile_that_contradicts_itself_is_named() {
    for (network, expected) in [
        ("round_trip_s = -1", "a time must be"),
        ("round_trip_s = [0.2, 0.1]", "ascending"),
        ("quota_per_s = 0", "0 is not a rate"),
        ("quota_burst = 3", "need a quota_per_s"),
    ] {
        let world = World::new().remote(network);
        let output = world.client((1, 1), 1, &["sign"]).output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(expected), "{said}");
    }
}

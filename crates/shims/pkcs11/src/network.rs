//! The way of a call to a device behind a network. It is the caller's alone: calls of several sessions are under way at the
//! same time, and the device serves others meanwhile.

use std::cell::Cell;
use std::time::Duration;

use keymark_bench::profile::{Network, ServiceTime};
use keymark_shim_protocol::pkcs11::{Call, Traced};

use crate::clock;

/// A call to the device and its answer, in nanoseconds of `CLOCK_MONOTONIC`. To a device at this machine it takes no time.
#[derive(Debug)]
pub(crate) struct Trip {
    /// Arrival at the device.
    pub(crate) arrival: u64,
    /// Time from the device's work to the answer's arrival.
    pub(crate) back: u64,
    /// End of the device's work.
    done: Cell<u64>,
}

impl Trip {
    /// Sends a call now; times that vary are drawn.
    pub(crate) fn begin(
        what: Traced,
        network: &Network,
        draw: impl Fn(&ServiceTime) -> Duration,
    ) -> Self {
        let (mut arrival, mut back) = (clock::now(), 0);
        if what.is_remote() {
            let time = |time: &Option<ServiceTime>| {
                let drawn = time.as_ref().map(&draw).unwrap_or_default();
                clock::nanoseconds(drawn)
            };
            #[allow(clippy::wildcard_enum_match_arm, reason = "others only travel")]
            let own = match what {
                Traced::Whole(Call::C_OpenSession) => time(&network.open_session),
                Traced::Whole(Call::C_Login | Call::C_LoginUser) => time(&network.login),
                Traced::Whole(Call::C_FindObjectsInit) => time(&network.find_objects),
                _ => 0,
            };
            let round_trip = time(&network.round_trip);
            let there = round_trip / 2;
            arrival += there;
            back = round_trip - there + own;
        }
        Self {
            arrival,
            back,
            done: Cell::new(arrival),
        }
    }

    /// Waits until the call is at the device.
    pub(crate) fn arrive(&self) {
        clock::sleep_until(self.arrival);
    }

    /// Notes the end of the device's work.
    pub(crate) fn done_at(&self, end: u64) {
        self.done.set(end);
    }

    /// Waits until the answer is here.
    pub(crate) fn end(&self) {
        clock::wait_until(self.done.get() + self.back);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Option<ServiceTime> {
        Some(ServiceTime::Constant(Duration::from_millis(milliseconds)))
    }

    #[test]
    fn only_calls_that_are_sent_take_a_round_trip_and_some_take_more() {
        let network = Network {
            round_trip: ms(20),
            open_session: ms(3),
            login: ms(300),
            find_objects: ms(5),
            ..Network::default()
        };
        let took = |what| {
            let before = clock::now();
            let trip = Trip::begin(what, &network, ServiceTime::mean);
            let after = clock::now();
            let there = trip.arrival - if trip.back > 0 { 10_000_000 } else { 0 };
            assert!((before..=after).contains(&there));
            trip.back / 1_000_000
        };
        let whole = |call| took(Traced::Whole(call));
        assert_eq!(whole(Call::C_Sign), 10);
        assert_eq!(whole(Call::C_GetAttributeValue), 10);
        assert_eq!(whole(Call::C_OpenSession), 10 + 3);
        assert_eq!(whole(Call::C_Login), 10 + 300);
        assert_eq!(whole(Call::C_FindObjectsInit), 10 + 5);
        for local in [Call::C_SignInit, Call::C_FindObjectsFinal, Call::C_GetInfo] {
            assert_eq!(whole(local), 0, "{local:?}");
        }
        assert_eq!(took(Traced::Length(Call::C_Sign)), 0);
    }
}

//! Cases with which rates of servers are compared: each differs in one thing.

use std::num::NonZeroU8;

use keymark_bench::{Comparison, Parameters, Times, USUAL};
use keymark_stats::Distribution;

use super::handshake::{
    Arrangement, BALANCE, Balance, FATE, Fate, KEY_EXCHANGE, RESUMED, SECOND_CERTIFICATE, SERVERS,
    VERSION,
};
use super::{KeyExchange, TlsVersion};

pub(super) const ALL: &[Comparison] = &[
    Comparison {
        heading: "what key exchanges cost (times the RSA key exchange with that certificate)",
        times: Times::Cost,
        beside: |own| {
            own.get(KEY_EXCHANGE.name)?;
            // Only TLS 1.2 has it.
            let own = own.clone().with(&VERSION, TlsVersion::V1_2);
            Some(own.with(&KEY_EXCHANGE, KeyExchange::Rsa))
        },
    },
    Comparison {
        heading: "throughput of several servers (times that of one)",
        times: Times::Gain,
        beside: |own| {
            own.get(BALANCE.name)?;
            let single = own.clone().with(&SERVERS, NonZeroU8::MIN);
            Some(single.with(&FATE, Fate::AllLive))
        },
    },
    Comparison {
        heading: "what a second certificate costs (times a single certificate)",
        times: Times::Cost,
        beside: |own| {
            let is_one_server =
                own.get(KEY_EXCHANGE.name).is_some() && own.get(BALANCE.name).is_none();
            is_one_server.then(|| own.clone().replaced(SECOND_CERTIFICATE.name, USUAL))
        },
    },
    Comparison {
        heading: "what resumed sessions gain (times full handshakes alone)",
        times: Times::Gain,
        beside: |own| {
            own.get(KEY_EXCHANGE.name)?;
            Some(own.clone().replaced(RESUMED.name, USUAL))
        },
    },
];

/// A token each; what becomes of those that are left when one is killed is not steady.
pub(super) fn tokens(of: &Parameters) -> Option<(u8, Distribution)> {
    of.get(KEY_EXCHANGE.name)?;
    let arrangement = Arrangement::read(of).ok()?;
    let distribution = match arrangement {
        Arrangement::One | Arrangement::Beside { .. } => Distribution::Shared,
        Arrangement::Balanced { balance, fate, .. } => match (balance, fate) {
            (_, Fate::OneKilled) => return None,
            (Balance::RoundRobin, Fate::AllLive) => Distribution::RoundRobin,
            (Balance::LeastConnections, Fate::AllLive) => Distribution::LeastConn,
        },
    };
    Some((arrangement.servers().get(), distribution))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_compared_where_one_thing_differs() {
        let words = |more: &[(&str, &str)]| {
            let own = Parameters::from([("tls", "tls1.3"), ("kex", "x25519")]);
            more.iter()
                .fold(own, |set, (name, word)| set.replaced(name, word))
        };
        let beside = |of: &Parameters| -> Vec<Option<String>> {
            let each = ALL.iter().map(|one| (one.beside)(of));
            each.map(|found| found.map(|found| found.to_string()))
                .collect()
        };
        let text = |text: &str| Some(text.to_owned());
        let plain = text("tls=tls1.3;kex=x25519");
        assert_eq!(
            beside(&words(&[])),
            [text("tls=tls1.2;kex=rsa"), None, plain.clone(), plain,]
        );
        let resumed = words(&[("resumed-percent", "80"), ("client-certificate", "rsa2048")]);
        assert_eq!(
            beside(&resumed)[3],
            text("tls=tls1.3;kex=x25519;client-certificate=rsa2048")
        );
        let killed = [
            ("servers", "4"),
            ("balance", "round-robin"),
            ("fate", "one-killed"),
        ];
        assert_eq!(
            beside(&words(&killed))[..3],
            [
                text("tls=tls1.2;kex=rsa;servers=4;balance=round-robin;fate=one-killed"),
                text("tls=tls1.3;kex=x25519;balance=round-robin"),
                None,
            ]
        );
        assert_eq!(
            beside(&words(&[("second-certificate", "nistp256")]))[2],
            text("tls=tls1.3;kex=x25519")
        );
        assert_eq!(beside(&Parameters::NONE), [const { None }; 4]);
    }
}

//! What rates of servers are compared with: the case that differs in one thing.

use keymark_bench::{Comparison, Parameters, Times};
use keymark_stats::Distribution;

use super::handshake::{ARRANGEMENT, Arrangement, Balance, Fate, KEY_EXCHANGE, VERSION};
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
        beside: |own| match arrangement(own)? {
            Arrangement::Balanced { balance, .. } => {
                let single = Arrangement::Balanced {
                    servers: std::num::NonZeroU8::MIN,
                    balance,
                    fate: Fate::AllLive,
                };
                Some(own.clone().with(&ARRANGEMENT, single))
            }
            Arrangement::One | Arrangement::Beside { .. } => None,
        },
    },
    Comparison {
        heading: "what a second certificate costs (times a single certificate)",
        times: Times::Cost,
        beside: |own| match arrangement(own)? {
            Arrangement::One | Arrangement::Beside { .. } => {
                Some(own.clone().with(&ARRANGEMENT, Arrangement::One))
            }
            Arrangement::Balanced { .. } => None,
        },
    },
];

fn arrangement(of: &Parameters) -> Option<Arrangement> {
    of.get(KEY_EXCHANGE.name)?;
    Some(of.read(&ARRANGEMENT).ok()?.unwrap_or_default())
}

/// A token each; what becomes of those that are left when one is killed is not steady.
pub(super) fn tokens(of: &Parameters) -> Option<(u8, Distribution)> {
    let arrangement = arrangement(of)?;
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
        let words = |kex: &str, arrangement: &str| {
            let pairs = [
                ("tls", "tls1.3"),
                ("kex", kex),
                ("arrangement", arrangement),
            ];
            Parameters::from(pairs)
        };
        let beside = |of: &Parameters| -> Vec<Option<String>> {
            let each = ALL.iter().map(|one| (one.beside)(of));
            each.map(|found| found.map(|found| found.to_string()))
                .collect()
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            beside(&words("x25519", "usual")),
            [
                text("tls=tls1.2;kex=rsa"),
                None,
                text("tls=tls1.3;kex=x25519"),
            ]
        );
        assert_eq!(
            beside(&words("x25519", "4 servers round-robin one-killed")),
            [
                text("tls=tls1.2;kex=rsa;arrangement=4 servers round-robin one-killed"),
                text("tls=tls1.3;kex=x25519;arrangement=1 server round-robin"),
                None,
            ]
        );
        assert_eq!(
            beside(&words("x25519", "beside nistp256"))[2],
            text("tls=tls1.3;kex=x25519")
        );
        assert_eq!(beside(&Parameters::NONE), [None, None, None]);
    }
}

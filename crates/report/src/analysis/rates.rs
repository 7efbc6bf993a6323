//! Rates of servers beside the one that differs in one thing: the key exchange, the number of servers, a second
//! certificate. Loads take their turns one after the other, so that both sides are independent.

use keymark_bench::case::{Arrangement, Case, Fate, KeyExchange, Parameters, TlsVersion};
use keymark_bench::record::CaseRecord;
use keymark_stats::{Estimate, Ratio, independent_gain};
use serde::Serialize;

use super::windows;

/// In what a case differs from the one beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// RSA key exchange, with a certificate of the same size.
    KeyExchange,
    /// A single server behind the balancer.
    Servers,
    /// The certificate alone.
    Beside,
}

impl Difference {
    /// Every one, in the order of the report.
    pub const ALL: [Self; 3] = [Self::KeyExchange, Self::Servers, Self::Beside];
}

/// The rate of a case over that of the one beside it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RelativeRate {
    /// In what they differ.
    pub difference: Difference,
    /// Place of the case in the plan.
    pub case: usize,
    /// Place of the one beside it; its own where it is that one.
    pub beside: usize,
    /// The quotient.
    pub gain: Estimate<Ratio>,
}

/// Of every case that has one beside it, those included that stand beside others.
pub(super) fn relative(cases: &[CaseRecord], seed: u64) -> Vec<RelativeRate> {
    let all_windows: Vec<_> = cases.iter().map(windows).collect();
    let of_difference = |difference| {
        let pairs = cases.iter().enumerate().filter_map(move |(index, record)| {
            let wanted = beside(&record.case, difference)?;
            let has = |other: &CaseRecord| is_same(&other.case, &record.case, wanted);
            Some((index, cases.iter().position(has)?))
        });
        let pairs: Vec<(usize, usize)> = pairs.collect();
        // Alone it tells nothing.
        let compared = |beside: usize| {
            pairs
                .iter()
                .any(|&(one, other)| other == beside && one != other)
        };
        pairs
            .iter()
            .copied()
            .filter(|&(_, beside)| compared(beside))
            .collect::<Vec<_>>()
            .into_iter()
            .map(move |pair| (difference, pair))
    };
    let pairs = Difference::ALL.into_iter().flat_map(of_difference);
    pairs
        .filter_map(|(difference, (case, beside))| {
            let gain = independent_gain(&all_windows[case], &all_windows[beside], seed)?;
            let gain = if case == beside {
                gain.map(|_| Ratio(1.0))
            } else {
                gain
            };
            Some(RelativeRate {
                difference,
                case,
                beside,
                gain,
            })
        })
        .collect()
}

/// What the case beside it has.
type Wanted = (TlsVersion, KeyExchange, Arrangement);

/// RSA key exchange is of TLS 1.2 alone.
fn beside(case: &Case, difference: Difference) -> Option<Wanted> {
    let (version, exchange) = case.parameters.tls()?;
    let arrangement = case.parameters.arrangement()?;
    match (difference, arrangement) {
        (Difference::KeyExchange, _) => Some((TlsVersion::V1_2, KeyExchange::Rsa, arrangement)),
        (Difference::Servers, Arrangement::Balanced { balance, .. }) => {
            let one = Arrangement::Balanced {
                servers: std::num::NonZeroU8::MIN,
                balance,
                fate: Fate::AllLive,
            };
            Some((version, exchange, one))
        }
        (Difference::Beside, Arrangement::Beside { .. } | Arrangement::One) => {
            Some((version, exchange, Arrangement::One))
        }
        (Difference::Servers, Arrangement::One | Arrangement::Beside { .. })
        | (Difference::Beside, Arrangement::Balanced { .. }) => None,
    }
}

/// Whether it is that, and the same as the case in all else.
fn is_same(other: &Case, case: &Case, wanted: Wanted) -> bool {
    let Parameters::Tls {
        version,
        key_exchange,
        arrangement,
    } = other.parameters
    else {
        return false;
    };
    let alike = Case {
        parameters: other.parameters,
        ..case.clone()
    };
    (version, key_exchange, arrangement) == wanted && alike == *other
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{Balance, StackName, TlsVersion};
    use keymark_bench::operation::Operation;

    use super::*;
    use crate::testing::{case, server_load};

    fn loaded(exchange: KeyExchange, arrangement: Arrangement, completed: u64) -> CaseRecord {
        let mut load = server_load();
        let steady = load.steady.as_mut().unwrap();
        steady.completed = (0..20).map(|part| completed + part % 2).collect();
        let of = Case {
            operation: Operation::Handshake,
            parameters: Parameters::Tls {
                version: TlsVersion::V1_2,
                key_exchange: exchange,
                arrangement,
            },
            ..case("rsa2048", StackName::of("nginx"))
        };
        CaseRecord {
            server_load: Some(Box::new(load)),
            ..CaseRecord::new(of)
        }
    }

    fn balanced(servers: u8) -> Arrangement {
        Arrangement::Balanced {
            servers: servers.try_into().unwrap(),
            balance: Balance::RoundRobin,
            fate: Fate::AllLive,
        }
    }

    #[test]
    fn rates_stand_beside_the_case_that_differs_in_one_thing() {
        let cases = [
            loaded(KeyExchange::X25519, Arrangement::One, 50),
            loaded(KeyExchange::Rsa, Arrangement::One, 100),
            loaded(KeyExchange::X25519, balanced(1), 40),
            loaded(KeyExchange::X25519, balanced(4), 120),
        ];
        let rates = relative(&cases, 1);
        let told: Vec<_> = rates
            .iter()
            .map(|rate| (rate.difference, rate.case, rate.beside))
            .collect();
        assert_eq!(
            told,
            [
                (Difference::KeyExchange, 0, 1),
                (Difference::KeyExchange, 1, 1),
                (Difference::Servers, 2, 2),
                (Difference::Servers, 3, 2),
            ]
        );
        let half = rates[0].gain;
        assert!((half.value.0 - 50.5 / 100.5).abs() < 1e-9, "{half:?}");
        assert!(half.low.unwrap().0 > 0.49 && half.high.unwrap().0 < 0.52);
        assert_eq!(rates[1].gain.value, Ratio(1.0));
        assert!((rates[3].gain.value.0 - 120.5 / 40.5).abs() < 1e-9);
    }

    #[test]
    fn versions_of_tls_are_not_taken_for_one_another() {
        let mut newer = loaded(KeyExchange::EcdheP256, Arrangement::One, 50);
        newer.case.parameters = Parameters::Tls {
            version: TlsVersion::V1_3,
            key_exchange: KeyExchange::EcdheP256,
            arrangement: Arrangement::One,
        };
        let older = loaded(KeyExchange::EcdheP256, Arrangement::One, 100);
        assert_eq!(relative(&[older, newer], 1), []);
    }

    #[test]
    fn other_sizes_and_users_are_no_comparison() {
        let mut other = loaded(KeyExchange::Rsa, Arrangement::One, 100);
        other.case.algorithm = "rsa3072".parse().unwrap();
        let cases = [loaded(KeyExchange::X25519, Arrangement::One, 50), other];
        assert_eq!(relative(&cases, 1), []);
    }
}

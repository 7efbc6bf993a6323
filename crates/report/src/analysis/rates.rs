//! Rates of servers beside the one that differs in one thing: the key exchange, the number of servers, a second
//! certificate. Loads take their turns one after the other, so that both sides are independent.

use keymark_bench::case::{Case, Parameters, USUAL};
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
            let has = |other: &CaseRecord| is_same(&other.case, &record.case, &wanted);
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

/// The parameters of the case beside it. RSA key exchange is of TLS 1.2 alone.
fn beside(case: &Case, difference: Difference) -> Option<Parameters> {
    let own = case.parameters.clone();
    own.get("kex")?;
    let arrangement = own.get("arrangement").unwrap_or_default().to_owned();
    let words: Vec<&str> = arrangement.split(' ').collect();
    match (difference, words.as_slice()) {
        (Difference::KeyExchange, _) => Some(own.replaced("tls", "tls1.2").replaced("kex", "rsa")),
        (Difference::Servers, [_, "server" | "servers", balance, ..]) => {
            let one = format!("1 server {balance}");
            Some(own.replaced("arrangement", &one))
        }
        (Difference::Beside, [""] | ["beside", _]) => Some(own.replaced("arrangement", USUAL)),
        (Difference::Servers | Difference::Beside, _) => None,
    }
}

/// Whether it has these parameters, and is the same as the case in all else.
fn is_same(other: &Case, case: &Case, parameters: &Parameters) -> bool {
    let wanted = Case {
        parameters: parameters.clone(),
        ..case.clone()
    };
    wanted == *other
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::StackName;
    use keymark_bench::operation::Operation;

    use super::*;
    use keymark_testkit::record::{case, server_load};

    fn loaded(kex: &str, arrangement: &str, completed: u64) -> CaseRecord {
        let mut load = server_load();
        let steady = load.steady.as_mut().unwrap();
        steady.completed = (0..20).map(|part| completed + part % 2).collect();
        let of = Case {
            operation: Operation::Handshake,
            parameters: Parameters::from([
                ("tls", "tls1.2"),
                ("kex", kex),
                ("arrangement", arrangement),
            ]),
            ..case("rsa2048", StackName::of("nginx"))
        };
        CaseRecord {
            server_load: Some(Box::new(load)),
            ..CaseRecord::new(of)
        }
    }

    #[test]
    fn rates_stand_beside_the_case_that_differs_in_one_thing() {
        let cases = [
            loaded("x25519", USUAL, 50),
            loaded("rsa", USUAL, 100),
            loaded("x25519", "1 server round-robin", 40),
            loaded("x25519", "4 servers round-robin", 120),
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
        let mut newer = loaded("ecdhe-p256", USUAL, 50);
        newer.case.parameters = newer.case.parameters.replaced("tls", "tls1.3");
        let older = loaded("ecdhe-p256", USUAL, 100);
        assert_eq!(relative(&[older, newer], 1), []);
    }

    #[test]
    fn other_sizes_and_users_are_no_comparison() {
        let mut other = loaded("rsa", USUAL, 100);
        other.case.algorithm = "rsa3072".parse().unwrap();
        let cases = [loaded("x25519", USUAL, 50), other];
        assert_eq!(relative(&cases, 1), []);
    }
}

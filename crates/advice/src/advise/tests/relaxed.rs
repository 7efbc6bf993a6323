//! Answers to any question, and to one that asks for less.

use proptest::prelude::*;

use super::*;

fn question() -> impl Strategy<Value = AdviceQuestion> {
    let purpose = prop::sample::select(Purpose::ALL.to_vec());
    let until = prop::sample::select(vec!["2026-11-24", "2030-12-31", "2031-01-01", "2040-12-31"]);
    let policy = prop::sample::subsequence(vec!["nist", "bsi", "cnsa", "openpgp", "anssi"], 0..3);
    let peers = prop::sample::subsequence(
        vec!["gnupg-2.0", "gnupg-2.2", "openssh-6.4", "github"],
        0..2,
    );
    let tolerance = prop::option::of(1u64..10_000);
    let rate = prop::option::of(0.1f64..1000.0);
    (
        purpose,
        until,
        policy,
        peers,
        tolerance,
        rate,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(purpose, until, policy, peers, tolerance, rate, open, quantum)| AdviceQuestion {
                until: until.parse().unwrap(),
                policies: policy
                    .iter()
                    .flat_map(|word| Policy::find(word).unwrap())
                    .collect(),
                compatible: peers.iter().map(|word| word.parse().unwrap()).collect(),
                tolerance: tolerance.map(Duration::from_millis),
                rate,
                open_firmware: open,
                post_quantum: quantum,
                ..ask(purpose)
            },
        )
}

/// Each a constraint less.
fn relaxed(question: &AdviceQuestion) -> Vec<AdviceQuestion> {
    let mut all = vec![
        AdviceQuestion {
            tolerance: None,
            ..question.clone()
        },
        AdviceQuestion {
            tolerance: question.tolerance.map(|time| time * 2),
            ..question.clone()
        },
        AdviceQuestion {
            rate: question.rate.map(|rate| rate / 2.0),
            ..question.clone()
        },
        AdviceQuestion {
            rate: None,
            ..question.clone()
        },
        AdviceQuestion {
            open_firmware: false,
            ..question.clone()
        },
        AdviceQuestion {
            post_quantum: false,
            ..question.clone()
        },
    ];
    for left in 0..question.policies.len() {
        let mut fewer = question.clone();
        fewer.policies.remove(left);
        all.push(fewer);
    }
    for left in 0..question.compatible.len() {
        let mut fewer = question.clone();
        fewer.compatible.remove(left);
        all.push(fewer);
    }
    all
}

fn names(answers: &[Candidate<'_>]) -> Vec<(String, Algorithm)> {
    answers
        .iter()
        .map(|one| (one.id.to_owned(), one.algorithm))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn relaxing_a_constraint_never_removes_an_answer(question in question()) {
        let figures = figures();
        let candidates = question.candidates(&figures);
        let answers: BTreeSet<_> = names(&question.answers(&candidates)).into_iter().collect();
        for more in relaxed(&question) {
            let others: BTreeSet<_> = names(&more.answers(&candidates)).into_iter().collect();
            prop_assert!(others.is_superset(&answers), "{:?}", answers.difference(&others));
        }
    }

    #[test]
    fn the_order_never_depends_on_the_order_of_input(
        question in question(),
        seed in any::<u64>(),
    ) {
        let figures = figures();
        let candidates = question.candidates(&figures);
        let mut other = candidates.clone();
        let many = other.len();
        if many > 1 {
            for place in 0..many {
                let swapped = (seed as usize).wrapping_mul(place + 7) % many;
                other.swap(place, swapped);
            }
        }
        prop_assert_eq!(names(&question.answers(&candidates)), names(&question.answers(&other)));
    }

    #[test]
    fn no_answer_violates_a_constraint(question in question()) {
        let figures = figures();
        let candidates = question.candidates(&figures);
        for answer in question.answers(&candidates) {
            if let Some(tolerance) = question.tolerance {
                prop_assert!(answer.time().unwrap().0 <= tolerance.as_secs_f64());
            }
            if let Some(rate) = question.rate {
                prop_assert!(1.0 / answer.time().unwrap().0 >= rate);
            }
            if question.open_firmware {
                prop_assert_eq!(answer.open_firmware, Some(true));
            }
            if question.post_quantum {
                prop_assert_eq!(KeyFamily::of(answer.algorithm), KeyFamily::PostQuantum);
            }
            for policy in &question.policies {
                let key = KeySpec::from(answer.algorithm);
                let verdict = policy.verdict(key, Use::of(answer.operation), Act::Applying, question.until);
                prop_assert!(verdict.status.permits());
            }
            for peer in &question.compatible {
                prop_assert_eq!(peer.takes(answer.algorithm), Takes::Yes);
            }
            prop_assert!(answer.strength.unwrap() >= Strength(112));
        }
    }
}

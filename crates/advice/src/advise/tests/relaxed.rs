//! Answers to any question, and to one that asks for less.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

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
    let changes: [fn(&mut AdviceQuestion); 6] = [
        |asked| asked.tolerance = None,
        |asked| asked.tolerance = asked.tolerance.map(|time| time * 2),
        |asked| asked.rate = asked.rate.map(|rate| rate / 2.0),
        |asked| asked.rate = None,
        |asked| asked.open_firmware = false,
        |asked| asked.post_quantum = false,
    ];
    let changed = |change: &dyn Fn(&mut AdviceQuestion)| {
        let mut fewer = question.clone();
        change(&mut fewer);
        fewer
    };
    let mut all: Vec<_> = changes.iter().map(|change| changed(change)).collect();
    for left in 0..question.policies.len() {
        all.push(changed(&|asked| drop(asked.policies.remove(left))));
    }
    for left in 0..question.compatible.len() {
        all.push(changed(&|asked| drop(asked.compatible.remove(left))));
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
    fn relaxing_a_constraint_removes_no_answer_and_input_has_any_order(
        question in question(),
        seed in any::<u64>(),
    ) {
        let figures = figures();
        let candidates = question.candidates(&figures);
        let answers = names(&question.answers(&candidates));
        for more in relaxed(&question) {
            let others = names(&more.answers(&candidates));
            prop_assert!(answers.iter().all(|one| others.contains(one)), "{others:?}");
        }
        let mut shuffled = candidates;
        shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        prop_assert_eq!(answers, names(&question.answers(&shuffled)));
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

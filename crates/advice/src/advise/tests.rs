mod relaxed;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use keymark_bench::case::{Case, Load, Parameters, StackName};
use keymark_bench::record::CaseRecord;
use keymark_bench::server_load::{Batch, ServerLoad, Steady};
use keymark_records::published::PublishedTable;
use keymark_report::render::{Width, text};
use keymark_testkit::{assert_says, record};

use super::*;

/// What is published: the same everywhere.
fn figures() -> Figures {
    Figures::default().with_published(PublishedTable::collection())
}

fn ask(purpose: Purpose) -> AdviceQuestion {
    let today = "2026-11-24".parse().unwrap();
    AdviceQuestion {
        purpose,
        today,
        until: today,
        policies: Vec::new(),
        open_firmware: false,
        tolerance: None,
        compatible: Vec::new(),
        rate: None,
        post_quantum: false,
        old_clients: 0.0,
        devices: Vec::new(),
        algorithms: Vec::new(),
    }
}

/// The four keycards of the article.
fn in_2017() -> AdviceQuestion {
    let devices = ["yubikey-neo", "yubikey-4", "nitrokey-pro", "fst-01"];
    AdviceQuestion {
        devices: devices.map(str::to_owned).to_vec(),
        ..ask(Purpose::Card)
    }
}

fn keys(words: &[&str]) -> Vec<Algorithm> {
    words.iter().map(|word| word.parse().unwrap()).collect()
}

fn shown(question: &AdviceQuestion) -> String {
    let document = question.document(&figures());
    text::render(&document, Width::Columns(100))
}

#[test]
fn the_articles_conclusion_follows_from_its_figures() {
    let rsa4096 = AdviceQuestion {
        algorithms: keys(&["rsa4096"]),
        tolerance: Some(Duration::from_secs(2)),
        ..in_2017()
    };
    insta::assert_snapshot!(shown(&rsa4096));
    let curve = AdviceQuestion {
        algorithms: keys(&["cv25519"]),
        open_firmware: true,
        tolerance: Some(Duration::from_secs(2)),
        ..in_2017()
    };
    insta::assert_snapshot!(shown(&curve));
}

#[test]
fn policies_and_programs_leave_keys_out() {
    let question = AdviceQuestion {
        policies: Policy::find("nist").unwrap(),
        until: "2035-12-31".parse().unwrap(),
        open_firmware: true,
        compatible: vec!["gnupg-2.2".parse().unwrap()],
        ..in_2017()
    };
    insta::assert_snapshot!(shown(&question));
}

#[test]
fn a_server_with_old_clients_gets_two_certificates() {
    let question = AdviceQuestion {
        old_clients: 0.2,
        algorithms: keys(&["rsa2048", "rsa3072", "nistp256"]),
        ..ask(Purpose::Server)
    };
    insta::assert_snapshot!(shown(&question));
}

/// A load of that certificate on a server, with that number of transactions per tenth of a second.
fn load(algorithm: &str, in_a_part: u64) -> CaseRecord {
    let steady = Steady {
        stretches: vec![(1, 3)],
        batches: (0..20)
            .map(|round| Batch {
                completed: in_a_part + u64::from(round % 2),
                length_ns: 100_000_000,
                round,
            })
            .collect(),
    };
    let case = Case {
        operation: Operation::Handshake,
        parameters: Parameters::from([("tls", "tls1.3"), ("kex", "x25519")]),
        load: Load::closed(NonZeroU32::new(8).unwrap()),
        ..record::case(algorithm, StackName::of("nginx"))
    };
    CaseRecord {
        server_load: Some(Box::new(ServerLoad {
            steady: Some(steady),
            ..record::server_load()
        })),
        ..CaseRecord::new(case)
    }
}

#[test]
fn a_servers_costs_are_the_archives_where_its_intervals_tell_them_apart() {
    let question = AdviceQuestion {
        old_clients: 0.2,
        algorithms: keys(&["rsa3072", "nistp256"]),
        ..ask(Purpose::Server)
    };
    let said = |of_rsa: u64| {
        let run = record::of(vec![load("nistp256", 200), load("rsa3072", of_rsa)]);
        let figures = Figures::of(&[run], |_| true);
        let document = question.document(&figures);
        text::render(&document, Width::Unlimited)
    };
    let apart = said(50);
    assert_says(
        &apart,
        [
            "costs 1.59 times one with nistp256, against 3.9",
            "(measured, 20260101-000000-0002)",
        ],
    );
    // It is the only key exchange here: there is nothing that it is faster than.
    assert!(!apart.contains("was the fastest"), "{apart}");
    assert_says(
        &said(200),
        ["'keymark tls suite dual' measures what that costs"],
    );
}

#[test]
fn nothing_that_fits_has_no_table() {
    let question = AdviceQuestion {
        algorithms: keys(&["ed25519"]),
        ..ask(Purpose::Server)
    };
    let shown = shown(&question);
    assert_says(&shown, ["no certificate that browsers take"]);
    assert!(!shown.contains("known issues"), "{shown}");
}

#[test]
fn a_timestamping_service_is_told_how_long_keys_live() {
    let question = AdviceQuestion {
        until: "2040-12-31".parse().unwrap(),
        policies: Policy::find("nist").unwrap(),
        algorithms: keys(&["rsa2048", "rsa3072", "ed25519", "nistp384", "mldsa65"]),
        ..ask(Purpose::Timestamping)
    };
    insta::assert_snapshot!(shown(&question));
}

#[test]
fn keys_for_logins_and_mail_are_those_that_the_program_takes() {
    let figures = figures();
    let answers = |question: &AdviceQuestion| -> BTreeSet<&'static str> {
        let candidates = question.candidates(&figures);
        let answers = question.answers(&candidates);
        answers.iter().map(|one| one.algorithm.name()).collect()
    };
    for (purpose, taken, refused) in [
        (
            Purpose::Ssh,
            ["ed25519", "rsa2048"],
            ["mldsa65", "brainpoolp256r1"],
        ),
        (
            Purpose::Email,
            ["cv25519", "rsa2048"],
            ["mlkem768", "ed25519"],
        ),
    ] {
        let answers = answers(&ask(purpose));
        assert!(taken.iter().all(|key| answers.contains(key)), "{answers:?}");
        assert!(
            !refused.iter().any(|key| answers.contains(key)),
            "{answers:?}"
        );
    }
    let old = AdviceQuestion {
        compatible: vec!["gnupg-2.1".parse().unwrap()],
        ..ask(Purpose::Email)
    };
    assert!(!answers(&old).contains("cv25519"));
}

#[test]
fn a_figure_is_of_the_program_that_is_asked_for() {
    let figures = figures();
    let gpg = &Purpose::Card.facts().ways[0];
    let of = |owner: &str, key: &str, operation| {
        let found = figures.through(gpg, owner, key.parse().unwrap(), operation);
        found.cloned()
    };
    let published = of("yubikey-4", "rsa4096", Operation::Decrypt).unwrap();
    assert_eq!(published.provenance.word(), "published");
    assert!((published.time.value.0 - 0.875).abs() < 1e-9);
    // Nobody published these.
    assert!(of("yubikey-4", "rsa4096", Operation::Sign).is_none());
    assert!(of("nitrokey-pro-2", "rsa4096", Operation::Decrypt).is_none());
}

/// A run of this machine through gpg and alone, with these milliseconds.
fn gpg_here(key: &str, whole: u64, alone: u64) -> keymark_bench::Record {
    let case = |stack, mean: u64| {
        let case = Case {
            operation: Operation::Decrypt,
            ..record::case(key, stack)
        };
        let mean = mean * 1_000_000;
        let blocks = (0..4).map(|round| record::block(round, &[mean, mean]));
        CaseRecord {
            blocks: blocks.collect(),
            ..CaseRecord::new(case)
        }
    };
    record::of(vec![
        case(StackName::GPG, whole),
        case(StackName::RAW, alone),
    ])
}

#[test]
fn a_cards_command_and_this_machines_gpg_add_up_and_nothing_discontinued_is_advised() {
    let run = gpg_here("rsa3072", 10, 4);
    let figures = Figures::of(&[run], |_| true).with_published(PublishedTable::collection());
    let question = AdviceQuestion {
        policies: Policy::find("nist").unwrap(),
        until: "2035-12-31".parse().unwrap(),
        tolerance: Some(Duration::from_secs(2)),
        compatible: vec!["gnupg-2.2".parse().unwrap()],
        ..ask(Purpose::Card)
    };
    let candidates = question.candidates(&figures);
    let answers = question.answers(&candidates);
    let nitrokey = answers.iter().find(|one| one.id == "nitrokey-3").unwrap();
    let parts = nitrokey.cost.unwrap().parts.unwrap();
    assert_eq!(parts.command, Operation::Authenticate);
    assert!((parts.program.0 - 0.006).abs() < 1e-6, "{parts:?}");
    let sum = nitrokey.cost.unwrap().time.value.0;
    assert!((sum - parts.card.0 - parts.program.0).abs() < 1e-9);
    assert!(answers.iter().all(|one| one.sale != Some(false)));
    // The figures of firmware 5.1.2 are none of the one that is sold.
    let sold = |one: &&Candidate<'_>| one.id == "yubikey-5-57";
    assert!(candidates.iter().filter(sold).all(|one| one.cost.is_none()));
    let shown = text::render(&question.document(&figures), Width::Unlimited);
    assert_says(
        &shown,
        [
            "estimated: card",
            "published to authenticate + gpg 6.00 ms here",
            "YubiKey 5 (firmware 5.7 and later) with rsa3072",
            "discontinued",
        ],
    );
}

/// An archive's run of keys in files, each through each of the programs with a random time: microseconds.
fn random_run(random: &mut rand_chacha::ChaCha8Rng) -> keymark_bench::Record {
    use rand::RngExt;
    let keys = ["rsa2048", "rsa4096", "nistp256", "ed25519", "cv25519"];
    let set = |name, word| Parameters::from([(name, word)]);
    let programs = [
        ("raw", Parameters::NONE, Operation::Sign),
        ("raw", set("library", "libgcrypt"), Operation::Sign),
        ("ssh", set("agent", "openssh"), Operation::Authenticate),
        ("gpg", Parameters::NONE, Operation::Sign),
        ("gpg", Parameters::NONE, Operation::Decrypt),
        ("gpg", set("protection", "cached"), Operation::Decrypt),
    ];
    let mut cases = Vec::new();
    for key in keys {
        for (stack, parameters, operation) in &programs {
            let algorithm: Algorithm = key.parse().unwrap();
            if !algorithm.has(*operation) || random.random_range(0..3) == 0 {
                continue;
            }
            let case = Case {
                operation: *operation,
                parameters: parameters.clone(),
                ..record::case(key, StackName::of(stack))
            };
            let mean = random.random_range(10_000..1_000_000u64);
            let blocks = (0..4).map(|round| record::block(round, &[mean, mean + 10]));
            cases.push(CaseRecord {
                blocks: blocks.collect(),
                ..CaseRecord::new(case)
            });
        }
    }
    record::of(cases)
}

#[test]
fn advice_never_prefers_what_the_same_program_shows_to_be_slower_nor_a_broken_device() {
    use rand::SeedableRng;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(44);
    let mut ranked = 0;
    for _ in 0..60 {
        let figures = Figures::of(&[random_run(&mut random)], |_| true)
            .with_published(PublishedTable::collection());
        for purpose in Purpose::ALL {
            let question = ask(*purpose);
            let answers = question.answers(&question.candidates(&figures));
            let first = &answers[0];
            for answer in &answers {
                assert!(!answer.weaknesses.iter().any(|known| known.is_open()));
                let (Some(one), Some(other)) = (first.cost, answer.cost) else {
                    continue;
                };
                ranked += 1;
                assert_eq!(one.stack, other.stack, "{purpose}");
                let in_files = [one, other].map(|figure| figure.owner == SOFTWARE);
                assert!(in_files != [true; 2] || one.parameters == other.parameters);
                assert_ne!(answer.sale, Some(false));
                assert!(
                    answer.rank() != first.rank() || !answer.is_below(first),
                    "{purpose}: {} {}",
                    first.algorithm,
                    answer.algorithm
                );
            }
        }
    }
    assert!(ranked > 200, "{ranked}");
}

#[test]
fn other_machines_and_failed_cases_are_no_figures_of_this_machine() {
    use rand::SeedableRng;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let run = random_run(&mut random);
    let raw = &Purpose::Server.facts().ways[0];
    let known = |figures: &Figures| {
        let mut keys = Algorithm::all();
        keys.any(|key| {
            figures
                .through(raw, SOFTWARE, key, Operation::Sign)
                .is_some()
        })
    };
    assert!(known(&Figures::of(std::slice::from_ref(&run), |_| true)));
    assert!(!known(&Figures::of(&[run], |_| false)));
}

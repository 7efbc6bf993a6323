//! Statements about concurrency.

use keymark_bench::case::{Pacing, StackName};
use keymark_bench::record::{CaseRecord, Record};
use keymark_bench::stop::{StopRule, Stopped};
use keymark_report::analysis::{Analysis, Limit};
use keymark_report::document::RemarkKind;
use keymark_report::render::{Width, markdown};
use keymark_testkit::layers::layers;
use keymark_testkit::record::{measured, of as record, signing as case};

use crate::{only, plain};

/// Through gpg, an operation alone takes 10 ms; with more workers, what the scalability law says.
fn by_the_law(algorithm: &str, sigma: f64, kappa: f64) -> impl Iterator<Item = CaseRecord> {
    [1, 2, 4, 8, 16].into_iter().map(move |c| {
        let n = f64::from(c);
        let stretch = 1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0);
        measured(case(algorithm, StackName::GPG, c), 10_000.0 * stretch)
    })
}

/// The agent takes a tenth of the time for one key, and six tenths for the other.
fn two_keys() -> Record {
    let agents = [
        measured(case("ed25519", StackName::AGENT, 1), 1_000.0),
        measured(case("rsa4096", StackName::AGENT, 1), 6_000.0),
    ];
    let parallel = by_the_law("ed25519", 0.05, 0.02).chain(by_the_law("rsa4096", 0.6, 0.0));
    record(agents.into_iter().chain(parallel).collect())
}

#[test]
fn the_table_of_what_concurrency_gains() {
    let record = two_keys();
    let document = Analysis::of(&record, &layers()).document(&record, &[]);
    let document = only(document, "in parallel");
    insta::assert_snapshot!("scaling", plain(&document, Width::Unlimited));
    insta::assert_snapshot!("scaling_narrow", plain(&document, Width::Columns(100)));
    insta::assert_snapshot!("scaling_markdown", markdown::render(&document).unwrap());
}

#[test]
fn the_law_and_the_limits_are_found_again() {
    let analysis = Analysis::of(&two_keys(), &layers());
    let [retrograde, serial] = &analysis.scaling[..] else {
        panic!("{:?}", analysis.scaling)
    };
    assert_eq!(retrograde.limit(), Some(Limit::Cores));
    assert_eq!(serial.limit(), Some(Limit::Server("agent")));
    let law = retrograde.law.as_ref().unwrap();
    assert!((law.sigma.value - 0.05).abs() < 0.02, "{:?}", law.sigma);
    assert!((law.kappa.value - 0.02).abs() < 0.005, "{:?}", law.kappa);
    // √((1 − σ) / κ) is 6.9: of what was measured, 8 is the best.
    assert_eq!(retrograde.falls(), Some((8, 16)));
    assert_eq!(serial.falls(), None, "it never falls");
}

#[test]
fn three_levels_make_no_law_and_flat_data_do_not_fall() {
    // Within their noise of 1 % the levels are alike: a serial server.
    let flat = [1, 4, 10].map(|c| {
        measured(
            case("rsa4096", StackName::GPG, c),
            10_000.0 * f64::from(c) * 1.000_1,
        )
    });
    let analysis = Analysis::of(&record(flat.into()), &layers());
    let [group] = &analysis.scaling[..] else {
        panic!("{:?}", analysis.scaling)
    };
    assert!(group.law.is_err(), "{:?}", group.law);
    assert_eq!(group.falls(), None);
}

#[test]
fn an_open_loop_and_a_single_level_scale_nothing() {
    let mut open = case("ed25519", StackName::GPG, 4);
    open.load.pacing = Pacing::Open("10/s".parse().unwrap());
    let alone = measured(case("ed25519", StackName::GPG, 1), 10_000.0);
    let analysis = Analysis::of(&record(vec![alone, measured(open, 20_000.0)]), &layers());
    assert_eq!(analysis.scaling, []);
}

/// Remarks on precision of two cases that ended so, of which the second has few blocks.
fn imprecise(target: &str, endings: [Stopped; 2]) -> Vec<String> {
    let mut run = record(vec![
        measured(case("rsa2048", StackName::RAW, 1), 500.0),
        measured(case("rsa4096", StackName::RAW, 1), 3_000.0),
    ]);
    run.cases[1].blocks.truncate(8);
    run.plan.settings.stop = StopRule::Precision {
        target: target.parse().unwrap(),
        max_time: None,
    };
    for (case, stopped) in run.cases.iter_mut().zip(endings) {
        case.ending.as_mut().unwrap().stopped = stopped;
    }
    let warnings = Analysis::of(&run, &layers()).warnings(&run).into_iter();
    let imprecise = warnings.filter(|warning| warning.kind == RemarkKind::Imprecision);
    imprecise.map(|warning| warning.text).collect()
}

#[test]
fn a_precision_that_was_missed_is_said_with_what_was_reached() {
    let (late, met) = (Stopped::OutOfTime, Stopped::RuleMet);
    let said = [[late, met], [late; 2]].map(|endings| imprecise("0.01%", endings).remove(0));
    insta::assert_snapshot!("late", said.join("\n"));
    let said = imprecise("0.01%", [met; 2]);
    assert_eq!(said.len(), 1);
    let begins = "2 of 2 cases met ±0.010 % and then lost it; in the end: ±";
    assert!(said[0].starts_with(begins), "{said:?}");
    for endings in [[late; 2], [met; 2]] {
        assert_eq!(imprecise("50%", endings), [] as [&str; 0]);
    }
}

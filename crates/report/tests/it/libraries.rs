//! Which library the layers of a stack use.

use keymark_bench::case::{Case, Parameters, Provenance, StackName, StoreKind};
use keymark_bench::record::CaseRecord;
use keymark_report::analysis::{Analysis, Basis, Breakdown, FamilyBreakdown, Layer};
use keymark_report::render::Width;
use keymark_testkit::layers::layers;
use keymark_testkit::record::{measured, of as record, signing as case};

use crate::plain;

/// RSA as on a server: a millisecond in OpenSSL, ten in libgcrypt, half of one in the agent, and two in gpg.
fn of_software(algorithm: &str, libgcrypt: Option<f64>) -> Vec<CaseRecord> {
    let stack = |stack| case(algorithm, stack, 1);
    let loaded = Case {
        parameters: Parameters::from([("library", "libgcrypt")]),
        ..stack(StackName::RAW)
    };
    let mut cases = vec![measured(stack(StackName::RAW), 1_000.0)];
    cases.extend(libgcrypt.map(|time| measured(loaded, time)));
    cases.push(measured(stack(StackName::AGENT), 10_500.0));
    cases.push(measured(stack(StackName::GPG), 12_500.0));
    cases
}

fn analysis(cases: Vec<CaseRecord>) -> FamilyBreakdown {
    let analysis = Analysis::of(&record(cases), &layers());
    let [family] = &analysis.breakdowns[..] else {
        panic!("{:?}", analysis.breakdowns)
    };
    family.clone()
}

fn remarks(family: &FamilyBreakdown) -> Vec<String> {
    let all = family.libraries().into_iter();
    all.map(|remark| remark.text).collect()
}

/// What is added at a step, in microseconds.
fn adds(breakdown: &Breakdown, step: usize) -> f64 {
    match breakdown.steps[step].unwrap() {
        Layer::Adds(difference) => difference.value.0 * 1e6,
        other @ (Layer::AtMost(_) | Layer::Less(_)) => panic!("{other:?}"),
    }
}

#[test]
fn layers_stand_on_what_their_programs_calculate_with() {
    let family = analysis(of_software("rsa4096", Some(10_000.0)));
    let breakdown = &family.breakdowns[0];
    assert_eq!((breakdown.basis, family.breakdowns.len()), (Basis::Own, 1));
    assert!((breakdown.base.unwrap().value.0 - 0.010).abs() < 1e-4);
    assert!((breakdown.beside.unwrap().value.0 - 0.001).abs() < 1e-5);
    assert!(
        (adds(breakdown, 0) - 500.0).abs() < 100.0,
        "the agent's part"
    );
    assert_eq!(breakdown.paths[0].bottom, "key (libgcrypt)");
    // The operation is most of the whole, however fast OpenSSL is.
    assert_eq!(remarks(&family), ["raw is libgcrypt"]);
}

#[test]
fn where_their_library_was_not_measured_that_is_said_and_no_share_judged() {
    let family = analysis(of_software("rsa4096", None));
    let breakdown = &family.breakdowns[0];
    assert_eq!((breakdown.basis, breakdown.beside), (Basis::StandIn, None));
    assert!((adds(breakdown, 0) - 9_500.0).abs() < 100.0);
    assert_eq!(breakdown.own_share(), None);
    assert_eq!(remarks(&family), ["raw is OpenSSL"]);
    let mixed = [
        of_software("rsa4096", Some(10_000.0)),
        of_software("rsa2048", None),
    ];
    let said = remarks(&analysis(mixed.concat()));
    assert_eq!(said, ["raw is libgcrypt", "in 1 of 2 cases raw is OpenSSL"]);
}

#[test]
fn a_card_calculates_itself() {
    let on_card = |stack| Case {
        store: StoreKind::OPENPGP_CARD,
        provenance: Provenance::Virtual,
        ..case("rsa4096", stack, 1)
    };
    let family = analysis(vec![
        measured(on_card(StackName::RAW), 10_000.0),
        measured(on_card(StackName::AGENT), 11_000.0),
        measured(on_card(StackName::GPG), 12_000.0),
    ]);
    assert_eq!(family.breakdowns[0].basis, Basis::Own);
    assert!((adds(&family.breakdowns[0], 0) - 1_000.0).abs() < 100.0);
    assert_eq!(family.breakdowns[0].paths[0].bottom, "key");
    assert_eq!(remarks(&family), [""; 0]);
}

#[test]
fn the_table_shows_both_libraries_on_a_terminal_of_100_columns() {
    let record = record(of_software("rsa4096", Some(10_000.0)));
    let mut document = Analysis::of(&record, &layers()).document(&record, &[]);
    // Between them: devices of today.
    document.sections.remove(1);
    document.sections.truncate(2);
    document.head.clear();
    document.warnings.clear();
    insta::assert_snapshot!(plain(&document, Width::Columns(100)));
}

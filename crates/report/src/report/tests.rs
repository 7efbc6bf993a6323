use keymark_bench::record::Record;
use keymark_testkit::record::{measured, mixed as record, of, signing};

use super::*;
use crate::analysis::Analysis;

fn part(record: &Record) -> Part<'_> {
    Part {
        record,
        document: Analysis::of(record, &[]).document(record, &[]),
        rerun: None,
    }
}

#[test]
fn one_runs_report_is_that_runs() {
    let record = record("one");
    let own = part(&record).document;
    let whole = report(vec![part(&record)], None);
    assert_eq!(
        whole.title.as_deref(),
        Some("GnuPG keys on AMD EPYC, 2 cores")
    );
    assert_eq!(
        (&whole.verdict, &whole.sections),
        (&own.verdict, &own.sections)
    );
    assert_eq!((&whole.head, &whole.warnings), (&own.head, &own.warnings));
}

#[test]
fn of_several_runs_each_line_says_whose_it_is() {
    let (one, other) = (record("one"), record("other"));
    let whole = report(vec![part(&one), part(&other)], None);
    let headings: Vec<&str> = whole
        .sections
        .iter()
        .filter_map(|section| section.heading.as_deref())
        .collect();
    assert!(
        headings
            .first()
            .is_some_and(|heading| heading.starts_with("run one: ")),
        "{headings:?}"
    );
    let other = headings
        .iter()
        .any(|heading| heading.starts_with("run other"));
    assert!(other, "{headings:?}");
    assert!(
        whole
            .head
            .iter()
            .all(|line| line.starts_with("run one: ") || line.starts_with("run other: "))
    );
    assert_eq!(whole.warnings.len(), 2 * part(&one).document.warnings.len());
}

#[test]
fn a_title_names_keys_and_machine() {
    let mut run = of(vec![measured(signing("rsa2048", StackName::GPG, 1), 500.0)]);
    run.environment.cores = 2;
    run.environment.cpu_model = Some("AMD EPYC Processor (with IBPB)".to_owned());
    assert_eq!(title(&[&run]), "GnuPG keys on AMD EPYC, 2 cores");
    run.environment.cpu_model = Some("Intel(R) Core(TM) i5-6200U CPU @ 2.30GHz".to_owned());
    assert_eq!(title(&[&run]), "GnuPG keys on Intel Core i5-6200U, 2 cores");
    assert_eq!(
        title(&[&run, &run]),
        "GnuPG keys on Intel Core i5-6200U, 2 cores: 2 runs compared"
    );
}

use std::collections::BTreeSet;

use keymark_bench::case::DeviceName;
use keymark_testkit::assert_says;
use keymark_testkit::record::mixed as record;

use super::{Measured, *};
use crate::analysis::Analysis;

/// A bit of everything, on a device whose name is an attack on each of the forms.
fn cases() -> Vec<Measured> {
    let mut record = record("20261121-045027-c309");
    let evil = DeviceName::new("a\"b\\c\n# EOF\n</testcase>&'\u{1b}[2J=1+1");
    for (case, planned) in record.cases.iter_mut().zip(&mut record.plan.cases) {
        case.case.device = evil.clone();
        planned.device = evil.clone();
    }
    let rows = Analysis::of(&record, &[]).rows;
    rows.iter().map(Measured::from).collect()
}

/// The main rules of the grammar (openmetrics.io, "ABNF"): TYPE before samples, families in one piece, a unit at the end of
/// the name, labels escaped, no series twice, EOF at the end and nowhere else.
#[test]
fn openmetrics_follows_the_grammar() {
    let text = openmetrics::render("20261121-045027-c309", &cases());
    assert!(text.ends_with("# EOF\n"));
    assert_eq!(text.matches("# EOF\n").count(), 1, "{text}");
    let (mut family, mut seen, mut series) = (String::new(), BTreeSet::new(), BTreeSet::new());
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(kind, "gauge");
            assert!(seen.insert(name.to_owned()), "{name} is in two places");
            family = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').unwrap();
            assert!(
                name == family && name.ends_with(&format!("_{unit}")),
                "{line}"
            );
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(rest.starts_with(&format!("{family} ")), "{line}");
        } else {
            let (labels, value) = line.rsplit_once("} ").unwrap();
            let (name, labels) = labels.split_once('{').unwrap();
            assert_eq!(name, family);
            assert!(value.parse::<f64>().unwrap().is_finite(), "{line}");
            assert!(
                series.insert((name.to_owned(), labels.to_owned())),
                "{line} is there twice"
            );
            let quotes = labels.replace("\\\\", "").replace("\\\"", "");
            assert_eq!(quotes.matches('"').count(), 2 * 13, "{labels}");
            assert!(labels.contains("provenance=\"measured\""));
        }
    }
    assert!(seen.contains("keymark_operation_mean_seconds"), "{seen:?}");
    assert_eq!(openmetrics::render("x", &[]), "# EOF\n");
}

#[test]
fn junit_counts_what_failed_and_says_why() {
    let xml = ci::junit("run", &cases()).unwrap();
    assert_says(
        &xml,
        ["tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""],
    );
    assert_eq!(xml.matches("<testcase ").count(), 3);
    assert_eq!(
        xml.matches("</testcase>").count(),
        3,
        "markup in a name is none: {xml}"
    );
    assert_says(&xml, ["gpg --decrypt: exit status 2; see &#39;gpg -K&#39;"]);
    let opened = xml.matches('<').count();
    assert_eq!(opened, xml.matches('>').count());
}

#[test]
fn github_benchmark_has_a_number_for_each_case_that_has_a_mean() {
    let text = ci::github("run", &cases()).unwrap();
    let entries: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entries = entries.as_array().unwrap();
    // One of the three was not measured, one failed.
    assert_eq!(entries.len(), 1);
    for entry in entries {
        assert_eq!(entry["unit"], "ms");
        assert!(entry["value"].as_f64().unwrap() > 0.0);
        assert!(entry["name"].as_str().unwrap().ends_with("(measured)"));
        assert!(entry["extra"].as_str().unwrap().contains("operations"));
    }
    assert!(entries[0]["range"].as_str().unwrap().starts_with("± "));
}

#[test]
fn samples_have_a_line_for_each_operation() {
    let run = record("20261121-045027-c309");
    let exported = Exported::Runs {
        runs: std::slice::from_ref(&run),
        families: &[],
        document: &|| unreachable!("samples are no report"),
    };
    let text = (SAMPLES.write)(&exported).unwrap();
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let written: f64 = table
        .deserialize::<(String, String, u32, u32, u64, u64, u64, f64, String)>()
        .map(|row| row.unwrap().7)
        .sum();
    let samples = run
        .cases
        .iter()
        .flat_map(|case| &case.blocks)
        .flat_map(|block| &block.samples);
    let measured: f64 = samples.map(|sample| sample.latency().as_secs_f64()).sum();
    assert!(measured > 0.0 && (written - measured).abs() < 1e-9);
}

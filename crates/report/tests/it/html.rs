//! The page: nothing from outside is markup in it, it asks nothing of anybody, and it is a page whatever the run.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use keymark_bench::case::{Case, DeviceName, StackName};
use keymark_bench::record::{Record, RunId};
use keymark_report::analysis::Analysis;
use keymark_report::compare::{Comparison, Criteria, Side};
use keymark_report::document::{Block, Document, PAGE_ROWS, Rerun};
use keymark_report::render::html::{self, ReadIn};
use keymark_report::report::{Part, report};
use keymark_report::verdict::Finding;
use keymark_stats::BetweenRuns;
use keymark_testkit::layers::layers;
use keymark_testkit::record::{failed, measured, of as record, signing as case};
use keymark_testkit::{assert_says, assert_silent};
use serde_json::Value;
use sha2::{Digest, Sha256};

const MARKUP: &str = "</script><img src=x onerror=alert(1)>\"'<!--&\u{202e}";

fn part(record: &Record) -> Part<'_> {
    Part {
        record,
        document: Analysis::of(record, &layers()).document(record, &[]),
        rerun: Some(Rerun {
            run: record.id.to_string(),
            command: "keymark bench".to_owned(),
            remark: None,
        }),
    }
}

fn page(record: &Record) -> String {
    html::render(report(vec![part(record)], None), ReadIn::File).unwrap()
}

fn on(device: &str, algorithm: &str) -> Case {
    Case {
        device: DeviceName::new(device),
        ..case(algorithm, StackName::RAW, 1)
    }
}

/// The content of the only element that begins so.
fn element<'p>(page: &'p str, begin: &str, end: &str) -> &'p str {
    let (before, rest) = page.split_once(begin).unwrap();
    assert!(!before.contains(begin), "two elements begin with {begin}");
    rest.split_once(end).unwrap().0
}

fn data(page: &str) -> Value {
    let json = element(
        page,
        "<script type=\"application/json\" id=\"data\">",
        "</script>",
    );
    serde_json::from_str(json).unwrap()
}

#[test]
fn markup_from_outside_is_text() {
    let mut run = record(vec![
        measured(on(MARKUP, "rsa2048"), 500.0),
        failed(on(MARKUP, "rsa4096"), MARKUP),
    ]);
    run.id = RunId(MARKUP.to_owned());
    run.environment.cpu_model = Some(MARKUP.to_owned());
    run.environment
        .versions
        .insert(MARKUP.to_owned(), MARKUP.to_owned());
    let mut part = part(&run);
    part.rerun = Some(Rerun {
        run: MARKUP.to_owned(),
        command: format!("keymark bench --device {MARKUP}"),
        remark: Some(MARKUP.to_owned()),
    });
    let page = html::render(report(vec![part], None), ReadIn::File).unwrap();
    assert_eq!(page.matches("</script").count(), 2);
    for hostile in ["<img", "<!--", "\u{202e}"] {
        assert!(!page.contains(hostile), "{hostile}");
    }
    let tables = &data(&page)["sections"];
    let texts = tables.to_string();
    assert!(
        texts.contains(&serde_json::to_string(MARKUP).unwrap()),
        "{texts}"
    );
}

#[test]
fn the_policy_lets_in_what_is_there_and_nothing_else() {
    let page = page(&record(vec![measured(on("software", "rsa2048"), 500.0)]));
    let policy = element(&page, "Content-Security-Policy\" content=\"", "\"");
    let policy = policy.replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    let own = [("<style>", "</style>"), ("<script>", "</script>")];
    for (begin, end) in own {
        let digest = Sha256::digest(element(&page, begin, end).as_bytes());
        let hash = format!("'sha256-{}'", STANDARD.encode(digest));
        assert_says(&policy, [&hash]);
    }
    assert_silent(&policy, ["unsafe"]);
    // Nothing is fetched, and no element has a style, which the policy would refuse.
    for asks in [
        " src=",
        "@import",
        "<link",
        "<iframe",
        " style=",
        " onclick=",
    ] {
        assert!(!page.contains(asks), "{asks}");
    }
}

#[test]
fn too_many_rows_are_counted() {
    let run = record(vec![measured(on("software", "rsa2048"), 500.0)]);
    let mut document = report(vec![part(&run)], None);
    // Before the table of cases: the overview, and devices of today.
    document.sections.drain(..2);
    let Some(Block::Table(table)) = document.sections[0].blocks.first_mut() else {
        panic!("no table");
    };
    table.rows = vec![table.rows[0].clone(); 25_000];
    let page = html::render(document, ReadIn::File).unwrap();
    let rows = page.matches("<tr class=\"measured\">").count();
    assert_eq!(rows, PAGE_ROWS);
    assert!(page.contains("showing the first 2000 of 25000 rows"));
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
}

#[test]
fn a_run_of_nothing_is_a_page_that_says_so() {
    let empty = page(&record(Vec::new()));
    assert!(empty.contains("This run has no case"));
    assert!(empty.contains("Not enough data for this table"));
    let only_failures = page(&record(vec![
        failed(on("software", "rsa2048"), "no key"),
        failed(on("software", "rsa4096"), "no key"),
    ]));
    assert!(only_failures.contains("2 of 2 cases failed"));
    assert!(only_failures.contains("<td class=\"n\">failed</td>"));
}

#[test]
fn one_sample_and_absurd_times_are_shown() {
    let only = |nanoseconds: u64, algorithm: &str| {
        let mut one = measured(on("software", algorithm), 500.0);
        one.blocks.truncate(1);
        one.blocks[0].samples.truncate(1);
        one.blocks[0].samples[0].end.0 = one.blocks[0].samples[0].start.0 + nanoseconds;
        one
    };
    let run = record(vec![
        only(0, "rsa2048"),
        only(1, "rsa3072"),
        only(u64::MAX / 4, "rsa4096"),
    ]);
    let page = page(&run);
    let rows = page.matches("<tr class=\"measured\">").count();
    assert_eq!(rows, 3, "with their intervals");
    assert!(
        !page.contains("NaN") && !page.contains(">inf"),
        "not a number is no figure"
    );
}

#[test]
fn runs_that_differ_are_told_apart() {
    let first = record(vec![measured(on("software", "rsa2048"), 500.0)]);
    let mut second = record(vec![measured(on("software", "rsa2048"), 1_500.0)]);
    second.id = RunId("20260102-000000-0003".to_owned());
    second.environment.kernel = Some("6.1".to_owned());
    let side = |run: &Record| Side {
        name: run.id.to_string(),
        runs: vec![run.clone()],
    };
    let sides = [side(&first), side(&second)];
    let comparison = Comparison::of(&sides, BetweenRuns::ASSUMED, Criteria::default());
    let document = report(vec![part(&first), part(&second)], Some(&comparison));
    let differences: Vec<String> = differences(&document);
    assert_eq!(differences, ["kernel"]);
    let verdict = document.verdict.as_ref().unwrap();
    assert!(matches!(verdict.finding, Finding::Changes { .. }));
    let whose = "20260102-000000-0003 against 20260101-000000-0002: ";
    assert!(verdict.headline().starts_with(whose));
    let page = html::render(document, ReadIn::File).unwrap();
    let row = "<tr class=\"differs\"><th scope=\"row\">kernel</th><td>-</td><td>6.1</td>";
    assert!(page.contains(row));
    assert!(page.contains(">run 20260101-000000-0002 against 20260102-000000-0003</h2>"));
}

fn differences(document: &Document) -> Vec<String> {
    let conditions = document.conditions.as_ref().unwrap();
    conditions
        .differences()
        .map(|fact| fact.name.clone())
        .collect()
}

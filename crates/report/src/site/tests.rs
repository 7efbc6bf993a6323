use keymark_bench::case::{DeviceName, StackName};
use keymark_bench::record::{Record, RunId};
use keymark_testkit::record::{block, case, mixed as record};

use super::*;
use crate::charts::Axis;
use crate::document::{Block, RemarkKind};
use keymark_records::exchange::json;

fn source(record: &Record, origin: RecordOrigin) -> SiteSource {
    let analysis = crate::analysis::Analysis::of(record, &[]);
    let mut file = Vec::new();
    json::write(record, &mut file).unwrap();
    let file = String::from_utf8(file).unwrap();
    SiteSource::of(record, &analysis, origin, &file)
}

fn shipped() -> Vec<SiteSource> {
    let source = |article: &keymark_records::published::PublishedTable| {
        source(&article.record().unwrap(), RecordOrigin::Shipped(*article))
    };
    keymark_records::published::PublishedTable::of_times()
        .map(source)
        .collect()
}

fn contributed(records: &[Record]) -> Vec<SiteSource> {
    records
        .iter()
        .map(|record| source(record, RecordOrigin::Contributed))
        .collect()
}

fn site(records: &[Record]) -> Site {
    Site::of(
        "x".to_owned(),
        Devices::Contributed,
        contributed(records),
        shipped(),
    )
}

/// A twin of the YubiKey 4 that decrypts, on a machine with that processor.
fn twin(run: &str, processor: &str) -> Record {
    let mut record = record(run);
    record.environment.cpu_model = Some(processor.to_owned());
    let mut case = case("rsa2048", StackName::GPG);
    case.device = DeviceName::new("twin:yubikey-4");
    case.provenance = Provenance::Twin;
    record.plan.cases = vec![case.clone()];
    record.cases.truncate(1);
    record.cases[0].case = case;
    record.cases[0].blocks = (0..9)
        .map(|round| block(round, &[160_000_000, 161_000_000]))
        .collect();
    record.stores[0].device = DeviceName::new("twin:yubikey-4");
    record.stores[0].provenance = Provenance::Twin;
    record.stores[0].product = "twin of a YubiKey 4".to_owned();
    record
}

/// The site of these records alone.
fn alone(records: &[Record]) -> Site {
    Site::of(
        "x".to_owned(),
        Devices::Contributed,
        contributed(records),
        Vec::new(),
    )
}

fn ids(site: &Site) -> Vec<&str> {
    site.devices
        .iter()
        .map(|device| device.identified.id.as_str())
        .collect()
}

#[test]
fn a_device_has_all_its_sources_and_others_none() {
    let site = site(&[twin("a", "One"), twin("b", "Two")]);
    assert_eq!(
        ids(&site),
        ["yubikey-4"],
        "nobody contributed to the others"
    );
    let device = &site.devices[0];
    let names: Vec<&str> = device
        .sources
        .iter()
        .map(|of| site.sources[of.source].name.as_str())
        .collect();
    assert_eq!(names.len(), 3);
    assert!(names.contains(&"published-lwn-2017-keycards"), "{names:?}");
    assert_eq!((site.machines.len(), site.machines_of(device)), (2, 2));
    let kinds: Vec<_> = device
        .kinds
        .iter()
        .map(|(kind, number)| (*kind, *number))
        .collect();
    assert_eq!(kinds, [(Provenance::Twin, 2), (Provenance::Published, 2)]);
    let anchors: Vec<&str> = device
        .sections
        .iter()
        .map(|each| each.anchor.as_str())
        .collect();
    assert_eq!(anchors, ["rsa2048-decrypt", "rsa4096-decrypt"]);
}

#[test]
fn addresses_stay_when_others_are_added() {
    let mut other = record("c");
    other.environment.cpu_model = Some("Three".to_owned());
    let before = site(&[twin("a", "One"), other.clone()]);
    let mut like_it = other.clone();
    like_it.id = RunId("d".to_owned());
    like_it.environment.cpu_model = Some("three".to_owned());
    let after = site(&[like_it, twin("b", "Two"), other, twin("a", "One")]);
    for id in ids(&before) {
        assert!(ids(&after).contains(&id), "{id}");
    }
    assert_eq!(after.devices.len(), 3, "{:?}", ids(&after));
    let address = |site: &Site, run: &str| {
        let found = site.sources.iter().find(|source| source.name == run);
        found.unwrap().address.clone()
    };
    for run in ["a", "c"] {
        assert_eq!(address(&before, run), address(&after, run));
    }
}

#[test]
fn chart_and_table_have_the_same_rows_and_say_what_they_are() {
    let site = site(&[twin("a-shared", "One")]);
    let section = &site.devices[0].sections[0];
    let [
        Block::Picture(chart),
        Block::Table(table),
        Block::Remark(mixed),
        ..,
    ] = section.blocks.as_slice()
    else {
        panic!("{:?}", section.blocks);
    };
    let Axis::Rows(groups) = &chart.panels[0].y else {
        panic!("{chart:?}");
    };
    let rows: Vec<_> = groups.iter().flat_map(|group| &group.rows).collect();
    assert_eq!(rows.len(), table.rows.len());
    assert_eq!(rows[0].label, "a", "that it is shared is said above");
    assert_eq!(mixed.kind, RemarkKind::MixedProvenance);
    assert_eq!(
        section.about,
        "RSA, 112-bit security; 2 figures of 2 records on 1 machine. 95 % intervals in brackets."
    );
}

#[test]
fn every_number_has_its_interval_and_n_or_says_that_there_is_none() {
    let mut short = record("short");
    short.cases[0].blocks = vec![block(0, &[100])];
    for site in [site(&[short]), site(&[twin("a", "One")])] {
        for section in site.devices.iter().flat_map(|device| &device.sections) {
            for block in &section.blocks {
                let Block::Table(table) = block else {
                    continue;
                };
                let cells = table.rows.iter().flat_map(|row| row.iter().enumerate());
                for (column, cell) in cells {
                    let words = crate::render::words(cell);
                    let is_figure = column > 4 && words.starts_with(|c: char| c.is_ascii_digit());
                    assert!(!is_figure || words.contains('('), "{words}");
                    assert!(column != 4 || words != "-", "no number of operations");
                }
            }
        }
    }
}

#[test]
fn devices_that_only_articles_have_are_shown_if_asked_for() {
    let contributed = || contributed(&[twin("a", "One")]);
    let all = Site::of(
        "x".to_owned(),
        Devices::AlsoPublished,
        contributed(),
        shipped(),
    );
    let shown = ids(&all);
    assert_eq!(ids(&site(&[twin("a", "One")])), ["yubikey-4"]);
    let published = shipped();
    let published = published.iter().flat_map(|source| &source.devices);
    for device in published {
        let id = device.identified.id.as_str();
        assert!(shown.contains(&id), "{id}");
    }
    let no_figures = all.devices.iter().find(|device| device.sections.is_empty());
    assert!(no_figures.is_none(), "{no_figures:?}");
}

#[test]
fn runs_of_one_name_are_told_apart() {
    let mut other = twin("a", "One");
    other.cases[0].blocks.pop();
    let site = alone(&[twin("a", "One"), other]);
    let names: Vec<&str> = site
        .sources
        .iter()
        .map(|source| source.name.as_str())
        .collect();
    assert!(
        names[0] != names[1] && names.iter().all(|name| name.starts_with("a (")),
        "{names:?}"
    );
}

#[test]
fn only_addresses_of_pages_are_links() {
    let mut with_note = twin("a", "One");
    with_note.cases[0].blocks.clear();
    with_note.cases[0].published = Some(keymark_bench::record::PublishedMean {
        mean: keymark_stats::Seconds(1.0),
        n: None,
        note: "see https://example.org/a?b=c javascript:alert(1) http://\u{202e}x https:// data:text/html,x \
               https://example.org/a?b=c"
            .to_owned(),
        band: None,
        waiting: None,
    });
    let site = alone(&[with_note]);
    assert_eq!(
        site.devices[0].sources[0].links,
        ["https://example.org/a?b=c"]
    );
}

#[test]
fn a_chart_of_many_records_has_no_colours_that_repeat() {
    let of = |number: usize| {
        let records: Vec<Record> = (0..number)
            .map(|each| twin(&format!("r{each}"), "One"))
            .collect();
        let site = alone(&records);
        let Block::Picture(chart) = &site.devices[0].sections[0].blocks[0] else {
            panic!("no picture");
        };
        chart.keys.len()
    };
    assert_eq!((of(8), of(9)), (8, 0), "rows have their names");
}

#[test]
fn predictions_have_their_band_and_no_interval() {
    let mut predicted = twin("a", "One");
    let seconds = keymark_stats::Seconds;
    predicted.cases[0].case.provenance = Provenance::Predicted;
    predicted.plan.cases[0].provenance = Provenance::Predicted;
    predicted.cases[0].blocks.clear();
    predicted.cases[0].published = Some(keymark_bench::record::PublishedMean {
        mean: seconds(0.9),
        n: None,
        note: String::new(),
        band: Some(keymark_stats::Band {
            low: seconds(0.8),
            high: seconds(1.1),
        }),
        waiting: None,
    });
    predicted.stores[0].product = "A part, simulated".to_owned();
    let site = alone(&[predicted]);
    assert_eq!(
        site.machines.len(),
        0,
        "this computer's speed does not matter"
    );
    assert_eq!(site.devices[0].identified.name, "A part");
    let section = &site.devices[0].sections[0];
    let [Block::Picture(chart), Block::Table(table), ..] = section.blocks.as_slice() else {
        panic!("{:?}", section.blocks);
    };
    assert_eq!(
        (chart.panels[0].marks.len(), chart.x.label.as_str()),
        (2, "predicted time")
    );
    let words = |column| crate::render::words(&table.rows[0][column]);
    assert_eq!(
        (words(4), words(5)),
        (
            "calculated".to_owned(),
            "900 ms (800–1100), a band".to_owned()
        )
    );
    assert!(section.about.ends_with("Bands of assumptions in brackets."));
}

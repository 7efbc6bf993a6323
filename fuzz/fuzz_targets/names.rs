//! Names of readers and cards: in statements about them, in tables and spreadsheets, in scdaemon's configuration.

#![no_main]

use keymark_report::document::TableOf;
use keymark_report::render::{Width, text};
use keymark_report::visible::{json, no_formula, visible, visible_lines};
use keymark_stacks::gnupg::scdaemon::ScdaemonReader;
use keymark_stores::openpgp_card::catalogue::{Catalogue, Evidence};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|name: &str| {
    let harmful = |c: char| c.is_control() || c == '\u{202e}';
    assert!(!visible(name).contains(harmful));
    assert!(!visible_lines(name).contains(|c| harmful(c) && c != '\n' && c != '\t'));
    assert!(!no_formula(name).starts_with(['=', '+', '-', '@']));
    let written = json(&name).expect("text has a form in JSON");
    assert!(!written.contains(harmful));
    assert_eq!(
        serde_json::from_str::<String>(&written).ok().as_deref(),
        Some(name)
    );
    let table = TableOf::new([name]).name("reader", |name| (*name).to_owned());
    let table = text::table(&table.table(), Width::Unlimited);
    assert_eq!(table.lines().count(), 2, "{table:?}");

    let reader = ScdaemonReader::Pcscd {
        name: name.to_owned(),
        socket: None,
    };
    if reader.check().is_ok() {
        assert_eq!((name.lines().count(), name.trim()), (1, name));
    }
    let evidence = Evidence {
        manufacturer: name.len() as u16,
        ..Evidence::default()
    };
    let product = Catalogue::shipped().identify(&evidence);
    assert!(!product.is_empty());
});

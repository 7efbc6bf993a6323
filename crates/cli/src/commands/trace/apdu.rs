//! Names of commands (OpenPGP card 3.4.1 §7.2), from their headers alone.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use keymark_bench::shipped::shipped;
use keymark_shim_protocol::trace::Apdu;
use serde::Deserialize;

/// Placeholders of digits, by the first of them. A dot matches any digit.
type Names = BTreeMap<String, String>;

#[derive(Deserialize)]
struct File {
    commands: Names,
    refusals: Names,
    objects: Names,
}

static FILE: LazyLock<File> =
    LazyLock::new(|| shipped(include_str!("../../../../../data/openpgp-card.toml")));

/// The longest that fits.
fn longest<'n>(names: &'n Names, digits: &str) -> Option<&'n str> {
    let fits = |pattern: &str| {
        let mut pairs = pattern.chars().zip(digits.chars());
        pairs.all(|(wanted, digit)| wanted == '.' || wanted == digit)
    };
    let fitting = names.iter().filter(|(pattern, _)| fits(pattern));
    let found = fitting.max_by_key(|(pattern, _)| pattern.len());
    found.map(|(_, name)| name.as_str())
}

/// The specification's name, with what tells commands of one instruction apart.
pub(super) fn name(apdu: &Apdu) -> String {
    let [class, ins, p1, p2] = apdu.header;
    let tag = u16::from_be_bytes([p1, p2]);
    let object = longest(&FILE.objects, &format!("{tag:04X}"));
    let object = object.map(|object| format!(" ({object})"));
    let tag = format!("{tag:02X}{}", object.unwrap_or_default());
    let name = match longest(&FILE.commands, &format!("{ins:02X}{p1:02X}{p2:02X}")) {
        Some(name) => name.replace("{tag}", &tag),
        None => format!("INS {ins:02X} {p1:02X}{p2:02X}"),
    };
    let chained = if class & 0x10 == 0 { "" } else { ", chained" };
    name + chained
}

/// A status word that is no success, with what it says.
pub(super) fn refusal(word: u16) -> String {
    let digits = format!("{word:04X}");
    let said = longest(&FILE.refusals, &digits).unwrap_or_default();
    let said = said.replace("{tries}", &(word & 0xF).to_string());
    format!("{digits} {said}").trim_end().to_owned()
}

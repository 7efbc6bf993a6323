//! Contents of a site's pages: links, and no markup of anybody's.

use std::collections::{BTreeMap, BTreeSet};

use keymark_testkit::place::text;

pub(crate) fn pages(files: &BTreeMap<String, Vec<u8>>) -> impl Iterator<Item = (&String, String)> {
    let pages = files.iter().filter(|(name, _)| name.ends_with(".html"));
    pages.map(|(name, content)| (name, text(content)))
}

/// The values of an attribute.
fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let begin = format!(" {name}=\"");
    let each = page.split(&begin).skip(1);
    each.map(|rest| rest.split_once('"').unwrap().0).collect()
}

/// Every link of every page leads to a file of the site, and to a place in it; and every file is led to.
pub(crate) fn assert_no_dead_link(files: &BTreeMap<String, Vec<u8>>) {
    let pages: BTreeMap<&String, String> = pages(files).collect();
    let mut led_to: BTreeSet<String> = BTreeSet::from(["index.html".to_owned()]);
    for (name, page) in &pages {
        for link in attributes(page, "href") {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            let (path, anchor) = link.split_once("#").unwrap_or((link, ""));
            let mut parts: Vec<&str> = name.split('/').collect();
            parts.pop();
            for part in path.split('/').filter(|_| !path.is_empty()) {
                match part {
                    ".." => assert!(parts.pop().is_some(), "{name}: {link} leaves the site"),
                    part => parts.push(part),
                }
            }
            let target = if path.is_empty() {
                (*name).clone()
            } else {
                parts.join("/")
            };
            assert!(
                files.contains_key(&target),
                "{name}: {link} leads to no {target}"
            );
            // Chosen filters are no places.
            if !anchor.is_empty() && !anchor.contains('=') {
                let ids = attributes(&pages[&target], "id");
                assert!(ids.contains(&anchor), "{name}: {link}");
            }
            led_to.insert(target);
        }
    }
    let alone: Vec<&String> = files
        .keys()
        .filter(|name| !led_to.contains(*name))
        .collect();
    assert!(alone.is_empty(), "nothing leads to {alone:?}");
}

/// Nothing of [`MARKUP`] and the like is more than text.
pub(crate) fn assert_no_markup(files: &BTreeMap<String, Vec<u8>>) {
    for (name, page) in pages(files) {
        for hostile in [
            "<img",
            "<b>",
            "<script>x",
            "\u{202e}",
            "\u{1b}",
            "\u{2028}",
            "\0",
            "href=\"javascript:",
        ] {
            assert!(!page.contains(hostile), "{name}: {hostile:?}");
        }
        let scripts = page.matches("</script").count();
        assert!(scripts <= 2, "{name}: {scripts}");
    }
}

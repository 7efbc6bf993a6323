//! The archive's runs as a page with a search, for keymark's local page.

use askama::Template;
use itertools::Itertools;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use super::{FormatError, STYLE, of_page};
use crate::archive::{Found, RunSearch, Window};

const SCRIPT: &str = include_str!("../../../templates/runs.js");
/// More names than this do not fit a cell.
const NAMES: usize = 8;

/// Whether the page has a form to upload a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Import {
    /// It has; keymark was started with that.
    Allowed,
    /// It has not.
    Refused,
}

#[derive(Template)]
#[template(path = "runs.html")]
struct Runs<'a> {
    archive: &'a str,
    search: &'a RunSearch,
    window: Window,
    found: &'a Found,
    import: bool,
}

/// The page of what was found.
pub fn runs(
    archive: &str,
    search: &RunSearch,
    window: Window,
    found: &Found,
    import: Import,
) -> Result<String, FormatError> {
    let import = import == Import::Allowed;
    let page = Runs {
        archive,
        search,
        window,
        found,
        import,
    };
    Ok(page.render()?)
}

impl Runs<'_> {
    fn shown(&self) -> u64 {
        self.found.runs.len() as u64
    }

    fn newer(&self) -> Option<String> {
        let Window { skip, take } = self.window;
        (skip > 0).then(|| link(self.search, skip.saturating_sub(take)))
    }

    fn older(&self) -> Option<String> {
        let Window { skip, take } = self.window;
        let (shown, all) = (self.shown(), self.found.all);
        (skip + shown < all && shown > 0).then(|| link(self.search, skip + take))
    }
}

/// What this page may do: ask the server that it is from.
pub fn policy_of_runs() -> String {
    of_page(&STYLE, SCRIPT, "'self'") + "; connect-src 'self'; frame-ancestors 'none'"
}

/// The same search, further on.
fn link(search: &RunSearch, skip: u64) -> String {
    let asked = [
        ("device", search.device.clone()),
        ("algorithm", search.algorithm.clone()),
        ("from", search.from.map(|day| day.to_string())),
        ("to", search.to.map(|day| day.to_string())),
    ];
    let asked = asked
        .iter()
        .filter_map(|(name, value)| Some((name, percent(value.as_ref()?))));
    let asked = asked.map(|(name, value)| format!("&{name}={value}"));
    format!("/?skip={skip}{}", asked.format(""))
}

/// As a part of an address (RFC 3986 §2.1).
fn percent(text: &str) -> PercentEncode<'_> {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');
    utf8_percent_encode(text, ESCAPED)
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;
    use crate::archive::RunLine;
    use keymark_bench::record::RunId;
    use keymark_testkit::record::mixed as record;

    #[test]
    fn names_are_text_and_links_lead_to_them() {
        let mut run = RunLine {
            id: RunId("<b>\"&x".to_owned()),
            started: record("x").started,
            state: record("x").state,
            cases: 1,
            samples: 2,
            devices: vec![keymark_bench::case::DeviceName::new("<i>")],
            algorithms: Vec::new(),
            series: None,
        };
        let search = RunSearch {
            device: Some("\"><script>".to_owned()),
            ..RunSearch::default()
        };
        let window = Window { skip: 50, take: 50 };
        let found = |runs| Found { runs, all: 200 };
        let page = runs(
            "a",
            &search,
            window,
            &found(vec![run.clone()]),
            Import::Refused,
        )
        .unwrap();
        assert!(!page.contains("<b>") && !page.contains("<i>") && !page.contains("<script"));
        assert!(page.contains("/report?run=%3Cb%3E%22%26x"));
        assert_says(&page, ["/?skip=0&#38;device=%22%3E%3Cscript%3E"]);
        assert!(page.contains("Runs 51 to 51 of 200."));
        run.id.0 = "plain".to_owned();
        let page = runs("a", &search, window, &found(vec![run]), Import::Allowed).unwrap();
        assert_eq!(page.matches("<script").count(), 1);
    }
}

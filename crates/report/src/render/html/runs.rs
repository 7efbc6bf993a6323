//! The archive's runs as a page with a search, for keymark's local page.

use askama::Template;

use super::{HtmlError, STYLE, policy};
use crate::archive::{Found, RunLine, RunSearch, Window};
use crate::visible::visible;

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
struct Runs {
    style: &'static str,
    script: &'static str,
    archive: String,
    device: String,
    algorithm: String,
    from: String,
    to: String,
    found: String,
    runs: Vec<Line>,
    newer: Option<String>,
    older: Option<String>,
    import: bool,
}

struct Line {
    id: String,
    value: String,
    link: String,
    started: String,
    state: &'static str,
    cases: u64,
    samples: u64,
    devices: String,
    algorithms: String,
    series: String,
}

/// The page of what was found.
pub fn runs(
    archive: &str,
    search: &RunSearch,
    window: Window,
    found: &Found,
    import: Import,
) -> Result<String, HtmlError> {
    let own = |text: &Option<String>| text.clone().unwrap_or_default();
    let day = |day: Option<jiff::civil::Date>| day.map(|day| day.to_string()).unwrap_or_default();
    let shown = found.runs.len() as u64;
    let page = Runs {
        style: &STYLE,
        script: SCRIPT,
        archive: visible(archive).into_owned(),
        device: own(&search.device),
        algorithm: own(&search.algorithm),
        from: day(search.from),
        to: day(search.to),
        found: match (found.all, shown) {
            (0, _) => "No run matches.".to_owned(),
            (all, 0) => format!("{all} runs, none on this page."),
            (all, shown) => format!(
                "Runs {} to {} of {all}.",
                window.skip + 1,
                window.skip + shown
            ),
        },
        runs: found.runs.iter().map(line).collect(),
        newer: (window.skip > 0).then(|| link(search, window.skip.saturating_sub(window.take))),
        older: (window.skip + shown < found.all && shown > 0)
            .then(|| link(search, window.skip + window.take)),
        import: match import {
            Import::Allowed => true,
            Import::Refused => false,
        },
    };
    Ok(page.render()?)
}

/// What this page may do: ask the server that it is from.
pub fn policy_of_runs() -> String {
    policy::of_page(&STYLE, SCRIPT, "'self'") + "; connect-src 'self'; frame-ancestors 'none'"
}

fn line(run: &RunLine) -> Line {
    let id = &run.id.0;
    Line {
        id: visible(id).into_owned(),
        value: id.clone(),
        link: percent(id),
        started: run.started.strftime("%Y-%m-%d %H:%M").to_string(),
        state: super::state(run.state),
        cases: run.cases,
        samples: run.samples,
        devices: few(run.devices.iter().map(ToString::to_string)),
        algorithms: few(run.algorithms.iter().map(ToString::to_string)),
        series: run
            .series
            .as_ref()
            .map(|series| visible(&series.0).into_owned())
            .unwrap_or_default(),
    }
}

fn few(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| visible(&name).into_owned()).collect();
    match names.len().checked_sub(NAMES) {
        Some(more) if more > 0 => format!("{} and {more} more", names[..NAMES].join(", ")),
        _ => names.join(", "),
    }
}

/// The same search, further on.
fn link(search: &RunSearch, skip: u64) -> String {
    let mut link = format!("/?skip={skip}");
    let texts = [("device", &search.device), ("algorithm", &search.algorithm)];
    for (name, value) in texts {
        if let Some(value) = value {
            link.push_str(&format!("&{name}={}", percent(value)));
        }
    }
    for (name, day) in [("from", search.from), ("to", search.to)] {
        if let Some(day) = day {
            link.push_str(&format!("&{name}={day}"));
        }
    }
    link
}

/// As a part of an address (RFC 3986 §2.1).
fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;
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

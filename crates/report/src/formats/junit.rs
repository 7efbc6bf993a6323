//! JUnit's XML, as CI servers read it: a test case is a case, its time the mean of an operation in seconds.

use askama::Template;

use super::measured::{Measured, measured};
use crate::render::Format;

pub(super) static FORMAT: Format = Format {
    word: "junit",
    about: "JUnit's XML: one test case for each case, its time the mean in seconds",
    endings: &[],
    write: |exported, out| {
        Ok(out.write_all(render(&exported.name(), &measured(exported))?.as_bytes())?)
    },
};

#[derive(Template)]
#[template(path = "junit.xml")]
struct Suite<'a> {
    of: &'a str,
    cases: &'a [Measured],
}

/// One suite; `of` is the run or series.
pub(super) fn render(of: &str, cases: &[Measured]) -> askama::Result<String> {
    Suite { of, cases }.render()
}

impl Suite<'_> {
    fn counts(&self) -> String {
        let failures = self.cases.iter().filter(|case| case.failure.is_some());
        let skipped = self.cases.iter();
        let skipped = skipped.filter(|case| case.failure.is_none() && case.mean.is_none());
        format!(
            " tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
            self.cases.len(),
            failures.count(),
            skipped.count()
        )
    }
}

fn seconds(measured: &Measured) -> String {
    format!("{:.9}", measured.mean.map_or(0.0, |mean| mean.value.0))
}

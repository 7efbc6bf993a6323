//! JUnit's XML of what is no run: something that was judged is a test case.

use askama::Template;

/// A test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// What cases of its kind have in common, with points between.
    pub class: String,
    /// What tells it apart.
    pub name: String,
    /// What is wrong with it, if anything is.
    pub failure: Option<String>,
}

#[derive(Template)]
#[template(path = "suite.xml")]
struct Suite<'a> {
    name: &'a str,
    tests: &'a [Test],
}

/// One suite of that name. Text may be from outside.
///
/// # Errors
/// When there is no memory for it.
pub fn suite(name: &str, tests: &[Test]) -> askama::Result<String> {
    Suite { name, tests }.render()
}

impl Suite<'_> {
    fn counts(&self) -> String {
        let failures = self.tests.iter().filter(|test| test.failure.is_some());
        format!(
            " tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\"",
            self.tests.len(),
            failures.count()
        )
    }
}

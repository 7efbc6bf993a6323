//! Files that programs are configured by, from templates (`templates/`): a comment in one is what an administrator has to
//! know of the line below.

use askama::Template;
use keymark_bench::{During as _, Error};

/// Treatment of comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    Written,
    Left,
}

/// A template's lines, without those that are empty: they are its own.
pub(crate) fn written(template: &impl Template, comments: Comments) -> Result<String, Error> {
    let text = template.render().during("writing a configuration")?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines = lines.filter(|line| comments == Comments::Written || !line.starts_with('#'));
    Ok(lines.map(|line| format!("{line}\n")).collect())
}

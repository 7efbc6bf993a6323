//! Files that programs are configured by, from templates (`templates/`): a comment in one is what an administrator has to
//! know of the line below.

use askama::Template;
use keymark_bench::{During as _, Error};

/// Whether the comments are written as well.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_written_for_people_alone() {
        #[derive(Template)]
        #[template(source = "\n# it has to be\na on\n\n# and never b\n", ext = "txt")]
        struct Lines;
        assert_eq!(written(&Lines, Comments::Left).unwrap(), "a on\n");
        assert_eq!(
            written(&Lines, Comments::Written).unwrap(),
            "# it has to be\na on\n# and never b\n"
        );
    }
}

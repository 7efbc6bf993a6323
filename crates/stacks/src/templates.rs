//! Files that programs are configured by, from templates (`templates/`): a comment in one is what an administrator has to
//! know of the line below.

use std::path::Path;

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

/// A path that is valid between double quotes in the configuration of Apache, nginx and haproxy.
pub(crate) fn quotable<'p>(what: &'static str, path: &'p Path) -> Result<&'p str, Error> {
    spoken(what, path, "\"'`\\${}#;%")
}

/// A path that is valid in OpenSSL's configuration as it is (config(5)), in a line of shell, or in a unit of systemd's.
pub(crate) fn plain<'p>(what: &'static str, path: &'p Path) -> Result<&'p str, Error> {
    spoken(what, path, " \"'`\\${}#;&|<>()*?!~%")
}

fn spoken<'p>(what: &'static str, path: &'p Path, special: &str) -> Result<&'p str, Error> {
    let means_something = |letter: char| letter.is_control() || special.contains(letter);
    let text = path.to_str().filter(|path| !path.contains(means_something));
    text.ok_or_else(|| {
        let path = path.to_string_lossy();
        let reason =
            format!("{what} cannot be in it: {path:?} has characters with a meaning there");
        let advice = "give it another name, by a symbolic link";
        Error::call("writing a configuration", reason, advice)
    })
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn a_path_that_means_something_is_refused() {
        for path in [
            "/a\"b",
            "/a\nUser root",
            "/a$b",
            "/a;b",
            "/a\\b",
            "/a{b",
            "/a%{b",
        ] {
            let error = quotable("the key's file", Path::new(path)).unwrap_err();
            assert_says(&error, ["the key's file cannot be in it"]);
            assert!(!error.to_string().contains('\n'), "{error}");
        }
        let spaced = Path::new("/my keys/key.pem");
        assert_eq!(quotable("", spaced).unwrap(), "/my keys/key.pem");
        assert!(plain("", spaced).is_err());
        assert_eq!(plain("", Path::new("/a/b-c_d.e")).unwrap(), "/a/b-c_d.e");
    }
}

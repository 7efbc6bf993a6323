//! The configuration of servers, as text: for keymark's own ones, and the same for administrators.
//!
//! Sessions are off. With TLS 1.3 OpenSSL 3.0 sends two tickets all the same, which no server takes up again.
//!
//! Keys on tokens: by the engine as `engine:pkcs11:URI` (nginx) and with `SSLCryptoDevice` (Apache); by the
//! provider as a PEM file with the URI, since mod_ssl, given a URI, would ask for the engine first.

use std::fmt::Write as _;
use std::path::Path;

use crate::tls::servers::error::Impossible;
use crate::tls::servers::openssl::with_level;
use crate::tls::servers::spec::{Capacity, Handshakes, SecurityLevel};

/// For administrators, where a key is reached by the engine.
pub(crate) const ENGINE_WITHOUT_RSA_EXCHANGE: &str = "No RSA key exchange (kRSA): since OpenSSL 3.0 engines' keys cannot \
                                           decrypt for it, and such handshakes fail; with pkcs11-provider they \
                                           work.";

/// A line, and why it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directive {
    text: String,
    why: &'static str,
}

impl Directive {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            why: "",
        }
    }

    /// With what an administrator has to know of it.
    pub(crate) fn because(self, why: &'static str) -> Self {
        Self { why, ..self }
    }

    /// A trap that no line stands for.
    pub(crate) fn warning(why: &'static str) -> Self {
        Self::new("").because(why)
    }
}

/// Whether the reasons are written as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    Written,
    Left,
}

/// Longest line of a comment.
const WIDTH: usize = 100;

/// The lines, each behind `indent`.
pub(crate) fn text(lines: &[Directive], comments: Comments, indent: &str) -> String {
    let mut text = String::new();
    for Directive { text: line, why } in lines {
        if comments == Comments::Written && !why.is_empty() {
            text += &comment(why, indent);
        }
        if !line.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{indent}{line}");
        }
    }
    text
}

/// Words as a comment of several lines.
pub(crate) fn comment(words: &str, indent: &str) -> String {
    let indent = format!("{indent}# ");
    filled(words, &indent, &indent) + "\n"
}

/// Words in lines, each no longer than [`WIDTH`] but for words that are longer by themselves, behind these indents.
pub(crate) fn filled(words: &str, first: &str, others: &str) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(others)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .break_words(false);
    textwrap::fill(&words.join(" "), options)
}

/// A path that can stand between double quotes in the configuration of Apache, nginx and haproxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuotedPath(String);

impl QuotedPath {
    pub(crate) fn new(what: &'static str, path: &Path) -> Result<Self, Impossible> {
        spoken(what, path, "\"'`\\${}#;%").map(|path| Self(format!("\"{path}\"")))
    }
}

impl std::fmt::Display for QuotedPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path that can stand in OpenSSL's configuration as it is (config(5)), in a line of shell, or in a unit of systemd's.
pub(crate) fn plain<'p>(what: &'static str, path: &'p Path) -> Result<&'p str, Impossible> {
    spoken(what, path, " \"'`\\${}#;&|<>()*?!~%")
}

fn spoken<'p>(what: &'static str, path: &'p Path, special: &str) -> Result<&'p str, Impossible> {
    let means_something = |letter: char| letter.is_control() || special.contains(letter);
    let text = path.to_str().filter(|path| !path.contains(means_something));
    text.ok_or_else(|| Impossible::Unspeakable {
        what,
        path: path.to_string_lossy().into_owned(),
    })
}

/// What stands around the part about TLS.
#[derive(Debug)]
pub(crate) struct Frame<'s> {
    pub(crate) directory: QuotedPath,
    pub(crate) documents: QuotedPath,
    pub(crate) log: QuotedPath,
    pub(crate) pid_file: QuotedPath,
    /// User and group.
    pub(crate) worker: Option<(&'s str, &'s str)>,
    pub(crate) port: u16,
    pub(crate) capacity: Capacity,
    /// Names of variables that modules read.
    pub(crate) environment: Vec<String>,
}

/// What a server is told to find a private key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyReference {
    /// A file with the key.
    File(QuotedPath),
    /// By the engine.
    Engine {
        /// `pkcs11:…`
        uri: String,
    },
    /// A file in PEM with the URI, for which the provider has a decoder: so it passes for any other key's file.
    Provider(QuotedPath),
}

/// One certificate with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) certificate: QuotedPath,
    pub(crate) key: KeyReference,
}

/// What it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Each handshake is a full one.
    Measuring,
    /// Sessions are the administrator's to decide on.
    Administration,
}

/// The part of a configuration that is about TLS.
#[derive(Debug, Clone)]
pub(crate) struct Tls<'s> {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) handshakes: &'s Handshakes,
    pub(crate) level: SecurityLevel,
    pub(crate) purpose: Purpose,
    /// Parameters of DHE in a file of their own; they stand behind the first certificate as well.
    pub(crate) dh: Option<QuotedPath>,
}

impl Tls<'_> {
    pub(crate) fn ciphers(&self) -> String {
        with_level(&self.handshakes.ciphers.to_string(), self.level)
    }

    pub(crate) fn groups(&self) -> String {
        self.handshakes.group_names().collect::<Vec<_>>().join(":")
    }

    pub(crate) fn is_on_token(&self) -> bool {
        self.by_engine() || self.by_provider()
    }

    pub(crate) fn by_engine(&self) -> bool {
        let engine = |pair: &Pair| matches!(pair.key, KeyReference::Engine { .. });
        self.pairs.iter().any(engine)
    }

    pub(crate) fn by_provider(&self) -> bool {
        let provider = |pair: &Pair| matches!(pair.key, KeyReference::Provider(_));
        self.pairs.iter().any(provider)
    }
}

#[cfg(test)]
mod tests {
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
            let error = QuotedPath::new("the key's file", Path::new(path)).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("the key's file cannot be in a configuration")
            );
            assert!(!error.to_string().contains('\n'), "{error}");
        }
        let spaced = Path::new("/my keys/key.pem");
        assert_eq!(
            QuotedPath::new("", spaced).unwrap().to_string(),
            "\"/my keys/key.pem\""
        );
        assert!(plain("", spaced).is_err());
        assert_eq!(plain("", Path::new("/a/b-c_d.e")).unwrap(), "/a/b-c_d.e");
    }

    #[test]
    fn reasons_are_written_for_people_alone() {
        let lines = [
            Directive::new("a on").because("it has to be"),
            Directive::warning("and never b"),
        ];
        assert_eq!(text(&lines, Comments::Left, "  "), "  a on\n");
        assert_eq!(
            text(&lines, Comments::Written, ""),
            "# it has to be\na on\n# and never b\n"
        );
        let long = comment(&"word ".repeat(60), "    ");
        assert!(long.lines().all(|line| line.len() <= WIDTH) && long.lines().count() > 2);
    }
}

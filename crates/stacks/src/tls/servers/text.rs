//! Texts of configurations of keymark's own servers and of administrators. One template per kind of server (`templates/`) is for
//! both; a comment in it is for the administrator, on the line below.
//!
//! Sessions are off unless some are to be resumed. With TLS 1.3 OpenSSL 3.0 sends two tickets all the same, which no server
//! takes up again.

use keymark_load::TlsVersion;

use crate::openssl::TokenWay;
use crate::templates::Comments;
use crate::tls::servers::spec::Handshakes;
use crate::tls::servers::worker_user::WorkerUser;

/// Longest line of a comment.
const WIDTH: usize = 100;

/// Writes words as a comment of several lines, each within [`WIDTH`] but for longer words.
pub(crate) fn comment(words: &str) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let options = textwrap::Options::new(WIDTH)
        .initial_indent("# ")
        .subsequent_indent("# ")
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .break_words(false);
    textwrap::fill(&words.join(" "), options) + "\n"
}

/// Frame of the part about TLS in the configuration of a measured server.
#[derive(Debug)]
pub(crate) struct ServerFrame<'s> {
    /// Everything that it reads and writes is there.
    pub(crate) directory: &'s str,
    /// Whom its workers run as, if not as whom it is started.
    pub(crate) worker: Option<&'s WorkerUser>,
    pub(crate) port: u16,
    pub(crate) processes: u32,
    pub(crate) connections: u32,
    /// True if clients have to show a certificate from the authority in `clients.pem`.
    pub(crate) asks_clients: bool,
}

impl ServerFrame<'_> {
    /// Threads of each process, where connections have threads.
    pub(crate) const fn threads(&self) -> u32 {
        self.connections.div_ceil(self.processes)
    }

    /// An administrator has a frame already, and wants to know why.
    pub(crate) const fn comments(frame: Option<&Self>) -> Comments {
        match frame {
            Some(_) => Comments::Left,
            None => Comments::Written,
        }
    }
}

/// Certificate with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    /// Its file.
    pub(crate) certificate: String,
    /// A file with the key, or by the provider one with its URI, for which that has a decoder: so it passes for any other
    /// key's file. By the engine the URI itself.
    pub(crate) key: String,
    /// Way to a key on a token; none where the key is in the file.
    pub(crate) way: Option<TokenWay>,
}

impl Pair {
    pub(crate) fn is_by_engine(&self) -> bool {
        self.way == Some(TokenWay::Engine)
    }
}

/// The part of a configuration that is about TLS.
#[derive(Debug, Clone)]
pub(crate) struct Tls<'s> {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) handshakes: &'s Handshakes,
    /// Ciphers of TLS 1.2, with the level of security.
    pub(crate) ciphers: String,
    /// Parameters of DHE in a file of their own; they are also behind the first certificate.
    pub(crate) dh: Option<String>,
    /// Environment of OpenSSL and modules.
    pub(crate) variables: Vec<(String, String)>,
}

impl Tls<'_> {
    /// OpenSSL's names of the versions.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &'static str> {
        self.handshakes
            .versions
            .iter()
            .map(|version| match version {
                TlsVersion::V1_2 => "TLSv1.2",
                TlsVersion::V1_3 => "TLSv1.3",
            })
    }

    pub(crate) fn groups(&self) -> String {
        let names: Vec<_> = self
            .handshakes
            .groups
            .iter()
            .filter_map(|exchange| exchange.group())
            .collect();
        names.join(":")
    }

    /// The way to the keys on a token, which is one for all of them.
    fn way(&self) -> Option<TokenWay> {
        self.pairs.iter().find_map(|pair| pair.way)
    }

    pub(crate) fn is_on_token(&self) -> bool {
        self.way().is_some()
    }

    pub(crate) fn by_engine(&self) -> bool {
        self.way() == Some(TokenWay::Engine)
    }

    pub(crate) fn by_provider(&self) -> bool {
        self.way() == Some(TokenWay::Provider)
    }

    /// The index of the first such key; past the last where there is none.
    pub(crate) fn first_by_engine(&self) -> usize {
        self.pairs
            .iter()
            .position(Pair::is_by_engine)
            .unwrap_or(self.pairs.len())
    }
}

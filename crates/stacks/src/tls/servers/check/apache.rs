//! Apache's configuration: a directive a line, sections in angle brackets.

use std::path::{Path, PathBuf};

use super::files::{self, Included};
use super::host::{APACHE, Directive, Host};
use super::{At, Setting};

/// All hosts with TLS. What a virtual host does not say is the server's.
pub(super) fn hosts(path: &Path, text: &str, included: &mut Included) -> Vec<Host> {
    let mut reader = Reader {
        root: path.parent().unwrap_or(Path::new(".")).to_owned(),
        server: Vec::new(),
        hosts: Vec::new(),
        open: false,
        included,
    };
    reader.lines(path, text);
    let (root, server, hosts) = (reader.root, reader.server, reader.hosts);
    let whole = APACHE.has_tls(&server);
    let with_tls = hosts
        .iter()
        .filter(|host| whole || APACHE.has_tls(&host.block));
    let mut made: Vec<Host> = with_tls
        .map(|host| {
            let mut names = host.block.iter().filter(|one| one.name == "servername");
            let name = names.next_back().map(|one| one.setting.first().to_owned());
            let name = name.unwrap_or_else(|| host.setting.values.join(" "));
            APACHE.host(
                &[&host.block, &server],
                name,
                host.setting.at.clone(),
                &root,
            )
        })
        .collect();
    if hosts.is_empty() && whole {
        let name = "the server outside all virtual hosts".to_owned();
        made.push(APACHE.host(&[&[], &server], name, At::begin(path), &root));
    }
    made
}

struct Reader<'r> {
    root: PathBuf,
    server: Vec<Directive>,
    hosts: Vec<Directive>,
    /// Whether the last of them has not ended.
    open: bool,
    included: &'r mut Included,
}

impl Reader<'_> {
    fn lines(&mut self, path: &Path, text: &str) {
        let mut whole = String::new();
        let mut begin = 1;
        for (number, line) in (1..).zip(text.lines()) {
            if whole.is_empty() {
                begin = number;
            }
            match line.strip_suffix('\\') {
                // Apache puts nothing in between.
                Some(part) => whole += part,
                None => {
                    whole += line;
                    let at = At {
                        file: path.to_owned(),
                        line: begin,
                    };
                    self.line(&std::mem::take(&mut whole), at);
                }
            }
        }
    }

    fn line(&mut self, line: &str, at: At) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        let lower = line.to_ascii_lowercase();
        if lower.starts_with("<virtualhost") {
            let inner = line.trim_matches(['<', '>']);
            let values = words(inner).into_iter().skip(1).collect();
            self.hosts.push(Directive {
                name: "virtualhost".to_owned(),
                setting: Setting { values, at },
                block: Vec::new(),
            });
            self.open = true;
        } else if lower.starts_with("</virtualhost") {
            self.open = false;
        } else if !line.starts_with('<') {
            // What stands in <IfModule> and the like is taken to hold.
            let mut words = words(line).into_iter().peekable();
            let mut name = words.next().unwrap_or_default().to_ascii_lowercase();
            // What these set is named by their first word; `SSLCipherSuite TLSv1.3 …` is about TLS 1.3 alone.
            let named = |word: &String| {
                name == "sslopensslconfcmd"
                    || name == "sslciphersuite" && word.eq_ignore_ascii_case("TLSv1.3")
            };
            if let Some(word) = words.next_if(named) {
                name = format!("{name} {}", word.to_ascii_lowercase());
            }
            let values = words.collect();
            self.directive(name, Setting { values, at });
        }
    }

    fn directive(&mut self, name: String, setting: Setting) {
        match name.as_str() {
            "serverroot" => self.root = PathBuf::from(setting.first()),
            "include" | "includeoptional" => self.include(&setting),
            _ => {
                let block = match self.hosts.last_mut() {
                    Some(host) if self.open => &mut host.block,
                    Some(_) | None => &mut self.server,
                };
                block.push(Directive {
                    name,
                    setting,
                    block: Vec::new(),
                });
            }
        }
    }

    fn include(&mut self, setting: &Setting) {
        for file in files::matching(&self.root, setting.first()) {
            if let Some(text) = self.included.enter(file.clone(), setting) {
                self.lines(&file, &text);
                self.included.left();
            }
        }
    }
}

/// As Apache splits a line: quotes around what has spaces, a backslash before a quote.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut letters = line.trim().chars().peekable();
    while let Some(first) = letters.next() {
        if first.is_whitespace() {
            continue;
        }
        let quote = matches!(first, '"' | '\'').then_some(first);
        let mut word = if quote.is_some() {
            String::new()
        } else {
            String::from(first)
        };
        while let Some(letter) = letters.next() {
            let ends = match quote {
                Some(quote) => letter == quote,
                None => letter.is_whitespace(),
            };
            if ends {
                break;
            }
            let escaped =
                letter == '\\' && quote.is_some_and(|quote| letters.peek() == Some(&quote));
            word.push(if escaped {
                letters.next().unwrap_or(letter)
            } else {
                letter
            });
        }
        words.push(word);
    }
    words
}

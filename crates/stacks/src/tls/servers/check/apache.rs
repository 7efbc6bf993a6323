//! Apache's configuration: a directive a line, sections in angle brackets.

use std::path::{Path, PathBuf};

use super::advice::{Finding, Problem};
use super::{At, Host, Order, Setting, files, say};

/// The directives that count, of one virtual host or of the server itself.
#[derive(Debug, Default)]
struct Section {
    name: Option<Setting>,
    settings: Vec<(String, Setting)>,
}

/// All hosts with TLS.
pub(super) fn hosts(path: &Path, text: &str, findings: &mut Vec<Finding>) -> Vec<Host> {
    let mut reader = Reader {
        root: path.parent().unwrap_or(Path::new(".")).to_owned(),
        server: Section::default(),
        hosts: Vec::new(),
        open: false,
        findings,
        included: files::Included::default(),
    };
    reader.lines(path, text);
    let Reader {
        root,
        server,
        hosts,
        ..
    } = reader;
    let mut made: Vec<Host> = hosts
        .iter()
        .filter(|section| has_tls(section) || has_tls(&server))
        .map(|section| host(section, &server, &root))
        .collect();
    if hosts.is_empty() && has_tls(&server) {
        let at = At {
            file: path.to_owned(),
            line: 1,
        };
        let section = Section {
            name: Some(Setting {
                values: vec!["the server outside all virtual hosts".to_owned()],
                at,
            }),
            settings: Vec::new(),
        };
        made.push(host(&section, &server, &root));
    }
    made
}

struct Reader<'r> {
    root: PathBuf,
    server: Section,
    hosts: Vec<Section>,
    /// Whether the last of them has not ended.
    open: bool,
    findings: &'r mut Vec<Finding>,
    included: files::Included,
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
            self.hosts.push(Section {
                name: Some(Setting { values, at }),
                settings: Vec::new(),
            });
            self.open = true;
        } else if lower.starts_with("</virtualhost") {
            self.open = false;
        } else if !line.starts_with('<') {
            // What stands in <IfModule> and the like is taken to hold.
            let mut words = words(line).into_iter();
            let name = words.next().unwrap_or_default().to_ascii_lowercase();
            let values = words.collect();
            self.directive(name, Setting { values, at });
        }
    }

    fn directive(&mut self, name: String, setting: Setting) {
        match name.as_str() {
            "serverroot" => self.root = PathBuf::from(setting.first()),
            "include" | "includeoptional" => self.include(&setting),
            _ => {
                let section = match self.hosts.last_mut() {
                    Some(host) if self.open => host,
                    Some(_) | None => &mut self.server,
                };
                section.settings.push((name, setting));
            }
        }
    }

    fn include(&mut self, setting: &Setting) {
        for file in files::matching(&self.root, setting.first()) {
            match self.included.enter(&file) {
                Some(text) => {
                    self.lines(&file, &text);
                    self.included.left();
                }
                None => {
                    let finding = Finding {
                        at: setting.at.clone(),
                        problem: Problem::NotIncluded(file),
                    };
                    say(self.findings, finding);
                }
            }
        }
    }
}

fn has_tls(section: &Section) -> bool {
    section
        .settings
        .iter()
        .any(|(name, setting)| match name.as_str() {
            "sslengine" => setting.first().eq_ignore_ascii_case("on"),
            "sslcertificatefile" => true,
            _ => false,
        })
}

/// What a virtual host does not say is the server's.
fn host(section: &Section, server: &Section, root: &Path) -> Host {
    let of = |section: &Section, name: &str| -> Vec<Setting> {
        let named = section.settings.iter().filter(|(is, _)| is == name);
        named.map(|(_, setting)| setting.clone()).collect()
    };
    let all = |name: &str| {
        let own = of(section, name);
        if own.is_empty() {
            of(server, name)
        } else {
            own
        }
    };
    let command = |words: &[&str]| -> Vec<Setting> {
        let is = |setting: &Setting| {
            let first = setting.first();
            words.iter().any(|word| first.eq_ignore_ascii_case(word))
        };
        let value = |setting: Setting| Setting {
            values: setting.values.into_iter().skip(1).collect(),
            at: setting.at,
        };
        let settings = all("sslopensslconfcmd").into_iter();
        settings.filter(is).map(value).collect()
    };
    // `SSLCipherSuite TLSv1.3 …` is about TLS 1.3 alone.
    let about_tls13 = |setting: &Setting| setting.first().eq_ignore_ascii_case("TLSv1.3");
    let mut ciphers = all("sslciphersuite").into_iter();
    let order = all("sslhonorcipherorder").pop();
    let order = match order.as_ref().map(Setting::first) {
        Some(word) if word.eq_ignore_ascii_case("on") => Order::Servers,
        Some(_) | None => Order::Clients,
    };
    let unnamed = || At {
        file: PathBuf::new(),
        line: 1,
    };
    let server_name = of(section, "servername").pop();
    let address = section.name.as_ref().map(|name| name.values.join(" "));
    let name = server_name.map(|name| name.first().to_owned()).or(address);
    let at = section
        .name
        .as_ref()
        .map_or_else(unnamed, |name| name.at.clone());
    Host {
        name: name.unwrap_or_default(),
        at,
        certificates: all("sslcertificatefile"),
        keys: all("sslcertificatekeyfile"),
        ciphers: ciphers.rfind(|setting| !about_tls13(setting)),
        groups: command(&["Groups", "Curves", "ECDHParameters"]).pop(),
        protocols: all("sslprotocol").pop(),
        order,
        ignored: command(&["DHParameters"]),
        root: root.to_owned(),
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

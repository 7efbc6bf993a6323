//! nginx's configuration: directives that end with `;`, blocks in braces.

use std::iter::Peekable;
use std::path::Path;
use std::str::Chars;

use keymark_bench::Error;

use super::files::{self, Included};
use super::host::{Directive, Host, NGINX};
use super::{At, Setting};

/// Blocks in blocks: nginx itself has five.
const DEEPEST: u32 = 32;

/// All hosts with TLS.
pub(super) fn hosts(path: &Path, text: &str, included: &mut Included) -> Result<Vec<Host>, Error> {
    let root = path.parent().unwrap_or(Path::new("."));
    let mut reader = Reader {
        root,
        included,
        nested: 0,
    };
    let all = reader.directives(path, text)?;
    let mut hosts = Vec::new();
    collect(&[&all], root, &mut hosts);
    if hosts.is_empty() && all.iter().any(|one| one.name == "ssl_certificate") {
        // A part that a `server` block includes.
        let name = "this part of a server".to_owned();
        hosts.push(NGINX.host(&[&all], name, At::begin(path), root));
    }
    Ok(hosts)
}

struct Reader<'r> {
    root: &'r Path,
    included: &'r mut Included,
    /// Blocks in blocks.
    nested: u32,
}

impl Reader<'_> {
    fn directives(&mut self, path: &Path, text: &str) -> Result<Vec<Directive>, Error> {
        let words = words(path, text);
        let mut at = 0;
        let read = self.block(&words, &mut at)?;
        match words.get(at) {
            None => Ok(read),
            Some(word) => Err(unreadable(&word.at, "there is a '}' too many")),
        }
    }

    fn block(&mut self, words: &[Word], at: &mut usize) -> Result<Vec<Directive>, Error> {
        let mut directives = Vec::new();
        let mut pending: Vec<&Word> = Vec::new();
        while let Some(word) = words.get(*at) {
            match word.kind {
                Kind::Close if pending.is_empty() => break,
                Kind::Close => return Err(unreadable(&word.at, "a directive has no ';'")),
                Kind::Text => {
                    pending.push(word);
                    *at += 1;
                }
                Kind::End | Kind::Open => {
                    *at += 1;
                    let block = if word.kind == Kind::Open {
                        if self.nested >= DEEPEST {
                            return Err(unreadable(&word.at, "blocks are nested too deeply"));
                        }
                        self.nested += 1;
                        let block = self.block(words, at)?;
                        self.nested -= 1;
                        if words.get(*at).is_none() {
                            return Err(unreadable(&word.at, "this '{' has no '}'"));
                        }
                        *at += 1;
                        block
                    } else {
                        Vec::new()
                    };
                    let read = directive(&std::mem::take(&mut pending), block);
                    self.taken(read, &mut directives)?;
                }
            }
        }
        match pending.first() {
            None => Ok(directives),
            Some(word) => Err(unreadable(&word.at, "a directive has no ';'")),
        }
    }

    /// An `include` is what it includes.
    fn taken(
        &mut self,
        read: Option<Directive>,
        directives: &mut Vec<Directive>,
    ) -> Result<(), Error> {
        let Some(read) = read else { return Ok(()) };
        if read.name != "include" {
            directives.push(read);
            return Ok(());
        }
        let found = files::matching(self.root, read.setting.first());
        for file in found {
            let Some(text) = self.included.enter(file.clone(), &read.setting) else {
                continue;
            };
            let inner = self.directives(&file, &text);
            self.included.left();
            directives.extend(inner?);
        }
        Ok(())
    }
}

fn directive(words: &[&Word], block: Vec<Directive>) -> Option<Directive> {
    let (name, values) = words.split_first()?;
    Some(Directive {
        name: name.text.clone(),
        setting: Setting {
            values: values.iter().map(|word| word.text.clone()).collect(),
            at: name.at.clone(),
        },
        block,
    })
}

/// The `server` blocks in the first of these, each with what stands around it.
fn collect(levels: &[&[Directive]], root: &Path, hosts: &mut Vec<Host>) {
    for directive in levels.first().copied().unwrap_or_default() {
        let block = directive.block.as_slice();
        let inner = [&[block][..], levels].concat();
        if directive.name != "server" || block.is_empty() {
            collect(&inner, root, hosts);
        } else if NGINX.has_tls(block) {
            let names = block.iter().find(|one| one.name == "server_name");
            let name = names.map(|one| one.setting.values.join(" "));
            let name = name.unwrap_or_else(|| "a server without a name".to_owned());
            hosts.push(NGINX.host(&inner, name, directive.setting.at.clone(), root));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// `;`
    End,
    /// `{`
    Open,
    /// `}`
    Close,
}

#[derive(Debug)]
struct Word {
    kind: Kind,
    text: String,
    at: At,
}

/// As nginx's own reader does: quotes, backslashes, comments.
fn words(path: &Path, text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut line = 1;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let at = At {
            file: path.to_owned(),
            line,
        };
        let (kind, text) = match letter {
            '\n' => {
                line += 1;
                continue;
            }
            '#' => {
                while letters.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            space if space.is_whitespace() => continue,
            ';' => (Kind::End, String::new()),
            '{' => (Kind::Open, String::new()),
            '}' => (Kind::Close, String::new()),
            '"' | '\'' => (Kind::Text, quoted(letter, &mut letters, &mut line)),
            first => (Kind::Text, bare(first, &mut letters)),
        };
        words.push(Word { kind, text, at });
    }
    words
}

/// Up to the quote that it began with.
fn quoted(quote: char, letters: &mut Peekable<Chars<'_>>, line: &mut u32) -> String {
    let mut word = String::new();
    while let Some(letter) = letters.next() {
        *line += u32::from(letter == '\n');
        match letter {
            '\\' => word.extend(letters.next()),
            end if end == quote => break,
            other => word.push(other),
        }
    }
    word
}

/// Up to a space, `;` or `{`; `${name}` has braces of its own.
fn bare(first: char, letters: &mut Peekable<Chars<'_>>) -> String {
    let mut word = String::from(first);
    loop {
        let is_variable = word.ends_with('$');
        let goes_on = |next: &char| match next {
            ';' => false,
            '{' => is_variable,
            other => !other.is_whitespace(),
        };
        match letters.next_if(goes_on) {
            Some(letter) => word.push(letter),
            None => return word,
        }
    }
}

fn unreadable(at: &At, why: &str) -> Error {
    Error::call(format!("reading {at}"), why, "'nginx -t' says more")
}

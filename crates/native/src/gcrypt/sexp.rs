//! S-expressions as GnuPG writes them: canonical over Assuan, "advanced" in key files.
//!
//! <https://people.csail.mit.edu/rivest/Sexp.txt>; display hints do not occur.

/// A list or an octet string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sexp {
    /// `(a b …)`
    List(Vec<Sexp>),
    /// Octets.
    Atom(Vec<u8>),
}

/// Not an S-expression, from this octet on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an S-expression at byte {0}")]
pub struct SexpError(usize);

impl Sexp {
    /// Parses one expression; trailing NUL octets and white space are allowed, as gpg-agent adds them.
    pub fn parse(text: &[u8]) -> Result<Self, SexpError> {
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
        };
        let expression = parser.expression()?;
        if text[parser.at..]
            .iter()
            .all(|octet| matches!(octet, 0 | b' ' | b'\n' | b'\r' | b'\t'))
        {
            Ok(expression)
        } else {
            Err(SexpError(parser.at))
        }
    }

    /// The octets, if it is an atom.
    pub fn atom(&self) -> Option<&[u8]> {
        match self {
            Self::Atom(octets) => Some(octets),
            Self::List(_) => None,
        }
    }

    /// The first list with that name, depth first: `(name …)`.
    pub fn find(&self, name: &str) -> Option<&[Self]> {
        let Self::List(items) = self else { return None };
        if items.first().and_then(Self::atom) == Some(name.as_bytes()) {
            return Some(&items[1..]);
        }
        items.iter().find_map(|item| item.find(name))
    }

    /// The single value of the first list with that name.
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        self.find(name)?.first()?.atom()
    }

    /// The canonical form.
    pub fn canonical(&self) -> Vec<u8> {
        match self {
            Self::Atom(octets) => {
                let mut form = format!("{}:", octets.len()).into_bytes();
                form.extend(octets);
                form
            }
            Self::List(items) => {
                let mut form = vec![b'('];
                form.extend(items.iter().flat_map(Self::canonical));
                form.push(b')');
                form
            }
        }
    }
}

/// `(name value)` pairs of octets as expressions.
pub fn list(name: &str, items: impl IntoIterator<Item = Sexp>) -> Sexp {
    let name = Sexp::Atom(name.as_bytes().to_vec());
    Sexp::List(std::iter::once(name).chain(items).collect())
}

/// Deeper than any key or signature; keeps the parser's own stack small.
const DEPTH: usize = 32;

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn error<T>(&self) -> Result<T, SexpError> {
        Err(SexpError(self.at))
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|octet| octet.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn expression(&mut self) -> Result<Sexp, SexpError> {
        self.skip_space();
        match self.peek() {
            Some(b'(') if self.depth < DEPTH => self.list(),
            Some(b'#') => self.hex(),
            Some(b'"') => self.quoted(),
            Some(b'0'..=b'9') => self.verbatim(),
            Some(octet) if is_token(octet) => Ok(Sexp::Atom(self.take_while(is_token))),
            _ => self.error(),
        }
    }

    fn list(&mut self) -> Result<Sexp, SexpError> {
        self.at += 1;
        self.depth += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.peek() == Some(b')') {
                self.at += 1;
                self.depth -= 1;
                return Ok(Sexp::List(items));
            }
            items.push(self.expression()?);
        }
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> Vec<u8> {
        let from = self.at;
        while self.peek().is_some_and(&accept) {
            self.at += 1;
        }
        self.text[from..self.at].to_vec()
    }

    /// `#0A1B#`
    fn hex(&mut self) -> Result<Sexp, SexpError> {
        self.at += 1;
        let mut digits = Vec::new();
        loop {
            match self.peek() {
                Some(b'#') => break,
                Some(octet) if octet.is_ascii_whitespace() => {}
                Some(octet) => match char::from(octet).to_digit(16) {
                    Some(digit) => digits.push(digit as u8),
                    None => return self.error(),
                },
                None => return self.error(),
            }
            self.at += 1;
        }
        if digits.len() % 2 == 1 {
            return self.error();
        }
        self.at += 1;
        Ok(Sexp::Atom(
            digits
                .chunks_exact(2)
                .map(|pair| pair[0] << 4 | pair[1])
                .collect(),
        ))
    }

    /// `"…"` with C's escapes; raw octets above 127 occur (seen with GnuPG 2.4.9).
    fn quoted(&mut self) -> Result<Sexp, SexpError> {
        self.at += 1;
        let mut octets = Vec::new();
        loop {
            let Some(octet) = self.peek() else {
                return self.error();
            };
            self.at += 1;
            match octet {
                b'"' => return Ok(Sexp::Atom(octets)),
                b'\\' => self.escape(&mut octets)?,
                other => octets.push(other),
            }
        }
    }

    fn escape(&mut self, octets: &mut Vec<u8>) -> Result<(), SexpError> {
        let Some(octet) = self.peek() else {
            return self.error();
        };
        self.at += 1;
        let number = |parser: &mut Self, length: usize, radix: u32| {
            let digits = parser.text.get(parser.at..parser.at + length)?;
            let value = u8::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
            parser.at += length;
            Some(value)
        };
        let value = match octet {
            b'b' => 8,
            b't' => b'\t',
            b'v' => 11,
            b'n' => b'\n',
            b'f' => 12,
            b'r' => b'\r',
            b'"' | b'\'' | b'\\' => octet,
            b'\n' => return Ok(()),
            b'x' => match number(self, 2, 16) {
                Some(value) => value,
                None => return self.error(),
            },
            b'0'..=b'7' => {
                self.at -= 1;
                match number(self, 3, 8) {
                    Some(value) => value,
                    None => return self.error(),
                }
            }
            _ => return self.error(),
        };
        octets.push(value);
        Ok(())
    }

    /// `3:abc`, or a token of digits such as a date.
    fn verbatim(&mut self) -> Result<Sexp, SexpError> {
        let digits = self.take_while(|octet| octet.is_ascii_digit());
        if self.peek() != Some(b':') {
            return Ok(Sexp::Atom(digits));
        }
        self.at += 1;
        let length = std::str::from_utf8(&digits)
            .ok()
            .and_then(|digits| digits.parse::<usize>().ok());
        let end = length.and_then(|length| self.at.checked_add(length));
        match end.and_then(|end| self.text.get(self.at..end)) {
            Some(octets) => {
                self.at += octets.len();
                Ok(Sexp::Atom(octets.to_vec()))
            }
            None => self.error(),
        }
    }
}

/// Characters of a token (Rivest §4.3), and `@` and `,`, which GnuPG does not use.
fn is_token(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-./_:*+=".contains(&octet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_file_is_read() {
        let text = b"(private-key (ecc (curve Ed25519)(flags eddsa)(q\n  #40DE54#)(d #0102#)))\n";
        let key = Sexp::parse(text).unwrap();
        assert_eq!(key.value("curve"), Some(b"Ed25519".as_slice()));
        assert_eq!(key.value("q"), Some([0x40, 0xDE, 0x54].as_slice()));
        assert_eq!(key.value("x"), None);
    }

    #[test]
    fn quoted_strings_may_hold_raw_octets() {
        let text = b"((sha1 \"Q#\xbf\\n\\\"\\x41\\101\" \"371108864\")#46CB#)";
        let parsed = Sexp::parse(text).unwrap();
        let items = parsed.find("sha1").unwrap();
        assert_eq!(items[0].atom().unwrap(), b"Q#\xbf\n\"AA");
        assert_eq!(items[1].atom().unwrap(), b"371108864");
    }

    #[test]
    fn canonical_forms_and_the_agents_trailing_nul_are_read() {
        let answer = b"(5:value3:\x02ab)\0";
        assert_eq!(
            Sexp::parse(answer).unwrap().value("value"),
            Some(b"\x02ab".as_slice())
        );
    }

    #[test]
    fn what_is_cut_or_wrong_is_refused() {
        for bad in [
            &b"(a"[..],
            b"",
            b")",
            b"#0#",
            b"#0",
            b"\"a",
            b"9:ab",
            b"(a))",
            b"\"\\q\"",
            b"99999999999999999999:a",
        ] {
            assert!(
                Sexp::parse(bad).is_err(),
                "{}",
                String::from_utf8_lossy(bad)
            );
        }
        assert!(Sexp::parse(&[b'('; 100_000]).is_err(), "nesting is bounded");
    }

    fn expressions() -> impl Strategy<Value = Sexp> {
        let atom = proptest::collection::vec(any::<u8>(), 0..20).prop_map(Sexp::Atom);
        atom.prop_recursive(4, 32, 5, |inner| {
            proptest::collection::vec(inner, 0..5).prop_map(Sexp::List)
        })
    }

    proptest! {
        #[test]
        fn the_canonical_form_reads_back(expression in expressions()) {
            prop_assert_eq!(Sexp::parse(&expression.canonical()), Ok(expression));
        }

        #[test]
        fn no_input_panics(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Sexp::parse(&text);
        }
    }
}

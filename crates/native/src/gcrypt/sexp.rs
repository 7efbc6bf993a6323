//! S-expressions in their canonical form, in which gpg-agent and libgcrypt take and give them.
//!
//! <https://people.csail.mit.edu/rivest/Sexp.txt> §6.1; display hints do not occur.

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

    fn expression(&mut self) -> Result<Sexp, SexpError> {
        match self.peek() {
            Some(b'(') if self.depth < DEPTH => self.list(),
            Some(b'0'..=b'9') => self.verbatim(),
            _ => Err(SexpError(self.at)),
        }
    }

    fn list(&mut self) -> Result<Sexp, SexpError> {
        self.at += 1;
        self.depth += 1;
        let mut items = Vec::new();
        while self.peek() != Some(b')') {
            items.push(self.expression()?);
        }
        self.at += 1;
        self.depth -= 1;
        Ok(Sexp::List(items))
    }

    /// `3:abc`
    fn verbatim(&mut self) -> Result<Sexp, SexpError> {
        let octets = || {
            let rest = &self.text[self.at..];
            let colon = rest.iter().position(|octet| *octet == b':')?;
            let length: usize = std::str::from_utf8(&rest[..colon]).ok()?.parse().ok()?;
            let from = self.at + colon + 1;
            let end = from.checked_add(length)?;
            Some((self.text.get(from..end)?.to_vec(), end))
        };
        let (octets, end) = octets().ok_or(SexpError(self.at))?;
        self.at = end;
        Ok(Sexp::Atom(octets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_found_by_name() {
        let key = b"(11:private-key(3:ecc(5:curve7:Ed25519)(1:q3:\x40\xDE\x54)(1:d2:\x01\x02)))";
        let key = Sexp::parse(key).unwrap();
        assert_eq!(key.value("curve"), Some(b"Ed25519".as_slice()));
        assert_eq!(key.value("q"), Some([0x40, 0xDE, 0x54].as_slice()));
        assert_eq!(key.value("x"), None);
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
            &b"(1:a"[..],
            b"",
            b")",
            b"a",
            b"1",
            b"1a",
            b"9:ab",
            b"(1:a))",
            b"(1:a 1:b)",
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

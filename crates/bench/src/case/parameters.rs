//! Parameters: what stacks of one family distinguish beyond device, algorithm, operation and load. Families register
//! their dimensions; nothing here knows one of them.

use std::fmt;
use std::str::FromStr;

use derive_more::Display;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::name::is_name;
use crate::words::UnknownWord;
use crate::{During as _, Error};

/// Placeholder for a dimension's usual word.
pub const USUAL: &str = "usual";
/// Dimensions that a case says something of, at most.
pub(crate) const MOST: usize = 8;
/// Letters of a word.
const LONGEST: usize = 60;

/// Dimension that a family of stacks registers.
#[derive(Debug, Clone, Copy)]
pub struct Dimension {
    /// Its name on the command line, in records and in tables.
    pub name: &'static str,
    /// Name in messages.
    pub kind: &'static str,
    /// Its words.
    pub words: Words,
    /// The word of a case that says none; without such a word every case of the family says one.
    pub usual: Option<&'static str>,
    /// Whom a choice concerns.
    pub scope: Scope,
}

impl Dimension {
    /// A dimension of a family, every case of which says a word.
    pub const fn of_family(name: &'static str, kind: &'static str, words: Words) -> Self {
        Self {
            name,
            kind,
            words,
            usual: None,
            scope: Scope::Family,
        }
    }

    /// The dimension with a word for cases that say none.
    pub const fn usually(self, word: &'static str) -> Self {
        Self {
            usual: Some(word),
            ..self
        }
    }
}

/// The words that a dimension has.
#[derive(Debug, Clone, Copy)]
pub enum Words {
    /// These, in their order.
    Listed(&'static [&'static str]),
    /// More than can be listed: all of a form, which this tells.
    Formed(fn(&str) -> bool),
}

impl Words {
    /// All that are values of a type.
    pub const fn of<T: FromStr>() -> Self {
        Self::Formed(|word| word.parse::<T>().is_ok())
    }
}

/// Cases that a choice of words concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Cases of the family: stacks of other families are not excluded.
    Family,
    /// All of them: stacks of other families are at the usual word.
    Everywhere,
}

/// Compares the names: two families do not register the same one.
impl PartialEq for Dimension {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Dimension {}

impl Dimension {
    fn known(&self) -> impl Iterator<Item = &'static str> {
        let listed = match self.words {
            Words::Listed(words) => words,
            Words::Formed(_) => &[],
        };
        let others = listed.iter().copied();
        let others = others.filter(|word| Some(*word) != self.usual);
        self.usual.into_iter().chain(others)
    }

    fn check(&self, word: &str) -> Result<(), String> {
        match self.words {
            Words::Listed(_) => self
                .parse(word)
                .map(drop)
                .map_err(|error| error.to_string()),
            Words::Formed(is_one) if is_one(word) => Ok(()),
            Words::Formed(_) => Err(format!("unknown {} '{word}'", self.kind)),
        }
    }

    /// The word as it is registered.
    ///
    /// # Errors
    /// When there is none such.
    pub fn parse(&self, word: &str) -> Result<&'static str, UnknownWord> {
        let asked = match (word.eq_ignore_ascii_case(USUAL), self.usual) {
            (true, Some(usual)) => usual,
            _ => word,
        };
        let found = self.known().find(|word| word.eq_ignore_ascii_case(asked));
        found.ok_or_else(|| UnknownWord {
            kind: self.kind,
            word: word.to_owned(),
            known: self.known().collect::<Vec<_>>().join(", "),
        })
    }
}

/// The words of a case, for each dimension that is not at its usual one, in the order in which they are shown.
#[derive(Debug, Display, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[display("{}", self.pairs().map(|(name, word)| format!("{name}={word}")).collect::<Vec<_>>().join(";"))]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// All as usual.
    pub const NONE: Self = Self(Vec::new());

    /// Returns parameters with one word.
    pub fn of(dimension: &Dimension, word: impl fmt::Display) -> Self {
        Self::NONE.with(dimension, word)
    }

    /// These, and that word behind them or in place of the dimension's other one.
    pub fn with(self, dimension: &Dimension, word: impl fmt::Display) -> Self {
        let word = word.to_string();
        let word = if dimension.usual == Some(&word) {
            USUAL
        } else {
            &word
        };
        self.replaced(dimension.name, word)
    }

    /// Returns these parameters with another word for the dimension of that name; [`USUAL`] removes its word.
    pub fn replaced(mut self, dimension: &str, word: &str) -> Self {
        let place = self.0.iter().position(|(name, _)| name == dimension);
        match (place, word == USUAL) {
            (Some(place), true) => drop(self.0.remove(place)),
            (Some(place), false) => word.clone_into(&mut self.0[place].1),
            (None, true) => {}
            (None, false) => self.0.push((dimension.to_owned(), word.to_owned())),
        }
        self
    }

    /// Returns true if all is as usual.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pairs of dimension and word.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(dimension, word)| (dimension.as_str(), word.as_str()))
    }

    /// The word of the dimension with that name, if it is not the usual one.
    pub fn get(&self, dimension: &str) -> Option<&str> {
        self.pairs()
            .find_map(|(name, word)| (name == dimension).then_some(word))
    }

    /// The word of a dimension as its family knows it; none where it is the usual one.
    ///
    /// # Errors
    /// When the family has no such word: the case comes from elsewhere.
    pub fn read<T>(&self, dimension: &Dimension) -> Result<Option<T>, Error>
    where
        T: FromStr<Err: fmt::Display>,
    {
        let word = self.get(dimension.name).map(str::parse);
        word.transpose().during("reading a case's parameters")
    }

    /// Checks that each is a word of one of these dimensions, and that no mandatory one is missing.
    ///
    /// # Errors
    /// Which is not.
    pub fn check(&self, dimensions: &[Dimension]) -> Result<(), String> {
        for (name, word) in self.pairs() {
            let known = dimensions.iter().find(|dimension| dimension.name == name);
            let known = known.ok_or_else(|| format!("it has no parameter '{name}'"))?;
            known.check(word)?;
        }
        let mut needed = dimensions.iter().filter(|one| one.usual.is_none());
        match needed.find(|one| self.get(one.name).is_none()) {
            Some(missing) => Err(format!("its parameter '{}' is missing", missing.name)),
            None => Ok(()),
        }
    }

    /// Returns the words to show behind a stack's name; nothing where all are usual. A number, and a word of a dimension with
    /// a name of several words, has the name behind it.
    pub fn remark(&self) -> Option<String> {
        let words = self.pairs().map(|(name, word)| {
            if word.parse::<u32>().is_ok() || name.contains('-') {
                format!("{word} {name}")
            } else {
                word.to_owned()
            }
        });
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Parameters {
    fn from(pairs: [(&str, &str); N]) -> Self {
        pairs
            .into_iter()
            .fold(Self::NONE, |set, (name, word)| set.replaced(name, word))
    }
}

/// `protection=cached`
impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.pairs())
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Pairs)
    }
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Parameters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "up to {MOST} parameters with a word each")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Parameters, A::Error> {
        let mut found = Parameters::NONE;
        while let Some((dimension, word)) = object.next_entry::<String, String>()? {
            if !is_name(&dimension) || !is_word(&word) {
                let reason = format!("'{dimension}' with '{word}' is no parameter");
                return Err(de::Error::custom(reason));
            }
            if found.get(&dimension).is_some() || found.0.len() == MOST {
                return Err(de::Error::custom(format!("'{dimension}' is one too many")));
            }
            found.0.push((dimension, word));
        }
        Ok(found)
    }
}

fn is_word(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-. ".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.len() <= LONGEST
        && text.chars().all(letter)
        && text != USUAL
}

/// The words that the user wants of one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterChoice {
    /// The dimension.
    pub dimension: Dimension,
    /// Its words that are wanted, the usual one by its own name.
    pub words: Vec<&'static str>,
}

impl ParameterChoice {
    /// Reads words separated by commas.
    ///
    /// # Errors
    /// When the dimension has no such word.
    pub fn parse(dimension: &Dimension, list: &str) -> Result<Self, UnknownWord> {
        let words = list.split(',').map(|word| dimension.parse(word.trim()));
        Ok(Self {
            dimension: *dimension,
            words: words.collect::<Result<_, _>>()?,
        })
    }

    /// Reads `NAME=LIST` of one of these dimensions.
    ///
    /// # Errors
    /// When there is no such dimension, or it has no such word.
    pub fn named(text: &str, dimensions: &[Dimension]) -> Result<Self, String> {
        let (name, list) = text.split_once('=').unwrap_or((text, ""));
        match dimensions.iter().find(|dimension| dimension.name == name) {
            Some(dimension) if text.contains('=') => {
                Self::parse(dimension, list).map_err(|error| error.to_string())
            }
            _ => {
                let forms = dimensions.iter().map(|one| format!("{}=VALUE,…", one.name));
                let forms: Vec<String> = forms.collect();
                Err(format!("'{text}' is not one of {}", forms.join(", ")))
            }
        }
    }

    /// Returns true if the usual word is wanted.
    pub fn has_usual(&self) -> bool {
        let usual = self.dimension.usual;
        usual.is_some_and(|usual| self.words.contains(&usual))
    }

    fn admits(&self, word: Option<&str>) -> bool {
        let word = word.or(self.dimension.usual);
        word.is_none_or(|word| self.words.contains(&word))
    }
}

/// Returns true if a set of a family's parameters is among the wanted ones; a dimension that is not named means its
/// usual word.
pub fn admits(wanted: &[ParameterChoice], dimensions: &[Dimension], set: &Parameters) -> bool {
    let own = dimensions.iter().all(|dimension| {
        let word = set.get(dimension.name);
        let of_it = |choice: &&ParameterChoice| choice.dimension.name == dimension.name;
        let mut choices = wanted.iter().filter(of_it).peekable();
        if choices.peek().is_none() {
            return dimension.usual.is_none() || word.is_none();
        }
        choices.all(|choice| choice.admits(word))
    });
    let others = wanted.iter().filter(|choice| {
        !dimensions
            .iter()
            .any(|dimension| dimension.name == choice.dimension.name)
    });
    own && { others }.all(|choice| match choice.dimension.scope {
        Scope::Family => true,
        Scope::Everywhere => choice.has_usual(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOUR: Dimension = Dimension {
        name: "colour",
        kind: "colour",
        words: Words::Listed(&["red", "blue"]),
        usual: Some("grey"),
        scope: Scope::Family,
    };
    const SHAPE: Dimension = Dimension {
        name: "shape",
        kind: "shape",
        words: Words::Listed(&["round", "square"]),
        usual: None,
        scope: Scope::Family,
    };
    const GUARD: Dimension = Dimension {
        name: "guard",
        words: Words::Listed(&["none", "some"]),
        usual: Some("none"),
        scope: Scope::Everywhere,
        ..COLOUR
    };

    #[test]
    fn a_choice_admits_what_it_names_and_stacks_that_lack_the_parameter() {
        let named = |text: &str| ParameterChoice::named(text, &[COLOUR, SHAPE, GUARD]).unwrap();
        let red = Parameters::of(&COLOUR, "red");
        let round = Parameters::of(&SHAPE, "round");
        let some = Parameters::of(&GUARD, "some");
        let none = Parameters::of(&GUARD, "none");
        assert_eq!(none, Parameters::NONE);
        for (choices, dimensions, set, expected) in [
            (vec![], COLOUR, &none, true),
            (vec![], COLOUR, &red, false),
            (vec![], SHAPE, &round, true),
            (vec!["colour=red"], COLOUR, &red, true),
            (vec!["colour=red"], COLOUR, &none, false),
            (vec!["colour=grey,red"], COLOUR, &none, true),
            (vec!["colour=usual"], COLOUR, &none, true),
            (vec!["colour=red"], SHAPE, &round, true),
            (vec!["shape=square"], SHAPE, &round, false),
            (vec!["guard=some"], GUARD, &some, true),
            (vec!["guard=some"], COLOUR, &none, false),
            (vec!["guard=none", "colour=red"], COLOUR, &red, true),
        ] {
            let wanted: Vec<_> = choices.iter().map(|text| named(text)).collect();
            assert_eq!(
                admits(&wanted, &[dimensions], set),
                expected,
                "{choices:?} {set}"
            );
        }
    }

    #[test]
    fn words_that_are_not_registered_are_refused_with_those_that_are() {
        let refused = |text| ParameterChoice::named(text, &[COLOUR, SHAPE]).unwrap_err();
        assert_eq!(
            refused("shape"),
            "'shape' is not one of colour=VALUE,…, shape=VALUE,…"
        );
        assert!(refused("size=1").contains("'size=1' is not one of"));
        assert_eq!(
            refused("colour=green"),
            "unknown colour 'green'; choose from grey, red, blue"
        );
        let set = Parameters::of(&COLOUR, "green");
        assert!(set.check(&[COLOUR]).unwrap_err().contains("green"));
        assert!(set.check(&[SHAPE]).unwrap_err().contains("'colour'"));
        let missing = Parameters::NONE.check(&[SHAPE]).unwrap_err();
        assert_eq!(missing, "its parameter 'shape' is missing");
    }

    #[test]
    fn records_keep_the_order_and_take_no_other_form() {
        let text = r#"{"shape":"round","colour":"red"}"#;
        let read: Parameters = serde_json::from_str(text).unwrap();
        assert_eq!(read.remark().as_deref(), Some("round red"));
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        for bad in [
            r#"{"shape":"round","shape":"square"}"#,
            r#"{"Shape":"round"}"#,
            r#"{"shape":""}"#,
            r#"{"shape":"usual"}"#,
            r#"{"shape":1}"#,
            r#"[]"#,
        ] {
            assert!(serde_json::from_str::<Parameters>(bad).is_err(), "{bad}");
        }
    }
}

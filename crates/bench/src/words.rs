//! Enumerations with one word a value: the same word on the command line, in records and tables.

/// A word that is not of the vocabulary, with those that are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind} '{word}'; choose from {known}")]
pub struct UnknownWord {
    /// Kind of word.
    pub kind: &'static str,
    /// Word as given.
    pub word: String,
    /// The words there are, separated by commas.
    pub known: String,
}

/// Declares such an enumeration with `ALL`, `Display`, `FromStr` and serde by its words.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident($kind:literal) {
        $($(#[$vmeta:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {
            $($(#[$vmeta])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Their words.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// The word for it.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|value| value.word().eq_ignore_ascii_case(word))
                    .ok_or_else(|| $crate::words::UnknownWord {
                        kind: $kind,
                        word: word.to_owned(),
                        known: Self::ALL.iter().map(|value| value.word()).collect::<Vec<_>>().join(", "),
                    })
            }
        }
    };
}

/// Has serde write a type as the text that its `Display` and `FromStr` have for it: `#[serde(into = "String", try_from = "String")]`.
#[macro_export]
macro_rules! as_text {
    ($name:ty) => {
        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = <$name as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    };
}

pub use {as_text, words};

//! Enumerations whose variants have a name each.

use crate::McuError;

/// A word that is none of those there are.
pub(crate) fn unknown(what: &str, wanted: &str, known: &[&str]) -> McuError {
    let known = known.join(", ");
    McuError(format!("unknown {what} '{wanted}'; choose from {known}"))
}

/// Declares one, with `ALL` of its variants in order and the `name` of each.
macro_rules! named {
    ($(#[$attribute:meta])* pub enum $enum:ident {
        $($(#[$variant_attribute:meta])* $variant:ident = $name:literal,)+
    }) => {
        $(#[$attribute])*
        pub enum $enum {
            $($(#[$variant_attribute])* $variant,)+
        }

        impl $enum {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

/// Reads one of them by its name, or another that it has; errors call it `what`.
macro_rules! from_name {
    ($enum:ident, $what:expr $(, $other:literal => $same:expr)*) => {
        impl std::str::FromStr for $enum {
            type Err = $crate::McuError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $(if text == $other {
                    return Ok($same);
                })*
                let mut all = Self::ALL.iter().copied();
                all.find(|known| known.name() == text).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|known| known.name()).collect();
                    $crate::named::unknown($what, text, &names)
                })
            }
        }
    };
}

pub(crate) use {from_name, named};

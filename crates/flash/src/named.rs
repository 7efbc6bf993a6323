//! Enumerations with one name a value, on the command line and in tables.

/// Declares one with `ALL`, `name` and `Display`.
macro_rules! named {
    ($(#[$attribute:meta])* pub enum $enum:ident {
        $($(#[$variant_attribute:meta])* $variant:ident = $name:literal,)+
    }) => {
        $(#[$attribute])*
        pub enum $enum {
            $($(#[$variant_attribute])* $variant,)+
        }

        impl $enum {
            /// Every value.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant,)+];

            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

/// Reads one by its name; errors call it `what`.
macro_rules! from_name {
    ($enum:ident, $what:literal) => {
        impl std::str::FromStr for $enum {
            type Err = $crate::error::StorageError;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let mut all = Self::ALL.into_iter();
                all.find(|known| known.name() == name)
                    .ok_or_else(|| Self::Err::UnknownName {
                        what: $what,
                        name: name.to_owned(),
                        known: Self::ALL.map(Self::name).join(", "),
                    })
            }
        }
    };
}

pub(crate) use {from_name, named};

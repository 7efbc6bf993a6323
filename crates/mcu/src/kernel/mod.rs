//! The kernels that come with keymark: private-key operations as token firmware does them, compiled from
//! `kernels/` in several variants, and the options that choose among these.

mod program;

use std::fmt;

use crate::Result;
use crate::microcontroller::Core;
use crate::named::{from_name, named, unknown};

named! {
    /// A private-key operation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Kernel {
        /// RSA with CRT, 2048 bits.
        Rsa2048 = "rsa2048",
        /// 3072 bits.
        Rsa3072 = "rsa3072",
        /// 4096 bits.
        Rsa4096 = "rsa4096",
        /// RFC 7748, the Montgomery ladder of a variable base.
        X25519 = "cv25519",
        /// RFC 8032, signing a message of 32 bytes.
        Ed25519 = "ed25519",
    }
}

impl Kernel {
    /// Modulus length in bits, of RSA.
    pub const fn rsa_bits(self) -> Option<u32> {
        match self {
            Self::Rsa2048 => Some(2048),
            Self::Rsa3072 => Some(3072),
            Self::Rsa4096 => Some(4096),
            Self::X25519 | Self::Ed25519 => None,
        }
    }

    /// Returns true if an option of that name matters to it.
    pub(crate) fn has_option(self, name: &str) -> bool {
        self.rsa_bits().is_some() || ["umaal", "opt"].contains(&name)
    }
}

from_name!(Kernel, "algorithm", "x25519" => Self::X25519, "curve25519" => Self::X25519);

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Declares the options: a field each, with its words in the order in which they are tried.
macro_rules! options {
    ($($(#[$doc:meta])* $field:ident: $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+
    })+) => {
        $(
            named! {
                $(#[$doc])*
                #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
                pub enum $name {
                    $($(#[$variant_doc])* $variant = $word,)+
                }
            }

            from_name!($name, concat!("value of the option ", stringify!($field)));
        )+

        /// Options of a kernel's build and input.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct Options {
            $($(#[$doc])* pub $field: $name,)+
        }

        /// The fields of [`Options`] as the command line names them.
        pub const OPTION_NAMES: [&str; 4] = [$(stringify!($field),)+];

        impl Options {
            /// Sets one by its words.
            pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
                // `-O3`, as compilers have it.
                let value = if name == "opt" { value.trim_start_matches('-') } else { value };
                match name {
                    $(stringify!($field) => self.$field = value.parse()?,)+
                    _ => return Err(unknown("option", name, &OPTION_NAMES)),
                }
                Ok(())
            }

            /// The words of all of them, in the order of [`OPTION_NAMES`].
            pub const fn all_words(&self) -> [&'static str; OPTION_NAMES.len()] {
                [$(self.$field.name(),)+]
            }
        }
    };
}

options! {
    /// Implementation of the MULADDC step.
    umaal: Umaal {
        /// UMULL and additions, in assembly.
        Off = "off",
        /// UMAAL, in assembly.
        On = "on",
        /// Portable C: what the compiler makes of 64-bit products.
        Portable = "c",
    }
    /// Origin of dp, dq and qp.
    crt: Crt {
        /// Part of the stored key.
        Stored = "stored",
        /// Computed from p and q by the binary extended gcd, in every operation.
        Recomputed = "recomputed",
    }
    /// Method of counting products of unlike limbs twice in a square.
    square: Square {
        /// Their sum is doubled.
        Doubled = "doubled",
        /// Each is added twice.
        Twice = "twice",
    }
    /// The compiler's optimization.
    opt: Optimisation {
        /// `-O2`
        O2 = "O2",
        /// `-O3`
        O3 = "O3",
        /// `-Os`
        Os = "Os",
    }
}

impl Options {
    /// Returns the choice of firmware written for this core today.
    pub const fn for_core(core: Core) -> Self {
        Self {
            umaal: match core {
                Core::CortexM0Plus => Umaal::Portable,
                Core::CortexM3 => Umaal::Off,
                Core::CortexM4 => Umaal::On,
            },
            crt: Crt::Stored,
            square: Square::Doubled,
            opt: Optimisation::O3,
        }
    }

    /// Gnuk of 2017: no CRT parameters, window 4, each cross product added twice, -O3.
    pub const fn gnuk_2017() -> Self {
        Self {
            crt: Crt::Recomputed,
            square: Square::Twice,
            ..Self::for_core(Core::CortexM3)
        }
    }

    /// Returns name and word of the options that matter to a kernel.
    pub fn words(&self, kernel: Kernel) -> Vec<(&'static str, &'static str)> {
        OPTION_NAMES
            .into_iter()
            .zip(self.all_words())
            .filter(|(name, _)| kernel.has_option(name))
            .collect()
    }

    /// Why this cannot run on such a core, if so.
    pub fn problem(&self, core: Core) -> Option<String> {
        match core {
            Core::CortexM0Plus => Some(format!(
                "the kernels are compiled for ARMv7-M, and the {core} has ARMv6-M; 'keymark mcu run' takes a \
                 program of your own"
            )),
            Core::CortexM3 if self.umaal == Umaal::On => Some(format!("the {core} has no UMAAL")),
            Core::CortexM3 | Core::CortexM4 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values_agree() {
        let mut options = Options::for_core(Core::CortexM4);
        for (name, value) in Options::gnuk_2017().words(Kernel::Rsa4096) {
            options.set(name, value).unwrap();
        }
        assert_eq!(options, Options::gnuk_2017());
        assert_eq!(
            options.words(Kernel::X25519),
            [("umaal", "off"), ("opt", "O3")]
        );
        assert!(
            options
                .set("square", "7")
                .unwrap_err()
                .to_string()
                .contains("doubled, twice")
        );
        assert!(
            options
                .set("colour", "red")
                .unwrap_err()
                .to_string()
                .contains("umaal")
        );
    }
}

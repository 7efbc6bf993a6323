//! Target of a prediction: a part, a preset, and options that differ from it, written `stm32l432:gnuk-2017,umaal=on`.

use std::fmt;
use std::str::FromStr;

use crate::kernel::{Kernel, OPTION_NAMES, Options};
use crate::microcontroller::Microcontroller;
use crate::named::{from_name, named};
use crate::{McuError, Result};

named! {
    /// Options to begin with.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Preset {
        /// Choice of firmware written for the core today.
        #[default]
        Today = "today",
        /// Gnuk of 2017.
        Gnuk2017 = "gnuk-2017",
    }
}

from_name!(Preset, "preset");

impl Preset {
    /// Its options on that part.
    pub const fn options(self, mcu: &Microcontroller) -> Options {
        match self {
            Self::Today => Options::for_core(mcu.core),
            Self::Gnuk2017 => Options::gnuk_2017(),
        }
    }
}

/// A part with a kernel's options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The part at the clock asked for.
    pub mcu: Microcontroller,
    /// Preset before the options.
    pub preset: Preset,
    /// The preset's, but for those that were asked for by name.
    pub options: Options,
}

impl Target {
    /// A part with a preset's options.
    pub const fn new(mcu: Microcontroller, preset: Preset) -> Self {
        let options = preset.options(&mcu);
        Self {
            mcu,
            preset,
            options,
        }
    }

    /// A part with the words behind its name.
    pub fn with_words(mcu: Microcontroller, words: &str) -> Result<Self> {
        let (mut presets, mut changes) = (Vec::new(), Vec::new());
        for word in words.split(',').filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                Some(change) => changes.push(change),
                None => presets.push(word.parse::<Preset>()?),
            }
        }
        let mut target = Self::new(mcu, presets.last().copied().unwrap_or_default());
        for (name, value) in changes {
            target.options.set(name, value)?;
        }
        match target.problem() {
            None => Ok(target),
            Some(reason) => Err(McuError(format!("{target} is not possible: {reason}"))),
        }
    }

    /// Returns the name for a kernel: presets and most options are about RSA.
    pub fn name_for(&self, kernel: Kernel) -> String {
        match kernel.rsa_bits() {
            Some(_) => self.to_string(),
            None => self.named(Preset::Today, |option| kernel.has_option(option)),
        }
    }

    /// Why it cannot be, if so.
    pub fn problem(&self) -> Option<String> {
        self.options.problem(self.mcu.core)
    }

    /// Names a preset and the options that differ from it, among those that are shown.
    fn named(&self, preset: Preset, is_shown: impl Fn(&str) -> bool) -> String {
        let begun = preset.options(&self.mcu).all_words();
        let preset = (preset != Preset::Today).then(|| preset.name().to_owned());
        let changed = OPTION_NAMES
            .iter()
            .zip(self.options.all_words().into_iter().zip(begun))
            .filter(|(name, (word, begun))| word != begun && is_shown(name))
            .map(|(name, (word, _))| format!("{name}={word}"));
        let words: Vec<String> = preset.into_iter().chain(changed).collect();
        match words.is_empty() {
            true => self.mcu.name.clone(),
            false => format!("{}:{}", self.mcu.name, words.join(",")),
        }
    }
}

/// `stm32l432:gnuk-2017,umaal=on`: what differs from today's options is written.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named(self.preset, |_| true))
    }
}

impl FromStr for Target {
    type Err = McuError;

    fn from_str(text: &str) -> Result<Self> {
        let (name, words) = text.split_once(':').unwrap_or((text, ""));
        Self::with_words(Microcontroller::find(name)?, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_written_as_it_is_read() {
        for text in [
            "stm32f103",
            "stm32f103:gnuk-2017",
            "stm32l432@48:gnuk-2017,umaal=on,opt=Os",
            "stm32f405:umaal=c,opt=O2",
        ] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        let today: Target = "stm32l432:umaal=on".parse().unwrap();
        assert_eq!(
            today.to_string(),
            "stm32l432",
            "today's firmware uses UMAAL"
        );
    }

    #[test]
    fn a_name_says_what_matters_to_the_operation() {
        let target: Target = "stm32f405:gnuk-2017,square=doubled".parse().unwrap();
        assert_eq!(
            target.name_for(Kernel::Rsa2048),
            "stm32f405:gnuk-2017,square=doubled"
        );
        assert_eq!(target.name_for(Kernel::X25519), "stm32f405:umaal=off");
        let target: Target = "stm32f103:gnuk-2017".parse().unwrap();
        assert_eq!(target.name_for(Kernel::Ed25519), "stm32f103");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, reason) in [
            ("stm32f103:umaal=on", "UMAAL"),
            ("stm32f103:square=9", "square"),
            ("stm32f103:tomorrow", "gnuk-2017"),
            ("z80", "stm32f103"),
            ("stm32l073", "ARMv6-M; 'keymark mcu run'"),
        ] {
            let error = text.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}

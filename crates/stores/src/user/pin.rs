//! PINs: where they come from. When one may be tried is decided in `rules.rs`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use keymark_bench::Error;
use nix::sys::prctl::set_dumpable;
use nix::sys::resource::{Resource, setrlimit};
use zeroize::Zeroizing;

use super::{TokenId, TokenName};

/// A PIN. Not to be printed, and not to be written anywhere.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
#[derive(Clone)]
pub struct Pin(Zeroizing<String>);

impl Pin {
    /// Takes the PIN over.
    pub fn new(pin: impl Into<String>) -> Self {
        Self(Zeroizing::new(pin.into()))
    }

    /// One that another process of keymark's has sent. From then on this one keeps its memory to itself.
    pub fn received(pin: Zeroizing<String>) -> Self {
        keep_to_ourselves();
        Self(pin)
    }

    /// The digits, for whoever sends them.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Where a PIN comes from. Never from an argument, which every user of the machine can read.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
#[derive(Clone)]
pub enum PinSource {
    /// It is known: that of a virtual card.
    Known(Pin),
    /// An environment variable.
    Environment(String),
    /// An open file descriptor, up to the end of its first line.
    Descriptor(u32),
    /// The first line of a file.
    File(PathBuf),
    /// The user is asked on the terminal.
    Prompt,
    /// Another process of keymark's is asked.
    Asked(AskForPin),
    /// Each token has its own: by what the user calls it. One that is not named is asked for on the
    /// terminal.
    ByToken(Vec<(TokenName, PinSource)>),
}

/// Asks for a PIN where the user can be asked, who is told for which token and purpose it is.
pub type AskForPin = Arc<dyn Fn(&str) -> Result<Pin, Error> + Send + Sync>;

impl PinSource {
    /// Where the PIN of that token comes from: no other token is ever given it.
    pub fn of(&self, token: &TokenId) -> Self {
        let Self::ByToken(sources) = self else {
            return self.clone();
        };
        let own = sources.iter().find(|(name, _)| token.is_called(name));
        own.map_or(Self::Prompt, |(_, source)| source.of(token))
    }

    /// Whether it has one PIN, which does not say of which token it is.
    pub(crate) const fn is_for_one(&self) -> bool {
        matches!(self, Self::Environment(_) | Self::Descriptor(_))
    }

    fn variables(&self) -> Vec<&str> {
        match self {
            Self::Environment(name) => vec![name],
            Self::ByToken(sources) => {
                let sources = sources.iter();
                sources.flat_map(|(_, source)| source.variables()).collect()
            }
            Self::Known(_)
            | Self::Asked(_)
            | Self::Descriptor(_)
            | Self::File(_)
            | Self::Prompt => Vec::new(),
        }
    }

    /// Fetches the PIN; `what` says for which card and purpose. From then on the process keeps its memory
    /// to itself.
    pub fn fetch(&self, what: &str) -> Result<Pin, Error> {
        if let Self::Known(pin) = self {
            return Ok(pin.clone());
        }
        keep_to_ourselves();
        let pin = match self {
            Self::Known(pin) => return Ok(pin.clone()),
            Self::Asked(by) => return by(what),
            Self::ByToken(_) => {
                return Err(failed(
                    what,
                    "the token has not identified itself".to_owned(),
                ));
            }
            Self::Environment(name) => std::env::var(name)
                .map(Zeroizing::new)
                .map_err(|error| failed(what, format!("${name}: {error}")))?,
            Self::Descriptor(number) => descriptor(*number)
                .map_err(|error| failed(what, format!("file descriptor {number}: {error}")))?,
            Self::File(path) => first_line(path)
                .map_err(|error| failed(what, format!("{}: {error}", path.display())))?,
            Self::Prompt => {
                super::terminal::alone(|| rpassword::prompt_password(format!("{what}: ")))
                    .map(Zeroizing::new)
                    .map_err(|error| failed(what, format!("the terminal: {error}")))?
            }
        };
        if pin.is_empty() {
            return Err(failed(what, "it is empty".to_owned()));
        }
        Ok(Pin(pin))
    }
}

fn failed(what: &str, reason: String) -> Error {
    Error::call(
        format!("fetching the {what}"),
        reason,
        "give it with --pin-env SERIAL=VARIABLE or --pin-fd N, or run keymark on a terminal",
    )
}

fn descriptor(number: u32) -> std::io::Result<Zeroizing<String>> {
    first_line(Path::new(&format!("/proc/self/fd/{number}")))
}

fn first_line(path: &Path) -> std::io::Result<Zeroizing<String>> {
    /// No PIN is longer: DO C4 has seven bits for the length (OpenPGP card 3.4.1 §4.4.1).
    const LONGEST: u64 = 129;
    let mut text = Zeroizing::new(String::with_capacity(LONGEST as usize));
    File::open(path)?.take(LONGEST).read_to_string(&mut text)?;
    let line = text.lines().next().unwrap_or_default();
    Ok(Zeroizing::new(line.to_owned()))
}

/// The PINs of one device.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
#[derive(Clone)]
pub struct Pins {
    /// The user's.
    pub user: PinSource,
    /// The administrator's; needed only for writing.
    pub admin: PinSource,
}

impl Pins {
    /// The environment variables that PINs are in.
    pub fn variables(&self) -> Vec<&str> {
        let mut variables = self.user.variables();
        variables.extend(self.admin.variables());
        variables
    }

    /// Those of that token alone.
    pub fn of(&self, token: &TokenId) -> Self {
        Self {
            user: self.user.of(token),
            admin: self.admin.of(token),
        }
    }

    /// Those of an OpenPGP card from the factory (OpenPGP card 3.4.1 §4.3.1).
    pub fn factory() -> Self {
        Self {
            user: PinSource::Known(Pin::new("123456")),
            admin: PinSource::Known(Pin::new("12345678")),
        }
    }
}

/// From the first PIN on no crash of this process writes its memory to a file, and no other program of the
/// user's reads it.
fn keep_to_ourselves() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        // Where a program takes the dumps, the limit is not asked (core(5)): dumpable is. A system that
        // knows neither has nothing to switch off.
        let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
        let _ = set_dumpable(false);
    });
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_descriptor_gives_its_first_line() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"123456\nrest").unwrap();
        drop(writer);
        let number = u32::try_from(reader.as_raw_fd()).unwrap();
        let pin = PinSource::Descriptor(number).fetch("PIN").ok().unwrap();
        assert_eq!(pin.expose(), "123456");
    }

    #[test]
    fn a_pin_is_for_one_token() {
        let name = |text: &str| TokenName::parse(text).unwrap();
        let known = |pin: &str| PinSource::Known(Pin::new(pin));
        let source = PinSource::ByToken(vec![
            (name("0a1b2c3d"), known("111111")),
            (name("0006:00000002"), known("222222")),
        ]);
        let pin = |token: &str| match source.of(&TokenId::new(token)) {
            PinSource::Known(pin) => Some(pin.expose().to_owned()),
            PinSource::Prompt => None,
            PinSource::Environment(_)
            | PinSource::Asked(_)
            | PinSource::Descriptor(_)
            | PinSource::File(_)
            | PinSource::ByToken(_) => {
                panic!("neither known nor asked for")
            }
        };
        assert_eq!(pin("0006:0a1b2c3d").unwrap(), "111111");
        assert_eq!(pin("0006:00000002").unwrap(), "222222");
        assert_eq!(pin("0007:00000002"), None, "it is asked for");
        assert!(source.fetch("PIN").is_err(), "of no token in particular");
    }

    #[test]
    fn a_missing_pin_says_how_to_give_it() {
        let source = PinSource::Environment("KEYMARK_NO_SUCH_PIN".to_owned());
        let error = source
            .fetch("user PIN of the card")
            .err()
            .unwrap()
            .to_string();
        assert!(
            error.contains("--pin-fd") && error.contains("user PIN"),
            "{error}"
        );
    }
}

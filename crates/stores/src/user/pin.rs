//! PINs: where they come from. When one may be tried is decided in `rules.rs`.

use std::env::VarError;
use std::fs::File;
use std::io::{self, Read};
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

    /// Takes a PIN that another process of keymark's has sent. From then on this one keeps its memory to itself.
    pub fn received(pin: Zeroizing<String>) -> Self {
        keep_to_ourselves();
        Self(pin)
    }

    /// The digits, for their sender.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Source of a PIN. No argument is one, since every user of the machine can read arguments.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
#[derive(Clone)]
pub enum PinSource {
    /// A known PIN, such as that of a virtual card.
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
    /// Returns the source for that token: no other token is ever given its PIN.
    pub fn of(&self, token: &TokenId) -> Self {
        let Self::ByToken(sources) = self else {
            return self.clone();
        };
        let own = sources.iter().find(|(name, _)| token.is_called(name));
        own.map_or(Self::Prompt, |(_, source)| source.of(token))
    }

    /// Returns whether it has one PIN, which does not say of which token it is.
    pub(crate) const fn is_for_one(&self) -> bool {
        matches!(self, Self::Environment(_) | Self::Descriptor(_))
    }

    fn variables(&self) -> Vec<&str> {
        match self {
            Self::Environment(name) => vec![name],
            Self::ByToken(sources) => sources
                .iter()
                .flat_map(|(_, source)| source.variables())
                .collect(),
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
        if !matches!(self, Self::Known(_)) {
            keep_to_ourselves();
        }
        let (source, given) = match self {
            Self::Known(pin) => return Ok(pin.clone()),
            Self::Asked(by) => return by(what),
            Self::ByToken(_) => {
                return Err(failed(what, "the token has not identified itself"));
            }
            Self::Environment(name) => (format!("${name}"), of_variable(std::env::var(name))),
            Self::Descriptor(number) => {
                let path = format!("/proc/self/fd/{number}");
                let source = format!("file descriptor {number}");
                (source, first_line(Path::new(&path)))
            }
            Self::File(path) => (path.display().to_string(), first_line(path)),
            Self::Prompt => {
                let ask = || rpassword::prompt_password(format!("{what}: "));
                let typed = super::terminal::alone(ask).map(Zeroizing::new);
                ("the terminal".to_owned(), typed)
            }
        };
        let given = given.map_err(|error| failed(what, &format!("{source}: {error}")))?;
        let pin = without_line_end(&given);
        let wrong = if pin.is_empty() {
            "it is empty"
        } else if pin.len() > LONGEST {
            "it has more than 128 bytes, and was not sent"
        } else if pin.contains(char::is_control) {
            "it contains a control character, and was not sent"
        } else {
            return Ok(Pin::new(pin));
        };
        Err(failed(what, wrong))
    }
}

fn failed(what: &str, reason: &str) -> Error {
    Error::call(
        format!("fetching the {what}"),
        reason,
        "give it with --pin-env SERIAL=VARIABLE or --pin-fd N, or run keymark on a terminal",
    )
}

/// Bytes of a PIN, at most: DO C4 has seven bits for the length (OpenPGP card 3.4.1 §4.4.1).
const LONGEST: usize = 128;

/// The line feed that editors and `echo` put behind a line is none of the PIN's.
fn without_line_end(given: &str) -> &str {
    let line = given.strip_suffix('\n').unwrap_or(given);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Up to its end, or to where no PIN goes on; what is behind it is left unread.
fn first_line(path: &Path) -> io::Result<Zeroizing<String>> {
    let mut file = File::open(path)?;
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST + 2));
    let mut octet = Zeroizing::new([0]);
    while line.len() < LONGEST + 2 && file.read(octet.as_mut_slice())? > 0 {
        line.push(octet[0]);
        if *octet == *b"\n" {
            break;
        }
    }
    let text = std::str::from_utf8(&line);
    let text = text.map_err(|_| io::Error::other("it is not UTF-8 text"))?;
    Ok(Zeroizing::new(text.to_owned()))
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

    /// Returns the PINs of that token alone.
    pub fn of(&self, token: &TokenId) -> Self {
        Self {
            user: self.user.of(token),
            admin: self.admin.of(token),
        }
    }

    /// Returns the PINs of an OpenPGP card from the factory (OpenPGP card 3.4.1 §4.3.1).
    pub fn factory() -> Self {
        Self {
            user: PinSource::Known(Pin::new("123456")),
            admin: PinSource::Known(Pin::new("12345678")),
        }
    }
}

/// Takes a variable's value. The library's own message about one that is no text quotes it.
fn of_variable(value: Result<String, VarError>) -> io::Result<Zeroizing<String>> {
    value.map(Zeroizing::new).map_err(|error| match error {
        VarError::NotPresent => io::Error::other(error),
        VarError::NotUnicode(_) => io::Error::other("it is not UTF-8 text"),
    })
}

/// Protects PINs: from the first on no crash of this process writes its memory to a file, and no other program of the
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
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn a_variable_that_is_no_text_is_not_shown() {
        let value = OsString::from_vec(b"123456\xff".to_vec());
        let error = of_variable(Err(VarError::NotUnicode(value))).unwrap_err();
        assert_eq!(error.to_string(), "it is not UTF-8 text");
    }

    #[test]
    fn what_cannot_be_a_pin_is_refused_before_it_is_sent() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("pin");
        let fetched = |given: &[u8]| {
            std::fs::write(&file, given).unwrap();
            let number = File::open(&file).unwrap();
            let number = u32::try_from(std::os::fd::IntoRawFd::into_raw_fd(number)).unwrap();
            let sources = [PinSource::File(file.clone()), PinSource::Descriptor(number)];
            let pins = sources.map(|source| source.fetch("PIN").ok());
            let pins = pins.map(|pin| pin.map(|pin| pin.expose().to_owned()));
            assert_eq!(pins[0], pins[1]);
            pins[0].clone()
        };
        for pin in ["1", "pass phrase", "é", &"9".repeat(LONGEST)] {
            for end in ["", "\n", "\r\n", "\nmore"] {
                assert_eq!(
                    fetched(format!("{pin}{end}").as_bytes()).as_deref(),
                    Some(pin)
                );
            }
        }
        for wrong in [
            &b""[..],
            b"\n",
            b"12\t34",
            b"1234\r\r\n",
            b"\x001234",
            b"\xff",
            &[b'9'; LONGEST + 1],
        ] {
            assert_eq!(fetched(wrong), None, "{wrong:?}");
        }
        let endless = PinSource::File(PathBuf::from("/dev/zero")).fetch("PIN");
        assert!(endless.is_err());
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
}

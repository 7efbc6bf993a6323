//! Tokens that another program has to itself: who that is, and asking for them.

use std::fmt;
use std::time::Duration;

use keymark_stores::card::Aid;
use keymark_stores::device::Wish;
use keymark_stores::user::User;

pub use crate::gnupg::owner::Borrowed;
use crate::gnupg::{Gnupg, owner::OwnersAgent};

/// How often, and how far apart, it is looked whether scdaemon has let go: two seconds together.
const LOOKS: usize = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// A reader whose token nobody else can look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccupiedReader {
    /// The reader's name.
    pub reader: String,
    /// Who has the token.
    pub holder: Holder,
}

/// A program that has tokens to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// The scdaemon of the owner's agent, with these OpenPGP cards: `0006:12345678`.
    Scdaemon {
        /// Number of the process.
        process: String,
        /// Manufacturers and serial numbers.
        cards: Vec<String>,
    },
    /// Another program.
    Unknown,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scdaemon { process, cards } => {
                write!(f, "your GnuPG's scdaemon (process {process})")?;
                match cards.as_slice() {
                    [] => Ok(()),
                    cards => write!(f, ", as card {}", cards.join(" or ")),
                }
            }
            Self::Unknown => f.write_str("another program"),
        }
    }
}

impl OccupiedReader {
    /// What makes the token free.
    pub const fn advice(&self) -> &'static str {
        match self.holder {
            Holder::Scdaemon { .. } => {
                "'keymark bench --device SERIAL' and 'keymark trace' borrow it; gpg takes it back"
            }
            Holder::Unknown => "end that program, and try again",
        }
    }
}

impl fmt::Display for OccupiedReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reader, holder } = self;
        write!(f, "{holder} is using the card in '{reader}'")
    }
}

/// Who has the tokens in these readers; nobody is disturbed by the question.
pub(crate) fn holders(readers: &[String]) -> Vec<OccupiedReader> {
    if readers.is_empty() {
        return Vec::new();
    }
    let holder = holder();
    let occupied = |reader: &String| OccupiedReader {
        reader: reader.clone(),
        holder: holder.clone(),
    };
    readers.iter().map(occupied).collect()
}

fn holder() -> Holder {
    let scdaemon = || {
        let mut owner = OwnersAgent::with_scdaemon(&Gnupg::find(None).ok()?)?;
        let process = owner.process().ok()?;
        let cards = owner.cards().unwrap_or_default();
        let cards: Vec<_> = cards.iter().filter_map(|aid| name(aid)).collect();
        // One that has no card has none of these.
        (!cards.is_empty()).then_some(Holder::Scdaemon { process, cards })
    };
    scdaemon().unwrap_or(Holder::Unknown)
}

/// As cards are named everywhere.
fn name(aid: &str) -> Option<String> {
    Aid::new(&hex::decode(aid).ok()?).map(|aid| aid.to_string())
}

/// Whether a wish may be about a token that is held.
pub(crate) fn is_wanted(occupied: &[OccupiedReader], wish: &Wish, unknown: &[String]) -> bool {
    match wish {
        Wish::Software | Wish::Default => false,
        Wish::Inserted | Wish::All => occupied.iter().any(|reader| may_be_asked(&reader.holder)),
        Wish::Named(_) => {
            let mut pairs = occupied
                .iter()
                .flat_map(|reader| unknown.iter().map(move |name| (reader, name)));
            pairs.any(|(reader, name)| may_be(&reader.holder, name))
        }
    }
}

/// Whether the holder lets go when it is asked. A scdaemon that holds none of the tokens is left alone.
const fn may_be_asked(holder: &Holder) -> bool {
    match holder {
        Holder::Scdaemon { .. } => true,
        Holder::Unknown => false,
    }
}

/// Whether a name may be that of a card: a serial number is that of one or not, a product may be any.
fn may_be(holder: &Holder, name: &str) -> bool {
    let is_serial = name.len() >= 8 && name.bytes().all(|b| b == b':' || b.is_ascii_hexdigit());
    match holder {
        Holder::Scdaemon { cards, .. } if is_serial => {
            let name = name.to_ascii_lowercase();
            cards.iter().any(|card| card.ends_with(&name))
        }
        Holder::Scdaemon { .. } => true,
        Holder::Unknown => false,
    }
}

/// Asks the owner's scdaemon to let go of its cards, and waits until `look` finds that it has.
pub(crate) fn ask_for<L>(user: &User, look: impl Fn() -> Option<L>) -> Option<(L, Borrowed)> {
    let borrowed = release()?;
    user.notice
        .tell("your GnuPG's scdaemon released the card; gpg takes it back when it next needs it");
    let free = (0..LOOKS).find_map(|_| {
        look().or_else(|| {
            std::thread::sleep(PAUSE);
            None
        })
    });
    Some((free?, borrowed))
}

fn release() -> Option<Borrowed> {
    let owner = OwnersAgent::with_scdaemon(&Gnupg::find(None).ok()?)?;
    owner.release().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scdaemon() -> Holder {
        Holder::Scdaemon {
            process: "17".to_owned(),
            cards: vec!["0006:1234abcd".to_owned()],
        }
    }

    #[test]
    fn only_a_name_that_may_be_the_cards_asks_for_it() {
        for name in ["1234ABCD", "0006:1234abcd", "yubikey"] {
            assert!(may_be(&scdaemon(), name), "{name}");
            assert!(!may_be(&Holder::Unknown, name), "nobody could be asked");
        }
        for name in ["12345678", "0007:1234abcd"] {
            assert!(!may_be(&scdaemon(), name), "{name}");
        }
    }

    #[test]
    fn a_scdaemon_is_asked_for_what_it_holds_itself() {
        let occupied = |holder| OccupiedReader {
            reader: "Reader 00 00".to_owned(),
            holder,
        };
        for wish in [Wish::Inserted, Wish::All] {
            assert!(is_wanted(&[occupied(scdaemon())], &wish, &[]));
            assert!(!is_wanted(&[occupied(Holder::Unknown)], &wish, &[]));
            assert!(!is_wanted(&[], &wish, &[]));
        }
        assert!(!is_wanted(&[occupied(scdaemon())], &Wish::Software, &[]));
    }

    #[test]
    fn cards_are_named_as_everywhere() {
        let aid = "D276000124010304FF4B245E25D20000";
        assert_eq!(name(aid).as_deref(), Some("ff4b:245e25d2"));
        assert_eq!(name("D276000124010304"), None);
        assert_eq!(name("A000000308"), None, "another application");
    }
}

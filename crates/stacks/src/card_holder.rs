//! Tokens that another program has to itself: who that is, and asking for them. It is usually the owner's own gpg-agent with
//! its scdaemon, which has a card to itself from its first use on.

use std::path::PathBuf;
use std::time::Duration;

use keymark_stores::card::Aid;
use keymark_stores::device::Wish;
use keymark_stores::user::User;

use crate::gnupg::Gnupg;
use crate::gnupg::assuan::Assuan;

/// A reader whose token nobody else can look at.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
#[display("{holder} is using the card in '{reader}'")]
pub struct OccupiedReader {
    /// The reader's name.
    pub reader: String,
    /// Holder of the token.
    pub holder: Holder,
}

/// A program that has tokens to itself.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum Holder {
    /// The scdaemon of the owner's agent, with these OpenPGP cards, one or more: `0006:12345678`.
    #[display("your GnuPG's scdaemon (process {process}), as card {}", cards.join(" or "))]
    Scdaemon {
        /// Number of the process.
        process: u32,
        /// Manufacturers and serial numbers.
        cards: Vec<String>,
    },
    /// Another program.
    #[display("another program")]
    Unknown,
}

impl OccupiedReader {
    /// Returns the advice that makes the token free.
    pub const fn advice(&self) -> &'static str {
        match self.holder {
            Holder::Scdaemon { .. } => {
                "'keymark bench --device SERIAL' and 'keymark trace' borrow it; gpg takes it back"
            }
            Holder::Unknown => "end that program, and try again",
        }
    }
}

/// Returns the holders of the tokens in these readers, without disturbing them.
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
        let mut owner = OwnersAgent::with_scdaemon()?.connection;
        let process = owner.process("SCD GETINFO pid").ok()?;
        // It answers from memory, with application identifiers in hexadecimal.
        let cards = owner.statuses("SCD GETINFO card_list", "SERIALNO");
        let cards = cards.unwrap_or_default();
        let cards: Vec<_> = cards.iter().filter_map(|aid| name(aid)).collect();
        // One that has no card has none of these.
        (!cards.is_empty()).then_some(Holder::Scdaemon { process, cards })
    };
    scdaemon().unwrap_or(Holder::Unknown)
}

/// Returns the usual name of a card.
fn name(aid: &str) -> Option<String> {
    Aid::new(&hex::decode(aid).ok()?).map(|aid| aid.to_string())
}

/// Returns true if a wish may be about a token that is held.
pub(crate) fn is_wanted(occupied: &[OccupiedReader], wish: &Wish, unknown: &[String]) -> bool {
    match wish {
        Wish::Software | Wish::Default => false,
        // A scdaemon that holds none of the tokens is left alone.
        Wish::Inserted | Wish::All => occupied.iter().any(|one| one.holder != Holder::Unknown),
        Wish::Named(_) => occupied
            .iter()
            .any(|reader| unknown.iter().any(|name| may_be(&reader.holder, name))),
    }
}

/// Returns true if a name may be that of a card: a serial number is that of one or not, a product may be any.
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
    let OwnersAgent {
        socket,
        mut connection,
    } = OwnersAgent::with_scdaemon()?;
    // It ends, and the agent starts another when a card is next used.
    connection.command("SCD KILLSCD").ok()?;
    drop(connection);
    let borrowed = Borrowed { socket };
    user.notice
        .tell("your GnuPG's scdaemon released the card; gpg takes it back when it next needs it");
    // Two seconds together.
    let free = looked_for(100, Duration::from_millis(20), look)?;
    Some((free, borrowed))
}

/// Longest wait for an answer: a scdaemon that hangs is the owner's to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// The owner's agent, whose scdaemon runs.
struct OwnersAgent {
    socket: PathBuf,
    connection: Assuan,
}

impl OwnersAgent {
    /// Finds it; there is none where no agent runs, or none that has been asked about cards. Nothing is
    /// started for the question.
    fn with_scdaemon() -> Option<Self> {
        let socket = Gnupg::find(None).ok()?.owners_socket()?;
        let mut connection = Assuan::patient(&socket, PATIENCE).ok()?;
        connection.command("GETINFO scd_running").ok()?;
        Some(Self { socket, connection })
    }
}

/// Cards that the owner's scdaemon has let go of. Dropped when keymark has let go of them too, it waits
/// until the owner's gpg can have them: gpg-agent looks every four seconds whether its scdaemon is alive,
/// and until then a gpg that asks for a card is told of a broken pipe.
#[derive(Debug)]
pub struct Borrowed {
    socket: PathBuf,
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let notices = || {
            let connection = Assuan::patient(&self.socket, PATIENCE);
            let running = connection.and_then(|mut agent| agent.command("GETINFO scd_running"));
            running.is_err().then_some(())
        };
        // Six seconds together.
        let _ = looked_for(120, Duration::from_millis(50), notices);
    }
}

/// Looks repeatedly with pauses.
fn looked_for<L>(looks: u32, pause: Duration, look: impl Fn() -> Option<L>) -> Option<L> {
    (0..looks).find_map(|_| {
        look().or_else(|| {
            std::thread::sleep(pause);
            None
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scdaemon() -> Holder {
        Holder::Scdaemon {
            process: 17,
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
}

//! Changes of a run to tokens, and the user's agreement to what cannot be undone.

use std::collections::BTreeSet;
use std::sync::Arc;

use keymark_bench::Error;
use parking_lot::Mutex;

use super::{Notice, TokenId};

/// Something that a run writes to a token.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The token.
    pub token: TokenId,
    /// Place on the token: `slot SIG`.
    pub place: String,
    /// New content: `a test key of ed25519`.
    pub written: String,
    /// Loss that it causes.
    pub loss: Loss,
}

/// Loss that a change causes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// The place is empty.
    Nothing,
    /// The key that is there, in words that tell it from any other.
    Key(String),
    /// The token does not say whether something is there.
    Unknown,
}

impl Change {
    fn sentence(&self) -> String {
        let Self { token, place, .. } = self;
        match &self.loss {
            Loss::Nothing => format!("{place} of {token} is empty and gets {}.", self.written),
            Loss::Key(key) => format!(
                "The key in {place} of {token} ({key}) will be DESTROYED and replaced by {}.",
                self.written
            ),
            Loss::Unknown => format!(
                "{place} of {token} gets {}. The card does not say whether it has a key; \
                 one that is there will be DESTROYED.",
                self.written
            ),
        }
    }
}

/// Agreements of the user; clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Agreements(Arc<Mutex<BTreeSet<Change>>>);

impl Agreements {
    /// Has the user agree to what these changes destroy, in one question for all that was not agreed to
    /// before. What destroys nothing needs no question.
    pub fn require(&self, changes: &[Change], notice: &dyn Notice) -> Result<(), Error> {
        let mut agreed = self.0.lock();
        let open: Vec<&Change> = changes
            .iter()
            .filter(|change| change.loss != Loss::Nothing && !agreed.contains(*change))
            .collect();
        let Some(first) = open.first() else {
            return Ok(());
        };
        for change in &open {
            notice.tell(&change.sentence());
        }
        if !notice
            .agrees("Test keys are removed after the run; the keys that they replace are lost.")
        {
            return Err(Error::call(
                format!("writing test keys to {}", first.token),
                "you did not agree to the loss of a key",
                "nothing was written; answer 'yes' on a terminal, or omit --write-to",
            ));
        }
        agreed.extend(open.into_iter().cloned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct User {
        says_yes: bool,
        asked: Mutex<Vec<String>>,
    }

    impl Notice for User {
        fn tell(&self, text: &str) {
            self.asked.lock().push(text.to_owned());
        }

        fn agrees(&self, _: &str) -> bool {
            self.asked.lock().push("?".to_owned());
            self.says_yes
        }
    }

    fn change(place: &str, loss: Loss) -> Change {
        Change {
            token: TokenId::new("0006:0a1b2c3d"),
            place: place.to_owned(),
            written: "a test key of ed25519".to_owned(),
            loss,
        }
    }

    #[test]
    fn one_question_is_asked_for_all_that_is_lost_and_once() {
        let user = User {
            says_yes: true,
            ..User::default()
        };
        let agreements = Agreements::default();
        let changes = [
            change("slot SIG", Loss::Key("rsa2048, ABCD".to_owned())),
            change("slot DEC", Loss::Nothing),
            change("slot AUT", Loss::Unknown),
        ];
        for _ in 0..2 {
            agreements.require(&changes, &user).unwrap();
        }
        let asked = user.asked.lock().clone();
        assert_eq!(asked.len(), 3, "{asked:?}");
        assert!(asked[0].contains("ABCD") && asked[1].contains("slot AUT"));
        // Another key in the same place was not agreed to.
        let other = [change("slot SIG", Loss::Key("rsa2048, EF01".to_owned()))];
        agreements.require(&other, &user).unwrap();
        assert_eq!(user.asked.lock().len(), 5);
        // Who says no loses nothing.
        let agreements = Agreements::default();
        let (nothing, no) = (change("slot SIG", Loss::Nothing), User::default());
        agreements.require(&[nothing], &no).unwrap();
        for _ in 0..2 {
            assert!(agreements.require(&other, &no).is_err());
        }
    }
}

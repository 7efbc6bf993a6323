//! What a home is asked whose keys are on a card.

use keymark_bench::error::Error;
use keymark_stores::user::Pin;
use zeroize::Zeroizing;

use super::assuan::data_lines;
use super::home::Home;

impl Home {
    /// Has the agent take note of the keys on its card, and the card verify its user PIN: scdaemon
    /// does not ask for it again until the card is reset.
    ///
    /// # Errors
    /// When scdaemon does not find the card, or the card refuses the PIN.
    pub fn learn_card(&self, pin: &Pin) -> Result<(), Error> {
        self.learn_keys()?;
        let mut connection = self.connect()?;
        connection.command("OPTION pinentry-mode=loopback")?;
        let answer = connection.status("SCD SERIALNO", "SERIALNO")?;
        let reply = Zeroizing::new(data_lines(pin.expose().as_bytes()));
        connection.transact(
            &format!("SCD CHECKPIN {answer}"),
            Some(&reply),
            &mut Vec::new(),
        )
    }

    /// Has the agent take note of the keys on its card.
    ///
    /// # Errors
    /// When scdaemon does not find the card.
    pub fn learn_keys(&self) -> Result<(), Error> {
        self.connect()?.command("LEARN --force").map(drop)
    }

    /// The public keys of another home, without any secret ones.
    ///
    /// # Errors
    /// When they cannot be copied.
    pub fn copy_public_keys(&self, from: &Self) -> Result<(), Error> {
        for name in ["pubring.kbx", "trustdb.gpg"] {
            let (source, target) = (from.path().join(name), self.path().join(name));
            std::fs::copy(&source, &target)
                .map_err(|error| Error::call(format!("copying {}", source.display()), error, ""))?;
        }
        Ok(())
    }
}

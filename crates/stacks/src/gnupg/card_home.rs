//! What a home is asked whose keys are on a card.

use keymark_bench::error::Error;
use keymark_stores::card::Aid;
use keymark_stores::user::Pin;
use zeroize::Zeroizing;

use super::assuan::{Assuan, data_lines};
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
        let answer = connection.status("SCD SERIALNO", "SERIALNO")?;
        check_pin(&mut connection, &answer, pin)
    }

    /// The same with a card that is its owner's: right before it gets the PIN it is looked that it is this
    /// one and that the PIN may be tried, and no other is given it.
    ///
    /// # Errors
    /// When scdaemon has taken another card or none, the user PIN has fewer than two tries left, or the card
    /// refuses it.
    pub fn learn_inserted_card(&self, card: Aid, pin: &Pin) -> Result<(), Error> {
        // First: it talks to the card for long, which may be another afterwards.
        self.learn_keys()?;
        let mut connection = self.connect()?;
        let name = has_card(&mut connection, card)?;
        has_tries(&mut connection)?;
        check_pin(&mut connection, &name, pin)
    }

    /// Makes sure that scdaemon has taken this card: it takes the first there is if it does not find the
    /// reader that it was told.
    ///
    /// # Errors
    /// When it has taken another, or none.
    pub fn has_card(&self, card: Aid) -> Result<(), Error> {
        has_card(&mut self.connect()?, card).map(|_| ())
    }

    /// Has the agent take note of the keys on its card.
    ///
    /// # Errors
    /// When scdaemon does not find the card.
    pub fn learn_keys(&self) -> Result<(), Error> {
        self.connect()?.command("LEARN --force")?;
        // One that waits for a card does not see that its agent has ended.
        self.record_process("SCD GETINFO pid")
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

/// The name of this card, by which scdaemon refuses a command when it has another.
fn has_card(connection: &mut Assuan, card: Aid) -> Result<String, Error> {
    connection.command("SCD SERIALNO")?;
    let name = answered(connection, "SCD APDU 00CA004F00")?;
    let told = Aid::new(&name);
    if told == Some(card) {
        return Ok(hex::encode_upper(name));
    }
    let told = told.map_or_else(|| "no OpenPGP card".to_owned(), |told| told.to_string());
    Err(Error::call(
        "SCD SERIALNO",
        format!("scdaemon has {told} in place of card {card}, and is given no PIN"),
        format!("leave only card {card} in its reader, or measure with --stack raw"),
    ))
}

/// Makes sure that the user PIN of scdaemon's card has two tries left or more.
fn has_tries(connection: &mut Assuan) -> Result<(), Error> {
    // DO C4 (OpenPGP card 3.4.1 §4.4.1): validity, three lengths, tries of PW1.
    let status = answered(connection, "SCD APDU 00CA00C400")?;
    match status.get(4) {
        Some(2..) => Ok(()),
        left => Err(Error::call(
            "SCD CHECKPIN",
            format!(
                "{} tries of the user PIN are left, and keymark tries none that has fewer than two",
                left.copied().unwrap_or_default()
            ),
            "check the PIN with gpg --card-edit; a right PIN entered there resets the tries",
        )),
    }
}

/// Has the card of that name verify its user PIN.
fn check_pin(connection: &mut Assuan, name: &str, pin: &Pin) -> Result<(), Error> {
    connection.command("OPTION pinentry-mode=loopback")?;
    let reply = Zeroizing::new(data_lines(pin.expose().as_bytes()));
    connection.transact(
        &format!("SCD CHECKPIN {name}"),
        Some(&reply),
        &mut Vec::new(),
    )
}

/// The data of a response to a command that scdaemon passes on.
fn answered(connection: &mut Assuan, command: &str) -> Result<Vec<u8>, Error> {
    let mut response = connection.command(command)?;
    let data = response.len().saturating_sub(2);
    if response.split_off(data) == [0x90, 0x00] {
        return Ok(response);
    }
    Err(Error::call(command, "the card refuses it", ""))
}

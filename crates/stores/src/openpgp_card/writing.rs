//! Test keys on a card that outlives the run: agreed to, journaled, and removed again.

use std::time::Duration;

use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Error};

use super::channel::Reset;
use super::device::CardDevice;
use super::facts::{CardFacts, SlotFacts};
use super::import::{stand_in_fingerprint, upload};
use super::journal::{Needed, SlotState, SlotTestKey, Undo};
use super::session::{Password, failed, verify};
use crate::card::{CardPlace, Slot};
use crate::journal::{Journal, TestKeyWrite, WriteProgress};
use crate::store::once_each;
use crate::test_key::TestKey;
use crate::user::{Change, TokenId};

/// Programs that are just ending still have the card for a moment.
const RESET_ATTEMPTS: u32 = 20;
const RESET_PAUSE: Duration = Duration::from_millis(50);

impl CardDevice {
    /// The test keys that a run would write which asks for all of this.
    fn to_write(&self, wanted: &[Capability]) -> Result<Vec<(Slot, Vec<Algorithm>)>, Error> {
        let facts = self.facts()?;
        let mut slots = Vec::new();
        for slot in Slot::ALL {
            let of_slot = |can: &&Capability| Slot::of(can.operation) == Some(slot);
            let of_slot = wanted.iter().filter(of_slot);
            let algorithms = once_each(of_slot.map(|can| can.algorithm));
            let is_there = |algorithm: &Algorithm| facts.slot(slot).is_key_of(*algorithm);
            if !algorithms.iter().all(is_there) {
                slots.push((slot, algorithms));
            }
        }
        Ok(slots)
    }

    /// Checks whether a run can ask for all of this: a slot holds one key.
    pub(super) fn check(&self, wanted: &[Capability]) -> Result<(), Error> {
        let slots = self.to_write(wanted)?.into_iter();
        let crowded: Vec<String> = slots
            .filter(|(_, algorithms)| algorithms.len() > 1)
            .map(|(slot, algorithms)| {
                let names: Vec<_> = algorithms.iter().map(ToString::to_string).collect();
                format!("slot {slot} would need {}", names.join(" and "))
            })
            .collect();
        if crowded.is_empty() {
            return Ok(());
        }
        Err(Error::call(
            format!("planning for {}", self.name),
            format!("a slot holds one key, and {}", crowded.join(", ")),
            "choose one algorithm for each slot with --algorithm and --operation",
        ))
    }

    /// Has the user agree to what this destroys, once and before anything is written.
    pub(super) fn agree(&self, wanted: &[Capability]) -> Result<(), Error> {
        let facts = self.facts()?;
        let slots = self.to_write(wanted)?.into_iter();
        let changes: Vec<Change> = slots
            .flat_map(|(slot, algorithms)| {
                let change = move |algorithm| change(facts.token(), facts.slot(slot), algorithm);
                algorithms.into_iter().map(change)
            })
            .collect();
        let notice = self.user.notice.as_ref();
        self.agreements.require(&changes, notice)
    }

    /// Writes a test key of the algorithm to a slot that has none: on the card that the user has
    /// named, after they have agreed to what is destroyed by it, and under a journal by which
    /// [`crate::store::KeyStore::restore`] or a later keymark removes it. One key a slot and run.
    pub fn write_test_key(&self, slot: Slot, algorithm: Algorithm) -> Result<(), Error> {
        let token = self.facts()?.token();
        self.user.consent.check_write(&token)?;
        let call = || {
            format!(
                "writing a test key of {algorithm} to slot {slot} of {}",
                self.name
            )
        };
        let mut journal = self.journal.lock();
        if let Some((there, progress)) = journal.as_ref().and_then(|j| written(j, slot)) {
            if (there, progress) == (algorithm, WriteProgress::Written) {
                return Ok(());
            }
            let reason = format!("this run has already begun to write a {there} test key there");
            return Err(Error::call(
                call(),
                reason,
                "a run writes to a slot only once",
            ));
        }
        let key = TestKey::generate(algorithm)?;
        let fingerprint = stand_in_fingerprint(&key)?;
        self.session.with(|card| {
            let facts = CardFacts::read(card)?;
            let change = change(token.clone(), facts.slot(slot), algorithm);
            let notice = self.user.notice.as_ref();
            self.agreements.require(&[change], notice)?;
            let before = SlotState::read(card, slot)?;
            let said = |error| failed("GET DATA (C0)", &error);
            let changeable = card.extended_capabilities().map_err(said)?;
            if !changeable.algo_attrs_changeable() || !before.is_restorable() {
                let reason = "keymark could not remove it from this card";
                return Err(Error::call(call(), reason, ""));
            }
            verify(&self.rules, card, Password::Admin)?;
            let journal = self.journal.begun(&mut journal, &token)?;
            let test_key = SlotTestKey::new(algorithm, fingerprint);
            let place = slot.name().to_owned();
            journal.begin(TestKeyWrite::new(place, &before, &test_key)?)?;
            upload(card, &key, slot, fingerprint)?;
            journal.written(slot.name())
        })
    }

    /// Removes the test keys of this run. What cannot be removed stays in the journal.
    pub(super) fn restore_written(&self) -> Result<(), Error> {
        let journal = self.journal.lock().take();
        journal.map_or(Ok(()), |journal| self.undo(journal))
    }

    /// Removes the test keys of a journal, all that can be, and then the journal.
    pub fn undo(&self, journal: Journal) -> Result<(), Error> {
        let token = self.facts()?.token();
        self.user.consent.check_write(&token)?;
        let undo = |write: &TestKeyWrite, progress| self.undo_write(&token, write, progress);
        journal.undo_all(&token, "slot ", undo)
    }

    fn undo_write(
        &self,
        token: &TokenId,
        write: &TestKeyWrite,
        progress: WriteProgress,
    ) -> Result<(), Error> {
        let undo = Undo::of(write).ok_or_else(|| {
            let call = format!("reading the journal of {token}");
            Error::call(call, "it does not describe a card's slot", "")
        })?;
        let slot = undo.slot;
        self.session.with(|card| {
            match undo.needed(&SlotState::read(card, slot)?, progress) {
                Needed::Nothing => Ok(()),
                Needed::Foreign => {
                    let left = format!(
                        "slot {slot} of {token} now has a key that is not keymark's; keymark leaves it alone"
                    );
                    self.user.notice.tell(&left);
                    Ok(())
                }
                Needed::Removal => {
                    verify(&self.rules, card, Password::Admin)?;
                    undo.remove(card)
                }
            }
        })
    }

    /// Resets the card if a PIN was verified on it, unless that would disturb others: nobody who comes next
    /// finds it open.
    pub(super) fn forget_pins(&self) {
        match self.place {
            // Nobody else ever sees it.
            CardPlace::Virtual { .. } => return,
            CardPlace::Pcscd(_) => {}
        }
        if !self.rules.have_opened() {
            return;
        }
        self.session.disconnect();
        for _ in 0..RESET_ATTEMPTS {
            match self.session.port.reset() {
                Ok(Reset::Shared) => std::thread::sleep(RESET_PAUSE),
                // A card that is gone has forgotten.
                Ok(Reset::Done) | Err(_) => return,
            }
        }
        self.user.notice.tell(&format!(
            "another program uses {}, so keymark does not reset it: its PIN stays verified until it is pulled out",
            self.name
        ));
    }
}

fn change(token: TokenId, found: &SlotFacts, algorithm: Algorithm) -> Change {
    Change {
        token,
        place: format!("slot {}", found.slot),
        written: format!("a test key of {algorithm}"),
        loss: found.loss(),
    }
}

/// The test key of this run in a slot, and how far its writing has come.
fn written(journal: &Journal, slot: Slot) -> Option<(Algorithm, WriteProgress)> {
    let mut writes = journal.content().writes.iter();
    let (write, progress) = writes.find(|(write, _)| write.place == slot.name())?;
    Some((write.test_key::<SlotTestKey>()?.algorithm, *progress))
}

//! Test keys on a token that outlives the run: allowed for that very token, journaled before they are
//! written, and removed again. An identifier that is drawn at random tells them from every other object.

use std::path::PathBuf;

use cryptoki::object::{Attribute, ObjectHandle};
use cryptoki::session::Session;
use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Error};
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use serde::{Deserialize, Serialize};

use super::OpenToken;
use super::external_access::{is_known_to_programs, public_half};
use crate::journal::{Content, Journal, TestKeyWrite};
use crate::pkcs11::module::codes::failed;
use crate::pkcs11::session::session_keys::{LABEL, Maker, TestObject, provide};
use crate::test_key::TestKey;

/// A test key, as its journal has it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotedKey {
    #[serde(with = "hex::serde")]
    id: Vec<u8>,
    label: String,
    algorithm: Algorithm,
    module: PathBuf,
}

/// The module of the token that a journal is of, if it is a PKCS#11 token's.
pub fn journalled_module(content: &Content) -> Option<PathBuf> {
    content
        .writes
        .iter()
        .find_map(|(write, _)| Some(write.test_key::<NotedKey>()?.module))
}

impl OpenToken {
    /// Returns whether its user lets test keys be written to it.
    pub(crate) fn may_write(&self) -> bool {
        self.user.consent.may_write(&self.id)
    }

    /// Writes a test key of that identifier, or has the token make one where it takes none. What is done is in the
    /// journal before.
    pub(crate) fn write_test_key(
        &self,
        id: &[u8],
        capability: Capability,
        key: &TestKey,
    ) -> Result<Maker, Error> {
        let place = place(id);
        let mut journal = self.journal.lock();
        let journal = self.journal.begun(&mut journal, &self.id)?;
        let noted = NotedKey {
            id: id.to_vec(),
            label: LABEL.to_owned(),
            algorithm: capability.algorithm,
            module: self.file.path.clone(),
        };
        journal.begin(TestKeyWrite::new(place.clone(), &(), &noted)?)?;
        let written = self.with_writer(|session| {
            let object = TestObject {
                id,
                is_private: self.has_login(),
                on_token: true,
            };
            let maker = provide(session, key, capability, object)?;
            if maker == Maker::Keymark && is_known_to_programs(capability.algorithm.family()) {
                let public = public_half(key, id, LABEL)?;
                session.create_object(&public).map_err(failed)?;
            }
            Ok(maker)
        });
        if written.is_ok() {
            journal.written(&place)?;
        // Some of it may be there. If it stays, the end of the run tries once more.
        } else if self.remove(id, LABEL).is_ok() {
            journal.undone(&place)?;
        }
        written
    }

    /// Returns whether the key of that identifier is a test key that this run has written.
    pub(crate) fn has_written(&self, id: &[u8]) -> bool {
        let journal = self.journal.lock();
        let written = journal.iter().flat_map(|journal| journal.content().open());
        written
            .map(|(write, _)| write.place)
            .any(|written| written == place(id))
    }

    /// Removes the test keys of this run. What cannot be removed stays in the journal.
    pub(crate) fn restore_written(&self) -> Result<(), Error> {
        let journal = self.journal.lock().take();
        journal.map_or(Ok(()), |journal| self.undo(journal))
    }

    /// Removes the test keys of a journal, all that can be, and then the journal.
    pub(crate) fn undo(&self, journal: Journal) -> Result<(), Error> {
        journal.check_token(&self.id)?;
        self.user.consent.check_write(&self.id)?;
        // A PIN that is refused is one error, not one a key.
        self.with_keeper(|_| Ok(()))?;
        journal.undo_all(&self.id, "", |write, _| {
            let NotedKey { id, label, .. } = noted(write)?;
            self.remove(&id, &label)
        })
    }

    /// Removes both halves of the test key of that identifier, and its certificate, if they are there: no object that
    /// is called otherwise, whatever its identifier.
    fn remove(&self, id: &[u8], label: &str) -> Result<(), Error> {
        self.with_writer(|session| {
            let _under_way = UnderWay::begin(Call::C_DestroyObject);
            for object in test_objects(session, id, label)? {
                session.destroy_object(object).map_err(failed)?;
            }
            if test_objects(session, id, label)?.is_empty() {
                return Ok(());
            }
            let reason = "the token reports success, but still has it";
            Err(Error::call("C_DestroyObject", reason, ""))
        })
    }
}

fn noted(write: &TestKeyWrite) -> Result<NotedKey, Error> {
    let key = write.test_key::<NotedKey>();
    key.filter(|key| !key.id.is_empty()).ok_or_else(|| {
        let reason = "it does not describe a test key on a PKCS#11 token";
        Error::call("reading the journal", reason, "")
    })
}

fn test_objects(session: &Session, id: &[u8], label: &str) -> Result<Vec<ObjectHandle>, Error> {
    let template = [
        Attribute::Token(true),
        Attribute::Id(id.to_vec()),
        Attribute::Label(label.as_bytes().to_vec()),
    ];
    session.find_objects(&template).map_err(failed)
}

fn place(id: &[u8]) -> String {
    format!("key {}", hex::encode(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_names_no_key_removes_none() {
        let noted = |id: &str, label: Option<&str>| {
            let mut key =
                serde_json::json!({ "id": id, "algorithm": "rsa2048", "module": "/m.so" });
            if let Some(label) = label {
                key["label"] = label.into();
            }
            let write = TestKeyWrite::new("key 00".to_owned(), &(), &key).unwrap();
            noted(&write).map(|key| (key.id, key.label))
        };
        let whole = noted("0aff", Some(LABEL));
        assert_eq!(whole.unwrap(), (vec![0x0a, 0xff], LABEL.to_owned()));
        // An empty template would match every object of the token.
        for (id, label) in [("", Some(LABEL)), ("0a", None), ("xy", Some(LABEL))] {
            assert!(noted(id, label).is_err(), "{id} {label:?}");
        }
    }
}

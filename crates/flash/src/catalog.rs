//! Which record of each object counts, in RAM, from what a scan found.

use std::collections::BTreeMap;

use crate::nor::{Flash, FlashError};
use crate::object::ObjectId;
use crate::record::{Content, FlashRecord, LONG_HEADER, counter_bytes, encode};

#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    live: BTreeMap<ObjectId, FlashRecord>,
    /// Value of the signature counter.
    count: u32,
    /// FlashRecord with its high bits, where they are not zero by default.
    high: Option<usize>,
}

impl Catalog {
    /// Takes the next record in order of writing; gives back the value it supersedes.
    pub(crate) fn apply(&mut self, record: FlashRecord) -> Option<FlashRecord> {
        match record.content {
            Content::CounterLow(low) => self.count = self.count & !0xfff | low,
            Content::CounterFull(count) => {
                self.count = count;
                self.high = Some(record.address);
            }
            Content::Value(_) | Content::PinErrors(_) | Content::Removed => {}
        }
        let old = self.live.insert(record.object, record);
        old.filter(|old| matches!(old.content, Content::Value(_)))
    }

    /// Drops an object whose record was wiped.
    pub(crate) fn forget(&mut self, object: ObjectId) {
        self.live.remove(&object);
    }

    /// The record an object has, or that says that it has none.
    pub(crate) fn record(&self, object: ObjectId) -> Option<FlashRecord> {
        self.live.get(&object).copied()
    }

    /// Whether the object would be lost with this record.
    pub(crate) fn needs(&self, record: &FlashRecord) -> bool {
        let high = record.object == ObjectId::SignatureCounter && self.high == Some(record.address);
        high || self
            .live
            .get(&record.object)
            .is_some_and(|live| live.address == record.address)
    }

    /// Live records in order of object.
    pub(crate) fn records(&self) -> impl Iterator<Item = &FlashRecord> {
        self.live.values()
    }

    /// Objects that have a value.
    pub(crate) fn objects(&self) -> Vec<ObjectId> {
        self.live
            .values()
            .filter(|record| record.content != Content::Removed)
            .map(|r| r.object)
            .collect()
    }

    /// The record that sets an object; value checked before.
    pub(crate) fn encode(&self, flash: &Flash, object: ObjectId, value: &[u8]) -> Vec<u8> {
        encode(object, value, Some(self.count), flash.unit())
    }

    /// The bytes of a live record, to be written elsewhere. A signature counter becomes one record,
    /// so that a cut between two of them cannot set it back.
    pub(crate) fn copy(&self, flash: &Flash, record: &FlashRecord) -> Result<Vec<u8>, FlashError> {
        if record.object == ObjectId::SignatureCounter {
            return Ok(encode(
                record.object,
                &counter_bytes(self.count),
                None,
                flash.unit(),
            ));
        }
        Ok(flash
            .read(record.address..record.address + record.bytes)?
            .to_vec())
    }

    /// An object's value. A counter that was never set is zero.
    pub(crate) fn value(
        &self,
        flash: &Flash,
        object: ObjectId,
    ) -> Result<Option<Vec<u8>>, FlashError> {
        if object == ObjectId::SignatureCounter {
            return Ok(Some(counter_bytes(self.count)));
        }
        let Some(record) = self.live.get(&object) else {
            return Ok(object.is_counter().then(|| vec![0]));
        };
        Ok(match record.content {
            Content::Value(length) => {
                let start = record.address + LONG_HEADER;
                Some(flash.read(start..start + length)?.to_vec())
            }
            Content::PinErrors(errors) => Some(vec![errors]),
            Content::CounterLow(_) | Content::CounterFull(_) | Content::Removed => None,
        })
    }

    /// Bytes of the live records, with headers and padding.
    pub(crate) fn bytes(&self) -> usize {
        self.live.values().map(|record| record.bytes).sum()
    }
}

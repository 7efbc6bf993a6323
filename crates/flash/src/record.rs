//! Records in flash: how an object becomes programmed units, and back; and which record of each object counts.
//!
//! ```text
//! small   code  ~code                      PIN counter, low bits of the signature counter
//! full    code  ~code  high  ~high         whole signature counter
//! long    code  ~code  crc32(code, value)  value
//! ```
//!
//! Halfwords are little endian; `code` has the kind in its upper four bits, and a
//! value or the length of the value below. A record is padded with ones to the
//! program unit.
//!
//! Gnuk's records are a tag and a length (or a tag and ten bits) in one halfword
//! with nothing to check. A torn one can then read as another object, or as a
//! counter that nobody set. Here every code is next to its complement: a torn
//! program has too many ones, torn zeroing too few, so that both fail, and a
//! length is to be trusted even if the value after it is torn.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::nor::{Flash, FlashError};
use crate::object::ObjectId;

/// Bytes before the value of a long record.
pub(crate) const LONG_HEADER: usize = 8;
const LOW_BITS: u32 = 12;
const LOW_MASK: u16 = 0x0fff;

// Kinds 1 to 9 are the objects behind the four counters. Neither 0 nor 15 is one: zeros and ones are no record.
const LONG: &[ObjectId] = ObjectId::ALL.split_at(1 + ObjectId::PIN_COUNTERS.len()).1;
const COUNTER_LOW: u16 = 10;
const COUNTER_FULL: u16 = 11;
const PIN_ERRORS: u16 = 12;

/// Content of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// A value of that number of bytes follows.
    Value(usize),
    /// The counter's low bits; its high bits stay.
    CounterLow(u32),
    /// The whole counter.
    CounterFull(u32),
    /// Wrong tries.
    PinErrors(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlashRecord {
    pub(crate) object: ObjectId,
    pub(crate) content: Content,
    /// Address of its first byte.
    pub(crate) address: usize,
    /// Bytes it takes, padding included.
    pub(crate) bytes: usize,
    /// True if it was written to its end and not wiped since.
    pub(crate) whole: bool,
}

/// Content at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// An erased unit.
    Erased,
    /// A unit of zeros.
    Zeros,
    /// A record, perhaps with a torn value.
    Record(FlashRecord),
    /// Neither.
    Torn,
}

/// Bytes a record takes with a value of `length` bytes.
pub(crate) fn long_bytes(length: usize, unit: usize) -> usize {
    (LONG_HEADER + length).next_multiple_of(unit)
}

/// Bytes a small record takes.
pub(crate) fn small_bytes(unit: usize) -> usize {
    4usize.next_multiple_of(unit)
}

/// Bytes a whole counter takes.
pub(crate) fn full_bytes(unit: usize) -> usize {
    8usize.next_multiple_of(unit)
}

/// CRC-32 of ISO-HDLC (the one of Ethernet), which these parts compute in hardware or from a table.
pub(crate) fn crc32(parts: &[&[u8]]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    parts.iter().for_each(|part| crc.update(part));
    crc.finalize()
}

fn pair(code: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (code.to_le_bytes(), (!code).to_le_bytes());
    [a, b, c, d]
}

fn read_pair(bytes: &[u8]) -> Option<u16> {
    let &[a, b, c, d] = bytes else { return None };
    let (code, complement) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    (code == !complement).then_some(code)
}

/// Encodes a code with the octets behind it.
fn encoded(code: u16, behind: &[&[u8]], unit: usize) -> Vec<u8> {
    let mut bytes = [&pair(code), &behind.concat()[..]].concat();
    bytes.resize(bytes.len().next_multiple_of(unit), 0xff);
    bytes
}

fn encode_full(count: u32, unit: usize) -> Vec<u8> {
    let high = pair((count >> LOW_BITS) as u16);
    encoded(COUNTER_FULL << LOW_BITS | low(count), &[&high], unit)
}

fn low(count: u32) -> u16 {
    count as u16 & LOW_MASK
}

fn position(objects: &[ObjectId], object: ObjectId) -> Option<u16> {
    let index = objects.iter().position(|&other| other == object);
    index.map(|index| index as u16)
}

/// A counter's value from its bytes, big endian.
fn counter_value(value: &[u8]) -> u32 {
    value
        .iter()
        .fold(0, |count, &byte| count << 8 | u32::from(byte))
}

/// A counter's bytes, big endian.
pub(crate) fn counter_bytes(count: u32) -> Vec<u8> {
    count.to_be_bytes()[1..].to_vec()
}

/// Reads the content at `address`, in a page that ends at `end`.
pub(crate) fn parse(flash: &Flash, address: usize, end: usize) -> Result<Parsed, FlashError> {
    let unit = flash.unit();
    let Some(first) = readable(flash, address, address + unit, end)? else {
        return Ok(Parsed::Torn);
    };
    if first.iter().all(|&byte| byte == 0xff) {
        return Ok(Parsed::Erased);
    }
    if first.iter().all(|&byte| byte == 0) {
        return Ok(Parsed::Zeros);
    }
    let code = readable(flash, address, address + 4, end)?.and_then(read_pair);
    let Some(record) = code.and_then(|code| described(code, address, unit)) else {
        return Ok(Parsed::Torn);
    };
    if address + record.bytes > end {
        return Ok(Parsed::Torn);
    }
    Ok(Parsed::Record(checked(flash, record, end)?))
}

/// The bytes, unless they are torn or not in the page.
pub(crate) fn readable(
    flash: &Flash,
    start: usize,
    stop: usize,
    end: usize,
) -> Result<Option<&[u8]>, FlashError> {
    if stop > end {
        return Ok(None);
    }
    match flash.read(start..stop) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(FlashError::Unreadable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The record a code announces, before its value is checked.
fn described(code: u16, address: usize, unit: usize) -> Option<FlashRecord> {
    let (kind, value) = (code >> LOW_BITS, code & LOW_MASK);
    let record = |object, content, bytes| {
        Some(FlashRecord {
            object,
            content,
            address,
            bytes,
            whole: true,
        })
    };
    match kind {
        1..=9 => {
            let length = usize::from(value);
            record(
                LONG[usize::from(kind) - 1],
                Content::Value(length),
                long_bytes(length, unit),
            )
        }
        COUNTER_LOW => record(
            ObjectId::SignatureCounter,
            Content::CounterLow(value.into()),
            small_bytes(unit),
        ),
        COUNTER_FULL => record(
            ObjectId::SignatureCounter,
            Content::CounterFull(value.into()),
            full_bytes(unit),
        ),
        PIN_ERRORS => {
            let object = *ObjectId::PIN_COUNTERS.get(usize::from(value >> 8))?;
            record(object, Content::PinErrors(value as u8), small_bytes(unit))
        }
        _ => None,
    }
}

/// The record with what follows its code.
fn checked(flash: &Flash, mut record: FlashRecord, end: usize) -> Result<FlashRecord, FlashError> {
    let at = record.address;
    match record.content {
        Content::Value(length) => {
            let bytes = readable(flash, at, at + LONG_HEADER + length, end)?;
            record.whole = bytes.is_some_and(|bytes| {
                let (head, value) = bytes.split_at(LONG_HEADER);
                head[4..] == crc32(&[&head[..4], value]).to_le_bytes()
            });
        }
        Content::CounterFull(low) => {
            let high = readable(flash, at + 4, at + 8, end)?.and_then(read_pair);
            record.whole = high.is_some();
            let high = u32::from(high.unwrap_or_default());
            record.content = Content::CounterFull(high << LOW_BITS | low);
        }
        Content::CounterLow(_) | Content::PinErrors(_) => {}
    }
    Ok(record)
}

/// Live record of each object, in RAM, from a scan.
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
            Content::Value(_) | Content::PinErrors(_) => {}
        }
        let old = self.live.insert(record.object, record);
        old.filter(|old| matches!(old.content, Content::Value(_)))
    }

    /// Returns the live record of an object.
    pub(crate) fn record(&self, object: ObjectId) -> Option<FlashRecord> {
        self.live.get(&object).copied()
    }

    /// Returns true if the object would be lost with this record.
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

    /// The record that sets an object; value checked before. Of a signature counter with the same high bits as the one
    /// in flash it is the low bits alone.
    pub(crate) fn encode(&self, flash: &Flash, object: ObjectId, value: &[u8]) -> Vec<u8> {
        let unit = flash.unit();
        if object == ObjectId::SignatureCounter {
            let count = counter_value(value);
            return if self.count >> LOW_BITS == count >> LOW_BITS {
                encoded(COUNTER_LOW << LOW_BITS | low(count), &[], unit)
            } else {
                encode_full(count, unit)
            };
        }
        if let Some(which) = position(&ObjectId::PIN_COUNTERS, object) {
            let errors = value.first().copied().unwrap_or_default();
            let code = PIN_ERRORS << LOW_BITS | which << 8 | u16::from(errors);
            return encoded(code, &[], unit);
        }
        let kind = position(LONG, object).map_or(0, |index| index + 1);
        let code = kind << LOW_BITS | value.len() as u16;
        let check = crc32(&[&pair(code), value]);
        encoded(code, &[&check.to_le_bytes(), value], unit)
    }

    /// The bytes of a live record, to be written elsewhere. A signature counter becomes one record,
    /// so that a cut between two of them cannot set it back.
    pub(crate) fn copy(&self, flash: &Flash, record: &FlashRecord) -> Result<Vec<u8>, FlashError> {
        if record.object == ObjectId::SignatureCounter {
            return Ok(encode_full(self.count, flash.unit()));
        }
        Ok(flash
            .read(record.address..record.address + record.bytes)?
            .to_vec())
    }

    /// An object's value. A counter that was never set is zero.
    pub(crate) fn value(&self, flash: &Flash, object: ObjectId) -> Result<Option<Vec<u8>>> {
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
            Content::CounterLow(_) | Content::CounterFull(_) => None,
        })
    }

    /// Bytes of the live records, with headers and padding.
    pub(crate) fn bytes(&self) -> usize {
        self.live.values().map(|record| record.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_has_its_published_check_value() {
        assert_eq!(crc32(&[b"1234", b"56789"]), 0xcbf4_3926);
    }
}

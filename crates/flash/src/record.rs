//! Records in flash: how an object becomes programmed units, and back.
//!
//! ```text
//! small   code  ~code                      PIN counter, low bits of the signature counter, removal
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
//! counter that nobody set. Here every code stands beside its complement: a torn
//! program has too many ones, torn zeroing too few, so that both fail, and a
//! length is to be trusted even if the value after it is torn.

use crate::nor::{Flash, FlashError};
use crate::object::ObjectId;

/// Bytes before the value of a long record.
pub(crate) const LONG_HEADER: usize = 8;
const LOW_BITS: u32 = 12;
const LOW_MASK: u16 = 0x0fff;

// Kinds 1 to 9 are the long objects in this order. Neither 0 nor 15 is one: zeros and ones are no record.
const LONG: [ObjectId; 9] = [
    ObjectId::Name,
    ObjectId::LoginData,
    ObjectId::Url,
    ObjectId::Fingerprints,
    ObjectId::PrivateUse,
    ObjectId::SignatureKey,
    ObjectId::DecryptionKey,
    ObjectId::AuthenticationKey,
    ObjectId::Certificate,
];
const COUNTER_LOW: u16 = 10;
const COUNTER_FULL: u16 = 11;
const PIN_ERRORS: u16 = 12;
const REMOVED: u16 = 13;

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// A value of this many bytes follows.
    Value(usize),
    /// The counter's low bits; its high bits stay.
    CounterLow(u32),
    /// The whole counter.
    CounterFull(u32),
    /// Wrong tries.
    PinErrors(u8),
    /// The object is no more.
    Removed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlashRecord {
    pub(crate) object: ObjectId,
    pub(crate) content: Content,
    /// Address of its first byte.
    pub(crate) address: usize,
    /// Bytes it takes, padding included.
    pub(crate) bytes: usize,
    /// Whether it was written to its end and not wiped since.
    pub(crate) whole: bool,
}

/// What stands at an address.
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

fn padded(mut bytes: Vec<u8>, unit: usize) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(unit), 0xff);
    bytes
}

/// The record that sets `object` to `value`, which was checked; `previous` is the signature
/// counter as it stands in flash, if its high bits may be left there.
pub(crate) fn encode(
    object: ObjectId,
    value: &[u8],
    previous: Option<u32>,
    unit: usize,
) -> Vec<u8> {
    if object == ObjectId::SignatureCounter {
        let count = counter_value(value);
        return match previous {
            Some(previous) if previous >> LOW_BITS == count >> LOW_BITS => {
                padded(pair(COUNTER_LOW << LOW_BITS | low(count)).to_vec(), unit)
            }
            _ => encode_full(count, unit),
        };
    }
    if let Some(which) = position(&ObjectId::PIN_COUNTERS, object) {
        let errors = value.first().copied().unwrap_or_default();
        return padded(
            pair(PIN_ERRORS << LOW_BITS | which << 8 | u16::from(errors)).to_vec(),
            unit,
        );
    }
    let kind = position(&LONG, object).map_or(0, |index| index + 1);
    let head = pair(kind << LOW_BITS | value.len() as u16);
    let check = crc32(&[&head, value]);
    padded([&head, &check.to_le_bytes(), value].concat(), unit)
}

/// The record that says that `object` is no more.
pub(crate) fn encode_removed(object: ObjectId, unit: usize) -> Vec<u8> {
    padded(
        pair(REMOVED << LOW_BITS | position(&LONG, object).unwrap_or(LOW_MASK)).to_vec(),
        unit,
    )
}

fn encode_full(count: u32, unit: usize) -> Vec<u8> {
    let high = pair((count >> LOW_BITS) as u16);
    padded(
        [pair(COUNTER_FULL << LOW_BITS | low(count)), high].concat(),
        unit,
    )
}

fn low(count: u32) -> u16 {
    count as u16 & LOW_MASK
}

fn position(objects: &[ObjectId], object: ObjectId) -> Option<u16> {
    objects
        .iter()
        .position(|&other| other == object)
        .map(|index| index as u16)
}

/// A counter's value from its bytes, big endian.
pub(crate) fn counter_value(value: &[u8]) -> u32 {
    value
        .iter()
        .fold(0, |count, &byte| count << 8 | u32::from(byte))
}

/// A counter's bytes, big endian.
pub(crate) fn counter_bytes(count: u32) -> Vec<u8> {
    count.to_be_bytes()[1..].to_vec()
}

/// What stands at `address`, in a region that ends at `end`.
pub(crate) fn parse(flash: &Flash, address: usize, end: usize) -> Result<Parsed, FlashError> {
    let unit = flash.unit();
    let first = match flash.read(address..address + unit) {
        Ok(bytes) => bytes,
        Err(FlashError::Unreadable { .. }) => return Ok(Parsed::Torn),
        Err(error) => return Err(error),
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

/// The bytes, unless they are torn or not in the region.
fn readable(
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
        REMOVED => record(
            *LONG.get(usize::from(value))?,
            Content::Removed,
            small_bytes(unit),
        ),
        _ => None,
    }
}

/// The record with what follows its code.
fn checked(flash: &Flash, record: FlashRecord, end: usize) -> Result<FlashRecord, FlashError> {
    let at = record.address;
    match record.content {
        Content::Value(length) => {
            let Some(bytes) = readable(flash, at, at + LONG_HEADER + length, end)? else {
                return Ok(FlashRecord {
                    whole: false,
                    ..record
                });
            };
            let (head, value) = bytes.split_at(LONG_HEADER);
            let check = crc32(&[&head[..4], value]).to_le_bytes();
            Ok(FlashRecord {
                whole: head[4..] == check,
                ..record
            })
        }
        Content::CounterFull(low) => {
            let high = readable(flash, at + 4, at + 8, end)?.and_then(read_pair);
            let count = high.map(|high| u32::from(high) << LOW_BITS | low);
            let content = Content::CounterFull(count.unwrap_or(low));
            Ok(FlashRecord {
                whole: count.is_some(),
                content,
                ..record
            })
        }
        Content::CounterLow(_) | Content::PinErrors(_) | Content::Removed => Ok(record),
    }
}

#[cfg(test)]
mod tests;
